// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of a formula's values when it is run, from those of its operands: of coordinates, of results that own their memory, and
// of descriptions. Kernels learn their sizes from the operands themselves (bind.hpp).
#pragma once

#include "lower.hpp"

namespace sinter {
namespace detail {

template <class View>
SINTER_INLINE shape sizes_of_leaf(const table_operand<View>&) {
    return shape{};
}
template <class Operand>
SINTER_INLINE shape sizes_of_leaf(const Operand& operand) {
    if constexpr (operand_kind_of<Operand> == operand_kind::view || requires { operand.sizes(); })
        return operand.sizes();
    else
        return shape{};
}

/// The sizes of nodes when run, in order, each once: asked from the last one down, a node would be computed as often as there are ways
/// to it. One function for all kernels; `Tag` keeps copies that are compiled for different instruction sets apart.
template <class Tag>
struct node_sizes {
    /// As `broadcast`, but where sizes differ the left one's.
    static constexpr shape joined(const shape& left, const shape& right) {
        shape out;
        out.rank = left.rank > right.rank ? left.rank : right.rank;
        for (int distance = 0; distance < out.rank; ++distance)
            (void)broadcast_size(left.from_right(distance), right.from_right(distance), out.size[out.rank - 1 - distance]);
        return out;
    }
    static SINTER_NOINLINE constexpr void find(const node_value* node, const shape* known, int count, const shape* leaf, shape* out, bool joins) {
        for (int i = 0; i < count; ++i) {
            const int* const argument = node[i].argument;
            if (known[i].is_static()) {
                out[i] = known[i];
            } else if (node[i].kind == node_kind::leaf) {
                out[i] = leaf[node[i].bits];
            } else if (node[i].kind == node_kind::map) {
                out[i] = out[argument[0]];
                for (int k = 1; k < node[i].arity; ++k)
                    out[i] = joins ? joined(out[i], out[argument[k]]) : broadcast(out[i], out[argument[k]]).value;
            } else if (node[i].kind == node_kind::reduce) {
                bool reduced[max_rank]{};
                int ignored = 0;
                reduced_axes(*node[i].op, out[argument[0]].rank, reduced, ignored);
                out[i] = reduce_axes(out[argument[0]], reduced, node[i].op->keep);
            } else if (node[i].kind == node_kind::index_map) {
                out[i] = mapped_shape(node[i].op->map, out[argument[0]]).value;
            } else if (node[i].kind == node_kind::coordinate) {
                out[i] = out[argument[0]];
                const int axis = normal_axis(node[i].op->axis, out[i].rank);
                for (int a = 0; a < out[i].rank; ++a)
                    if (a != axis) out[i].size[a] = 1;
            }
        }
    }
};
/// Of the first `Count` nodes.
template <class Kernel, int Count, class... Leaves, int... Leaf>
constexpr SINTER_FORCE_INLINE void run_time_shapes(const pack<Leaves...>& operands, shape (&out)[unsigned(Count)], bool joins, indices<Leaf...>) {
    const shape leaf[] = {sizes_of_leaf(get<Leaf>(operands))..., shape{}};
    node_sizes<backend::SINTER_ISA::instruction_set>::find(Kernel::node, Kernel::facts.sizes, Count, leaf, out, joins);
}
/// Of one node. Only coordinates, results that own their memory and descriptions ask; kernels learn their sizes from operands. `joins`: where
/// sizes differ, the left one's, so that a call is refused for the other, and not for a result that none fits.
template <class Kernel, int Node, class... Leaves>
constexpr SINTER_FORCE_INLINE shape run_time_shape(const pack<Leaves...>& operands, bool joins = false) {
    if constexpr (Kernel::facts.sizes[Node].is_static())
        return Kernel::facts.sizes[Node];
    else if constexpr (Kernel::node[Node].kind == node_kind::leaf)
        return sizes_of_leaf(get<int(Kernel::node[Node].bits)>(operands));
    else {
        shape all[unsigned(Node + 1)]{};
        run_time_shapes<Kernel, Node + 1>(operands, all, joins, make_indices<int(sizeof...(Leaves))>{});
        return all[Node];
    }
}

}  // namespace detail
}  // namespace sinter
