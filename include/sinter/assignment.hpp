// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assignments: `view = expression`, `view += expression`, `tie(a, b) = fused_operator(...)`, and several of them joined into
// one kernel. An assignment object runs nothing; `run` takes it. Checks that an output's shape and type fit stand here.
#pragma once

#include "expression.hpp"
#include "ops/pointwise.hpp"

namespace sinter {

/// Programs' values stored to views: output i takes root i.
template <class Program, class Roots, class Leaves, class Outputs>
struct assignment;
template <class... Node, int... Roots, class... Leaves, class... Outputs>
struct [[nodiscard("an assignment runs nothing by itself: pass it to run(executor, ...)")]] assignment<
    program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>> {
    using program_type = program<Node...>;
    using roots = indices<Roots...>;
    using leaves = list<Leaves...>;
    using outputs = list<Outputs...>;
    pack<Leaves...> operands;
    pack<Outputs...> targets;
};

namespace detail {

template <class Leaf>
struct leaf_facts;
template <class Type, class Extents, class Layout, class Space, int Alignment>
struct leaf_facts<tensor_view<Type, Extents, Layout, Space, Alignment>> {
    static constexpr shape sizes = Extents::static_shape;
    static constexpr value_type type{dtype_of<remove_cvref<Type>>, false};
};
template <class Type>
struct leaf_facts<scalar_operand<Type>> {
    static constexpr shape sizes{};
    static constexpr dtype own = dtype_of<Type>;
    static constexpr value_type type{is_float(own) ? dtype::f32 : own == dtype::boolean ? dtype::boolean : dtype::i64, true};
};
template <class Extents>
struct leaf_facts<shape_operand<Extents>> {
    static constexpr shape sizes = Extents::static_shape;
    static constexpr value_type type{dtype::i64, false};
};

/// May a value of shape `from` be stored to `to`? It must broadcast to exactly that shape.
constexpr bool stores_to(const shape& from, const shape& to) {
    if (from.rank > to.rank) {
        for (int i = 0; i < from.rank - to.rank; ++i)
            if (from.size[i] != 1) return false;
    }
    for (int distance = 0; distance < to.rank; ++distance) {
        const i64 source = from.from_right(distance), target = to.from_right(distance);
        i64 both = 0;
        if (broadcast_size(source, target, both) != violation::none) return false;
        if (target == 1 && source != 1 && source != dyn) return false;
        if (target >= 0 && both != target) return false;
    }
    return true;
}
/// Implicit conversion at a store: between floats, to a float, and to an integer type that holds every value.
constexpr bool converts_silently(value_type from, dtype to) {
    if (from.type == to || is_float(to)) return true;
    if (from.weak) return is_integer(to) && !is_float(from.type);
    if (is_float(from.type) || to == dtype::boolean) return false;
    return from.type == dtype::boolean || promote(from.type, to) == to;
}
}  // namespace detail

/// Check structs of a store.
template <class Output, class Value, bool Fits>
struct output_takes_shape {
    static_assert(Fits,
                  "[SINTER-S041] the output's shape isn't the expression's, and the expression doesn't broadcast to it. Hint: give "
                  "the output the expression's shape.");
    static constexpr bool ok = Fits;
};
template <dtype Output, dtype Value, bool Fits>
struct output_takes_type {
    static_assert(Fits,
                  "[SINTER-T011] storing this would lose values: float to integer, or to a narrower integer. Hint: cast<type>(x), "
                  "or cast_wrap.");
    static constexpr bool ok = Fits;
};
template <class Output, bool Mutable>
struct output_is_mutable {
    static_assert(Mutable, "[SINTER-C002] the output is a view of const elements. Hint: make the view from mutable memory.");
    static constexpr bool ok = Mutable;
};

namespace detail {
template <class Output, class Described>
SINTER_INLINE bool store_check() {
    using extents_type = typename Output::extents_type;
    constexpr dtype to = dtype_of<remove_cvref<typename Output::element>>;
    return output_is_mutable<Output, !is_const<typename Output::element>>::ok &&
           output_takes_shape<printed<extents_type>, printed<typename Described::extents_type>,
                              stores_to(Described::extents_type::static_shape, extents_type::static_shape)>::ok &&
           output_takes_type<to, Described::type.type, converts_silently(Described::type, to)>::ok;
}
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves, class Output>
SINTER_INLINE auto assign(const expression<Program, Root, Extents, Type, Weak, Leaves...>& value, const Output& output) {
    if constexpr (!store_check<Output, described<Extents, Type, Weak>>())
        return poison{};
    else
        return assignment<Program, indices<Root>, list<Leaves...>, list<Output>>{value.operands, {{{output}}}};
}
template <class Output, class Right>
SINTER_INLINE auto assign_any(const Output& output, Right&& right) {
    if constexpr (operand_kind_of<Right> == operand_kind::poison)
        return poison{};
    else
        return assign(as_expression(static_cast<Right&&>(right)), output);
}
/// Check struct: a view on the right is almost always a forgotten copy.
template <class Right, bool Ok>
struct assigns_an_expression {
    static_assert(Ok, "[SINTER-E005] y = x between two views doesn't copy elements. Hint: y = copy(x).");
    static constexpr bool ok = Ok;
};
}  // namespace detail

/// What `view = right` does; found by argument-dependent lookup from the view's operator.
template <class Output, class Right>
SINTER_INLINE auto assign_to_view(const Output& output, Right&& right) {
    static_assert(operand<Right>, "[SINTER-E006] only an expression, a scalar or copy(view) can be assigned to a view.");
    if constexpr (!detail::assigns_an_expression<remove_cvref<Right>, operand_kind_of<Right> != operand_kind::view &&
                                                                          operand_kind_of<Right> != operand_kind::owner>::ok)
        return poison{};
    else
        return detail::assign_any(output, static_cast<Right&&>(right));
}

/// `fill(y, value)`: the same as `y = value`.
template <class Type, class Extents, class Layout, class Space, int Alignment, class Value>
    requires is_scalar_v<Value>
SINTER_INLINE auto fill(const tensor_view<Type, Extents, Layout, Space, Alignment>& output, Value value) {
    return detail::assign_any(output, value);
}

#define SINTER_COMPOUND(compound, plain)                                                                                  \
    template <class Type, class Extents, class Layout, class Space, int Alignment, operand Right>                         \
    SINTER_INLINE auto compound(const tensor_view<Type, Extents, Layout, Space, Alignment>& output, Right&& right) {      \
        return detail::assign_any(output, plain(output, static_cast<Right&&>(right)));                                    \
    }
SINTER_COMPOUND(operator+=, operator+)
SINTER_COMPOUND(operator-=, operator-)
SINTER_COMPOUND(operator*=, operator*)
SINTER_COMPOUND(operator/=, operator/)
#undef SINTER_COMPOUND

/// Outputs for an operator with several values: `tie(h, y) = add_norm(x, r, w)`.
template <class... Outputs>
struct tied {
    pack<Outputs...> targets;

    template <class Program, int... Roots, class... Types, class... Leaves>
    [[nodiscard]] constexpr auto operator=(const multi_expression<Program, indices<Roots...>, list<Types...>, Leaves...>& values) const {
        static_assert(sizeof...(Roots) == sizeof...(Outputs),
                      "[SINTER-E007] tie has another number of outputs than the operator. Hint: one view per value.");
        if constexpr (sizeof...(Roots) != sizeof...(Outputs))
            return poison{};
        else if constexpr (!(detail::store_check<Outputs, Types>() && ...))
            return poison{};
        else
            return assignment<Program, indices<Roots...>, list<Leaves...>, list<Outputs...>>{values.operands, targets};
    }
    constexpr poison operator=(poison) const { return {}; }
};
template <class... Views>
    requires((operand_kind_of<Views> == operand_kind::view) && ...)
SINTER_INLINE auto tie(const Views&... views) {
    return tied<Views...>{{{{views}...}}};
}

namespace detail {
template <class First, class Second>
struct joined_assignment;
template <class... Node, int... Roots, class... Leaves, class... Outputs, class... MoreNode, int... MoreRoots, class... MoreLeaves,
          class... MoreOutputs>
struct joined_assignment<assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>,
                         assignment<program<MoreNode...>, indices<MoreRoots...>, list<MoreLeaves...>, list<MoreOutputs...>>> {
    static constexpr int nodes = int(sizeof...(Node));
    using type = assignment<
        typename append_program<program<Node...>,
                                typename shift_program<nodes, int(sizeof...(Leaves)), program<MoreNode...>>::type>::type,
        indices<Roots..., (MoreRoots + nodes)...>, list<Leaves..., MoreLeaves...>, list<Outputs..., MoreOutputs...>>;
};
template <class First>
SINTER_INLINE const First& join_assignments(const First& first) {
    return first;
}
template <class First, class Second, class... Rest>
SINTER_INLINE auto join_assignments(const First& first, const Second& second, const Rest&... rest) {
    using both = typename joined_assignment<First, Second>::type;
    return join_assignments(both{join(first.operands, second.operands), join(first.targets, second.targets)}, rest...);
}
template <class Type>
inline constexpr bool is_assignment = false;
template <class Program, class Roots, class Leaves, class Outputs>
inline constexpr bool is_assignment<assignment<Program, Roots, Leaves, Outputs>> = true;

/// An expression as an assignment to a row-major output of its own shape and type: for plans.
template <class Expression>
struct as_assignment {
    using type = Expression;
};
template <class Program, int Root, class Extents, dtype Type, bool Weak, class... Leaves>
struct as_assignment<expression<Program, Root, Extents, Type, Weak, Leaves...>> {
    using type = assignment<Program, indices<Root>, list<Leaves...>, list<tensor_view<type_of<Type>, Extents>>>;
};
template <class Program, int... Roots, class... Types, class... Leaves>
struct as_assignment<multi_expression<Program, indices<Roots...>, list<Types...>, Leaves...>> {
    using type = assignment<Program, indices<Roots...>, list<Leaves...>,
                            list<tensor_view<type_of<Types::type.type>, typename Types::extents_type>...>>;
};
}  // namespace detail

}  // namespace sinter
