// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lookups of a kernel: which table, at which coordinates. A table is read where coordinates say and not where the loops are, so that
// whether an output may lie on it, element for element, is asked of the coordinates' steps.
#pragma once

#include "kernel_view.hpp"

namespace sinter::detail {

/// An element of a table is looked up: at a coordinate for each axis. `divisor` neighbours share an element along one of them.
struct lookup_facts {
    short leaf = 0, coordinate[3]{};  ///< the table, among operands; slots
    signed char rank = 0, divided_axis = 0;
    i64 divisor = 1;

    constexpr i64 divisor_of(int axis) const { return axis == divided_axis ? divisor : 1; }
};
/// The first ones of a kernel.
struct lookup_list {
    int count = 0;
    lookup_facts at[4]{};
    u64 others = 0;  ///< tables that have more
};

constexpr lookup_list find_lookups(const kernel_view& of) {
    lookup_list out;
    for (int i = 0; of.tables != 0 && i < of.instances; ++i)
        for (int a = 0; a < of.at[i].arity; ++a) {
            const int leaf = of.table_of(i, a);
            if (leaf < 0) continue;
            lookup_facts one;
            one.leaf = static_cast<short>(leaf);
            one.rank = static_cast<signed char>(of.leaf_table[leaf].sizes.rank);
            one.divided_axis = static_cast<signed char>(of.node_of(i).op->divided_axis);
            one.divisor = of.node_of(i).op->divisor;
            bool listed = out.count < 4 && one.rank <= 3 && of.at[i].arity == a + 1 + one.rank;
            for (int k = 0; listed && k < one.rank; ++k) {
                const int coordinate = of.at[i].argument[a + 1 + k];
                listed = coordinate >= 0 && of.at[coordinate].kind == node_kind::coordinate;
                if (listed) one.coordinate[k] = static_cast<short>(of.operands_before(coordinate));
            }
            if (listed)
                out.at[out.count++] = one;
            else
                out.others |= u64(1) << leaf;
        }
    return out;
}

template <class Kernel>
struct lookups_of {
    static constexpr lookup_list value = find_lookups(Kernel::view);
};

/// Is a table with these strides looked up just where an output is stored that begins with it and steps like this along the loop axes?
/// A coordinate that is divided must step from element to element.
template <class Binding>
constexpr SINTER_FORCE_INLINE bool looks_up_in_step(const lookup_list& lookups, int leaf, const Binding& bound, int axes, const i64* output_stride,
                                                    const i64* table_stride) {
    if (lookups.others >> leaf & 1) return false;
    for (int l = 0; l < lookups.count; ++l) {
        const lookup_facts& one = lookups.at[l];
        if (one.leaf != leaf) continue;
        i64 begin = 0;
        for (int k = 0; k < one.rank; ++k) {
            const i64 by = one.divisor_of(k), first = bound.base[one.coordinate[k]];
            begin += (first - (first % by + by) % by) / by * table_stride[k];
        }
        if (begin != 0) return false;
        for (int a = 0; a < axes; ++a) {
            i64 step = 0;
            for (int k = 0; k < one.rank; ++k) {
                const i64 by = one.divisor_of(k), own = bound.stride[one.coordinate[k]][a];
                if (own % by != 0) return false;
                step += own / by * table_stride[k];
            }
            if (step != output_stride[a]) return false;
        }
    }
    return true;
}

}  // namespace sinter::detail
