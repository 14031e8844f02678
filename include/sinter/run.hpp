// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running assignments: executors, `run`, `try_run`, `eval`. An executor is any type with
//
//     using memory_space = host_memory;                 the space that it reaches (device_memory for a GPU)
//     template <class Assignment> status launch(const Assignment&) const;
//
// and, where it has them, `workspace()` (scratch memory of the caller) and `trace(hook)`; backends document theirs. All
// checks happen before the first write.
#pragma once

#include "bind.hpp"
#include "order.hpp"

#if defined(__cpp_exceptions) && !defined(SINTER_THROW)
#include <exception>
#endif

namespace sinter {

#if defined(__cpp_exceptions) && !defined(SINTER_THROW)
/// What `run` throws for a wrong call. `what()` is a literal that opens with the stable code.
class run_error : public std::exception {
public:
    explicit run_error(const status& why) noexcept : why_(why) {}
    const char* what() const noexcept override { return why_.message(); }
    const status& get_status() const noexcept { return why_; }

private:
    status why_;
};
#define SINTER_THROW(why) throw ::sinter::run_error(why)
#elif !defined(SINTER_THROW)
#define SINTER_THROW(why) ((void)(why), __builtin_trap())
#endif

/// Sets round-to-nearest with subnormals for a scope and restores the caller's state after it (E2; about 10 ns). Each
/// thread of a parallel run makes its own.
class float_environment {
public:
#if (defined(__x86_64__) || defined(__i386__)) && !SINTER_DEVICE_PASS
    SINTER_FORCE_INLINE float_environment() {
        __asm__ volatile("stmxcsr %0" : "=m"(saved_));
        // Exceptions masked, flags clear, nearest, no flush to zero, no denormals are zero.
        const u32 wanted = 0x1f80;
        changed_ = (saved_ & 0xffc0u) != wanted;
        if (changed_) __asm__ volatile("ldmxcsr %0" ::"m"(wanted) : "memory");
    }
    SINTER_FORCE_INLINE ~float_environment() {
        if (changed_) __asm__ volatile("ldmxcsr %0" ::"m"(saved_) : "memory");
    }

private:
    u32 saved_ = 0;
    bool changed_ = false;
#elif defined(__aarch64__) && !SINTER_DEVICE_PASS
    SINTER_FORCE_INLINE float_environment() {
        __asm__ volatile("mrs %0, fpcr" : "=r"(saved_));
        __asm__ volatile("msr fpcr, %0" ::"r"(u64(0)) : "memory");
    }
    SINTER_FORCE_INLINE ~float_environment() { __asm__ volatile("msr fpcr, %0" ::"r"(saved_) : "memory"); }

private:
    u64 saved_ = 0;
#else
    float_environment() = default;
#endif
public:
    float_environment(const float_environment&) = delete;
    float_environment& operator=(const float_environment&) = delete;
};

/// Check struct: the executor reaches the memory of every view.
template <class Executor, class Space>
struct executor_reaches {
    static constexpr bool ok = is_same<typename Executor::memory_space, Space>;
    static_assert(ok, "[SINTER-M001] this executor can't reach a view's memory space. Hint: host views run on cpu or reference.");
};
template <class Type, bool Ok>
struct run_takes_assignments {
    static_assert(Ok, "[SINTER-E008] run takes `view = expression` (or several of them). Hint: y = copy(x) copies elements.");
    static constexpr bool ok = Ok;
};

namespace detail {
template <class Leaf>
struct space_of {
    template <class Executor>
    static constexpr bool reached = true;
};
template <class Type, class Extents, class Layout, class Space, int Alignment>
struct space_of<tensor_view<Type, Extents, Layout, Space, Alignment>> {
    template <class Executor>
    static constexpr bool reached = executor_reaches<Executor, Space>::ok;
};
template <class Executor, class Assignment>
struct reaches_all;
template <class Executor, class Program, class Roots, class... Leaves, class... Outputs>
struct reaches_all<Executor, assignment<Program, Roots, list<Leaves...>, list<Outputs...>>> {
    static constexpr bool ok = (space_of<Leaves>::template reached<Executor> && ...) &&
                               (space_of<Outputs>::template reached<Executor> && ...);
};
/// One kernel, unless the executor says that it `splits`.
template <class Executor, class Assignment>
constexpr bool may_run() {
    if constexpr (requires { Executor::splits; })
        return true;
    else
        return one_kernel<lowering_of<Assignment>::value.why>::ok;
}
template <class Assignment>
struct all_static;
template <class Program, class Roots, class... Leaves, class... Outputs>
struct all_static<assignment<Program, Roots, list<Leaves...>, list<Outputs...>>> {
    static constexpr bool ok = (leaf_facts<Leaves>::sizes.is_static() && ...) &&
                               (Outputs::extents_type::static_shape.is_static() && ...);
};
}  // namespace detail

/// Runs one or more assignments as one kernel. Never throws; an error is reported before anything is written.
template <class Executor, class... Assignments>
SINTER_FORCE_INLINE status try_run(const Executor& executor, const Assignments&... assignments) noexcept {
    static_assert(sizeof...(Assignments) > 0, "[SINTER-E008] run takes `view = expression` (or several of them).");
    if constexpr ((is_same<Assignments, poison> || ...))
        return {};  // the mistake was reported where it was made
    else if constexpr (!(run_takes_assignments<Assignments, detail::is_assignment<Assignments>>::ok && ...))
        return {};
    else {
        const auto& joined = detail::join_assignments(assignments...);
        using assignment_type = remove_cvref<decltype(joined)>;
        if constexpr (detail::may_run<Executor, assignment_type>() && detail::reaches_all<Executor, assignment_type>::ok)
            return executor.launch(joined);
        else
            return {};
    }
}
/// As `try_run`; an error is thrown as `run_error`, or handed to SINTER_THROW (without exceptions it traps by default).
template <class Executor, class... Assignments>
SINTER_FORCE_INLINE void run(const Executor& executor, const Assignments&... assignments) {
    const status result = try_run(executor, assignments...);
    if (!result.ok()) [[unlikely]] {
        SINTER_THROW(result);
    }
}

/// Evaluates an expression into memory of its own: a `tensor`, or the value itself when the expression has rank 0.
template <class Executor, class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
auto eval(const Executor& executor, const expression<Program, Root, Extents, Type, Weak, Leaves...>& value) {
    using element = type_of<Type>;
    using target_kernel = lowering_of<typename detail::as_assignment<expression<Program, Root, Extents, Type, Weak, Leaves...>>::type>;
    if constexpr (Extents::rank == 0) {
        element result{};
        tensor_view<element, Extents> out(&result);
        run(executor, out = value);
        return result;
    } else {
        const shape sizes = detail::run_time_shape<target_kernel, Root>(value.operands);
        tensor<element, Extents> result(extents_with<Extents>(sizes));
        if (!result.ok()) {
            SINTER_THROW((status{error::out_of_memory, -1, -1, 0, 0}));
        }
        run(executor, result.view() = value);
        return result;
    }
}
template <class Executor, class Type, class Extents, class Layout, class Space, int Alignment>
auto eval(const Executor& executor, const tensor_view<Type, Extents, Layout, Space, Alignment>& value) {
    return eval(executor, copy(value));
}
template <class Executor>
poison eval(const Executor&, poison) {
    return {};
}

}  // namespace sinter
