// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized views whose parameters are known only when run, and 4-bit codes two in a byte.
//
//     auto x = quantized(codes, 0.05f, 3);                          // per tensor; scale and zero point may be tensors that broadcast
//     auto w = quantized(codes, axes<0>, scales);                   // per axis: one scale (and zero point) for each index along it
//     auto b = quantized(codes, block<-1, 32>, scales);             // per block of 32 along an axis: scales of shape [..., size / 32]
//     run(cpu, y = x * b);                                          // real values
//     run(cpu, w = expression);                                     // rounds and saturates
//
// Such a view is an operand and an output. Its scales are checked once per call, where the executor can read them ([SINTER-R010]).
#pragma once

#include "quantize.hpp"
#include "view.hpp"

namespace sinter {

/// Per block of `Length` elements along an axis. `Partial`: the last block may be shorter.
template <i64 Axis, i64 Length, bool Partial = false>
struct block_t {};
template <i64 Axis, i64 Length>
inline constexpr block_t<Axis, Length> block{};
template <i64 Axis, i64 Length>
inline constexpr block_t<Axis, Length, true> partial_block{};

namespace detail {
/// In this namespace so that `as_expression` is found by argument-dependent lookup.
struct held_parameters {};
struct whole_tensor {};
}  // namespace detail

namespace lane {
/// Elements of a view by their offsets, lanes of i64. `Alike`: most often those of a vector are one, which is loaded once then.
template <bool Alike, class Element, lane_value Offsets>
SINTER_INLINE auto look_up(const Element* from, Offsets offsets) {
    using value = compute_of<remove_cvref<Element>>;
    using lanes = typename Offsets::template rebind<value>;
    if constexpr (Offsets::width == 1) {
        return lanes(scalar<value>::load(from + first(offsets)).value);
    } else {
        if constexpr (Alike)
            if (all(equal(offsets, Offsets(first(offsets))))) return lanes(scalar<value>::load(from + first(offsets)).value);
        i64 at[unsigned(Offsets::width)];
        store(at, offsets);
        value found[unsigned(Offsets::width)];
        for (int i = 0; i < Offsets::width; ++i) found[i] = scalar<value>::load(from + at[i]).value;
        return lanes::load(found);
    }
}
/// Coordinates in a table, each within its axis. Lanes before the first element of a loop or behind its last one count on, and what they
/// look up is dropped; memory that isn't the table's may not be read for it.
template <lane_value Coordinates>
SINTER_INLINE Coordinates within_axis(Coordinates at, i64 size) {
    return maximum(minimum(at, Coordinates(size - 1)), Coordinates(i64(0)));
}
}  // namespace lane

/// The parameter of the block that an element lies in: the table's element at the coordinates, the one along `Axis` divided by `Length`.
template <int Axis, i64 Length, dtype Type>
struct block_lookup_op {
    static constexpr bool looks_up = true;
    /// Neighbours along the last axis lie in one block most often.
    template <int Rank>
    static constexpr bool alike = Axis == Rank - 1 && Length >= 16;
    static SINTER_INLINE typing rule(const value_type*, int count) {
        typing out = rules::uniform({Type, false}, dtype::i64, count);
        return out;
    }
    static constexpr op_facts facts_of(int arity) {
        return op_facts{.name = "block_lookup", .kind = node_kind::map, .arity = arity, .rule = &rule, .cost = 12, .takes_integers = true,
                        .parameters = u64(Length) << 8 | u64(Axis + 1), .divided_axis = Axis, .divisor = Length};
    }
    static constexpr op_facts facts = facts_of(2);
    template <int Index, class Table>
    static SINTER_INLINE i64 step(const Table& table) {
        return table.state().stride[Index];
    }
    template <int Index, class Table, class Lanes>
    static SINTER_INLINE Lanes place(const Table& table, Lanes coordinate) {
        using namespace lane_names;
        Lanes at = coordinate;
        if constexpr (Index == Axis) {
            if constexpr ((Length & (Length - 1)) == 0) {
                constexpr int shift = __builtin_ctzll(static_cast<unsigned long long>(Length));
                at = shift_right<shift>(at);
            } else {
                at = div(at, Lanes(Length));
            }
        }
        return mul(lane::within_axis(at, table.state().sizes.size[Index]), Lanes(step<Index>(table)));
    }
    template <class Table, class First>
    static SINTER_INLINE auto apply(const Table& table, First a) {
        return convert_up(lane::look_up<alike<1>>(table.data(), place<0>(table, a)));
    }
    template <class Table, class First>
    static SINTER_INLINE auto apply(const Table& table, First a, First b) {
        using namespace lane_names;
        return convert_up(lane::look_up<alike<2>>(table.data(), add(place<0>(table, a), place<1>(table, b))));
    }
    template <class Table, class First>
    static SINTER_INLINE auto apply(const Table& table, First a, First b, First c) {
        using namespace lane_names;
        return convert_up(lane::look_up<alike<3>>(table.data(), add(add(place<0>(table, a), place<1>(table, b)), place<2>(table, c))));
    }
    template <class Lanes>
    static SINTER_INLINE auto convert_up(Lanes found) {
        return convert<type_of<Type>>(found);
    }
};
/// 4-bit codes from bytes: real values of static parameters, or `AsCodes` the codes less the zero point. The coordinates count numbers, not bytes.
template <qparams Parameters, int Rank, bool AsCodes = false>
struct unpack_op {
    static SINTER_INLINE typing rule(const value_type*, int count) { return rules::uniform({AsCodes ? dtype::i32 : dtype::f32, false}, dtype::i64, count); }
    static constexpr op_facts facts{.name = "unpack", .kind = node_kind::map, .arity = Rank + 1, .rule = &rule, .cost = 16, .takes_integers = true,
                                     .parameters = fingerprint(Parameters), .divided_axis = Rank - 1, .divisor = 2};
    template <int Index, class Table, class Lanes>
    static SINTER_INLINE Lanes place(const Table& table, Lanes byte) {
        using namespace lane_names;
        return mul(lane::within_axis(byte, table.state().sizes.size[Index]), Lanes(table.state().stride[Index]));
    }
    template <class Table, class Lanes>
    static SINTER_INLINE auto decode(const Table& table, Lanes before, Lanes last) {
        using namespace lane_names;
        const Lanes offset = add(before, place<Rank - 1>(table, shift_right<1>(last)));
        const auto bytes = convert<i32>(lane::look_up<false>(table.data(), offset));
        using whole = remove_cvref<decltype(bytes)>;
        const auto shifted = shift_right(bytes, shift_left<2>(bit_and(convert<i32>(last), whole(1))));
        whole nibble = bit_and(shifted, whole(15));
        if constexpr (Parameters.storage == code_kind::i4) nibble = sub(bit_xor(nibble, whole(8)), whole(8));  // from two's complement
        if constexpr (AsCodes)
            return sub(nibble, whole(Parameters.zero));
        else
            return lane::dequantize_codes<Parameters>(nibble);
    }
    template <class Table, class Lanes>
    static SINTER_INLINE auto apply(const Table& table, Lanes a) {
        return decode(table, Lanes(i64(0)), a);
    }
    template <class Table, class Lanes>
    static SINTER_INLINE auto apply(const Table& table, Lanes a, Lanes b) {
        return decode(table, place<0>(table, a), b);
    }
    template <class Table, class Lanes>
    static SINTER_INLINE auto apply(const Table& table, Lanes a, Lanes b, Lanes c) {
        using namespace lane_names;
        return decode(table, add(place<0>(table, a), place<1>(table, b)), c);
    }
};
/// Two codes in a byte.
struct pack_codes_op {
    static SINTER_INLINE typing rule(const value_type*, int count) { return rules::uniform({dtype::u8, false}, dtype::u8, count); }
    static constexpr op_facts facts{.name = "pack", .kind = node_kind::map, .arity = 2, .rule = &rule, .cost = 3};
    template <class Codes>
    static SINTER_INLINE auto apply(Codes low, Codes high) {
        using namespace lane_names;
        return bit_or(bit_and(low, Codes(u8(15))), shift_left<4>(high));
    }
};

namespace detail {
template <int Axis, i64 Length, dtype Type, int Rank>
struct block_lookup_of_rank : block_lookup_op<Axis, Length, Type> {
    static constexpr op_facts facts = block_lookup_op<Axis, Length, Type>::facts_of(Rank + 1);
};
/// An operand's expression, or what it is a mistake of.
template <class View>
SINTER_INLINE auto table_of(const View& from) {
    const auto reading = as_expression(from);  // of const elements
    using leaf_type = nth_type<0, remove_cvref<decltype(get<0>(reading.operands))>>;
    using table = table_operand<leaf_type>;
    return expression<program<leaf<0>>, 0, extents<>, dtype::f32, true, table>{{{{table{get<0>(reading.operands)}}}}};
}
template <class Op, class Table, class Like, int... Index>
SINTER_INLINE auto look_up_by_coordinates(const Table& table, const Like& like, indices<Index...>) {
    return apply_direct<Op>(table_of(table), apply_direct<coordinate_op<Index>>(as_expression(like))...);
}

/// Sizes of per-axis parameters as a shape that broadcasts against the codes: the count at the axis, 1 behind it.
template <i64 Count, int Behind>
struct along_axis;
template <i64 Count>
struct along_axis<Count, 0> {
    using type = extents<Count>;
};
template <i64 Count>
struct along_axis<Count, 1> {
    using type = extents<Count, 1>;
};
template <i64 Count>
struct along_axis<Count, 2> {
    using type = extents<Count, 1, 1>;
};
template <i64 Count>
struct along_axis<Count, 3> {
    using type = extents<Count, 1, 1, 1>;
};
template <i64 Count>
struct along_axis<Count, 4> {
    using type = extents<Count, 1, 1, 1, 1>;
};
template <i64 Count>
struct along_axis<Count, 5> {
    using type = extents<Count, 1, 1, 1, 1, 1>;
};
template <i64 Count>
struct along_axis<Count, 6> {
    using type = extents<Count, 1, 1, 1, 1, 1, 1>;
};
template <i64 Count>
struct along_axis<Count, 7> {
    using type = extents<Count, 1, 1, 1, 1, 1, 1, 1>;
};
/// Parameters along an axis of the codes of static size `Size` (negative: known when run). Their count is that size and stretches nowhere:
/// one parameter for an axis that is known when run is checked like any other count, and for an axis of one another count is no view.
template <i64 Size, int Behind, class Type, i64 Count, class Layout, class Space, int Alignment>
SINTER_INLINE auto spread_along(const tensor_view<Type, extents<Count>, Layout, Space, Alignment>& from) {
    using sizes_type = typename along_axis<(Size == 1 ? 1 : Size < 0 && Count == 1 ? dyn : Count), Behind>::type;
    using view_type = tensor_view<const remove_cvref<Type>, sizes_type, strided, Space>;
    array<i64, sizes_type::rank> strides{};
    strides[0] = from.state().stride[0];
    if constexpr (sizes_type::dynamic_count > 0) {
        return view_type(from.data(), sizes_type(from.sizes().size[0]), strides);
    } else {
        if (Size != 1 || from.sizes().size[0] == 1) return view_type(from.data(), sizes_type{}, strides);
        strides[0] = invalid_stride;
        return view_type(nullptr, sizes_type{}, strides);
    }
}
template <i64 Size, int Behind, class Number>
    requires is_scalar_v<Number>
SINTER_INLINE Number spread_along(Number value) {
    return value;
}

/// The codes, or no view of them where sizes that are known when run don't give one parameter for each block: it would be read elsewhere.
template <int Place, i64 Length, bool Partial, class Codes, class Parameter>
SINTER_INLINE auto in_blocks(const Codes& codes_view, const Parameter& parameter) {
    if constexpr (Codes::extents_type::is_static && Parameter::extents_type::is_static) {
        return codes_view;  // compared while compiling
    } else {
        const view_state codes = codes_view.state();
        const shape counts = parameter.sizes();
        bool fits = Partial || codes.sizes.size[Place] % Length == 0;
        for (int i = 0; i < Codes::rank; ++i)
            fits = fits && counts.size[i] == (i == Place ? (codes.sizes.size[i] + Length - 1) / Length : codes.sizes.size[i]);
        return make_mapped<typename Codes::extents_type, typename Codes::space>(codes_view.data(), codes, fits);
    }
}

/// The parameters of a view as expressions that broadcast against its codes.
template <class Granularity>
struct held_for;
template <>
struct held_for<whole_tensor> {
    static constexpr int axis = -1;
    template <class Codes, class Parameter>
    static SINTER_INLINE auto get(const Codes&, const Parameter& parameter) {
        return as_expression(parameter);
    }
};
template <i64 Axis>
struct held_for<axes_t<Axis>> {
    template <class Codes>
    static constexpr int place = normal_axis(Axis, Codes::rank);
    template <class Codes, class Parameter>
    static SINTER_INLINE auto get(const Codes&, const Parameter& parameter) {
        constexpr i64 size = Codes::extents_type::static_shape.size[place<Codes>];
        return as_expression(spread_along<size, Codes::rank - 1 - place<Codes>>(parameter));
    }
};
template <i64 Axis, i64 Length, bool Partial>
struct held_for<block_t<Axis, Length, Partial>> {
    template <class Codes, class Parameter>
    static SINTER_INLINE auto get(const Codes& codes_view, const Parameter& parameter) {
        if constexpr (is_scalar_v<Parameter>) {
            return as_expression(parameter);
        } else {
            constexpr dtype type = is_float(dtype_of<remove_cvref<typename Parameter::element>>) ? dtype::f32 : dtype::i32;
            using op = block_lookup_of_rank<normal_axis(Axis, Codes::rank), Length, type, Codes::rank>;
            return look_up_by_coordinates<op>(parameter, in_blocks<normal_axis(Axis, Codes::rank), Length, Partial>(codes_view, parameter), make_indices<Codes::rank>{});
        }
    }
};
/// Counted from the right; 0: along none.
template <class Granularity, class Codes>
inline constexpr int quantized_axis_of = 0;
template <i64 Axis, class Codes>
inline constexpr int quantized_axis_of<axes_t<Axis>, Codes> = normal_axis(Axis, Codes::rank) - Codes::rank;
template <i64 Axis, i64 Length, bool Partial, class Codes>
inline constexpr int quantized_axis_of<block_t<Axis, Length, Partial>, Codes> = normal_axis(Axis, Codes::rank) - Codes::rank;
}  // namespace detail

/// Codes in memory with parameters that the view holds; made by `quantized`. An operand, and an output.
template <class Codes, class Granularity, class Scale, class Zero>
struct quantized_view : detail::held_parameters {
    using codes_type = Codes;
    using granularity = Granularity;
    Codes codes_view;
    Scale scale;
    Zero zero;

    SINTER_HOST_DEVICE constexpr quantized_view(const Codes& codes_given, const Scale& scale_given, const Zero& zero_given)
        : codes_view(codes_given), scale(scale_given), zero(zero_given) {}
    quantized_view(const quantized_view&) = default;
    const quantized_view& operator=(const quantized_view&) const = delete;  // [SINTER-E005] Hint: y = copy(x) rounds x to y's parameters.
    template <class Right, class Mistake = SINTER_E005_write_y_equals_copy_of_x>
        requires is_same<remove_cvref<Right>, quantized_view>
    const quantized_view& operator=(Right&&) const = delete;  // [SINTER-E005] Hint: y = copy(x) rounds x to y's parameters.

    /// `view = expression`: rounds and saturates; nothing runs until `run` takes it.
    template <class Right, class Mistake = void>
    [[nodiscard(SINTER_DROPPED_ASSIGNMENT)]] constexpr auto operator=(Right&& right) const
        -> decltype(assign_quantized(*this, static_cast<Right&&>(right))) {
        return assign_quantized(*this, static_cast<Right&&>(right));
    }
};

namespace detail {
template <class Codes, class Granularity, class Scale, class Zero>
struct kind_of_operand<quantized_view<Codes, Granularity, Scale, Zero>> {
    static constexpr int value = operand_kind::expression;
};
/// The expression of a view's real values, which remembers its axis for the node that takes it.
template <int Axis, class Expression>
struct expression_along : Expression {
    static constexpr int quantized_axis = Axis;
};
template <int Axis, class Expression>
SINTER_INLINE auto with_axis(const Expression& from) {
    return expression_along<Axis, Expression>{from};
}
template <class Codes, class Granularity, class Scale, class Zero>
SINTER_INLINE auto as_expression(const quantized_view<Codes, Granularity, Scale, Zero>& from) {
    using parameters = held_for<Granularity>;
    return with_axis<quantized_axis_of<Granularity, Codes>>(apply_direct<dequantize_op>(
        as_expression(from.codes_view), parameters::get(from.codes_view, from.scale), parameters::get(from.codes_view, from.zero)));
}
}  // namespace detail

namespace detail {
template <class Type>
concept code_view = operand_kind_of<Type> == operand_kind::view && is_code_type<remove_cvref<typename remove_cvref<Type>::element>>;
template <class Type>
concept parameter = operand_kind_of<Type> == operand_kind::view || operand_kind_of<Type> == operand_kind::scalar;

/// Do parameters along an axis fit the codes? A mistake, or `nothing_wrong`.
template <class Codes, class Parameter, i64 Axis>
constexpr auto axis_verdict() {
    constexpr int place = normal_axis(Axis, Codes::rank);
    if constexpr (place < 0)
        return refused<mistake<rule::parameters_fit, at_axis<int(Axis)>, printed<typename Codes::extents_type>>>{};
    else if constexpr (is_scalar_v<Parameter>)
        return nothing_wrong{};
    else if constexpr (Parameter::rank != 1)
        return refused<mistake<rule::parameters_fit, at_axis<int(Axis)>, printed<typename Codes::extents_type>, printed<typename Parameter::extents_type>>>{};
    else {
        constexpr i64 size = Codes::extents_type::static_shape.size[place], count = Parameter::extents_type::static_shape.size[0];
        if constexpr (size >= 0 && count >= 0 && size != count)
            return refused<mistake<rule::parameters_fit, at_axis<int(Axis)>, printed<typename Codes::extents_type>, printed<typename Parameter::extents_type>>>{};
        else
            return nothing_wrong{};
    }
}
/// The same for blocks along an axis.
template <class Codes, class Parameter, i64 Axis, i64 Length, bool Partial>
constexpr auto block_verdict() {
    constexpr int place = normal_axis(Axis, Codes::rank);
    if constexpr (place < 0 || Length < 1 || Codes::rank > 3)
        return refused<mistake<rule::parameters_fit, at_axis<int(Axis)>, printed<typename Codes::extents_type>>>{};
    else if constexpr (!Partial && Codes::extents_type::static_shape.size[place] >= 0 && Codes::extents_type::static_shape.size[place] % Length != 0)
        return refused<mistake<rule::blocks_divide, at_axis<int(Axis)>, number<Length>, printed<typename Codes::extents_type>>>{};
    else if constexpr (is_scalar_v<Parameter>)
        return nothing_wrong{};
    else if constexpr (Parameter::rank != Codes::rank)
        return refused<mistake<rule::parameters_fit, at_axis<int(Axis)>, printed<typename Codes::extents_type>, printed<typename Parameter::extents_type>>>{};
    else {
        constexpr bool fits = [] {
            for (int i = 0; i < Codes::rank; ++i) {
                const i64 size = Codes::extents_type::static_shape.size[i], count = Parameter::extents_type::static_shape.size[i];
                if (size >= 0 && count >= 0 && count != (i == place ? (size + Length - 1) / Length : size)) return false;
            }
            return true;
        }();
        if constexpr (!fits)
            return refused<mistake<rule::parameters_fit, at_axis<int(Axis)>, printed<typename Codes::extents_type>, printed<typename Parameter::extents_type>>>{};
        else
            return nothing_wrong{};
    }
}
/// The same without an axis: a number, or a view that has the codes' axes, of which those along which it doesn't change have size 1. A view of
/// fewer axes would broadcast along the first ones, whatever it was meant for.
template <class Codes, class Parameter>
constexpr auto whole_verdict() {
    if constexpr (is_scalar_v<Parameter>)
        return nothing_wrong{};
    else if constexpr (Parameter::extents_type::static_shape.count() == 1)
        return nothing_wrong{};
    else if constexpr (Parameter::rank != Codes::rank)
        return refused<mistake<rule::parameters_fit, printed<typename Codes::extents_type>, printed<typename Parameter::extents_type>>>{};
    else {
        constexpr bool fits = [] {
            for (int i = 0; i < Codes::rank; ++i) {
                const i64 size = Codes::extents_type::static_shape.size[i], count = Parameter::extents_type::static_shape.size[i];
                if (size >= 0 && count >= 0 && count != 1 && count != size) return false;
            }
            return true;
        }();
        if constexpr (!fits)
            return refused<mistake<rule::parameters_fit, printed<typename Codes::extents_type>, printed<typename Parameter::extents_type>>>{};
        else
            return nothing_wrong{};
    }
}
/// Is a zero point an integer? A mistake, or `nothing_wrong`.
template <class Zero>
struct zero_verdict {
    using type = conditional<is_fractional<Zero>, refused<mistake<rule::zero_is_a_code, Zero>>, nothing_wrong>;
};
template <class Zero>
    requires(operand_kind_of<Zero> == operand_kind::view)
struct zero_verdict<Zero> : zero_verdict<remove_cvref<typename Zero::element>> {};
template <class Granularity, class Codes, class Parameter>
struct fits_codes;
template <class Codes, class Parameter>
struct fits_codes<whole_tensor, Codes, Parameter> {
    using type = decltype(whole_verdict<Codes, Parameter>());
};
template <i64 Axis, class Codes, class Parameter>
struct fits_codes<axes_t<Axis>, Codes, Parameter> {
    using type = decltype(axis_verdict<Codes, Parameter, Axis>());
};
template <i64 Axis, i64 Length, bool Partial, class Codes, class Parameter>
struct fits_codes<block_t<Axis, Length, Partial>, Codes, Parameter> {
    using type = decltype(block_verdict<Codes, Parameter, Axis, Length, Partial>());
};
template <class Granularity, class Codes, class Scale, class Zero>
SINTER_INLINE auto make_checked_quantized(const Codes& codes_view, const Scale& scale, const Zero& zero) {
    using wrong = first_wrong<typename fits_codes<Granularity, Codes, Scale>::type, typename fits_codes<Granularity, Codes, Zero>::type, typename zero_verdict<Zero>::type>;
    if constexpr (!is_same<wrong, nothing_wrong>)
        return wrong{};
    else {
        // (Sizes that have names may still differ.)
        using real = decltype(apply_direct<dequantize_op>(as_expression(codes_view), held_for<Granularity>::get(codes_view, scale), held_for<Granularity>::get(codes_view, zero)));
        if constexpr (operand_kind_of<real> == operand_kind::poison)
            return real{};
        else
            return quantized_view<Codes, Granularity, Scale, Zero>(codes_view, scale, zero);
    }
}
/// (clang asks for the result's type before it asks whether these are codes and parameters.)
template <class Granularity, class Codes, class Scale, class Zero>
SINTER_INLINE auto make_quantized(const Codes& codes_view, const Scale& scale, const Zero& zero) {
    if constexpr (code_view<Codes> && parameter<Scale> && parameter<Zero>)
        return make_checked_quantized<Granularity>(codes_view, scale, zero);
    else
        return nothing_wrong{};
}
template <class Granularity, class Codes, class Scale, class Zero>
using quantized_result = outcome<decltype(make_quantized<Granularity>(some<const Codes&>(), some<const Scale&>(), some<const Zero&>()))>;
}  // namespace detail

/// Codes (a view of i8, u8, i16 or u16) with one scale and zero point, numbers, or views that broadcast against the codes (one per row:
/// shape [rows, 1]).
template <detail::code_view Codes, detail::parameter Scale, detail::parameter Zero = i32>
SINTER_INLINE detail::quantized_result<detail::whole_tensor, Codes, Scale, Zero> quantized(const Codes& codes_view, const Scale& scale, const Zero& zero = 0) {
    return detail::make_quantized<detail::whole_tensor>(codes_view, scale, zero);
}
template <detail::code_view Codes>
SINTER_INLINE auto quantized(const Codes& codes_view, const qparams& given) -> detail::quantized_result<detail::whole_tensor, Codes, float, i32> {
    return detail::make_quantized<detail::whole_tensor>(codes_view, given.scale(), given.zero);
}
/// With a scale, and a zero point, for each index along an axis: views of rank 1 (or a number for all).
template <detail::code_view Codes, i64 Axis, detail::parameter Scale, detail::parameter Zero = i32>
SINTER_INLINE detail::quantized_result<axes_t<Axis>, Codes, Scale, Zero> quantized(const Codes& codes_view, axes_t<Axis>, const Scale& scale, const Zero& zero = 0) {
    return detail::make_quantized<axes_t<Axis>>(codes_view, scale, zero);
}
/// With a scale, and a zero point, for each block along an axis: views of the codes' shape with that axis divided. Up to three axes.
template <detail::code_view Codes, i64 Axis, i64 Length, bool Partial, detail::parameter Scale, detail::parameter Zero = i32>
SINTER_INLINE detail::quantized_result<block_t<Axis, Length, Partial>, Codes, Scale, Zero> quantized(const Codes& codes_view, block_t<Axis, Length, Partial>,
                                                                                                   const Scale& scale, const Zero& zero = 0) {
    return detail::make_quantized<block_t<Axis, Length, Partial>>(codes_view, scale, zero);
}

// Codes without a scale, of other types, and memory without a shape as codes or parameters.
template <detail::code_view Codes, i64... Axis>
SINTER_INLINE mistake<rule::takes_so_many, Codes> quantized(const Codes&, axes_t<Axis...> = {}) {
    return {};
}
template <class Codes, class... Given>
    requires(operand_kind_of<Codes> == operand_kind::view && !detail::code_view<Codes> && sizeof...(Given) > 0)
SINTER_INLINE mistake<rule::codes_are_small, remove_cvref<typename Codes::element>> quantized(const Codes&, const Given&...) {
    return {};
}
template <bare_memory Codes, class... Given>
    requires(sizeof...(Given) > 0)
SINTER_INLINE mistake<rule::operand_has_shape, Codes> quantized(const Codes&, const Given&...) {
    return {};
}
template <detail::code_view Codes, class Scale, class Zero = i32>
    requires(bare_memory<Scale> || bare_memory<Zero>)
SINTER_INLINE mistake<rule::operand_has_shape, Scale, Zero> quantized(const Codes&, const Scale&, const Zero& = 0) {
    return {};
}
template <detail::code_view Codes, i64 Axis, class Scale, class Zero = i32>
    requires(bare_memory<Scale> || bare_memory<Zero>)
SINTER_INLINE mistake<rule::operand_has_shape, Scale, Zero> quantized(const Codes&, axes_t<Axis>, const Scale&, const Zero& = 0) {
    return {};
}
template <detail::code_view Codes, i64 Axis, i64 Length, bool Partial, class Scale, class Zero = i32>
    requires(bare_memory<Scale> || bare_memory<Zero>)
SINTER_INLINE mistake<rule::operand_has_shape, Scale, Zero> quantized(const Codes&, block_t<Axis, Length, Partial>, const Scale&, const Zero& = 0) {
    return {};
}

// ---- two codes in a byte ------------------------------------------------------------------------------------------------------

namespace detail {
/// The shape of the numbers in a shape of bytes.
template <class Extents>
struct unpacked_extents;
template <i64 Last>
struct unpacked_extents<extents<Last>> {
    using type = extents<Last * 2>;
};
template <i64 First, i64 Last>
struct unpacked_extents<extents<First, Last>> {
    using type = extents<First, Last * 2>;
};
template <i64 First, i64 Second, i64 Last>
struct unpacked_extents<extents<First, Second, Last>> {
    using type = extents<First, Second, Last * 2>;
};
template <class Op, class Bytes, class Extents, int... Index>
SINTER_INLINE auto unpack_bytes(const Bytes& bytes, const Extents& sizes, indices<Index...>) {
    return apply_direct<Op>(table_of(bytes), apply_direct<coordinate_op<Index>>(shape_expression(sizes))...);
}
}  // namespace detail

/// Numbers that lie two in a byte; made by `packed`. An operand, whose last axis counts numbers, and an output.
template <qparams Parameters, class Bytes>
struct packed_view : detail::held_parameters {
    Bytes bytes;
    SINTER_HOST_DEVICE constexpr explicit packed_view(const Bytes& from) : bytes(from) {}
    packed_view(const packed_view&) = default;
    const packed_view& operator=(const packed_view&) const = delete;  // [SINTER-E005] Hint: y = copy(x) copies elements.
    template <class Right, class Mistake = SINTER_E005_write_y_equals_copy_of_x>
        requires is_same<remove_cvref<Right>, packed_view>
    const packed_view& operator=(Right&&) const = delete;  // [SINTER-E005] Hint: y = copy(x) copies elements.
    /// `packed(...) = expression`: rounds to 4-bit codes; nothing runs until `run` takes it.
    template <class Right, class Mistake = void>
    [[nodiscard(SINTER_DROPPED_ASSIGNMENT)]] constexpr auto operator=(Right&& right) const
        -> decltype(assign_packed(*this, static_cast<Right&&>(right))) {
        return assign_packed(*this, static_cast<Right&&>(right));
    }
};
namespace detail {
template <qparams Parameters, class Bytes>
struct kind_of_operand<packed_view<Parameters, Bytes>> {
    static constexpr int value = operand_kind::expression;
};
template <qparams Parameters, class Bytes>
SINTER_INLINE auto as_expression(const packed_view<Parameters, Bytes>& from) {
    using sizes = typename unpacked_extents<typename Bytes::extents_type>::type;
    return unpack_bytes<unpack_op<Parameters, Bytes::rank>>(from.bytes, sizes{}, make_indices<Bytes::rank>{});
}
}  // namespace detail
/// Pairs (`q4x2`, `qu4x2`) of static shape as an operand and an output. The sizes count bytes; the operand's last axis has twice as many
/// numbers, and what is stored must have, too. Up to three axes. `Space`: where the memory lies.
template <class Space = host_memory, qparams Parameters, i64... Sizes>
    requires(sizeof...(Sizes) >= 1 && sizeof...(Sizes) <= 3 && extents<Sizes...>::is_static)
SINTER_INLINE auto packed(quantized_pair<Parameters>* pairs, const extents<Sizes...>& bytes) {
    using view_type = tensor_view<u8, extents<Sizes...>, row_major, Space>;
    return packed_view<Parameters, view_type>(view_type(reinterpret_cast<u8*>(pairs), bytes));
}
template <class Space = host_memory, qparams Parameters, i64... Sizes>
    requires(sizeof...(Sizes) >= 1 && sizeof...(Sizes) <= 3 && extents<Sizes...>::is_static)
SINTER_INLINE auto packed(const quantized_pair<Parameters>* pairs, const extents<Sizes...>& bytes) {
    using view_type = tensor_view<const u8, extents<Sizes...>, row_major, Space>;
    return packed_view<Parameters, view_type>(view_type(reinterpret_cast<const u8*>(pairs), bytes));
}

template <class Space = host_memory, class Pointer, class... Sizes>
    requires(sizeof...(Sizes) > 0)
SINTER_INLINE mistake<rule::packs_pairs, Pointer, Sizes...> packed(const Pointer&, const Sizes&...) {
    return {};
}

// ---- two codes in a byte, with scales that the view holds

namespace detail {
/// The shape of packed codes, in place of a view of codes.
template <class Sizes, class Space>
struct shape_of_codes {
    using extents_type = Sizes;
    using space = Space;
    static constexpr int rank = Sizes::rank;
};
template <class Sizes, class Space>
SINTER_INLINE auto as_expression(const shape_of_codes<Sizes, Space>&) {
    return shape_expression(Sizes{});
}
/// What a `quantized_view` has in place of a view of codes: pairs, of which the numbers are the codes less the zero point of the pairs' own parameters.
template <qparams Parameters, class Bytes>
struct packed_codes {
    using extents_type = typename unpacked_extents<typename Bytes::extents_type>::type;
    using space = typename Bytes::space;
    using element = typename Bytes::element;
    static constexpr int rank = Bytes::rank;
    Bytes bytes;
};
template <qparams Parameters, class Bytes>
SINTER_INLINE auto as_expression(const packed_codes<Parameters, Bytes>& from) {
    return unpack_bytes<unpack_op<Parameters, Bytes::rank, true>>(from.bytes, typename packed_codes<Parameters, Bytes>::extents_type{}, make_indices<Bytes::rank>{});
}
template <int Place, i64 Length, bool Partial, qparams Parameters, class Bytes, class Parameter>
SINTER_INLINE auto in_blocks(const packed_codes<Parameters, Bytes>&, const Parameter&) {
    return shape_of_codes<typename packed_codes<Parameters, Bytes>::extents_type, typename Bytes::space>{};
}
template <class Parameter>
constexpr bool has_static_sizes() {
    if constexpr (is_scalar_v<Parameter>)
        return true;
    else
        return Parameter::extents_type::is_static;
}
template <class Granularity>
inline constexpr bool is_in_blocks = false;
template <i64 Axis, i64 Length, bool Partial>
inline constexpr bool is_in_blocks<block_t<Axis, Length, Partial>> = true;
/// (clang asks for the result's type before it asks whether these are parameters.)
template <class Granularity, qparams Parameters, class Bytes, class Scale, class Zero>
SINTER_INLINE auto make_packed_quantized(const packed_view<Parameters, Bytes>& from, const Scale& scale, const Zero& zero) {
    using codes_type = packed_codes<Parameters, Bytes>;
    if constexpr (!parameter<Scale> || !parameter<Zero>)
        return nothing_wrong{};
    else if constexpr (Parameters.scale_bits != 0x3f800000)  // 1
        return refused<mistake<rule::one_scale_alone, scale_and_zero<Parameters.scale_bits, Parameters.zero>>>{};
    else if constexpr (is_in_blocks<Granularity> && !(has_static_sizes<Scale>() && has_static_sizes<Zero>()))
        return refused<mistake<rule::parameters_fit, printed<typename codes_type::extents_type>>>{};
    else
        return make_checked_quantized<Granularity>(codes_type{from.bytes}, scale, zero);
}
template <class Granularity, class Codes, class Scale, class Zero>
using packed_result = outcome<decltype(make_packed_quantized<Granularity>(some<const Codes&>(), some<const Scale&>(), some<const Zero&>()))>;
}  // namespace detail

/// 4-bit codes (`packed(...)`) with parameters that the view holds, as above: (number - zero) * scale, where the numbers are those of the pairs' own parameters,
/// whose scale is 1 (`q4x2<"1"_qp>`; `qu4x2<"1:8"_qp>` where 8 was added). An operand and an output; the scales of blocks have static sizes.
template <qparams Parameters, class Bytes, detail::parameter Scale, detail::parameter Zero = i32>
SINTER_INLINE detail::packed_result<detail::whole_tensor, packed_view<Parameters, Bytes>, Scale, Zero> quantized(const packed_view<Parameters, Bytes>& codes, const Scale& scale,
                                                                                                               const Zero& zero = 0) {
    return detail::make_packed_quantized<detail::whole_tensor>(codes, scale, zero);
}
template <qparams Parameters, class Bytes, i64 Axis, detail::parameter Scale, detail::parameter Zero = i32>
SINTER_INLINE detail::packed_result<axes_t<Axis>, packed_view<Parameters, Bytes>, Scale, Zero> quantized(const packed_view<Parameters, Bytes>& codes, axes_t<Axis>, const Scale& scale,
                                                                                                        const Zero& zero = 0) {
    return detail::make_packed_quantized<axes_t<Axis>>(codes, scale, zero);
}
template <qparams Parameters, class Bytes, i64 Axis, i64 Length, bool Partial, detail::parameter Scale, detail::parameter Zero = i32>
SINTER_INLINE detail::packed_result<block_t<Axis, Length, Partial>, packed_view<Parameters, Bytes>, Scale, Zero> quantized(const packed_view<Parameters, Bytes>& codes,
                                                                                                                          block_t<Axis, Length, Partial>, const Scale& scale,
                                                                                                                          const Zero& zero = 0) {
    return detail::make_packed_quantized<block_t<Axis, Length, Partial>>(codes, scale, zero);
}
// Without a scale, and memory without a shape as one.
template <qparams Parameters, class Bytes, i64... Axis>
SINTER_INLINE mistake<rule::takes_so_many, packed_view<Parameters, Bytes>> quantized(const packed_view<Parameters, Bytes>&, axes_t<Axis...> = {}) {
    return {};
}
template <qparams Parameters, class Bytes, class... Given>
    requires((bare_memory<Given> || ...))
SINTER_INLINE mistake<rule::operand_has_shape, Given...> quantized(const packed_view<Parameters, Bytes>&, const Given&...) {
    return {};
}

}  // namespace sinter
