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

#include "../drive.hpp"
#include "../drive_columns.hpp"
#include "../run.hpp"
#include "cpu_lane.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

/// The lanes of one step: as many elements of every type as a register holds of f32.
struct cpu_family {
    template <class Type>
    using value = vec<Type, native_width>;
    static constexpr int width = native_width;
};

/// Runs everything on the calling thread.
struct one_thread {
    static constexpr int threads = 1;
    template <class Function>
    SINTER_FORCE_INLINE void operator()(int count, const Function& function) const {
        for (int i = 0; i < count; ++i) function(i);
    }
};

/// The executor. `Hook` is called as hook(n, f).
template <class Hook>
struct cpu_executor {
    using memory_space = host_memory;
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
        using kernel_type = kernel<Assignment>;
        sinter::detail::binding_of<kernel_type> bound;
        const status checked = sinter::detail::bind<kernel_type, cpu_family>(assigned, bound);
        if (!checked.ok() || bound.empty_output) return checked;
        constexpr int slot_count = sinter::detail::slots<kernel_type>::count;
        sinter::detail::loops<slot_count> along;
        sinter::detail::loop_maker<cpu_family, slot_count>::make(sinter::detail::loop_facts_of<kernel_type>::value, bound, along);
        sinter::detail::host_launch<kernel_type, cpu_family>::run(assigned, bound, along, hook, threads);
        return {};
    }
};

inline constexpr cpu_executor<one_thread> cpu{one_thread{}, 1};

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
