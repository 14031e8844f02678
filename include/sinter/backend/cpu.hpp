// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The SIMD CPU backend: executors `cpu` and `cpu.parallel(hook, threads)`. The instruction set is the one that the file is
// compiled for (-march); code of two instruction sets links into one program.
//
//     run(cpu, y = relu(x + bias));
//     run(cpu.parallel(hook, 8), y = softmax(x));     // hook(n, f) runs f(0) ... f(n - 1), on any threads, and waits for them
//
// No allocation, lock or system call. Bits don't depend on the instruction set, the threads or the layout.
#pragma once

#include "../diagnose.hpp"  // first: compilers print the chain of includes to a failed check
// Said here, where the chain of includes is short; cpu_lane_register.hpp refuses CUDA files.
#if SINTER_EMULATED_FMA && defined(__OPTIMIZE__) && !defined(SINTER_ACCEPT_EMULATED_FMA) && !SINTER_CUDA
#pragma message("[SINTER-B005] no fused multiply-add: exp, tanh, gelu take about 100 times as long. Hint: -march=native or -march=x86-64-v3.")
#endif
#include "../shape.hpp"
#include "../tensor.hpp"

#include "../drive_host.hpp"
#include "../plan.hpp"
#include "cpu_code_sum.hpp"
#include "cpu_fast.hpp"
#include "cpu_lane.hpp"
#include "cpu_row_codes.hpp"
#include "cpu_shuffle.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

/// The lanes of one step: as many elements of every type as `Registers` registers hold of f32.
template <int Registers>
struct cpu_lanes {
    template <class Type>
    using value = vec<Type, Registers * native_width>;
    static constexpr int width = Registers * native_width;
    using products = cpu_products;
    using code_tables = cpu_table;
    using shuffles = cpu_shuffles;
#if SINTER_CPU_X86 && SINTER_CPU_BYTES >= 32 && SINTER_CPU_FMA
    using code_sums = cpu_code_sum;
#endif
    static constexpr int register_bytes = (SINTER_CPU_AVX512 || SINTER_CPU_NEON ? 32 : 16) * 4 * native_width;  ///< of all registers
    static constexpr bool counts_in_i32 = !SINTER_CPU_AVX512;  ///< coordinates become floats from 32 bits, where they fit
#if defined(__x86_64__) || defined(__i386__)
    static constexpr i64 streaming_threshold = targets::this_cpu::streaming_threshold;
    static SINTER_FORCE_INLINE void finish_streaming() { __asm__ volatile("sfence" ::: "memory"); }
#endif
};

using cpu_family = cpu_lanes<1>;

/// Does a kernel without reductions store nothing but integers of 8 bits? Four registers of them are packed at once: on AVX2 two
/// instructions and a half for 8 elements become one.
constexpr bool packs_codes(const kernel_view& of) {
    if (of.nest != nest_kind::pointwise) return false;
    bool any = false;
    for (int o = 0; o < of.outputs; ++o) {
        const dtype type = of.output_type[o];
        if (!of.stores_elements(o)) continue;
        if (type != dtype::i8 && type != dtype::u8 && type != dtype::q8 && type != dtype::qu8) return false;
        any = true;
    }
    return any;
}
/// Registers for each value of a kernel. A long kernel is a chain in which each instruction waits for the one before, too long
/// for the processors of AVX2 to see the next step behind it, and compilers don't interleave two: so a step takes two registers
/// of elements (measured on Zen 1: 1.1 of the speed for GELU and softmax, 1.2 for 30 operations). A short kernel gains nothing,
/// values of 64 bits would need four, and processors with AVX-512 look far enough ahead. Codes of 8 bits are packed from four, unless
/// the kernel is so long that its values would leave the registers. In clang, where a pair of registers in
/// every state of a fold costs a third more compile time, only kernels without folds.
constexpr int registers_per_value(const kernel_view& of) {
    int cost = 0;
    for (int i = 0; i < of.instances; ++i) {
        if (dtype_size(of.at[i].type) > 4) return 1;
        if (of.where[i] == site::element && of.node_of(i).has_op()) cost += of.node_of(i).op->cost;
    }
    if (packs_codes(of) && cost < 40) return 4;
    if (native_width != 8 || of.nest == nest_kind::columns || (SINTER_CLANG && of.levels > 0)) return 1;
    return cost >= 15 ? 2 : 1;
}

/// Values of elements that are alive at the same time, in the order of the instances.
constexpr int live_values(const kernel_view& of) {
    int most = 0;
    for (int now = 0; now < of.instances; ++now) {
        int live = 0;
        for (int i = 0; i <= now; ++i) {
            if (of.where[i] != site::element) continue;
            bool later = i == now;
            for (int user = now + 1; user < of.instances; ++user)
                for (int a = 0; a < of.at[user].arity; ++a) later = later || of.at[user].argument[a] == i;
            live += later;
        }
        most = live > most ? live : most;
    }
    return most;
}
/// The same under `fast`: with less arithmetic what a chain waits for shows on every processor. Two registers for long kernels; four where
/// they are a chain of many short operations whose values stay in the registers. (Measured on Zen 4 in cache, 30 operations: 1.22 of the
/// speed of one with 64-byte registers, 1.33 with 32-byte ones; four slow GELU down.)
constexpr int fast_registers_per_value(const kernel_view& of) {
    const int usual = registers_per_value(of);
    if (of.nest != nest_kind::pointwise || usual > 2) return usual;
    int cost = 0, short_operations = 0, leaves = 0;
    for (int i = 0; i < of.instances; ++i) {
        if (dtype_size(of.at[i].type) > 4) return usual;
        if (of.where[i] != site::element) continue;
        leaves += of.at[i].kind == node_kind::leaf;
        if (!of.node_of(i).has_op()) continue;
        cost += of.node_of(i).op->cost;
        short_operations += of.node_of(i).op->cost <= 4;
    }
    // (Few leaves first: to count what is alive takes the cube of the instances.)
    if (short_operations >= 16 && short_operations <= 64 && leaves <= 6 &&
        4 * (live_values(of) + 1) * native_width * 4 <= cpu_family::register_bytes)
        return 4;
    return cost >= 15 ? 2 : usual;
}

template <class Hook>
struct cpu_fast_executor;
/// The executor. `Hook` is called as hook(n, f).
template <class Hook>
struct cpu_executor {
    using memory_space = host_memory;
    using target = targets::cpu_with<4 * native_width>;
    using family = cpu_family;
    Hook hook;
    int threads;

    /// The same with the caller's threads.
    template <class Caller>
    constexpr cpu_executor<Caller> parallel(Caller caller, int thread_count) const {
        return {caller, thread_count < 1 ? 1 : thread_count};
    }
    /// The same under the policy `fast` (cpu_fast.hpp).
    constexpr cpu_fast_executor<Hook> fast() const { return {*this}; }
    template <class Assignment>
    SINTER_FORCE_INLINE status launch(const Assignment& assigned) const {
        using as_written = kernel<Assignment>;
        using lanes = cpu_lanes<registers_per_value(as_written::view)>;
        using kernel_type = conditional<has_row_codes<as_written>, row_code_kernel<as_written>, as_written>;
        return sinter::detail::host_launch<kernel_type, lanes>::launch(assigned, hook, threads);
    }
};

/// Approximate, by name: `cpu.fast()` or `fast(cpu)`, before or after `parallel`.
template <class Hook>
struct cpu_fast_executor : cpu_executor<Hook> {
    template <class Caller>
    constexpr cpu_fast_executor<Caller> parallel(Caller caller, int thread_count) const {
        return {cpu_executor<Hook>::parallel(caller, thread_count)};
    }
    template <class Assignment>
    SINTER_FORCE_INLINE status launch(const Assignment& assigned) const {
        if constexpr (has_fast_form(kernel<Assignment>::view)) {
            using kernel_type = fast_kernel<kernel<Assignment>>;
            return sinter::detail::host_launch<kernel_type, cpu_lanes<fast_registers_per_value(kernel_type::view)>>::launch(assigned, this->hook, this->threads);
        } else {
            return cpu_executor<Hook>::launch(assigned);
        }
    }
};

inline constexpr cpu_executor<calling_thread> cpu{calling_thread{}, 1};

#if defined(_OPENMP)
/// Hook for OpenMP (compile with -fopenmp).
struct openmp {
    template <class Function>
    void operator()(int count, const Function& function) const {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < count; ++i) function(i);
    }
};
#endif

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA

namespace sinter {
using backend::SINTER_ISA::cpu;
#if defined(_OPENMP)
using backend::SINTER_ISA::openmp;
#endif
}  // namespace sinter
