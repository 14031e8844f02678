// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluation of a lowered program over any lane family. Drivers own loops and memory; this header computes values: given
// some instances' values (a frontier: operands, reductions, row values), it computes others from them, in order.
//
// A lane family is a struct with `template <class Type> using value` (a lane value of that element) and `width`.
// Places say how often an instance is computed: once per call, once per row (or column), or for every element.
#pragma once

#include "bind.hpp"
#include "ops/cast.hpp"
#include "ops/reduce.hpp"
#include "order.hpp"
#include "state.hpp"

namespace sinter {

/// Facts of a kernel that drivers share: the vector axis, the place of every instance, what each pass needs.
template <class Facts>
struct kernel_of : Facts {
    using facts_type = Facts;
    using facts_type::table;
    static constexpr int instances = facts_type::instances;
    static constexpr int outputs = facts_type::output_count;
    static constexpr int levels = table.levels;
    static constexpr nest_kind nest = table.kind;

    static constexpr kernel_view lanes = detail::with_lanes(facts_type::view);
    /// The loop axis along which a lane's elements lie; -1 when there is none (everything is a single element).
    static constexpr int vector_axis = lanes.vector_axis;
    static constexpr u32 vector_bit = lanes.vector_bit();
    /// A value is an element's when it varies over these axes, else a row's.
    static constexpr u32 element_axes = lanes.element_axes;

    static constexpr array<site, instances> where = detail::find_places<instances>(lanes);
    static constexpr kernel_view view = detail::with_places(lanes, where.item);

    static constexpr bool is_fold(int i) { return view.is_fold(i); }
    static constexpr bool folds_in_pass(int i, int pass) { return view.folds_in_pass(i, pass); }
    /// Outputs that have an element per element of the row: stored in the last pass.
    static constexpr bool stores_elements(int o) { return view.stores_elements(o); }
    static constexpr bool any_element_output() { return view.any_element_output(); }
    static constexpr int cost_of(int i) { return view.cost_of(i); }
    static constexpr u32 all_output_axes() { return view.all_output_axes(); }
    static constexpr void mark_needed(array<bool, instances>& need, int stop) { detail::mark_needed(view, need.item, stop); }
    static constexpr array<bool, instances> roots_of_pass(int pass) {
        array<bool, instances> need{};
        detail::mark_roots(view, pass, need.item);
        return need;
    }
    static constexpr detail::stash_facts stash = detail::find_stash<(instances + 63) / 64 * 64>(view);

    /// Element instances that a pass computes: pass 1 to `levels` fold, pass `levels + 1` stores; pass `levels + 2` stores too,
    /// with the stash read back instead of computed.
    template <int Pass>
    static constexpr array<bool, instances> needed = detail::find_needed<instances>(view, stash, Pass);
};
template <class Assignment>
struct kernel : kernel_of<kernel_facts<Assignment>> {};

namespace detail {

// Selections of instances and outputs.

template <site Where>
struct are_at {
    static constexpr bool has(const kernel_view& of, int i) { return of.where[i] == Where; }
};
/// At a place, and no folds.
template <site Where>
struct are_computed_at {
    static constexpr bool has(const kernel_view& of, int i) { return of.where[i] == Where && !of.is_fold(i); }
};
template <class Kernel, site Where>
using at_place = instances_by<Kernel, are_computed_at<Where>>;
/// Row instances that become known after fold pass `Level` (0: before the first).
template <int Level>
struct are_rows_after {
    static constexpr bool has(const kernel_view& of, int i) { return of.where[i] == site::row && !of.is_fold(i) && of.at[i].level == Level; }
};
template <class Kernel, int Level>
using rows_after = instances_by<Kernel, are_rows_after<Level>>;
template <int Pass>
struct are_folds_of_pass {
    static constexpr bool has(const kernel_view& of, int i) { return of.folds_in_pass(i, Pass); }
};
template <class Kernel, int Pass>
using folds_of_pass = instances_by<Kernel, are_folds_of_pass<Pass>>;
/// Those of them that read a segment twice.
template <int Pass>
struct are_two_phase_folds_of_pass {
    static constexpr bool has(const kernel_view& of, int i) { return of.folds_in_pass(i, Pass) && of.node_of(i).op->two_phase; }
};
template <class Kernel, int Pass>
using two_phase_folds_of_pass = instances_by<Kernel, are_two_phase_folds_of_pass<Pass>>;
struct are_outer_folds {
    static constexpr bool has(const kernel_view& of, int i) { return of.is_fold(i) && of.at[i].fold_group == 1; }
};
template <class Kernel>
using outer_folds = instances_by<Kernel, are_outer_folds>;
template <class Kernel, int Pass>
struct needed_in_pass {
    static constexpr int limit = Kernel::instances;
    static constexpr bool test(int i) { return Kernel::template needed<Pass>[i]; }
};
struct store_elements {
    static constexpr bool has(const kernel_view& of, int o) { return of.stores_elements(o); }
};
template <class Kernel>
using element_outputs = outputs_by<Kernel, store_elements>;
/// Outputs with one element per row, or after all rows.
template <bool After>
struct store_others {
    static constexpr bool has(const kernel_view& of, int o) {
        return !of.stores_elements(o) && (of.output[o] >= 0 && of.where[of.output[o]] == site::after) == After;
    }
};
template <class Kernel>
using row_outputs = outputs_by<Kernel, store_others<false>>;
template <class Kernel>
using after_outputs = outputs_by<Kernel, store_others<true>>;

/// Leaf and output types of an assignment.
template <class Assignment, int Index>
struct leaf_of_assignment;
template <class Program, class Roots, class... Leaves, class Outputs, int Index>
struct leaf_of_assignment<assignment<Program, Roots, list<Leaves...>, Outputs>, Index> {
    using type = nth_type<Index, Leaves...>;
};
template <class Assignment, int Index>
using nth_of_leaves = typename leaf_of_assignment<Assignment, Index>::type;
template <class Assignment, int Index>
struct output_of_assignment;
template <class Program, class Roots, class Leaves, class... Outputs, int Index>
struct output_of_assignment<assignment<Program, Roots, Leaves, list<Outputs...>>, Index> {
    using type = nth_type<Index, Outputs...>;
};
template <class Assignment, int Index>
using nth_of_outputs = typename output_of_assignment<Assignment, Index>::type;

/// The family of width 1: reference arithmetic, constant evaluation, one CUDA thread.
struct scalar_family {
    template <class Type>
    using value = lane::scalar<Type>;
    static constexpr int width = 1;
};

/// Lane value of an instance.
template <class Kernel, class Family, int Instance>
using instance_value = typename Family::template value<type_of<Kernel::table.at[Instance].type>>;

/// One slot per instance of a list.
template <class Kernel, class Family, class List>
struct environment;
template <class Kernel, class Family, int... Instance>
struct environment<Kernel, Family, indices<Instance...>> : slot<Instance, instance_value<Kernel, Family, Instance>>... {};

/// The operation that computes a node: a kernel that has a `policy` may put another in its place.
template <class Kernel, class Op>
struct operation_under_policy {
    using type = Op;
};
template <class Kernel, class Op>
    requires requires { typename Kernel::policy; }
struct operation_under_policy<Kernel, Op> {
    using type = typename Kernel::policy::template instead_of<Op>;
};
/// Does a kernel's policy hand products to sums as they are?
template <class Kernel>
inline constexpr bool contracts = requires { &Kernel::policy::template product<lane::scalar<float>>; };
/// Does a kernel's policy compute elements from terms that it makes for each row (`Kernel::row_term`: which elements; `policy::row_term`: of
/// what type)? They are kept beside the row's values. Frames without `row_term` compute such an element as it is written.
template <class Kernel>
inline constexpr bool has_row_terms = requires { requires Kernel::any_row_term; };
template <class Kernel, int Instance>
constexpr bool has_row_term_at() {
    if constexpr (has_row_terms<Kernel>)
        return Kernel::row_term[Instance];
    else
        return false;
}
template <class Kernel, int Instance>
inline constexpr bool has_row_term = has_row_term_at<Kernel, Instance>();
template <class Kernel>
struct with_row_term {
    static constexpr int limit = Kernel::instances;
    static constexpr bool test(int i) { return Kernel::row_term[i]; }
};
/// Those that are made after fold pass `Level` (0: before the first); -1: once for a call, where the kernel has such.
template <class Kernel, int Level>
struct row_terms_after {
    static constexpr int limit = Kernel::instances;
    static constexpr bool is_once(int i) {
        if constexpr (requires { Kernel::is_once_term(i); })
            return Kernel::is_once_term(i);
        else
            return false;
    }
    static constexpr bool test(int i) { return Kernel::row_term[i] && (is_once(i) ? Level < 0 : Kernel::table.at[i].level == Level); }
};
template <class Kernel, class Family, int Instance>
using term_slot = slot<-1 - Instance, typename Kernel::policy::template row_term<Family>>;
template <class Kernel, class Family, class List>
struct row_terms;
template <class Kernel, class Family, int... Instance>
struct row_terms<Kernel, Family, indices<Instance...>> : term_slot<Kernel, Family, Instance>... {};
/// What is known of a row.
template <class Kernel, class Family, class List>
struct row_environment : environment<Kernel, Family, List> {};
template <class Kernel, class Family, class List>
    requires has_row_terms<Kernel>
struct row_environment<Kernel, Family, List> : environment<Kernel, Family, List>, row_terms<Kernel, Family, selected<with_row_term<Kernel>>> {};

/// The evaluator over one lane family. A `Frame` gives access to what is around a value:
///     value<I>()                 the lane of an instance that is already known
///     operand<I>()               loads an operand instance
///     coordinate<I>()            the coordinate lane (i64) of a coordinate instance
///     coordinate_as<Type, I>()   the same as f32 or f64, rounded once; optional, where that takes less than a conversion
///     folded_count(I)            how many elements reduction I folds
///     row_term<I>()              what the policy made of the row for element I; where rows have such terms
///     operands()                 the operand pack, for scalars
template <class Kernel, class Family>
struct evaluator {
    template <class Type>
    using lane_of = typename Family::template value<Type>;
    template <int Instance>
    static constexpr int node_of = Kernel::table.at[Instance].node;
    template <class Assignment, int Node>
    struct node_at;
    template <class... Node, class Roots, class Leaves, class Outputs, int Index>
    struct node_at<assignment<program<Node...>, Roots, Leaves, Outputs>, Index> {
        using type = nth_type<Index, Node...>;
    };
    template <int Instance>
    using op_of_instance = typename node_traits<typename node_at<typename Kernel::assignment_type, node_of<Instance>>::type>::op;

    template <int Instance>
    using operation = typename operation_under_policy<Kernel, op_of_instance<Instance>>::type;

    /// An immediate (literal, scalar operand, count) as a lane of `Type`; a table as the view that it is.
    template <int Node, class Type, int CountOf, class Frame>
    static SINTER_INLINE auto immediate(const Frame& frame) {
        constexpr node_kind kind = Kernel::node[Node].kind;
        if constexpr (kind == node_kind::literal) {
            // (Named, so that it's converted here: nvcc would do it for each element of a pack, g++ for each row.)
            constexpr Type number = literal_value<Type, Kernel::node[Node].literal, Kernel::node[Node].bits>();
            return lane_of<Type>(number);
        } else if constexpr (kind == node_kind::count)
            return lane_of<Type>(sinter::convert<Type>(frame.folded_count(Kernel::table.at[CountOf].folded)));
        else if constexpr (is_table<nth_of_leaves<typename Kernel::assignment_type, int(Kernel::node[Node].bits)>>)
            return get<int(Kernel::node[Node].bits)>(frame.operands()).value;
        else
            return lane_of<Type>(sinter::convert<Type>(get<int(Kernel::node[Node].bits)>(frame.operands()).value));
    }
    /// A coordinate as an instance computes with it: at once as the float that it becomes first, by the operation's type or by a cast, where
    /// the frame has that for less.
    template <int Instance, int Known, class Type, class Frame>
    static SINTER_INLINE auto coordinate_argument(const Frame& frame) {
        using op = operation<Instance>;
        using asked = conditional<is_same<op, cast_op<dtype::f32>>, float, conditional<is_same<op, cast_op<dtype::f64>>, double, Type>>;
        if constexpr (is_float_v<asked> && requires { frame.template coordinate_as<asked, Known>(); })
            return frame.template coordinate_as<asked, Known>();
        else
            return convert<Type>(frame.template value<Known>());
    }
    /// Argument `Position` of an instance, converted to the type that the operation computes in.
    template <int Instance, int Position>
    static SINTER_HOST_DEVICE constexpr bool takes_product() {
        if constexpr (contracts<Kernel>)
            return Kernel::policy::template takes_product<evaluator, Kernel, Instance, Position>();
        else
            return false;
    }
    template <int Instance, int Position, class Frame>
    static SINTER_INLINE auto argument(const Frame& frame) {
        using type = type_of<Kernel::facts.argument_type[node_of<Instance>][Position]>;
        constexpr int known = Kernel::table.at[Instance].argument[Position];
        if constexpr (known < 0)
            return immediate<Kernel::table.at[Instance].immediate[Position], type,
                             Kernel::table.at[Instance].count_of[Position]>(frame);
        else if constexpr (takes_product<Instance, Position>())
            return Kernel::policy::product(argument<known, 0>(frame), argument<known, 1>(frame));
        else if constexpr (Kernel::table.at[known].kind == node_kind::coordinate)
            return coordinate_argument<Instance, known, type>(frame);
        else if constexpr (Kernel::table.at[known].type == dtype_of<type>)
            return frame.template value<known>();
        else
            return convert<type>(frame.template value<known>());
    }
    /// An argument that is known when compiled, a literal or the static count of what was folded; 0: it isn't, or is 0.
    template <int Instance, int Position, class Type>
    static SINTER_HOST_DEVICE constexpr Type known_number() {
        if constexpr (Kernel::table.at[Instance].argument[Position] < 0) {
            constexpr int node = Kernel::table.at[Instance].immediate[Position];
            if constexpr (Kernel::node[node].kind == node_kind::literal) {
                return literal_value<Type, Kernel::node[node].literal, Kernel::node[node].bits>();
            } else if constexpr (Kernel::node[node].kind == node_kind::count) {
                constexpr i64 most = i64(1) << 24;  // what f32 counts
                i64 count = 1;
                for (int axis = 0; axis < Kernel::axes; ++axis) {
                    if ((Kernel::table.at[Kernel::table.at[Instance].count_of[Position]].folded >> axis & 1) == 0) continue;
                    const i64 size = Kernel::table.axis_size[axis];
                    if (size <= 0 || size > most || size * count > most) return 0;
                    count *= size;
                }
                return Type(count);
            }
        }
        return 0;
    }
    /// 1 / x where |x| is a power of two and both are normal numbers; else 0.
    static SINTER_HOST_DEVICE constexpr float inverse_of_power(float x) {
        const u32 bits = __builtin_bit_cast(u32, x), exponent = bits >> 23 & 0xff;
        return (bits & 0x7fffff) == 0 && exponent >= 1 && exponent <= 253 ? __builtin_bit_cast(float, (bits & 0x80000000u) | (254 - exponent) << 23) : 0.0f;
    }
    static SINTER_HOST_DEVICE constexpr double inverse_of_power(double x) {
        const u64 bits = __builtin_bit_cast(u64, x), exponent = bits >> 52 & 0x7ff;
        return (bits & 0xfffffffffffffu) == 0 && exponent >= 1 && exponent <= 2045 ? __builtin_bit_cast(double, (bits & 0x8000000000000000u) | (2046 - exponent) << 52) : 0.0;
    }
    enum class quotient { divided, multiplied, reciprocal };
    template <int Instance, class Type>
    static SINTER_HOST_DEVICE constexpr quotient find_quotient() {
        if constexpr (is_same<Type, float> || is_same<Type, double>) {
            if (inverse_of_power(known_number<Instance, 1, Type>()) != 0) return quotient::multiplied;
            if (is_same<operation<Instance>, div_op> && known_number<Instance, 0, Type>() == 1) return quotient::reciprocal;
        }
        return quotient::divided;
    }
    /// A division, by what takes less and has its bits: a product with the reciprocal of a power of two, as both round the same number once,
    /// and the reciprocal where 1 is divided.
    template <int Instance, class Frame>
    static SINTER_INLINE auto divide(const Frame& frame) {
        using type = type_of<Kernel::facts.argument_type[node_of<Instance>][0]>;
        constexpr quotient how = find_quotient<Instance, type>();
        if constexpr (how == quotient::multiplied) {
            constexpr type inverse = inverse_of_power(known_number<Instance, 1, type>());
            return argument<Instance, 0>(frame) * inverse;
        } else if constexpr (how == quotient::reciprocal) {
            return reciprocal(argument<Instance, 1>(frame));
        } else {
            return operation<Instance>::apply(argument<Instance, 0>(frame), argument<Instance, 1>(frame));
        }
    }
    template <int Instance, class Frame, int... Position>
    static SINTER_INLINE auto apply_map_op(const Frame& frame, indices<Position...>) {
        return operation<Instance>::apply(argument<Instance, Position>(frame)...);
    }
    /// The value of one instance from its frame.
    template <int Instance, class Frame>
    static SINTER_INLINE instance_value<Kernel, Family, Instance> compute(const Frame& frame) {
        constexpr node_kind kind = Kernel::table.at[Instance].kind;
        if constexpr (kind == node_kind::leaf)
            return frame.template operand<Instance>();
        else if constexpr (kind == node_kind::coordinate)
            return frame.template coordinate<Instance>();
        else if constexpr (kind == node_kind::map) {
            if constexpr (has_row_term<Kernel, Instance>)
                if constexpr (requires { frame.template row_term<Instance>(); })
                    return Kernel::policy::template from_row_term<evaluator, Kernel, Instance>(frame);
            // Written out for the usual arities: a function less to compile for every node.
            using op = operation<Instance>;
            constexpr int arity = Kernel::table.at[Instance].arity;
            if constexpr (arity == 1)
                return op::apply(argument<Instance, 0>(frame));
            else if constexpr (is_same<op_of_instance<Instance>, div_op>)
                return divide<Instance>(frame);
            else if constexpr (arity == 2)
                return op::apply(argument<Instance, 0>(frame), argument<Instance, 1>(frame));
            else
                return apply_map_op<Instance>(frame, make_indices<arity>{});
        } else
            return fold_of_one<Instance>(frame);
    }
    /// A reduction whose axes all have size 1 folds a single element.
    template <int Instance, class Frame>
    static SINTER_INLINE instance_value<Kernel, Family, Instance> fold_of_one(const Frame& frame) {
        using monoid = typename op_of_instance<Instance>::monoid;
        const auto x = argument<Instance, 0>(frame);
        using value = remove_cvref<decltype(x)>;
        if constexpr (monoids::is_two_phase<monoid>) {
            const value one(typename value::element(1));
            const auto context = monoid::settle(monoid::combine(monoid::template identity<value>(), monoid::lift(x, x)), one);
            return monoid::finalize(
                monoid::close(context, monoid::combine_second(monoid::template identity_second<value>(), monoid::lift_second(x, x, context)), one));
        } else if constexpr (monoids::takes_index<monoid>)
            return monoid::finalize(after_idle_lanes<Instance, monoid>(
                monoid::combine(monoid::template identity<value>(), monoid::lift(x, lane_of<i64>(i64(0)))), monoid::template identity<value>()));
        else
            return monoid::finalize(after_idle_lanes<Instance, monoid>(monoid::combine(monoid::template identity<value>(), monoid::lift(x)),
                                                                       monoid::template identity<value>()));
    }
    /// What the lane rule's tree makes of the one element's lane and of the others, which hold the identity: the same, unless the monoid
    /// leaves open whether its identity is neutral.
    template <int Instance, class Monoid, class State>
    static SINTER_INLINE State after_idle_lanes(State state, [[maybe_unused]] State idle) {
        if constexpr (!monoids::has_exact_identity<Monoid> && folds_trailing_axis<Instance>())
            for (int stride = order::lanes / 2; stride > 0; stride /= 2) {
                state = Monoid::combine(state, idle);
                idle = Monoid::combine(idle, idle);
            }
        return state;
    }
    template <int Instance>
    static SINTER_HOST_DEVICE constexpr bool folds_trailing_axis() {
        const node_value& node = Kernel::node[node_of<Instance>];
        const int rank = Kernel::facts.sizes[node.argument[0]].rank;
        bool reduced[max_rank]{};
        int ignored = 0;
        reduced_axes(*node.op, rank, reduced, ignored);
        return rank > 0 && reduced[rank - 1];
    }
    /// Fills the slots of `List` in order; the frame must see the slots already filled.
    template <class Environment, class Frame, int... Instance>
    static SINTER_INLINE void fill(Environment& values, const Frame& frame, indices<Instance...>) {
        const int filled[] = {
            0, (static_cast<slot<Instance, instance_value<Kernel, Family, Instance>>&>(values).value = compute<Instance>(frame), 0)...};
        (void)filled;
    }
};

}  // namespace detail
}  // namespace sinter
