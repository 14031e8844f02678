// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How Sinter says that something is wrong: the rules of the compile-time checks with their messages, the poison value, and
// the status of a failed call. Every code has a page under docs/errors and a test under tests/fail.
//
// How one mistake becomes one short message. A rule is checked on types and values, silently. Where it is broken, the function
// that the user called has the return type `mistake<rule::..., what...>`, by value and written in its declaration. That class
// holds the static_assert, so it fails where the call needs a complete type: at the user's own line, with nothing between but
// the called function. Hence:
//   - functions that users call never have a deduced return type: `detail::outcome<...>` or `-> decltype(...)`;
//   - what they call may return `refused<mistake<...>>`, which is silent, and passes on;
//   - the arguments of `mistake` are short types made for reading: sizes<2, 3>, axis<1>, never an expression;
//   - an umbrella header includes this one first: compilers print the chain of includes to the failed line.
// A mistake, handed to another operator, `=` or `run`, gives `poison`, and so does poison: no second message.
// In a traced lambda it stays `refused`, silent, and goes with the values into what the lambda returns: the call of the lambda says it, at
// the user's line. Said within, it would come with the compiler's way into the lambda, 15 to 90 lines.
#pragma once

#include "meta.hpp"

namespace sinter {

/// Said by the compiler where an assignment is made and not run.
#define SINTER_DROPPED_ASSIGNMENT "[SINTER-E009] an assignment runs nothing by itself. Hint: run(executor, y = expression)."
/// Said where the status of a call is dropped: nothing else tells that the call was refused and wrote nothing.
#define SINTER_DROPPED_STATUS \
    "[SINTER-E025] this status alone says whether the call did anything. Hint: if (const status said = try_run(...); !said.ok()), or run(...), which throws."
/// Said where a formula is asked for its truth, or for its value as a number. A static_assert in the conversion's own body: clang would go
/// on after another.
#define SINTER_BRANCH_ON_A_FORMULA \
    "[SINTER-E012] a condition of tensors is a formula, not a bool: it has no value before it is run. Hint: if (eval(executor, any(x > 3.0f))); within a formula where(condition, a, b)."
#define SINTER_FORMULA_AS_A_NUMBER \
    "[SINTER-E021] an expression is a formula, not a number: it has no value before it is run. Hint: float f = eval(executor, max(x)), or run(executor, view(&f, extents<>{}) = max(x)); without axes a reduction gives one number; within a formula where(condition, a, b) chooses."
/// The same of a value in a traced lambda, which never has one.
#define SINTER_BRANCH_IN_A_LAMBDA \
    "[SINTER-E012] a formula's value isn't known while it is written: if, ?: and loops can't depend on it. Hint: where(condition, a, b)."
/// The same where a lane is asked, in an operator or a monoid of the user's own.
#define SINTER_BRANCH_OVER_LANES \
    "[SINTER-E017] lanes hold several elements: if, ?:, && and || can't ask them. Hint: select(condition, a, b); & and | join conditions."
/// Said where one element of a formula is asked for.
#define SINTER_NO_ELEMENTS \
    "[SINTER-E020] a formula sees a tensor whole: no element by its index, none from its neighbour's result, no size(). Hint: slice<axis, start, stop>(x) for fixed places; view(i, j) for one element of memory; a loop of your own for a recurrence; a size as one more number."
/// Said where a zero point has a fraction, or is of a type that could have one.
#define SINTER_ZERO_IS_A_CODE \
    "[SINTER-Q015] a zero point is a code, an integer: of a float the fraction would be cut off. Hint: qp(0.05f, 3), \"0.05:3\"_qp; cast<i32>(round(zero)) of a tensor, or round the number."
/// Said where static parameters are wrong: in a type, or given to an operation.
#define SINTER_SCALE_IS_POSITIVE "[SINTER-Q001] a scale is finite and greater than 0. Hint: observe data that isn't all zero, or pass a scale."
#define SINTER_ZERO_IN_STORAGE "[SINTER-Q002] the zero point isn't a code of this storage. Hint: i8 holds -128 to 127, u8 0 to 255."
#define SINTER_SYMMETRIC_ZERO "[SINTER-Q003] a symmetric type has zero point 0 (unsigned codes: the middle one). Hint: leave out symmetric or narrow."
#define SINTER_RANGE_IN_STORAGE "[SINTER-Q009] this range of codes is empty or leaves the storage. Hint: with_range(p, -64, 63)."
/// Said where a `tensor` stands on the left.
#define SINTER_OWNER_ON_THE_LEFT \
    "[SINTER-E023] an owner takes no formula by =. Hint: run(executor, view(t) = x + 1), or auto t = eval(executor, x + 1)."
/// Said where something is to be the type of a tensor's elements that can't be.
#define SINTER_NO_ELEMENT_TYPE \
    "[SINTER-T007] this isn't an element type. Hint: float, double, f16, bf16, bool or an integer of at most 8 bytes; not long double, nor an enum (__half, __nv_bfloat16: include their headers before Sinter's). cast<float>(x) names it; packed(p, bytes) has pairs of 4-bit codes."
/// Said where extents, a view or a tensor is made with another number of sizes than its type leaves open.
#define SINTER_OPEN_SIZES \
    "[SINTER-S035] one number for each size that the type leaves open (dyn or a name), no more. Hint: extents<dyn, 4>(rows); extents<3, 4> takes none."

/// What follows from a mistake that was already reported. Holds nothing and swallows what is done to it; a number that was to be
/// evaluated is whatever number was wanted.
struct poison {
    template <class Number>
        requires(is_same<Number, float> || is_same<Number, double> || is_index<Number>)
    SINTER_HOST_DEVICE constexpr operator Number() const {
        return Number{};
    }
    template <class Right>
    SINTER_HOST_DEVICE constexpr poison operator=(const Right&) const {  // x[2] = 1
        return {};
    }
};

/// What the rules say, as short sentences in the compiler's message.
namespace rule {
// clang-format off
struct at_most_8_axes {};           struct sizes_match {};              struct number_meets_no_name {};  struct names_match {};
struct axis_exists {};              struct axes_differ {};              struct permutes_every_axis {};   struct slice_stays_inside {};
struct step_is_not_zero {};          struct squeezed_axis_is_one {};     struct sizes_divide {};          struct fold_has_elements {};
struct reshape_keeps_count {};      struct expand_stretches_ones {};    struct output_has_the_shape {};
struct needs_floats {};             struct needs_integers {};           struct condition_is_bool {};     struct common_type {};
struct constant_fits {};            struct f64_not_yet {};              struct store_keeps_values {};
struct memory_outlives_view {};     struct output_is_mutable {};        struct memory_is_contiguous {};
struct lambda_captures_nothing {};  struct at_most_64_operands {};      struct at_most_512_nodes {};     struct let_takes_a_lambda {};
struct right_side_is_operand {};    struct tie_takes_every_value {};    struct run_takes_assignments {};
struct executor_has_its_header {};  struct executor_reaches_memory {};  struct lambda_gives_values {};      struct axes_are_types {};           struct operand_has_shape {};
struct one_set_of_folded_axes {};   struct folded_sizes_match {};       struct map_of_reduction {};      struct reshape_of_broadcast {};
struct fits_one_kernel {};          struct operator_has_a_name {};      struct operator_takes_lanes {};
struct at_most_16_outputs {};       struct name_is_no_number {};        struct sizes_are_extents {};        struct is_a_monoid {};              struct takes_so_many {};
struct lanes_go_through {};         struct codes_are_small {};          struct map_numbers_are_types {};    struct number_takes_no_formula {};
struct lambda_uses_parameters {};     struct branches_are_formulas {};    struct numbers_meet_a_value {};      struct tensor_is_whole {};          struct is_an_element_type {};
struct not_there_yet {};            struct eval_gives_one_value {};     struct argument_has_axes {};        struct owner_takes_no_formula {};
struct formula_stays_as_it_is {};   struct outputs_of_a_lambda {};     struct bool_has_no_order {};         struct lambda_runs_while_compiling {};
struct values_have_names {};        struct view_is_of_memory {};        struct tie_takes_views {};           struct dot_has_codes {};
struct same_scale {};               struct codes_or_numbers {};         struct zero_is_a_code {};           struct dequantize_takes_codes {};          struct one_scale_alone {};             struct packs_pairs {};
struct scale_is_positive {};            struct zero_in_storage {};            struct symmetric_zero {};            struct range_in_storage {};
struct dot_stays_exact {};          struct dot_knows_codes {};          struct scale_is_in_the_type {};          struct parameters_fit {};           struct blocks_divide {};         struct one_quantized_axis {};
// clang-format on
}  // namespace rule

struct traced;  // a value of a traced lambda
template <int Count>
struct traced_outputs;  // several of them
/// The lambda in which a rule was broken; compilers print where it stands.
template <class Lambda>
struct in_lambda {};

/// A broken rule, and what broke it. Complete only with an error.
template <class Rule, class... What>
struct mistake;
/// A mistake on its way to the function that the user called. Silent: a template of what the mistake is made of, since a call with an
/// argument of type `some<mistake<...>>` looks for friends of the mistake, and so says it.
template <class Rule, class... What>
struct silent {
    template <class Wanted>
        requires is_same<Wanted, mistake<Rule, What...>>
    SINTER_HOST_DEVICE constexpr operator Wanted() const {
        return {};
    }
    /// Where a traced lambda wants a value of it: said there.
    template <class Wanted>
        requires(is_same<Wanted, traced> || is_same<Wanted, float> || is_same<Wanted, double> || is_same<Wanted, bool>)
    constexpr operator Wanted() const {
        (void)sizeof(mistake<Rule, What...>);
        return Wanted{};
    }
    template <class Right>
        requires(!is_same<Right, silent>)
    constexpr silent& operator=(const Right&) {
        return *this;
    }
};
namespace detail {
template <class Mistake>
struct silent_form;
template <class Rule, class... What>
struct silent_form<mistake<Rule, What...>> {
    using type = silent<Rule, What...>;
};
}  // namespace detail
template <class Mistake>
using refused = typename detail::silent_form<Mistake>::type;

// How numbers print.
template <int Axis>
struct at_axis {};
template <i64 Value>
struct number {};
template <int Count>
struct takes {};
template <int Count>
struct given {};

// The rules. Written out, not made by a macro: compilers print where a macro was expanded, which is of no use to the reader.
template <class... What>
struct mistake<rule::at_most_8_axes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S002] a tensor has at most 8 axes. Hint: merge axes first (flatten, reshape).");
};
template <class... What>
struct mistake<rule::sizes_match, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S012] these shapes don't broadcast: aligned at the right, sizes must be equal or one of them 1. Hint: reshape or unsqueeze one side.");
};
template <class... What>
struct mistake<rule::number_meets_no_name, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S013] a named size meets a number: they may differ when run. Hint: name both axes, or neither.");
};
template <class... What>
struct mistake<rule::names_match, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S014] two names meet on one axis: they may differ when run. Hint: use one name, or dyn, which is checked when run.");
};
template <class... What>
struct mistake<rule::axis_exists, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S021] this shape has no such axis. Hint: axes count from 0 at the left, or from -1 at the right.");
};
template <class... What>
struct mistake<rule::axes_differ, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S022] an axis is listed twice. Hint: list each axis once; -1 is the last one.");
};
template <class... What>
struct mistake<rule::permutes_every_axis, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S023] permute takes every axis of the shape exactly once. Hint: list 0 to rank - 1 in the new order.");
};
template <class... What>
struct mistake<rule::slice_stays_inside, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S024] this slice leaves the axis. Hint: start and stop lie within the size, stop is exclusive; end leaves a bound open.");
};
template <class... What>
struct mistake<rule::step_is_not_zero, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S025] a slice's step is zero. Hint: use 1, or -1 to go backwards.");
};
template <class... What>
struct mistake<rule::squeezed_axis_is_one, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S026] only an axis of static size 1 can be squeezed. Hint: reshape, or give the axis the static size 1. (The target of cross_entropy is (..., 1): unsqueeze<-1>(target).)");
};
template <class... What>
struct mistake<rule::sizes_divide, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S027] this axis can't be split so: the sizes don't divide. Hint: split into a divisor of the size.");
};
template <class... What>
struct mistake<rule::fold_has_elements, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S028] this reduction has no value over nothing, and a folded axis has size 0. Hint: guard the call, or convert to float.");
};
template <class... What>
struct mistake<rule::axes_are_types, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S029] axes are written axes<1> or axes<0, 2>, and drop comes after them; a number isn't an axis. Hint: mean(x, axes<1>), or last_axis; of two values maximum(x, 0.0f).");
};
template <class... What>
struct mistake<rule::reshape_keeps_count, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S031] reshape keeps the number of elements. Hint: compare the products of both shapes.");
};
template <class... What>
struct mistake<rule::expand_stretches_ones, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S032] expand stretches axes of size 1 and adds axes at the left. Hint: the other sizes stay; unsqueeze first.");
};
template <class... What>
struct mistake<rule::argument_has_axes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S037] this argument of a normalization stands in another's place: x has axes, parameters no more than x, eps is a number. Hint: rms_norm(x, weight, eps); layer_norm and group_norm<groups>(x, weight, bias, eps); batch_norm(x, mean, variance, weight, bias, eps); softmax(x, mask, axes<1>).");
};
template <class... What>
struct mistake<rule::output_has_the_shape, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S041] the expression doesn't have the output's shape, nor broadcasts to it. Hint: give the output the expression's shape; a reduction keeps its axes as 1, as do a row's scales: extents<rows, 1> or unsqueeze<-1>(y); drop loses them: sum(x, axes<1>, drop).");
};
template <class... What>
struct mistake<rule::needs_floats, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T001] this operation needs floating-point operands. Hint: cast<float>(x) first.");
};
template <class... What>
struct mistake<rule::needs_integers, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T002] this operation needs integers or bool. Hint: cast the operand, or compare it to get a bool.");
};
template <class... What>
struct mistake<rule::condition_is_bool, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T003] a condition is bool. Hint: write a comparison, such as x != 0.");
};
template <class... What>
struct mistake<rule::common_type, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T004] these types have no common type. Hint: cast one of them.");
};
template <class... What>
struct mistake<rule::constant_fits, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T005] this constant doesn't fit the integer type that it meets. Hint: cast the tensor to a wider type.");
};
template <class... What>
struct mistake<rule::f64_not_yet, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T006] this function isn't there for f64 yet. Hint: cast<float>(x); exp, log, tanh, sigmoid, rsqrt, sqrt take f64.");
};
template <class... What>
struct mistake<rule::store_keeps_values, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T011] storing this could lose values: float to integer, or to an integer type that doesn't hold every value. Hint: cast<type>(round(x)), cast<type>(x) which cuts the fraction, cast_wrap; codes are quantize<i8>(x, scale) or quantize<p>(x); a view of q8<p> takes floats as they are.");
};
template <class... What>
struct mistake<rule::memory_outlives_view, What...> {
    template <class Right>
    constexpr poison operator=(const Right&) const {  // no second message where it stands on the left
        return {};
    }
    static_assert(dependent_false<What...>,
                  "[SINTER-C001] a temporary that owns its memory can't be an operand: the view would outlive it. Hint: give it a name.");
};
template <class... What>
struct mistake<rule::owner_takes_no_formula, What...> {
    template <class Right>
    constexpr poison operator=(const Right&) const {  // no second message
        return {};
    }
    static_assert(dependent_false<What...>, SINTER_OWNER_ON_THE_LEFT);
};
template <class... What>
struct mistake<rule::formula_stays_as_it_is, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E027] a formula outside of a lambda stays what it is: its type says what it computes. Hint: auto next = formula + x; within the lambda of let and fused s += x works; into memory run(executor, view += x).");
};
template <class... What>
struct mistake<rule::outputs_of_a_lambda, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E028] outputs gathers values of a traced lambda. Hint: of formulas run(executor, y = first, z = second), one kernel, too; or tie(y, z) = let(x, [](auto v) { return outputs(v + 1, v * 2); }).");
};
template <class... What>
struct mistake<rule::values_have_names, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E030] this stands for several values, and one is wanted. Hint: const auto [a, b] = dynamic_quantize(x); names two; then compute with a and b.");
};
template <class... What>
struct mistake<rule::view_is_of_memory, What...> {
    template <class Right>
    constexpr poison operator=(const Right&) const {  // no second message where it stands on the left
        return {};
    }
    static_assert(dependent_false<What...>,
                  "[SINTER-E031] a view is of memory, and this is a view or a formula already. Hint: view(x.data(), extents<2, 4>{}) is the same memory in another shape, reshape<2, 4>(x) a formula; a formula's values are eval(executor, x + y).");
};
template <class... What>
struct mistake<rule::tie_takes_views, What...> {
    template <class Right>
    constexpr poison operator=(const Right&) const {
        return {};
    }
    static_assert(dependent_false<What...>,
                  "[SINTER-E032] tie takes views of memory, one for each value. Hint: tie(view(a, extents<8>{}), view(b, extents<8>{})) = two(x).");
};
template <class... What>
struct mistake<rule::lambda_runs_while_compiling, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E029] the lambda of fused and let runs while compiling, and something in this one can't: a function for numbers (std::exp, your own float f(float)), one that isn't constexpr, a loop without end. Hint: exp(v) without std::; constexpr auto f(auto v) for functions of your own.");
};
template <class... What>
struct mistake<rule::bool_has_no_order, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-T012] a condition is compared with a number: a < x < b asks whether the bool a < x is below b. Hint: a < x && x < b; cast<int>(condition) < n, if that is meant.");
};
template <class... What>
struct mistake<rule::output_is_mutable, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-C002] the output is a view of const elements. Hint: make the view from mutable memory.");
};
template <class... What>
struct mistake<rule::memory_is_contiguous, What...> {
    template <class Right>
    constexpr poison operator=(const Right&) const {  // no second message where it stands on the left
        return {};
    }
    static_assert(dependent_false<What...>,
                  "[SINTER-C004] a view needs elements side by side, by data() and size(); std::vector<bool> packs bits. Hint: a bool array, std::array, std::vector of another type.");
};
template <class... What>
struct mistake<rule::lambda_captures_nothing, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E001] the lambda of fused and let can't capture: it runs while compiling. Hint: pass values as operands.");
};
template <class... What>
struct mistake<rule::at_most_64_operands, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E002] more than 64 operands in one expression: each mention of a view is one. Hint: let(x, y, lambda) loads each once.");
};
template <class... What>
struct mistake<rule::at_most_16_outputs, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E022] more than 16 outputs in one kernel. Hint: run them in groups, each with the operands that its formulas share.");
};
template <class... What>
struct mistake<rule::at_most_512_nodes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E003] more than 512 operations in one traced lambda. Hint: split the formula, store a value between.");
};
template <class... What>
struct mistake<rule::let_takes_a_lambda, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E004] let takes operands and then a lambda. Hint: let(x, w, [](auto x, auto w) { return x * w; }).");
};
template <class... What>
struct mistake<rule::right_side_is_operand, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E006] only an expression or a scalar can be assigned to a view. Hint: view(container) makes a view of memory.");
};
// In the place of an output that a function would have made: assignment to it adds no second message. (Of a base class's clang gives one.)
#define SINTER_TAKES_QUIETLY(assignment)              \
    template <class Right>                            \
    constexpr poison assignment(const Right&) const { \
        return {};                                    \
    }
#define SINTER_STANDS_FOR_AN_OUTPUT  \
    SINTER_TAKES_QUIETLY(operator=)  \
    SINTER_TAKES_QUIETLY(operator+=) \
    SINTER_TAKES_QUIETLY(operator-=) \
    SINTER_TAKES_QUIETLY(operator*=) \
    SINTER_TAKES_QUIETLY(operator/=)
template <class... What>
struct mistake<rule::operand_has_shape, What...> {
    SINTER_STANDS_FOR_AN_OUTPUT
    static_assert(dependent_false<What...>,
                  "[SINTER-E011] this isn't an operand: memory beside a tensor has no shape. Hint: view(container), or view(pointer, extents<2, 3>{}).");
};
template <class... What>
struct mistake<rule::tie_takes_every_value, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E007] each value of an operator needs a view of its own; here their numbers differ. Hint: tie(a, b) = op(x) for two.");
};
template <class... What>
struct mistake<rule::run_takes_assignments, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E008] run takes an executor and view = expression, one or several; eval an executor and an expression. Hint: run(cpu, y = copy(x)); eval(cpu, x) gives a tensor.");
};
/// What `auto [a, b] = eval(...)` takes apart: without it that is a second message.
template <class Count>
struct several_poisons {};
template <>
struct several_poisons<given<2>> {
    poison first, second;
};
template <>
struct several_poisons<given<3>> {
    poison first, second, third;
};
template <class Count>
struct mistake<rule::eval_gives_one_value, Count> : several_poisons<Count> {
    static_assert(dependent_false<Count>,
                  "[SINTER-E024] eval gives one value, a tensor or a number. Hint: several come from run(executor, tie(view(a), view(b)) = formula) with memory of yours, or run(executor, view(a) = first, view(b) = second).");
};
template <class... What>
struct mistake<rule::lambda_gives_values, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E010] the lambda of fused and let takes one value per operand and returns a value. Hint: a parameter for each operand (the number says how many there are); outputs(a, b) returns several.");
};
template <class... What>
struct mistake<rule::operator_has_a_name, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E013] an operator of your own needs a name. Hint: static constexpr const char* name = \"my_operator\";");
};
template <class... What>
struct mistake<rule::name_is_no_number, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S015] a named size isn't a number: \"seq\"_d stands for an axis in extents. Hint: pass the number itself, or sum(x * 0 + 1, axes<...>).");
};
template <class... What>
struct mistake<rule::sizes_are_extents, What...> {
    template <class Right>
    constexpr poison operator=(const Right&) const {  // no second message where it stands on the left
        return {};
    }
    static_assert(dependent_false<What...>,
                  "[SINTER-S034] the sizes of a view are extents. Hint: view(x, extents<3, 4>{}), or view(x, extents<dyn, dyn>(3, 4)) for sizes known when run.");
};
template <class... What>
struct mistake<rule::is_a_monoid, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E016] fold takes a monoid, and a member is missing. Hint: a struct with name, identity<Value>(), lift(x), combine(a, b), finalize(a).");
};
template <class... What>
struct mistake<rule::takes_so_many, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E018] this function takes another number of operands. Hint: docs/reference.md lists what each takes; rms_norm(x, weight, eps) or (x, eps), layer_norm(x, weight, bias, eps), cross_entropy(x, target), softmax(x), quantized(codes, scale).");
};
template <class... What>
struct mistake<rule::lanes_go_through, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E019] an operator or monoid of your own can't be called with these lanes, or gives something else. Hint: a template of a lane for each operand; identity, lift and combine of a monoid give lane::fields<Value>, finalize a lane (docs/reference.md).");
};
template <class... What>
struct mistake<rule::map_numbers_are_types, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-S036] axes, bounds and sizes of an index map are part of its type. Hint: permute<2, 0, 1>(x), slice<0, 1, -1>(x); with run-time sizes of a view alone slice<0>(view, start, stop), reshape(view, extents); broadcasting needs no expand.");
};
template <class... What>
struct mistake<rule::number_takes_no_formula, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E021] a C++ number can't take a formula's value. Hint: in a lambda parameters are auto; begin with a value, auto total = v, and write exp(v) without std::; outside, eval(executor, sum(x)) gives a number, view(i, j) an element.");
};
template <class... What>
struct mistake<rule::is_an_element_type, What...> {
    static_assert(dependent_false<What...>, SINTER_NO_ELEMENT_TYPE);
};
template <class... What>
struct mistake<rule::numbers_meet_a_value, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E026] an operation on numbers alone, made as decltype(v)(2): only one with a value of the lambda is recorded. Hint: begin with a value, v * 2 * 3, or compute with float.");
};
template <class... What>
struct mistake<rule::branches_are_formulas, What...> {
    static_assert(dependent_false<What...>, SINTER_BRANCH_IN_A_LAMBDA);
};
template <class... What>
struct mistake<rule::tensor_is_whole, What...> {
    static_assert(dependent_false<What...>, SINTER_NO_ELEMENTS);
};
template <class... What>
struct mistake<rule::codes_are_small, What...> {
    SINTER_STANDS_FOR_AN_OUTPUT
    static_assert(dependent_false<What...>,
                  "[SINTER-Q012] codes are of type i8, u8, i16 or u16. Hint: quantize<i8>(x, scale, zero), quantized(codes, scale, zero) with a view of such codes; cast<i32>(round(x / scale)) for wider ones.");
};
template <class... What>
struct mistake<rule::dot_knows_codes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q013] dot and dot_codes need the codes' type, which a value of a traced lambda doesn't have. Hint: call them outside: lambda(dot(x, w, axes), bias).");
};
template <class... What>
struct mistake<rule::dot_has_codes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q016] dot_codes sums products of codes, two tensors of i8, u8, i16, u16 or quantized numbers, over axes. Hint: dot_codes(x, w, axes<-1>); of floats sum(x * w, axes<-1>), of wider integers sum(cast<i64>(x) * w, axes<-1>).");
};
template <class... What>
struct mistake<rule::scale_is_in_the_type, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q014] dot and dot_codes take codes whose scale is in their type; this view holds its scales. Hint: sum(x * w, axes<-1>) of the real values; or dot_codes of the codes themselves, times the scales: they must not vary along the summed axis.");
};
template <class... What>
struct mistake<rule::operator_takes_lanes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E014] the call of an operator of your own isn't a template: a lane may be a vector register. Hint: template <class Value> Value operator()(Value x) const.");
};
template <class... What>
struct mistake<rule::lambda_uses_parameters, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-E015] a tensor or formula from outside meets a value of the traced lambda. Hint: give the lambda a parameter for it.");
};
template <class... What>
struct mistake<rule::executor_has_its_header, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-B006] the executor cuda has a header of its own, and takes a stream. Hint: #include <sinter/backend/cuda.cuh> in a file that nvcc or clang compiles as CUDA; run(cuda(stream), y = x + 1).");
};
template <class... What>
struct mistake<rule::executor_reaches_memory, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-M001] this executor can't reach a view's memory space. Hint: host views run on cpu or reference, device views on cuda: device_view(pointer, extents).");
};
template <class... What>
struct mistake<rule::one_set_of_folded_axes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-P001] these reductions fold different axes, or operands of different ranks, and can't share one kernel. Hint: was drop meant (a folded axis stays as 1, and beside labels broadcasts)? Else store one first, in a run of its own, or run(split(cpu), ...).");
};
template <class... What>
struct mistake<rule::folded_sizes_match, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-P002] outputs of different sizes, or folded over different axes, can't share one kernel. Hint: was drop meant (a folded axis stays as 1, and beside labels broadcasts)? Else give all the kept axes (unsqueeze a view that lacks one), or call run once for each.");
};
template <class... What>
struct mistake<rule::map_of_reduction, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-P003] an index map of this reduced value can't be pushed to the operands. Hint: map the operand, or the output (transpose(y) = x), or store the reduction first.");
};
template <class... What>
struct mistake<rule::reshape_of_broadcast, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-P004] a reshape of a broadcast value can't be pushed to the operands. Hint: reshape the operands, or store the value first.");
};
template <class... What>
struct mistake<rule::fits_one_kernel, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-P005] more axes, maps or values than one kernel's tables hold. Hint: split the formula, store a value between.");
};
template <class... What>
struct mistake<rule::same_scale, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q004] codes of one scale are stored where another scale is meant. Hint: requantize(x) goes through the real value, codes(x) keeps the bits.");
};
template <class... What>
struct mistake<rule::codes_or_numbers, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q005] integers meet quantized numbers: are they codes or numbers? Hint: cast<float>(x), or dequantize(x, scale, zero).");
};
template <class... What>
struct mistake<rule::dequantize_takes_codes, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q017] dequantize(x, scale, zero) takes plain codes, integers: this is a real number already, of floats or of quantized elements. Hint: dequantize(x) of quantized elements, x * scale of floats, codes(x) for their codes.");
};
template <class... What>
struct mistake<rule::one_scale_alone, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q018] these packed codes have a scale in their type, and are given another one. Hint: q4x2<\"1\"_qp>, or qu4x2<\"1:8\"_qp>, with quantized(packed(p, bytes), scales); packed(p, bytes) alone has the type's scale.");
};
template <class... What>
struct mistake<rule::packs_pairs, What...> {
    SINTER_STANDS_FOR_AN_OUTPUT
    static_assert(dependent_false<What...>,
                  "[SINTER-Q019] packed(pointer, extents) takes a pointer to pairs, q4x2<p> or qu4x2<p>, and the static sizes of one to three axes of bytes. Hint: reinterpret_cast<const qu4x2<p>*>(bytes); extents<4, 48>{}; more axes merged.");
};
template <class... What>
struct mistake<rule::scale_is_positive, What...> {
    static_assert(dependent_false<What...>, SINTER_SCALE_IS_POSITIVE);
};
template <class... What>
struct mistake<rule::zero_in_storage, What...> {
    static_assert(dependent_false<What...>, SINTER_ZERO_IN_STORAGE);
};
template <class... What>
struct mistake<rule::symmetric_zero, What...> {
    static_assert(dependent_false<What...>, SINTER_SYMMETRIC_ZERO);
};
template <class... What>
struct mistake<rule::range_in_storage, What...> {
    static_assert(dependent_false<What...>, SINTER_RANGE_IN_STORAGE);
};
template <class... What>
struct mistake<rule::zero_is_a_code, What...> {
    SINTER_STANDS_FOR_AN_OUTPUT
    static_assert(dependent_false<What...>, SINTER_ZERO_IS_A_CODE);
};
template <class... What>
struct mistake<rule::dot_stays_exact, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q006] a sum of so many products of codes may leave 32 bits. Hint: split the axis (unflatten) and add the parts as i64 or float; of a size known when run: sum(cast<i64>(codes(x)) * codes(w), axes<-1>).");
};
template <class... What>
struct mistake<rule::parameters_fit, What...> {
    SINTER_STANDS_FOR_AN_OUTPUT
    static_assert(dependent_false<What...>,
                  "[SINTER-Q007] scales or zero points don't fit the codes. Hint: quantized(codes, axes<0>, scales) takes one for each index along that axis; with block<a, n> they have the codes' shape with that axis divided; without an axis one is a number, or has the codes' axes, of size 1 where it stays the same.");
};
template <class... What>
struct mistake<rule::blocks_divide, What...> {
    SINTER_STANDS_FOR_AN_OUTPUT
    static_assert(dependent_false<What...>,
                  "[SINTER-Q008] the block doesn't divide the axis. Hint: partial_block<axis, length> lets the last block be shorter.");
};
#undef SINTER_STANDS_FOR_AN_OUTPUT
#undef SINTER_TAKES_QUIETLY
template <class... What>
struct mistake<rule::one_quantized_axis, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-Q011] operands of one operation are quantized along different axes. Hint: dequantize(x) one of them first, if that is meant.");
};
template <class... What>
struct mistake<rule::not_there_yet, What...> {
    static_assert(dependent_false<What...>,
                  "[SINTER-N001] matmul, and dot of other than codes, aren't there yet. Hint: sum(m * v, last_axis, drop) by a vector; sum(unsqueeze<-1>(a) * unsqueeze<-3>(b), axes<-2>, drop) by a matrix.");
};

namespace detail {
/// What a function that users call returns: the mistake itself, complete, where something was refused.
template <class Type>
struct outcome_of {
    using type = Type;
};
template <class Rule, class... What>
struct outcome_of<silent<Rule, What...>> {
    using type = mistake<Rule, What...>;
};
template <class Type>
using outcome = typename outcome_of<Type>::type;
/// The same of a call with these arguments: in a traced lambda a mistake stays silent.
template <class Argument>
inline constexpr bool is_silent = is_same<Argument, traced>;
template <int Count>
inline constexpr bool is_silent<traced_outputs<Count>> = true;
template <class Rule, class... What>
inline constexpr bool is_silent<silent<Rule, What...>> = true;
template <class Type, class... Arguments>
using outcome_of_call = conditional<(is_silent<remove_cvref<Arguments>> || ...), Type, outcome<Type>>;
/// What follows from the arguments' mistakes: the first that isn't said yet, or poison.
template <class... Arguments>
struct follow_up {
    using type = poison;
};
template <class First, class... Rest>
struct follow_up<First, Rest...> : follow_up<Rest...> {};
template <class Rule, class... What, class... Rest>
struct follow_up<silent<Rule, What...>, Rest...> {
    using type = silent<Rule, What...>;
};
/// A mistake on its way out of a traced lambda.
template <class Lambda, class Type>
struct out_of_lambda {
    using type = Type;
};
template <class Lambda, class Rule, class... What>
struct out_of_lambda<Lambda, silent<Rule, What...>> {
    using type = silent<Rule, in_lambda<Lambda>, What...>;
};
template <class Lambda, class Rule, class Inner, class... What>
struct out_of_lambda<Lambda, silent<Rule, in_lambda<Inner>, What...>> {
    using type = silent<Rule, in_lambda<Inner>, What...>;
};
/// A value of a type, where nothing is evaluated.
template <class Type>
SINTER_HOST_DEVICE Type&& some() noexcept;
}  // namespace detail

/// Run-time errors. The numbers are stable; a page under docs/errors describes each.
enum class error : int {
    none = 0,
    size_mismatch = 1,      ///< [SINTER-R001] two sizes that must be equal differ
    empty_reduction = 2,    ///< [SINTER-R002] max, min or argmax of integers over nothing
    overlap = 3,            ///< [SINTER-R003] an output overlaps an input other than element for element
    null_pointer = 4,       ///< [SINTER-R004] a tensor with elements has no memory
    bad_view = 5,           ///< [SINTER-R005] a view can't be reshaped or sliced so at run time
    size_overflow = 6,      ///< [SINTER-R006] the number of elements or an offset exceeds 64 bits
    backend_failure = 7,    ///< [SINTER-R007] the device or operating system reported an error
    out_of_memory = 8,      ///< [SINTER-R008] eval or the reference could not allocate
    partly_empty = 11,      ///< [SINTER-R011] one output of a kernel has no elements, another has some
    bad_scale = 10,         ///< [SINTER-R010] a quantization scale isn't finite and positive, or a zero point isn't a code
    number_out_of_range = 12,  ///< [SINTER-R012] a number doesn't fit the integer type that it meets
    workspace_too_small = 9,  ///< [SINTER-R009] a call on a device needs more scratch memory than the caller gave
};

/// Result of `try_run`. Trivially copyable, no allocation: the message is a literal, the numbers stand beside it.
struct [[nodiscard(SINTER_DROPPED_STATUS)]] status {
    error code_value = error::none;
    int operand = -1;     ///< index of the operand (inputs first, then outputs), -1 if none
    int axis = -1;        ///< axis of that operand, -1 if none
    i64 expected = 0;     ///< the size that the other operands agree on; how many elements the axis has that a slice leaves (R005), or a negative size; R010: 0 for a scale, 1 for a zero point
    i64 found = 0;        ///< the size that this operand has; the bound by which the slice leaves; R010: the number of the wrong element
    int output = -1;      ///< which output the operand is, -1 if it is none
    const char* device_text = nullptr;  ///< R007: what the device's library calls the error (cudaGetErrorString); else null

    SINTER_INLINE bool ok() const { return code_value == error::none; }
    SINTER_INLINE error code() const { return code_value; }
    /// A literal that opens with the stable code and says what to do; never null.
    SINTER_INLINE const char* message() const {
        switch (code_value) {
            case error::none: return "ok";
            case error::size_mismatch:
                return "[SINTER-R001] sizes differ: an operand's size along an axis isn't the size that the others have there. "
                       "Operands are counted from 0. An axis to broadcast has size 1 in its type: extents<dyn, 1>. "
                       "Reductions of unrelated sizes: run(split(executor), ...).";
            case error::empty_reduction:
                return "[SINTER-R002] this reduction has no value over nothing: an integer max or min, argmax or argmin needs at "
                       "least one element. Guard the call.";
            case error::overlap:
                return "[SINTER-R003] an output overlaps another operand in memory other than element for element. Nothing was "
                       "written. Write to a separate buffer, or use the same view as input and output.";
            case error::null_pointer:
                return "[SINTER-R004] a view with at least one element has no memory: its pointer is null, or its container holds fewer elements than the "
                       "view's sizes ask for. Nothing was written.";
            case error::bad_view:
                return "[SINTER-R005] this view can't be formed: a slice leaves its axis or has step 0, a size is negative, the sizes don't divide, or its "
                       "strides don't allow the reshape (then copy it to contiguous memory first).";
            case error::size_overflow:
                return "[SINTER-R006] the number of elements or a byte offset doesn't fit 64 bits.";
            case error::backend_failure: return "[SINTER-R007] the device or operating system reported an error.";
            case error::out_of_memory: return "[SINTER-R008] not enough memory for a result or a scratch buffer.";
            case error::bad_scale:
                return "[SINTER-R010] a quantization parameter is wrong: a scale isn't finite and greater than 0, or a zero point isn't a code of "
                       "its storage. Where all data is 0 a scale of 1 does. Nothing was written.";
            case error::number_out_of_range:
                return "[SINTER-R012] a number doesn't fit the integer type of the tensor that it meets. Nothing was written. cast the tensor to a "
                       "wider type, or the number to that type where it is to wrap.";
            case error::partly_empty:
                return "[SINTER-R011] an output has no elements, since an axis of size 0 is its own, while another output has some. Nothing was "
                       "written. Run them one by one.";
            case error::workspace_too_small:
                return "[SINTER-R009] this call needs a workspace, aligned to 16 bytes: the status holds the bytes that it needs (expected) and that it was given "
                       "(found). Nothing was launched. Hint: cuda_workspace_size(y = ...) gives the bytes, cuda(stream, {pointer, bytes}) takes them.";
        }
        return "unknown";
    }
};

}  // namespace sinter
