// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named sizes of one call: all axes of one name have one size, whether or not they meet in the formula. Once per call, before anything is
// written; where no name stands twice there is nothing to compare, and no code.
#pragma once

#include "bind.hpp"

namespace sinter::detail {

/// An axis with a name, and the first axis of the call that has it.
struct named_axis {
    i64 name = 0;
    int operand = 0, axis = 0, first = 0;
};
/// The sizes in an operand's type; none of a number.
template <class Operand>
inline constexpr shape sizes_in_type{};
template <class Operand>
    requires requires { typename Operand::extents_type; }
inline constexpr shape sizes_in_type<Operand> = Operand::extents_type::static_shape;
template <class View>
inline constexpr shape sizes_in_type<table_operand<View>> = View::extents_type::static_shape;
template <class Operand>
SINTER_FORCE_INLINE shape sizes_in_call(const Operand& operand) {
    return sizes_of_leaf(operand);
}
template <class View>
SINTER_FORCE_INLINE shape sizes_in_call(const table_operand<View>& operand) {
    return sizes_of_leaf(operand.value);
}
constexpr int count_names(const shape& sizes) {
    int count = 0;
    for (int i = 0; i < sizes.rank; ++i) count += is_named_size(sizes.size[i]);
    return count;
}
constexpr void list_names(const shape& sizes, named_axis* to, int& count, int operand) {
    for (int i = 0; i < sizes.rank; ++i) {
        if (!is_named_size(sizes.size[i])) continue;
        to[count] = {sizes.size[i], operand, i, count};
        for (int before = count - 1; before >= 0; --before)
            if (to[before].name == sizes.size[i]) to[count].first = before;
        ++count;
    }
}
/// The named axes of a call's operands, then of its outputs.
template <class... Operands>
struct named_axes {
    static constexpr int count = (count_names(sizes_in_type<Operands>) + ... + 0);
    struct all {
        named_axis at[unsigned(count + 1)]{};
    };
    static constexpr all find() {
        all out;
        int next = 0, operand = 0;
        const int done[] = {0, (list_names(sizes_in_type<Operands>, out.at, next, operand++), 0)...};
        (void)done;
        return out;
    }
    static constexpr all value = find();
    static constexpr bool find_twice() {
        for (int i = 0; i < count; ++i)
            if (value.at[i].first != i) return true;
        return false;
    }
    static constexpr bool some_twice = find_twice();
};

/// One function for all calls; `Tag` keeps copies that are compiled for different instruction sets apart.
template <class Tag>
struct named_size_check {
    static SINTER_SMALL status verdict(const named_axis* names, int count, int operands, const shape* sizes) {
        for (int i = 0; i < count; ++i) {
            const named_axis &one = names[i], &first = names[one.first];
            const i64 expected = sizes[first.operand].size[first.axis], found = sizes[one.operand].size[one.axis];
            if (found < 0 || expected < 0) continue;  // of a view that can't be formed: the binding says why
            if (found != expected) return {error::size_mismatch, one.operand, one.axis, expected, found, one.operand < operands ? -1 : one.operand - operands};
        }
        return {};
    }
};
template <class Assignment>
struct names_of_call;
template <class Program, class Roots, class... Leaves, class... Outputs>
struct names_of_call<assignment<Program, Roots, list<Leaves...>, list<Outputs...>>> : named_axes<Leaves..., Outputs...> {
    template <class Assignment, int... Leaf, int... Output>
    static SINTER_FORCE_INLINE status verdict(const Assignment& assigned, indices<Leaf...>, indices<Output...>) {
        const shape sizes[] = {sizes_in_call(get<Leaf>(assigned.operands))..., sizes_in_call(get<Output>(assigned.targets))...};
        return named_size_check<backend::SINTER_ISA::instruction_set>::verdict(names_of_call::value.at, names_of_call::count, int(sizeof...(Leaves)), sizes);
    }
    template <class Assignment>
    static SINTER_FORCE_INLINE status verdict(const Assignment& assigned) {
        return verdict(assigned, make_indices<int(sizeof...(Leaves))>{}, make_indices<int(sizeof...(Outputs))>{});
    }
};

}  // namespace sinter::detail
