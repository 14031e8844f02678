// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents (static, run-time and named sizes in any mix) and the rules of shape algebra: broadcast, reduce, permute, slice,
// reshape, expand. Everything is constexpr on plain values; the laws are tested over a table of shapes. No strides here.
//
//     extents<2, dyn, "seq"_d, 768>   // 2 and 768 known, one size given when run, one named
//
// A named size meets itself, `dyn` or 1. A name against a number or another name is refused: it could hold or not when run,
// and broadcasting would stop being associative. `dyn` meets anything; the run checks once per call.
#pragma once

#include "diagnose.hpp"

namespace sinter {

/// A size that is known when the program runs.
inline constexpr i64 dyn = -1;
inline constexpr int max_rank = 8;

namespace detail {
/// The text of a literal as a template argument, so that a bad one is a plain static_assert (a throw would need exceptions).
template <std::size_t Size>
struct letters {
    char text[Size]{};
    consteval letters(const char (&from)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) text[i] = from[i];
    }
    static constexpr std::size_t length = Size - 1;
};
template <std::size_t Length>
inline constexpr bool is_short = Length >= 1 && Length <= 7;
}  // namespace detail

/// What a named size is while it is written. It becomes the number that stands for it in `extents`, and no operand of a formula, where that
/// number would be meant for the axis's size.
struct named_size {
    i64 packed;
    consteval operator i64() const { return packed; }
};
inline namespace literals {
/// "seq"_d: a named size. Up to seven letters are packed into a negative number, so that a name is an ordinary extent.
template <detail::letters Name>
consteval named_size operator""_d() {
    static_assert(detail::is_short<Name.length>, "[SINTER-S001] a named size has one to seven letters. Hint: abbreviate.");
    u64 packed = 0;
    for (std::size_t i = 0; i < Name.length; ++i) packed = packed << 8 | static_cast<unsigned char>(Name.text[i]);
    return {static_cast<i64>(packed | u64(1) << 63)};
}
}  // namespace literals

SINTER_INLINE bool is_static_size(i64 size) { return size >= 0; }
SINTER_INLINE bool is_named_size(i64 size) { return size < dyn; }

/// A shape as a value: sizes, `dyn` or names. At run time all sizes are numbers.
struct shape {
    int rank = 0;
    i64 size[max_rank]{};

    /// The size of the axis `distance` steps from the right; 1 beyond the left end (broadcasting aligns at the right).
    SINTER_INLINE i64 from_right(int distance) const { return distance < rank ? size[rank - 1 - distance] : 1; }
    SINTER_INLINE bool operator==(const shape& other) const {
        if (rank != other.rank) return false;
        for (int i = 0; i < rank; ++i)
            if (size[i] != other.size[i]) return false;
        return true;
    }
    SINTER_INLINE bool is_static() const {
        for (int i = 0; i < rank; ++i)
            if (size[i] < 0) return false;
        return true;
    }
    /// Number of elements of a shape of numbers; `uncountable` where 64 bits don't hold it, -1 where a size is negative.
    SINTER_INLINE i64 count() const;
};

/// The count of too many elements for a count: no memory holds so many, and the run refuses them.
inline constexpr i64 uncountable = i64(~u64(0) >> 1);
/// The product of two counts.
SINTER_INLINE i64 count_of_pairs(i64 left, i64 right) {
    if ((left | right) >> 31 != 0 && left != 0 && right > uncountable / left) return uncountable;
    return left * right;
}
SINTER_INLINE i64 shape::count() const {
    i64 product = 1;
    for (int i = 0; i < rank; ++i) {
        if (size[i] < 0) return -1;
        product = count_of_pairs(product, size[i]);
    }
    return product;
}

/// Why a shape rule refuses. Each breaks one rule (diagnose.hpp).
enum class violation : int {
    none,
    sizes_differ,
    number_meets_name,
    names_differ,
    axis_out_of_range,
    axis_repeated,
    not_a_permutation,
    slice_out_of_range,
    step_is_zero,
    count_differs,
    not_expandable,
    axis_isnt_one,
    rank_too_large,
    not_divisible,
    nothing_to_fold,
};

/// A shape or a violation, and the axis (of the result, or as given) where it happened.
struct shape_result {
    shape value{};
    violation why = violation::none;
    int axis = 0;
    SINTER_INLINE bool ok() const { return why == violation::none; }
};

SINTER_INLINE shape_result refuse(violation why, int axis = 0) { return {shape{}, why, axis}; }

/// The size of one axis where two operands meet. Law: commutative and associative, 1 is neutral.
SINTER_INLINE violation broadcast_size(i64 left, i64 right, i64& result) {
    result = left;
    if (left == right) return violation::none;
    if (right == 1) return violation::none;
    if (left == 1 || left == dyn) {
        result = right;
        return violation::none;
    }
    if (right == dyn) return violation::none;
    if (is_named_size(left) != is_named_size(right)) return violation::number_meets_name;
    return is_named_size(left) ? violation::names_differ : violation::sizes_differ;
}

/// NumPy's rule: align at the right; each pair must be equal, or one of them 1.
SINTER_INLINE shape_result broadcast(const shape& left, const shape& right) {
    shape_result out;
    out.value.rank = left.rank > right.rank ? left.rank : right.rank;
    for (int distance = 0; distance < out.value.rank; ++distance) {
        const int axis = out.value.rank - 1 - distance;
        const violation why = broadcast_size(left.from_right(distance), right.from_right(distance), out.value.size[axis]);
        if (why != violation::none) return refuse(why, axis);
    }
    return out;
}

/// Axis counted from the left; negative ones count from the right. -1 if out of range.
SINTER_INLINE int normal_axis(i64 axis, int rank) {
    if (axis < -rank || axis >= rank) return -1;
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// Reduced axes: as 1 when kept, gone when dropped. `reduced[i]` says which. Law: reducing with keep preserves the rank.
SINTER_INLINE shape reduce_axes(const shape& from, const bool (&reduced)[max_rank], bool keep) {
    shape out;
    for (int i = 0; i < from.rank; ++i) {
        if (!reduced[i])
            out.size[out.rank++] = from.size[i];
        else if (keep)
            out.size[out.rank++] = 1;
    }
    return out;
}

// ---------------------------------------------------------------------------------------------------------------- extents

namespace detail {
template <int Count>
struct size_storage {
    i64 value[unsigned(Count)];
};
template <>
struct size_storage<0> {};
/// Asks for extents whose open sizes are set afterwards.
struct sizes_follow {};
template <i64... Sizes>
inline constexpr bool few_axes = sizeof...(Sizes) <= max_rank;
/// (Sizes beyond the last axis are refused by extents itself; they must not break a second rule here.)
template <i64... Sizes>
SINTER_INLINE shape static_shape_of() {
    const i64 size[] = {Sizes..., 0};
    shape out;
    for (int i = 0; i < int(sizeof...(Sizes)) && i < max_rank; ++i) out.size[out.rank++] = size[i];
    return out;
}
}  // namespace detail

/// Sizes of a tensor. Only `dyn` and named sizes take storage: an all-static extents is an empty type.
template <i64... Sizes>
struct extents : detail::size_storage<((Sizes < 0 ? 1 : 0) + ... + 0)> {
    static_assert(detail::few_axes<Sizes...>,
                  "[SINTER-S002] a tensor has at most 8 axes. Hint: reshape or flatten merges axes.");
    static constexpr int rank = int(sizeof...(Sizes)) <= max_rank ? int(sizeof...(Sizes)) : max_rank;
    static constexpr int dynamic_count = ((Sizes < 0 ? 1 : 0) + ... + 0);
    static constexpr shape static_shape = detail::static_shape_of<Sizes...>();
    static constexpr bool is_static = dynamic_count == 0;

    /// The sizes that aren't static, left to right: `extents<dyn, 4>(rows)`, `extents<3, 4>{}`. A size left out would be 0, and what runs over
    /// it would do nothing: it doesn't compile. (Templates, since nvcc takes no other for a default constructor beside a constrained one.)
    template <class... Int>
        requires(sizeof...(Int) == 0 && is_static)
    SINTER_HOST_DEVICE constexpr extents(Int...) {}
    template <class... Int>
        requires(sizeof...(Int) == std::size_t(dynamic_count) && !is_static && (is_index<Int> && ...))
    SINTER_HOST_DEVICE constexpr explicit extents(Int... sizes)
        : detail::size_storage<dynamic_count>{{static_cast<i64>(sizes)...}} {}
    template <class... Int>
        requires(sizeof...(Int) != std::size_t(dynamic_count) && (is_index<Int> && ...))
    SINTER_HOST_DEVICE constexpr explicit extents(Int...) {
        static_assert(dependent_false<Int...>, SINTER_OPEN_SIZES);
    }
    SINTER_HOST_DEVICE constexpr explicit extents(detail::sizes_follow) : detail::size_storage<dynamic_count>{} {}

    template <int Axis>
    SINTER_INLINE i64 size() const {
        constexpr i64 known = static_shape.size[Axis];
        if constexpr (known >= 0)
            return known;
        else
            return this->value[place<Axis>];
    }
    /// The sizes as numbers.
    SINTER_INLINE shape sizes() const {
        if constexpr (is_static)
            return static_shape;
        else {
            shape out = static_shape;
            int next = 0;
            for (int i = 0; i < rank; ++i)
                if (out.size[i] < 0) out.size[i] = this->value[next++];
            return out;
        }
    }

private:
    static constexpr int storage_index(int axis) {
        int index = 0;
        for (int i = 0; i < axis; ++i) index += static_shape.size[i] < 0;
        return index;
    }
    template <int Axis>
    static constexpr int place = storage_index(Axis);  // a constant: nvcc warns of the call in device code
};

namespace detail {
template <class Holder, class Sequence>
struct extents_of;
template <class Holder, int... Axis>
struct extents_of<Holder, indices<Axis...>> {
    using type = extents<Holder::value.size[Axis]...>;
};
}  // namespace detail
/// The extents type of a shape value that a holder type carries as `static constexpr shape value`.
template <class Holder>
using extents_from = typename detail::extents_of<Holder, make_indices<Holder::value.rank>>::type;

/// Extents that hold the given numbers: static sizes must already agree (checked by the caller).
template <class Extents>
SINTER_INLINE Extents extents_with(const shape& sizes) {
    if constexpr (Extents::is_static)
        return Extents{};
    else {
        constexpr shape known = Extents::static_shape;  // a local: nvcc doesn't let device code index a static member
        Extents out(detail::sizes_follow{});
        int next = 0;
        for (int i = 0; i < Extents::rank; ++i)
            if (known.size[i] < 0) out.value[next++] = sizes.size[i];
        return out;
    }
}

// ----------------------------------------------------------------------------------------------------- shapes in messages

/// How sizes print in a message: `sizes<2, 3>`, or `mixed_sizes<size<2>, name<'s', 'e', 'q'>, run_time>`.
template <i64... Sizes>
struct sizes {};
template <char... Letters>
struct name {};
struct run_time {};
template <i64 Size>
struct size {};
template <class... Axes>
struct mixed_sizes {};

namespace detail {
constexpr int name_length(i64 packed) {
    u64 rest = static_cast<u64>(packed) & ~(u64(1) << 63);
    int length = 0;
    for (; rest; rest >>= 8) ++length;
    return length;
}
template <i64 Packed, class Sequence>
struct name_printer;
template <i64 Packed, int... Index>
struct name_printer<Packed, indices<Index...>> {
    using type = name<char(static_cast<u64>(Packed) >> (8 * (int(sizeof...(Index)) - 1 - Index)) & 127)...>;
};
template <i64 Size, bool Named = (Size < dyn)>
struct size_printer {
    using type = conditional<Size == dyn, run_time, size<Size>>;
};
template <i64 Size>
struct size_printer<Size, true> {
    using type = typename name_printer<Size, make_indices<name_length(Size)>>::type;
};
template <class Extents>
struct shape_printer;
template <i64... Sizes>
struct shape_printer<extents<Sizes...>> {
    using type = conditional<((Sizes >= 0) && ... && true), sizes<Sizes...>, mixed_sizes<typename size_printer<Sizes>::type...>>;
};
}  // namespace detail
/// The printable form of extents, for the arguments of `mistake`.
template <class Extents>
using printed = typename detail::shape_printer<Extents>::type;

namespace detail {
/// The rule that a violation breaks.
template <violation Why>
struct rule_of_violation;
// clang-format off
template <> struct rule_of_violation<violation::sizes_differ> { using type = rule::sizes_match; };
template <> struct rule_of_violation<violation::number_meets_name> { using type = rule::number_meets_no_name; };
template <> struct rule_of_violation<violation::names_differ> { using type = rule::names_match; };
template <> struct rule_of_violation<violation::axis_out_of_range> { using type = rule::axis_exists; };
template <> struct rule_of_violation<violation::axis_repeated> { using type = rule::axes_differ; };
template <> struct rule_of_violation<violation::not_a_permutation> { using type = rule::permutes_every_axis; };
template <> struct rule_of_violation<violation::slice_out_of_range> { using type = rule::slice_stays_inside; };
template <> struct rule_of_violation<violation::step_is_zero> { using type = rule::step_is_not_zero; };
template <> struct rule_of_violation<violation::count_differs> { using type = rule::reshape_keeps_count; };
template <> struct rule_of_violation<violation::not_expandable> { using type = rule::expand_stretches_ones; };
template <> struct rule_of_violation<violation::axis_isnt_one> { using type = rule::squeezed_axis_is_one; };
template <> struct rule_of_violation<violation::rank_too_large> { using type = rule::at_most_8_axes; };
template <> struct rule_of_violation<violation::not_divisible> { using type = rule::sizes_divide; };
template <> struct rule_of_violation<violation::nothing_to_fold> { using type = rule::fold_has_elements; };
// clang-format on
}  // namespace detail
/// The mistake behind a violation: `What` is the operation and the shapes, `Axis` where it happened.
template <violation Why, int Axis, class... What>
using shape_mistake = mistake<typename detail::rule_of_violation<Why>::type, What..., at_axis<Axis>>;

}  // namespace sinter
