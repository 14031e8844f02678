// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps by name: permute, transpose, slice, flip, reshape, expand, squeeze, unsqueeze, unflatten, flatten. On a view
// they give a view at once; in a formula they are nodes that the plan pushes down to the operands' strides. None is ever a
// kernel of its own, and none changes bits.
#pragma once

#include "../expression.hpp"

namespace sinter {

template <map_kind Kind, i64... Numbers>
struct map_op {
    static constexpr op_facts facts{
        .name = Kind == map_kind::permute     ? "permute"
                : Kind == map_kind::slice     ? "slice"
                : Kind == map_kind::flip      ? "flip"
                : Kind == map_kind::reshape   ? "reshape"
                : Kind == map_kind::expand    ? "expand"
                : Kind == map_kind::squeeze   ? "squeeze"
                : Kind == map_kind::unsqueeze ? "unsqueeze"
                : Kind == map_kind::unflatten ? "unflatten"
                                              : "flatten",
        .kind = node_kind::index_map,
        .arity = 1,
        .cost = 0,
        .map = {Kind, int(sizeof...(Numbers)), {Numbers...}}};
};

namespace detail {

template <class Operand, class... Numbers>
using map_with_numbers =
    conditional<is_refused_operand<Operand>, typename follow_up<remove_cvref<Operand>>::type,
                outcome_of_call<refused<mistake<rule::map_numbers_are_types, Numbers...>>, Operand>>;

template <class Op, class Extents>
struct mapped_static {
    static constexpr shape_result result = mapped_shape(Op::facts.map, Extents::static_shape);
    static constexpr shape value = result.value;
};
/// The static shape after a slice with run-time bounds: that axis has a run-time size.
template <i64 Axis, class Extents>
struct open_axis {
    static constexpr shape_result make() {
        shape_result out;
        const int axis = normal_axis(Axis, Extents::rank);
        if (axis < 0) return refuse(violation::axis_out_of_range, int(Axis));
        out.value = Extents::static_shape;
        out.value.size[axis] = dyn;
        return out;
    }
    static constexpr shape_result result = make();
    static constexpr shape value = result.value;
};
/// A view of the mapped shape; when the sizes or strides refuse at run time its sizes are invalid and `run` answers R005.
template <class Result, class Space, class Element>
SINTER_INLINE auto make_mapped(Element* from, const view_state& state, bool valid) {
    shape sizes = state.sizes;
    array<i64, Result::rank> strides{};
    for (int i = 0; i < Result::rank; ++i) {
        if (!valid) sizes.size[i] = invalid_size;
        strides[i] = valid ? state.stride[i] : invalid_stride;
    }
    Element* const pointer = valid && from ? from + state.offset : nullptr;
    return tensor_view<Element, Result, strided, Space>(pointer, extents_with<Result>(sizes), strides);
}
SINTER_INLINE bool is_formed(const shape& sizes) {
    for (int i = 0; i < sizes.rank; ++i)
        if (sizes.size[i] < 0) return false;
    return true;
}
/// Maps a view that couldn't be formed to one that still tells why: where its elements would lie doesn't matter. False if the result's
/// static shape has no place for that.
SINTER_INLINE bool map_unformed(const index_map_spec& map, const shape& result, view_state& state) {
    const bool stretched[max_rank]{};
    const bool moves = map.kind == map_kind::permute || map.kind == map_kind::squeeze || map.kind == map_kind::unsqueeze;
    if (moves ? !apply_map(map, state, stretched) : map.kind != map_kind::slice && map.kind != map_kind::flip) return false;
    for (int i = 0; i < result.rank; ++i)
        if (result.size[i] < 0 && state.sizes.size[i] < 0) return true;
    return false;
}
template <class Op, class Type, class Extents, class Layout, class Space, int Alignment>
SINTER_INLINE auto map_view(const tensor_view<Type, Extents, Layout, Space, Alignment>& from) {
    using mapped = mapped_static<Op, Extents>;
    if constexpr (!mapped::result.ok())
        return refused<shape_mistake<mapped::result.why, mapped::result.axis, Op, printed<Extents>>>{};
    else {
        using result = extents_from<mapped_static<Op, Extents>>;
        view_state state = from.state();
        const bool stretched[max_rank]{};
        constexpr index_map_spec map = Op::facts.map;  // (static members have no address in device code)
        constexpr shape wanted = result::static_shape;
        if (!is_formed(state.sizes)) return make_mapped<result, Space>(from.data(), state, map_unformed(map, wanted, state));
        bool valid = apply_map(map, state, stretched);
        for (int i = 0; i < result::rank && valid; ++i)
            valid = wanted.size[i] < 0 || wanted.size[i] == state.sizes.size[i];
        return make_mapped<result, Space>(from.data(), state, valid);
    }
}
/// The bound by which a slice leaves its axis, or the stop that lies before the start.
SINTER_INLINE i64 wrong_bound(i64 size, i64 start, i64 stop, i64 step) {
    const i64 at = start < 0 ? start + size : start;
    const bool outside = start != end && (step > 0 ? at < 0 || at > size : at < -1 || at >= size);
    return outside || stop == end ? start : stop;
}
template <class Op, class Operand>
SINTER_INLINE auto apply_map_op(Operand&& x) {
    if constexpr (operand_kind_of<Operand> == operand_kind::view)
        return map_view<Op>(x);
    else if constexpr (operand_kind_of<Operand> == operand_kind::owner) {
        if constexpr (is_lvalue<Operand&&>)
            return map_view<Op>(x.view());
        else
            return refused<mistake<rule::memory_outlives_view, remove_cvref<Operand>>>{};
    } else
        return apply<Op>(static_cast<Operand&&>(x));
}
/// A mistake in applying an index map, or `nothing_wrong`; poison for poison.
template <class Op, class Operand>
constexpr auto map_verdict() {
    using result = decltype(apply_map_op<Op>(some<Operand>()));
    if constexpr (is_same<result, poison> || !is_same<outcome<result>, result>)
        return result{};
    else
        return nothing_wrong{};
}
/// The return type of an index map.
template <class Op, class Operand>
struct map_application {
    using type = outcome_of_call<decltype(apply_map_op<Op>(some<Operand>())), Operand>;
};
template <class Operand, map_kind Kind, i64... Numbers>
using mapped = typename map_application<map_op<Kind, Numbers...>, Operand>::type;
/// The return type of a slice with run-time bounds: a view, or a mistake.
template <i64 Axis, class View, bool Valid = open_axis<Axis, typename View::extents_type>::result.ok()>
struct open_slice {
    using opened = open_axis<Axis, typename View::extents_type>;
    using type = tensor_view<typename View::element, extents_from<opened>, strided, typename View::space>;
};
template <i64 Axis, class View>
struct open_slice<Axis, View, false> {
    static constexpr shape_result result = open_axis<Axis, typename View::extents_type>::result;
    using type = shape_mistake<result.why, result.axis, printed<typename View::extents_type>>;
};
}  // namespace detail

// permute(x, 2, 0, 1): what a map does is part of the program, as its type is.
#define SINTER_NUMBERS_OF_A_MAP(function)                                                                                 \
    template <tensor_or_memory Operand, class... Numbers>                                                                 \
        requires(is_index<Numbers> && ...)                                                                                \
    SINTER_INLINE detail::map_with_numbers<Operand, Numbers...> function(Operand&&, Numbers...) {                         \
        return {};                                                                                                        \
    }
SINTER_NUMBERS_OF_A_MAP(permute)
SINTER_NUMBERS_OF_A_MAP(slice)
SINTER_NUMBERS_OF_A_MAP(flip)
SINTER_NUMBERS_OF_A_MAP(reshape)
SINTER_NUMBERS_OF_A_MAP(expand)
SINTER_NUMBERS_OF_A_MAP(squeeze)
SINTER_NUMBERS_OF_A_MAP(unsqueeze)
SINTER_NUMBERS_OF_A_MAP(unflatten)
SINTER_NUMBERS_OF_A_MAP(flatten)
#undef SINTER_NUMBERS_OF_A_MAP
template <i64 Axis, tensor_or_memory Operand, class... Numbers>
    requires(operand_kind_of<Operand> != operand_kind::view && sizeof...(Numbers) > 0 && (is_index<Numbers> && ...))
SINTER_INLINE detail::map_with_numbers<Operand, Numbers...> slice(Operand&&, Numbers...) {
    return {};
}

/// Axes in a new order: result axis i is the argument's axis Order[i].
template <i64... Order, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::permute, Order...> permute(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::permute, Order...>>(static_cast<Operand&&>(x));
}
/// Swaps the two axes of a matrix.
template <tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::permute, 1, 0> transpose(Operand&& x) {
    return permute<1, 0>(static_cast<Operand&&>(x));
}
/// Elements Start, Start + Step, ... before Stop along an axis. Negative bounds count from the end; `end` leaves a bound open.
template <i64 Axis, i64 Start, i64 Stop, i64 Step = 1, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::slice, Axis, Start, Stop, Step> slice(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::slice, Axis, Start, Stop, Step>>(static_cast<Operand&&>(x));
}
/// The same with run-time bounds, of a view; the axis then has a run-time size. A slice that leaves the axis is answered by
/// `run` with [SINTER-R005].
template <i64 Axis, class Type, class Extents, class Layout, class Space, int Alignment>
SINTER_INLINE auto slice(const tensor_view<Type, Extents, Layout, Space, Alignment>& x, i64 start, i64 stop, i64 step = 1) ->
    typename detail::open_slice<Axis, tensor_view<Type, Extents, Layout, Space, Alignment>>::type {
    using opened = detail::open_axis<Axis, Extents>;
    if constexpr (!opened::result.ok())
        return {};
    else {
        using result = extents_from<opened>;
        view_state state = x.state();
        const bool stretched[max_rank]{};
        const index_map_spec map{map_kind::slice, 4, {Axis, start, stop, step}};
        constexpr shape wanted = result::static_shape;
        if (!detail::is_formed(state.sizes)) return detail::make_mapped<result, Space>(x.data(), state, detail::map_unformed(map, wanted, state));
        if (step == 0 || apply_map(map, state, stretched)) return detail::make_mapped<result, Space>(x.data(), state, step != 0);
        constexpr int axis = normal_axis(Axis, Extents::rank);
        const i64 size = state.sizes.size[axis];
        state.stride[axis] = detail::wrong_bound(size, start, stop, step);
        state.sizes.size[axis] = detail::sliced_size(size);
        return detail::make_mapped<result, Space>(static_cast<Type*>(nullptr), state, true);
    }
}
/// The elements in reverse order along an axis.
template <i64 Axis, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::flip, Axis> flip(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::flip, Axis>>(static_cast<Operand&&>(x));
}
/// The same elements in row-major order under another shape. One size may be `dyn`: it is inferred.
template <i64... Sizes, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::reshape, Sizes...> reshape(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::reshape, Sizes...>>(static_cast<Operand&&>(x));
}
template <i64... Sizes, tensor_or_memory Operand>
    requires(extents<Sizes...>::is_static)
SINTER_INLINE detail::mapped<Operand, map_kind::reshape, Sizes...> reshape(Operand&& x, const extents<Sizes...>&) {
    return reshape<Sizes...>(static_cast<Operand&&>(x));
}
/// A view under a shape with run-time sizes.
template <i64... Sizes, class Type, class Extents, class Layout, class Space, int Alignment>
    requires(!extents<Sizes...>::is_static)
SINTER_INLINE auto reshape(const tensor_view<Type, Extents, Layout, Space, Alignment>& x, const extents<Sizes...>& to) {
    view_state state = x.state();
    const shape wanted = to.sizes();
    const bool valid = detail::is_formed(state.sizes) && wanted.count() == state.sizes.count() && detail::regroup(state, wanted);
    return detail::make_mapped<extents<Sizes...>, Space>(x.data(), state, valid);
}
template <i64... Sizes, tensor_or_memory Operand>
    requires(!extents<Sizes...>::is_static && operand_kind_of<Operand> != operand_kind::view)
SINTER_INLINE detail::map_with_numbers<Operand, printed<extents<Sizes...>>> reshape(Operand&&, const extents<Sizes...>&) {
    return {};
}
/// Axes of size 1 stretched, new axes at the left: stride 0, nothing is copied.
template <i64... Sizes, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::expand, Sizes...> expand(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::expand, Sizes...>>(static_cast<Operand&&>(x));
}
template <i64... Sizes, tensor_or_memory Operand>
    requires(extents<Sizes...>::is_static)
SINTER_INLINE detail::mapped<Operand, map_kind::expand, Sizes...> expand(Operand&& x, const extents<Sizes...>&) {
    return expand<Sizes...>(static_cast<Operand&&>(x));
}
template <i64... Sizes, tensor_or_memory Operand>
    requires(!extents<Sizes...>::is_static)
SINTER_INLINE detail::map_with_numbers<Operand, printed<extents<Sizes...>>> expand(Operand&&, const extents<Sizes...>&) {
    return {};
}
/// Removes an axis of static size 1.
template <i64 Axis, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::squeeze, Axis> squeeze(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::squeeze, Axis>>(static_cast<Operand&&>(x));
}
/// A new axis of size 1 before axis `Axis` of the result.
template <i64 Axis, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::unsqueeze, Axis> unsqueeze(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::unsqueeze, Axis>>(static_cast<Operand&&>(x));
}
/// Splits an axis of n into (Outer, n / Outer).
template <i64 Axis, i64 Outer, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::unflatten, Axis, Outer> unflatten(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::unflatten, Axis, Outer>>(static_cast<Operand&&>(x));
}
/// Merges the axes First to Last into one.
template <i64 First, i64 Last, tensor_or_memory Operand>
SINTER_INLINE detail::mapped<Operand, map_kind::flatten, First, Last> flatten(Operand&& x) {
    return detail::apply_map_op<map_op<map_kind::flatten, First, Last>>(static_cast<Operand&&>(x));
}

}  // namespace sinter
