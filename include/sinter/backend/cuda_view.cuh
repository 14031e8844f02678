// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of device memory by a word, and of CUDA's own half types, whose bits are f16's and bf16's. Include <cuda_fp16.h> and
// <cuda_bf16.h> before, where you use those.
//
//     auto x = sinter::device_view(pointer, sinter::extents<sinter::dyn, 4096>(rows));     // float*, __half*, __nv_bfloat16*, ...
#pragma once

#include "../tensor.hpp"

namespace sinter {

namespace detail {
/// The element type that Sinter reads a CUDA type as.
template <class Type>
struct element_for {
    using type = Type;
};
template <class Type>
struct element_for<const Type> {
    using type = const typename element_for<Type>::type;
};
#if defined(__CUDA_FP16_TYPES_EXIST__)
template <>
struct element_for<__half> {
    using type = f16;
};
#endif
#if defined(__CUDA_BF16_TYPES_EXIST__)
template <>
struct element_for<__nv_bfloat16> {
    using type = bf16;
};
#endif
template <class Type>
SINTER_HOST_DEVICE SINTER_FORCE_INLINE typename element_for<Type>::type* as_element(Type* pointer) {
    static_assert(sizeof(Type) == sizeof(typename element_for<Type>::type));
    return reinterpret_cast<typename element_for<Type>::type*>(pointer);
}
}  // namespace detail

/// A row-major view of device memory.
template <class Type, i64... Sizes>
SINTER_HOST_DEVICE SINTER_FORCE_INLINE auto device_view(Type* pointer, const extents<Sizes...>& sizes) {
    return tensor_view<typename detail::element_for<Type>::type, extents<Sizes...>, row_major, device_memory>(detail::as_element(pointer), sizes);
}
/// A strided one: an element stride per axis.
template <class Type, i64... Sizes>
SINTER_HOST_DEVICE SINTER_FORCE_INLINE auto device_view(Type* pointer, const extents<Sizes...>& sizes, const array<i64, int(sizeof...(Sizes))>& strides) {
    return tensor_view<typename detail::element_for<Type>::type, extents<Sizes...>, strided, device_memory>(detail::as_element(pointer), sizes, strides);
}

// Host memory of half types.
#if defined(__CUDA_FP16_TYPES_EXIST__)
template <i64... Sizes>
auto view(__half* pointer, const extents<Sizes...>& sizes) {
    return view(detail::as_element(pointer), sizes);
}
template <i64... Sizes>
auto view(const __half* pointer, const extents<Sizes...>& sizes) {
    return view(detail::as_element(pointer), sizes);
}
#endif
#if defined(__CUDA_BF16_TYPES_EXIST__)
template <i64... Sizes>
auto view(__nv_bfloat16* pointer, const extents<Sizes...>& sizes) {
    return view(detail::as_element(pointer), sizes);
}
template <i64... Sizes>
auto view(const __nv_bfloat16* pointer, const extents<Sizes...>& sizes) {
    return view(detail::as_element(pointer), sizes);
}
#endif

}  // namespace sinter
