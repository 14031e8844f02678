// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The running state of a reduction: a few lane values that drivers can move between lanes, mask and combine without knowing
// what they mean.
#pragma once

#include "lane.hpp"
#include "meta.hpp"

namespace sinter::lane {

/// `fields<Value...>`: lane values of one width. `get<I>(state)` reads one.
template <class... Values>
struct fields {
    pack<Values...> item;
    fields() = default;
    SINTER_INLINE explicit fields(Values... values) : item{{{values}...}} {}
};

template <>
struct fields<> {
    pack<> item;
};

template <int Index, class... Values>
SINTER_INLINE const auto& get(const fields<Values...>& from) {
    return sinter::get<Index>(from.item);
}

namespace detail {
template <class... Values>
SINTER_INLINE fields<Values...> fields_of(Values... values) {
    return fields<Values...>(values...);
}
template <class Function, class... Values, int... Index>
SINTER_INLINE auto transform(const Function& function, const fields<Values...>& from, indices<Index...>) {
    return fields_of(function(get<Index>(from))...);
}
template <class Function, class... Values, int... Index>
SINTER_INLINE fields<Values...> transform(const Function& function, const fields<Values...>& left, const fields<Values...>& right,
                                          indices<Index...>) {
    return fields<Values...>(function(get<Index>(left), get<Index>(right))...);
}
}  // namespace detail
/// Applies a function to each field; it may change their type.
template <class Function, class... Values>
SINTER_INLINE auto transform(const Function& function, const fields<Values...>& from) {
    return detail::transform(function, from, make_indices<int(sizeof...(Values))>{});
}
/// Applies a function to each pair of fields.
template <class Function, class... Values>
SINTER_INLINE fields<Values...> transform(const Function& function, const fields<Values...>& left, const fields<Values...>& right) {
    return detail::transform(function, left, right, make_indices<int(sizeof...(Values))>{});
}

}  // namespace sinter::lane
