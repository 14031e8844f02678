// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which run-time sizes of a program are surely the same: where lowering has a choice, it takes what needs no luck.
#pragma once

#include "assignment.hpp"

namespace sinter::detail {

/// Run-time sizes as far as the program shows them. Lowering takes it for granted that a run-time size fits where it has to, and the
/// call checks; where there is a choice, what can't be promised need not be taken.
template <class Lowering>
struct size_identities {
    static constexpr int nodes = Lowering::node_count;
    static constexpr int leaves = Lowering::leaf_count;
    shape identity[unsigned(nodes)]{};  // sizes, those known only when run replaced by who gives them

    constexpr size_identities() {
        for (int i = 0; i < nodes; ++i) identity[i] = identity_of(i);
    }
    /// A run-time size as a number of its own: below -1, above every name.
    static constexpr i64 unknown_size(int place, int axis) { return -2 - i64(place) * max_rank - axis; }
    static constexpr bool is_unknown(i64 size) { return size < -1 && size > -(i64(1) << 56); }
    /// Two sizes meet in an operation: they are equal or one is 1, so an unknown one takes the other's name everywhere.
    constexpr i64 meet(i64 left, i64 right) {
        if (left == 1 || left == right) return right;
        if (right == 1) return left;
        const i64 kept = is_unknown(left) ? right : left, gone = is_unknown(left) ? left : right;
        if (is_unknown(gone))
            for (shape& one : identity)
                for (i64& size : one.size)
                    if (size == gone) size = kept;
        return kept;
    }
    /// The sizes of a node where equal entries mean equal sizes when run, as far as the program shows it.
    constexpr shape identity_of(int index) {
        const node_value& n = Lowering::node[index];
        shape from = n.arity > 0 ? identity[n.argument[0]] : Lowering::facts.sizes[index];
        if (n.kind == node_kind::map) {
            for (int a = 1; a < n.arity; ++a) {
                const shape left = from;
                const int right = n.argument[a];
                if (identity[right].rank > from.rank) from.rank = identity[right].rank;
                for (int d = 0; d < from.rank; ++d)
                    from.size[from.rank - 1 - d] = meet(left.from_right(d), identity[right].from_right(d));
            }
        } else if (n.kind == node_kind::reduce) {
            bool reduced[max_rank]{};
            int ignored = 0;
            reduced_axes(*n.op, from.rank, reduced, ignored);
            from = reduce_axes(from, reduced, n.op->keep);
        } else if (n.kind == node_kind::index_map) {
            from = mapped_shape(n.op->map, from).value;
        } else if (n.arity > 0) {
            from = Lowering::facts.sizes[index];
        }
        for (int i = 0; i < from.rank; ++i)
            if (from.size[i] == dyn) from.size[i] = unknown_size(n.kind == node_kind::leaf ? int(n.bits) : leaves + index, i);
        return from;
    }
};

}  // namespace sinter::detail
