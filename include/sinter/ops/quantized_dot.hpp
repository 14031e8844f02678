// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact sums of products of codes: in i32, with a proof while compiling that they fit.
#pragma once

#include "contract.hpp"
#include "quantize.hpp"

namespace sinter {

/// How many products of codes less their zero points an i32 surely holds the sum of.
SINTER_INLINE i64 exact_dot_length(code_range left, code_range right) {
    i64 least = 0, greatest = 0;
    const i64 products[] = {left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high};
    for (i64 product : products) {
        if (product < least) least = product;
        if (product > greatest) greatest = product;
    }
    const i64 above = greatest > 0 ? i64(2147483647) / greatest : i64(2147483647);
    const i64 below = least < 0 ? i64(2147483648) / -least : i64(2147483647);
    return above < below ? above : below;
}

namespace monoids {
/// Sums i32 as they are. Only where a proof says that they fit.
struct exact_sum : sum_of {
    using shortcuts_of = exact_sum;
    static constexpr const char* name = "exact_sum";
    static constexpr type_rule rule = &rules::exact_i32;
};
}  // namespace monoids

/// The product of two codes less their zero points, i32. `Short`: both factors fit 16 bits; `LeftCounts`: the left one is at least 0.
template <i32 LeftZero, i32 RightZero, bool Short, bool LeftCounts>
struct code_product_op {
    static constexpr op_facts facts{.name = "code_product", .kind = node_kind::map, .arity = 2, .rule = &rules::exact_i32, .cost = 3,
                                     .parameters = code_bounds<LeftZero, RightZero>};
    template <class Whole>
    static SINTER_INLINE Whole apply(Whole x, Whole y) {
        using namespace lane_names;
        using lane::mul_short;  // a template of that name in sight; the lane's own comes by its argument
        if constexpr (LeftZero != 0) x = sub(x, Whole(LeftZero));
        if constexpr (RightZero != 0) y = sub(y, Whole(RightZero));
        if constexpr (Short)
            return mul_short<LeftCounts>(x, y);
        else
            return mul(x, y);
    }
};
/// An exact i32 times a scale, f32: one rounding for the conversion, one for the product.
template <u32 ScaleBits>
struct scale_sum_op {
    static constexpr op_facts facts{.name = "scale", .kind = node_kind::map, .arity = 1, .rule = &rules::quantize_to_real, .cost = 2, .parameters = ScaleBits};
    template <class Whole>
    static SINTER_INLINE auto apply(Whole x) {
        using namespace lane_names;
        return mul(convert<float>(x), typename Whole::template rebind<float>(__builtin_bit_cast(float, ScaleBits)));
    }
};

namespace detail {
/// What `dot` knows of an operand's numbers.
template <class Operand>
struct codes_in {
    static constexpr bool known = false;
};
template <class Type>
    requires is_code_type<Type>
struct codes_in<Type> {
    static constexpr bool known = true;
    static constexpr i32 zero = 0;
    static constexpr code_range range{integer_min<Type>, integer_max<Type>};
    static constexpr float scale = 1.0f;
};
template <qparams Parameters>
struct codes_in<quantized_element<Parameters>> {
    static constexpr bool known = true;
    static constexpr i32 zero = Parameters.zero;
    static constexpr code_range range = range_of(Parameters);
    static constexpr float scale = Parameters.scale();
};
/// The element type of an operand of `dot`: a view's, or that of a formula that gives bare codes.
template <class Operand>
struct dot_element {
    using type = void;
};
template <class Type, class Extents, class Layout, class Space, int Alignment>
struct dot_element<tensor_view<Type, Extents, Layout, Space, Alignment>> {
    using type = remove_cvref<Type>;
};
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
    requires(Type == dtype::i8 || Type == dtype::u8 || Type == dtype::i16 || Type == dtype::u16)
struct dot_element<expression<Program, Root, Extents, Type, Weak, Leaves...>> {
    using type = type_of<Type>;
};
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
SINTER_INLINE const auto& codes_of(const expression<Program, Root, Extents, Type, Weak, Leaves...>& from) {
    return from;
}
template <class Type, class Extents, class Layout, class Space, int Alignment>
SINTER_INLINE auto codes_of(const tensor_view<Type, Extents, Layout, Space, Alignment>& from) {
    if constexpr (is_quantized<remove_cvref<Type>>)
        return codes(from);
    else
        return from;
}
/// The views that maps of views give, and owners.
template <class Operand>
using viewed = remove_cvref<decltype(get<0>(as_expression(some<const Operand&>()).operands))>;

template <class Left, class Right, class Axes, bool Keep>
struct dot_of {
    using left = codes_in<typename dot_element<Left>::type>;
    using right = codes_in<typename dot_element<Right>::type>;
    static constexpr shape_result both = broadcast(Left::extents_type::static_shape, Right::extents_type::static_shape);
    using fold = reduction<monoids::exact_sum, Axes, Keep>;
    static constexpr bool fits_16_bits(code_range range) { return range.low >= -32768 && range.high <= 32767; }
    using product = code_product_op<left::zero, right::zero, fits_16_bits(left::range) && fits_16_bits(right::range), (left::range.low >= 0)>;
    /// Products in one sum; dyn if a size is known only when run.
    static constexpr i64 find_length() {
        bool reduced[max_rank]{};
        int axis = 0;
        if (!both.ok() || reduced_axes(fold::facts, both.value.rank, reduced, axis) != violation::none) return 0;  // said elsewhere
        i64 product = 1;
        for (int i = 0; i < both.value.rank; ++i)
            if (reduced[i]) {
                if (both.value.size[i] < 0) return dyn;
                product *= both.value.size[i];
            }
        return product;
    }
    static constexpr i64 length = find_length();
    static constexpr i64 most = exact_dot_length(left::range, right::range);
};
template <class Type>
concept gives_codes = codes_in<typename dot_element<remove_cvref<Type>>::type>::known;

template <class Axes, bool Keep, class Left, class Right>
SINTER_INLINE auto exact_dot(const Left& x, const Right& w) {
    using facts = dot_of<Left, Right, Axes, Keep>;
    if constexpr (!gives_codes<Left> || !gives_codes<Right>)  // (clang asks for the result's type before it looks at the constraints)
        return refused<mistake<rule::dot_knows_codes, Left, Right>>{};
    else if constexpr (facts::length == dyn || facts::length > facts::most)
        return refused<mistake<rule::dot_stays_exact, number<facts::length>, number<facts::most>>>{};
    else
        return apply<typename facts::fold>(apply<typename facts::product>(codes_of(x), codes_of(w)));
}
template <class Axes, bool Keep, class Left, class Right>
SINTER_INLINE auto real_dot(const Left& x, const Right& w) {
    using sum_type = decltype(exact_dot<Axes, Keep>(x, w));
    if constexpr (!is_same<outcome<sum_type>, sum_type>) {
        return exact_dot<Axes, Keep>(x, w);
    } else {
        using facts = dot_of<Left, Right, Axes, Keep>;
        constexpr float scale = step::mul(facts::left::scale, facts::right::scale);
        return apply<scale_sum_op<__builtin_bit_cast(u32, scale)>>(exact_dot<Axes, Keep>(x, w));
    }
}
}  // namespace detail

/// The exact i32 sum of (x - zero of x) * (w - zero of w) over axes of the broadcast product; x and w are views of i8, u8, i16, u16 or
/// quantized elements, or formulas of such integers, as `quantize<i8>(x, scale)` is one. More products than surely fit an i32 (131071 of i8 by i8), or a number known only when run, don't compile.
template <detail::gives_codes Left, detail::gives_codes Right, i64... Axis>
SINTER_INLINE auto dot_codes(const Left& x, const Right& w, axes_t<Axis...>) -> detail::outcome<decltype(detail::exact_dot<axes_t<Axis...>, true>(x, w))> {
    return detail::exact_dot<axes_t<Axis...>, true>(x, w);
}
template <detail::gives_codes Left, detail::gives_codes Right, i64... Axis>
SINTER_INLINE auto dot_codes(const Left& x, const Right& w, axes_t<Axis...>, drop_t) -> detail::outcome<decltype(detail::exact_dot<axes_t<Axis...>, false>(x, w))> {
    return detail::exact_dot<axes_t<Axis...>, false>(x, w);
}
/// The real value of that sum: it times the product of the scales (rounded to f32 while compiling), two roundings in all; f32.
template <detail::gives_codes Left, detail::gives_codes Right, i64... Axis>
SINTER_INLINE auto dot(const Left& x, const Right& w, axes_t<Axis...>) -> detail::outcome<decltype(detail::real_dot<axes_t<Axis...>, true>(x, w))> {
    return detail::real_dot<axes_t<Axis...>, true>(x, w);
}
template <detail::gives_codes Left, detail::gives_codes Right, i64... Axis>
SINTER_INLINE auto dot(const Left& x, const Right& w, axes_t<Axis...>, drop_t) -> detail::outcome<decltype(detail::real_dot<axes_t<Axis...>, false>(x, w))> {
    return detail::real_dot<axes_t<Axis...>, false>(x, w);
}

/// Within a traced lambda, where nobody knows yet whose codes they are: a mistake with a name.
template <class Left, class Right, class... Where>
    requires(is_same<Left, traced> || is_same<Right, traced>)
SINTER_INLINE refused<mistake<rule::dot_knows_codes, Left, Right>> dot_codes(const Left&, const Right&, Where...) {
    return {};
}
template <class Left, class Right, class... Where>
    requires(is_same<Left, traced> || is_same<Right, traced>)
SINTER_INLINE refused<mistake<rule::dot_knows_codes, Left, Right>> dot(const Left&, const Right&, Where...) {
    return {};
}
/// A view that holds its scales: there may be one for each product.
template <class Type>
concept holds_scales = operand_kind_of<Type> == operand_kind::expression && !requires { typename remove_cvref<Type>::extents_type; };
template <tensor_operand Left, tensor_operand Right, class... Where>
    requires(holds_scales<Left> || holds_scales<Right>)
SINTER_INLINE mistake<rule::scale_is_in_the_type, Left, Right> dot_codes(const Left&, const Right&, Where...) {
    return {};
}
template <tensor_operand Left, tensor_operand Right, class... Where>
    requires(holds_scales<Left> || holds_scales<Right>)
SINTER_INLINE mistake<rule::scale_is_in_the_type, Left, Right> dot(const Left&, const Right&, Where...) {
    return {};
}
/// Of other than codes, or without axes.
template <tensor_operand Left, tensor_operand Right, class... Where>
    requires(!is_same<Left, traced> && !is_same<Right, traced> && !holds_scales<Left> && !holds_scales<Right>)
SINTER_INLINE mistake<rule::dot_has_codes, Left, Right> dot_codes(const Left&, const Right&, const Where&...) {
    return {};
}
/// Of other than codes: said as of `matmul`; of codes with something else than axes.
template <tensor_operand Left, tensor_operand Right, class... Where>
    requires(!is_same<Left, traced> && !is_same<Right, traced> && !holds_scales<Left> && !holds_scales<Right> && !(detail::gives_codes<Left> && detail::gives_codes<Right>))
SINTER_INLINE typename detail::matmul_result<true, Left, Right>::type dot(const Left&, const Right&, Where...) {
    return {};
}
template <detail::gives_codes Left, detail::gives_codes Right, class... Where>
    requires(!detail::says_where<list<Where...>> || sizeof...(Where) == 0)
SINTER_INLINE mistake<rule::axes_are_types, Where...> dot(const Left&, const Right&, Where...) {
    return {};
}

}  // namespace sinter
