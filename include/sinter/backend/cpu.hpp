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
#include "../shape.hpp"
#include "../tensor.hpp"

#include "../drive_host.hpp"
#include "../plan.hpp"
#include "cpu_lane.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

/// The lanes of one step: as many elements of every type as a register holds of f32.
struct cpu_family {
    template <class Type>
    using value = vec<Type, native_width>;
    static constexpr int width = native_width;
#if defined(__x86_64__) || defined(__i386__)
    static constexpr i64 streaming_threshold = targets::cpu::streaming_threshold;
    static SINTER_FORCE_INLINE void finish_streaming() { __asm__ volatile("sfence" ::: "memory"); }
#endif
};

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
    template <class Assignment>
    SINTER_FORCE_INLINE status launch(const Assignment& assigned) const {
        return launch_on_host<cpu_family>(assigned, hook, threads);
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
