// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiler facts, function marks and the few settings that a user may inject. Nothing else in Sinter reads a compiler's
// predefined macros for a decision, except the CPU lanes, which must know the instruction set.
//
// Settings (define them before the first include, or in a header <sinter/ext/config.hpp> that is found by itself):
//   SINTER_ACCEPT_FINITE_MATH   compile although clang's -ffast-math deletes NaN tests; gives up equal bits.
//   SINTER_THROW(status)        what `run` does with an error instead of throwing (docs: errors).
//   SINTER_THROW_IS_NOEXCEPT    promises that SINTER_THROW doesn't throw, so that `run` is noexcept; implied without exceptions.
#pragma once

#if defined(__has_include)
#if __has_include(<sinter/ext/config.hpp>)
#include <sinter/ext/config.hpp>
#endif
#endif

#include "version.hpp"

#if !defined(__cplusplus) || (__cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L))
#error "Sinter needs C++20: compile with -std=c++20 (nvcc, too) or, in CMake, with target_compile_features(app PRIVATE cxx_std_20)"
#include <Sinter needs C++20>  // no such file: compilers go on after #error, over thousands of lines, but stop here
#endif

#include <cstddef>
#include <cstdint>

// Always defined, 0 when absent: tests are plain comparisons. nvcc's host pass is also GCC or clang.
#if defined(__clang__)
#define SINTER_CLANG __clang_major__
#define SINTER_GCC 0
#elif defined(__GNUC__)
#define SINTER_CLANG 0
#define SINTER_GCC __GNUC__
#else
#define SINTER_CLANG 0
#define SINTER_GCC 0
#endif
#if defined(__CUDACC_VER_MAJOR__)
#define SINTER_NVCC __CUDACC_VER_MAJOR__
#else
#define SINTER_NVCC 0
#endif
#if defined(_MSC_VER)
#define SINTER_MSVC _MSC_VER
#else
#define SINTER_MSVC 0
#endif

#if defined(__CUDACC__) || (defined(__clang__) && defined(__CUDA__))
#define SINTER_CUDA 1
#define SINTER_HOST_DEVICE __host__ __device__
#else
#define SINTER_CUDA 0
#define SINTER_HOST_DEVICE
#endif
// Before a template that is marked for both sides and calls host functions in some of its branches: tracing runs in constant
// evaluation alone.
#if SINTER_NVCC
#define SINTER_HOST_CALLS _Pragma("nv_exec_check_disable")
#else
#define SINTER_HOST_CALLS
#endif
#if defined(__CUDA_ARCH__)
#define SINTER_DEVICE_PASS 1
#else
#define SINTER_DEVICE_PASS 0
#endif

#if SINTER_CLANG && defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ && !defined(SINTER_ACCEPT_FINITE_MATH) && !SINTER_CUDA
#error "[SINTER-B001] clang with -ffast-math or -ffinite-math-only deletes NaN tests, so results can't keep their bits. Compile the file that runs Sinter kernels without that flag, or define SINTER_ACCEPT_FINITE_MATH to give up equal bits."
#endif

// Why always inlined: a function that is emitted out of line under one set of -m flags may be chosen by the linker for a
// file with another set. Emitted code is therefore either inlined, or a template over a type of the ISA namespace below.
#if SINTER_MSVC
#define SINTER_FORCE_INLINE __forceinline
#define SINTER_NOINLINE __declspec(noinline)
#else
#define SINTER_FORCE_INLINE inline __attribute__((always_inline))
#if SINTER_GCC
#define SINTER_NOINLINE __attribute__((noinline, noclone))  // a clone per constant argument would compile a kernel several times
#else
#define SINTER_NOINLINE __attribute__((noinline))
#endif
#endif
// Work around kernels, not in them: optimised for size, since every kernel or operand count compiles its own copy.
#if SINTER_MSVC
#define SINTER_SMALL SINTER_NOINLINE
#else
#define SINTER_SMALL SINTER_NOINLINE __attribute__((cold))
#endif
#define SINTER_INLINE SINTER_HOST_DEVICE constexpr SINTER_FORCE_INLINE

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SINTER_ISA isa_avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define SINTER_ISA isa_avx2_fma
#elif defined(__AVX__)
#define SINTER_ISA isa_avx
#elif defined(__SSE4_1__)
#define SINTER_ISA isa_sse41
#elif defined(__SSE2__)
#define SINTER_ISA isa_sse2
#elif defined(__aarch64__)
#define SINTER_ISA isa_neon
#else
#define SINTER_ISA isa_generic
#endif

// An x86 build without fused multiply-add: every one is emulated, and `exp` and its like take about a hundred times as long.
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__FMA__)
#define SINTER_EMULATED_FMA 1
#else
#define SINTER_EMULATED_FMA 0
#endif

// The barrier: an empty asm that takes a floating-point value through a register. No flag lets a compiler see through it, so
// it can neither contract a product into a later sum nor reassociate. A compiler without inline assembly gets a plain
// value and keeps its bits only under strict floating-point flags (untested).
#if SINTER_DEVICE_PASS || SINTER_MSVC
#define SINTER_BARRIER(value) ((void)0)
#elif defined(__AVX512F__)
#define SINTER_BARRIER(value) __asm__("" : "+v"(value))
#elif defined(__x86_64__) || defined(__i386__)
#define SINTER_BARRIER(value) __asm__("" : "+x"(value))
#elif defined(__aarch64__)
#define SINTER_BARRIER(value) __asm__("" : "+w"(value))
#else
#define SINTER_BARRIER(value) __asm__("" : "+m"(value))
#endif

namespace sinter {

/// What functions that are emitted out of line are templates over, where nothing else in their names says the instruction set.
namespace backend::SINTER_ISA {
struct instruction_set {};
}  // namespace backend::SINTER_ISA

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// True while the compiler evaluates a constant: code with asm or vendor builtins takes its other branch then.
SINTER_INLINE bool in_constant_evaluation() { return __builtin_is_constant_evaluated(); }

}  // namespace sinter
