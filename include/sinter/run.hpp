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
#include "parameters.hpp"
#include "text.hpp"

#if defined(__cpp_exceptions) && !defined(SINTER_THROW)
#include <new>  // std::exception: what run throws is caught as one; <exception> costs five times as much
#endif

namespace sinter {

#if defined(__cpp_exceptions) && !defined(SINTER_THROW)
/// What `run` throws for a wrong call. `what()` opens with the stable code and ends with the operand, the axis and both sizes.
class run_error : public std::exception {
public:
    // (Inlined always: the linker would keep one of those that files with different instruction sets emit.)
    SINTER_FORCE_INLINE explicit run_error(const status& why) noexcept : why_(why), text_(describe(why)) {}
    SINTER_FORCE_INLINE run_error(const run_error& other) noexcept : std::exception(other), why_(other.why_), text_(other.text_) {}
    const char* what() const noexcept override { return text_.c_str(); }
    const status& get_status() const noexcept { return why_; }

private:
    status why_;
    fixed_text<400> text_;
};
#define SINTER_THROW(why) throw ::sinter::run_error(why)
#elif !defined(SINTER_THROW)
#define SINTER_THROW(why) ((void)(why), __builtin_trap())
#endif

// Can an error leave `run` as an exception? Whatever else `run` does is noexcept. Static shapes don't settle it: they leave a null
// pointer and an overlap to be found by the call (R003, R004), and those are thrown as well.
#if !defined(__cpp_exceptions) || defined(SINTER_THROW_IS_NOEXCEPT)
#define SINTER_RUN_IS_NOEXCEPT true
#else
#define SINTER_RUN_IS_NOEXCEPT false
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
    float_environment() {}
#endif
public:
    float_environment(const float_environment&) = delete;
    float_environment& operator=(const float_environment&) = delete;
};

namespace detail {
/// The memory space of a leaf or an output; void where it has none.
template <class Leaf>
struct space_of {
    using type = void;
};
template <class Type, class Extents, class Layout, class Space, int Alignment>
struct space_of<tensor_view<Type, Extents, Layout, Space, Alignment>> {
    using type = Space;
};
template <class View>
struct space_of<table_operand<View>> {
    using type = typename View::space;
};
/// The first memory space that an executor doesn't reach; void without one.
template <class Reached, class... Spaces>
struct first_unreached {
    using type = void;
};
template <class Reached, class First, class... Rest>
struct first_unreached<Reached, First, Rest...> {
    using type = conditional<is_same<First, Reached> || is_same<First, void>, typename first_unreached<Reached, Rest...>::type, First>;
};
template <class Executor, class Assignment>
struct unreached_by;
template <class Executor, class Program, class Roots, class... Leaves, class... Outputs>
struct unreached_by<Executor, assignment<Program, Roots, list<Leaves...>, list<Outputs...>>>
    : first_unreached<typename Executor::memory_space, typename space_of<Leaves>::type..., typename space_of<Outputs>::type...> {};

/// How what isn't an assignment prints.
struct an_expression {};
struct a_view {};
struct an_assignment {};
template <class Type>
using printed_argument = conditional<operand_kind_of<Type> == operand_kind::expression, an_expression,
                                     conditional<operand_kind_of<Type> == operand_kind::view, a_view, Type>>;
/// The first of run's arguments that isn't an assignment; void without one.
template <class... Types>
struct first_no_assignment {
    using type = void;
};
template <class First, class... Rest>
struct first_no_assignment<First, Rest...> {
    using type = conditional<is_assignment<First>, typename first_no_assignment<Rest...>::type, printed_argument<First>>;
};

/// Does the executor run what isn't one kernel?
template <class Executor>
inline constexpr bool splits = requires { Executor::splits; };

/// What `cuda(stream)` is without its header.
struct cuda_without_its_header {
    constexpr cuda_without_its_header fast() const { return {}; }
};

/// What is wrong with a run: a mistake; poison, if that was said before; void.
template <class Executor, class... Assignments>
constexpr auto run_verdict() {
    if constexpr (((operand_kind_of<Assignments> == operand_kind::poison) || ...))
        return poison{};
    else if constexpr (is_same<Executor, cuda_without_its_header>)
        return refused<mistake<rule::executor_has_its_header, Executor>>{};
    else if constexpr (sizeof...(Assignments) == 0)
        return refused<mistake<rule::run_takes_assignments>>{};
    else if constexpr (!is_same<typename first_no_assignment<Assignments...>::type, void>)
        return refused<mistake<rule::run_takes_assignments, typename first_no_assignment<Assignments...>::type>>{};
    else {
        using joined_type = remove_cvref<decltype(join_assignments(some<const Assignments&>()...))>;
        if constexpr (joined_type::output_count > max_outputs)
            return refused<mistake<rule::at_most_16_outputs, number<joined_type::output_count>>>{};
        else if constexpr (!is_same<typename unreached_by<Executor, joined_type>::type, void>)
            return refused<mistake<rule::executor_reaches_memory, Executor, typename unreached_by<Executor, joined_type>::type>>{};
        else if constexpr (!splits<Executor> && !kernel_check<joined_type>::ok)
            return refused<typename kernel_check<joined_type>::type>{};
        else
            return nothing_wrong{};
    }
}
template <class Executor, class... Assignments>
using run_mistake = outcome<decltype(run_verdict<Executor, Assignments...>())>;
}  // namespace detail

/// Runs one or more assignments as one kernel. Never throws; an error is reported before anything is written.
template <class Executor, class... Assignments>
[[nodiscard(SINTER_DROPPED_STATUS)]] SINTER_FORCE_INLINE status try_run(const Executor& executor, const Assignments&... assignments) noexcept {
    using wrong = detail::run_mistake<Executor, Assignments...>;
    if constexpr (is_same<wrong, detail::nothing_wrong>)
        return detail::launch_checked(executor, detail::join_assignments(assignments...));
    else {
        (void)sizeof(wrong);
        return {};
    }
}
/// As `try_run`; an error is thrown as `run_error`, or handed to SINTER_THROW (without exceptions it traps by default). noexcept
/// where the handler can't throw: without exceptions, and where SINTER_THROW_IS_NOEXCEPT promises it of your SINTER_THROW.
template <class Executor, class... Assignments>
SINTER_FORCE_INLINE void run(const Executor& executor, const Assignments&... assignments) noexcept(SINTER_RUN_IS_NOEXCEPT) {
    using wrong = detail::run_mistake<Executor, Assignments...>;
    if constexpr (is_same<wrong, detail::nothing_wrong>) {
        const status result = detail::launch_checked(executor, detail::join_assignments(assignments...));
        if (!result.ok()) [[unlikely]] {
            SINTER_THROW(result);
        }
    } else {
        (void)sizeof(wrong);
    }
}

/// The policy `fast` by name: `run(fast(executor), ...)`. An executor that has one gives its approximate form (CUDA and the
/// CPU: contraction, approximate functions, any order; docs/numerics states the bounds); with the others results stay the portable ones.
template <class Executor>
constexpr auto fast(const Executor& executor) {
    if constexpr (requires { executor.fast(); })
        return executor.fast();
    else
        return executor;
}

/// Evaluates an expression into memory of its own: a `tensor`, or the value itself when the expression has rank 0.
template <class Executor, class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
auto eval(const Executor& executor, const expression<Program, Root, Extents, Type, Weak, Leaves...>& value) {
    using element = type_of<Type>;
    using target_kernel = lowering_of<typename detail::as_assignment<expression<Program, Root, Extents, Type, Weak, Leaves...>>::type>;
    using wrong = detail::run_mistake<Executor, typename detail::as_assignment<expression<Program, Root, Extents, Type, Weak, Leaves...>>::type>;
    if constexpr (!is_same<wrong, detail::nothing_wrong>) {
        (void)sizeof(wrong);
        return poison{};
    } else if constexpr (Extents::rank == 0) {
        element result{};
        tensor_view<element, Extents> out(&result);
        run(executor, out = value);
        return result;
    } else {
        shape sizes = detail::run_time_shape<target_kernel, Root>(value.operands, true);
        for (i64& size : sizes.size)
            if (size < 0) size = 0;  // of a view that couldn't be formed: run says why
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
template <class Executor, class Rule, class... What>
poison eval(const Executor&, const mistake<Rule, What...>&) {
    return {};
}
/// eval(x + 1), eval(executor, y = x + 1)
template <tensor_operand Formula>
conditional<operand_kind_of<Formula> == operand_kind::poison, poison, mistake<rule::run_takes_assignments, detail::printed_argument<Formula>>> eval(
    const Formula&) {
    return {};
}
/// eval(executor, operator with several values), eval(executor, x + 1, x * 2), eval(executor, std::tuple(x + 1, x * 2))
template <class Executor, class Program, int... Root, class Types, class... Leaves>
mistake<rule::eval_gives_one_value, given<int(sizeof...(Root))>> eval(const Executor&,
                                                                      const multi_expression<Program, indices<Root...>, Types, Leaves...>&) {
    return {};
}
template <class Executor, class First, class Second, class... Rest>
    requires(tensor_operand<First> || detail::is_assignment<First> || tensor_operand<Second> || detail::is_assignment<Second>)
mistake<rule::eval_gives_one_value, given<int(2 + sizeof...(Rest))>> eval(const Executor&, const First&, const Second&, const Rest&...) {
    return {};
}
template <class Executor, template <class...> class Group, class First, class... Rest>
    requires(operand_kind_of<Group<First, Rest...>> == operand_kind::none && !detail::is_assignment<Group<First, Rest...>> && tensor_operand<First>)
mistake<rule::eval_gives_one_value, given<int(1 + sizeof...(Rest))>> eval(const Executor&, const Group<First, Rest...>&) {
    return {};
}
template <class Program, int... Root, class Types, class... Leaves>
mistake<rule::eval_gives_one_value, given<int(sizeof...(Root))>> eval(const multi_expression<Program, indices<Root...>, Types, Leaves...>&) {
    return {};
}
template <class Executor, class Assignment>
    requires detail::is_assignment<Assignment>
mistake<rule::run_takes_assignments, Executor, detail::an_assignment> eval(const Executor&, const Assignment&) {
    return {};
}

}  // namespace sinter
