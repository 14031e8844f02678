// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions. Not there yet: the names are taken, so that today's message says what to write meanwhile.
#pragma once

#include "../expression.hpp"

namespace sinter {

namespace detail {
template <class Operand, int Kind = operand_kind_of<Operand>>
struct shape_in_message {
    using type = printed<typename remove_cvref<Operand>::extents_type>;
};
template <class Operand>
    requires(!requires { typename remove_cvref<Operand>::extents_type; })
struct shape_in_message<Operand, operand_kind::expression> {  // a view that holds its scales
    using type = printed<typename remove_cvref<decltype(as_expression(some<Operand>()))>::extents_type>;
};
template <class Operand>
struct shape_in_message<Operand, operand_kind::traced> {
    using type = remove_cvref<Operand>;
};
template <class Left, class Right>
constexpr auto refuse_matmul() {
    if constexpr (is_refused_operand<Left> || is_refused_operand<Right>)
        return typename follow_up<remove_cvref<Left>, remove_cvref<Right>>::type{};
    else
        return refused<mistake<rule::not_there_yet, typename shape_in_message<Left>::type, typename shape_in_message<Right>::type>>{};
}
template <bool Operands, class Left, class Right>
struct matmul_result {};
template <class Left, class Right>
struct matmul_result<true, Left, Right> {
    using type = outcome_of_call<decltype(refuse_matmul<Left, Right>()), Left, Right>;
};
}  // namespace detail

/// matmul(a, b): the matrix product. Doesn't compile yet.
template <tensor_operand Left, tensor_operand Right>
SINTER_INLINE typename detail::matmul_result<tensor_operand<Left> && tensor_operand<Right>, Left, Right>::type matmul(Left&&, Right&&) {
    return {};
}

}  // namespace sinter
