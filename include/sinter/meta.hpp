// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Own small array, tuple, type list and index sequence. The standard ones cost compile time (in nvcc a file that includes
// cuda::std takes seconds) and aren't all usable in device code. Nothing here knows about tensors.
#pragma once

#include "config.hpp"

namespace sinter {

template <class...>
struct list {};

template <int...>
struct indices {};

namespace detail {
template <class Int, Int... Index>
using as_indices = indices<int(Index)...>;
template <bool Condition>
struct choose {
    template <class Yes, class>
    using type = Yes;
};
template <>
struct choose<false> {
    template <class, class No>
    using type = No;
};
template <class Type>
struct remove_qualifiers {
    using type = Type;
};
template <class Type>
struct remove_qualifiers<const Type> {
    using type = Type;
};
template <class Type>
struct remove_qualifiers<Type&> : remove_qualifiers<Type> {};
template <class Type>
struct remove_qualifiers<Type&&> : remove_qualifiers<Type> {};
#if defined(__has_builtin)
#if __has_builtin(__make_integer_seq)
#define SINTER_MAKE_INTEGER_SEQ 1
#endif
#endif
#if defined(SINTER_MAKE_INTEGER_SEQ)
template <class Int, Int... Index>
struct sequence_holder {
    using type = indices<int(Index)...>;
};
template <int Count>
struct index_maker {
    using type = typename __make_integer_seq<sequence_holder, int, Count>::type;
};
#undef SINTER_MAKE_INTEGER_SEQ
#else
template <int Count>
struct index_maker {
    using type = indices<__integer_pack(Count)...>;
};
#endif
}  // namespace detail

template <bool Condition, class Yes, class No>
using conditional = typename detail::choose<Condition>::template type<Yes, No>;
template <class Type>
using remove_cvref = typename detail::remove_qualifiers<Type>::type;
/// indices<0, 1, ..., Count - 1>
template <int Count>
using make_indices = typename detail::index_maker<Count>::type;
template <class Left, class Right>
inline constexpr bool is_same = false;
template <class Type>
inline constexpr bool is_same<Type, Type> = true;
template <class Type>
inline constexpr bool is_const = false;
template <class Type>
inline constexpr bool is_const<const Type> = true;
template <class Type>
inline constexpr bool is_lvalue = false;
template <class Type>
inline constexpr bool is_lvalue<Type&> = true;
/// The integer types that a size or an index may be given in.
template <class Type>
inline constexpr bool is_index = false;
// clang-format off
template <> inline constexpr bool is_index<int> = true;
template <> inline constexpr bool is_index<unsigned> = true;
template <> inline constexpr bool is_index<long> = true;
template <> inline constexpr bool is_index<unsigned long> = true;
template <> inline constexpr bool is_index<long long> = true;
template <> inline constexpr bool is_index<unsigned long long> = true;
template <> inline constexpr bool is_index<short> = true;
template <> inline constexpr bool is_index<unsigned short> = true;
// clang-format on
template <class...>
inline constexpr bool dependent_false = false;

/// Aggregate array; length 0 is allowed and holds one unused element, since a zero-length array is not C++. (The bounds of built-in
/// arrays are unsigned here and elsewhere: g++ -Wsign-conversion warns of a template's int as one.)
template <class Type, int Count>
struct array {
    Type item[unsigned(Count > 0 ? Count : 1)];
    SINTER_INLINE Type& operator[](int index) { return item[index]; }
    SINTER_INLINE const Type& operator[](int index) const { return item[index]; }
    static constexpr int size = Count;
};

/// One value under an index. A pack is a flat struct of slots, so that element i is found by a cast to a known base
/// instead of by deduction over all bases (which is quadratic in some compilers).
template <int Index, class Type>
struct slot {
    Type value;
};
namespace detail {
template <class Sequence, class... Types>
struct pack_base;
template <int... Index, class... Types>
struct pack_base<indices<Index...>, Types...> : slot<Index, Types>... {};
}  // namespace detail
template <class... Types>
struct pack : detail::pack_base<make_indices<int(sizeof...(Types))>, Types...> {};

#if defined(__has_builtin)
#if __has_builtin(__type_pack_element)
#define SINTER_TYPE_PACK_ELEMENT 1
#endif
#endif
namespace detail {
#if defined(SINTER_TYPE_PACK_ELEMENT)
template <int Index, class... Types>
struct nth {
    using type = __type_pack_element<std::size_t(Index), Types...>;
};
#undef SINTER_TYPE_PACK_ELEMENT
#else
template <int Index, class Type>
struct indexed {
    using type = Type;
};
template <class Sequence, class... Types>
struct indexed_all;
template <int... Index, class... Types>
struct indexed_all<indices<Index...>, Types...> : indexed<Index, Types>... {};
template <int Index, class Type>
indexed<Index, Type> find_indexed(const indexed<Index, Type>*);
template <int Index, class... Types>
struct nth {
    using type = typename decltype(find_indexed<Index>(
        static_cast<const indexed_all<make_indices<int(sizeof...(Types))>, Types...>*>(nullptr)))::type;
};
#endif
}  // namespace detail
template <int Index, class... Types>
using nth_type = typename detail::nth<Index, Types...>::type;

template <int Index, class... Types>
SINTER_INLINE auto& get(pack<Types...>& from) {
    return static_cast<slot<Index, nth_type<Index, Types...>>&>(from).value;
}
template <int Index, class... Types>
SINTER_INLINE const auto& get(const pack<Types...>& from) {
    return static_cast<const slot<Index, nth_type<Index, Types...>>&>(from).value;
}

namespace detail {
template <class... Front, class... Back, int... FrontIndex, int... BackIndex>
SINTER_INLINE pack<Front..., Back...> join(const pack<Front...>& front, indices<FrontIndex...>, const pack<Back...>& back,
                                           indices<BackIndex...>) {
    return pack<Front..., Back...>{{{static_cast<const slot<FrontIndex, Front>&>(front).value}...,
                                    {static_cast<const slot<BackIndex, Back>&>(back).value}...}};
}
}  // namespace detail
/// The elements of `front`, then those of `back`.
template <class... Front, class... Back>
SINTER_INLINE pack<Front..., Back...> join(const pack<Front...>& front, const pack<Back...>& back) {
    return detail::join(front, make_indices<int(sizeof...(Front))>{}, back, make_indices<int(sizeof...(Back))>{});
}

}  // namespace sinter
