// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program: the flat list of an expression's unique values. A node names its operands by index and is an empty type;
// operations describe themselves by `op_facts`, so that inference and planning run on plain values in constant evaluation.
//
//     program<leaf<0>, leaf<1>, map<add_op, 0, 1>, reduce<reduction<sum_of, axes<-1>, true>, 2>>
//
// Node types are never nested in one another: a name would double with every shared use. No evaluation here.
#pragma once

#include "layout.hpp"
#include "scalar.hpp"

namespace sinter {

/// Node kinds. The last four are reserved: a later capability adds a kind, it doesn't rewrite the others.
enum class node_kind : u8 { leaf, literal, map, reduce, index_map, coordinate, count, scan, contract, random, opaque };
enum class literal_kind : u8 { boolean, integer, floating, large };  // large: an integer of 2^63 and above

inline constexpr int max_arguments = 4;
inline constexpr int max_leaves = 64;
inline constexpr int max_nodes = 512;

/// The type of a node's value. A weak one (a C++ scalar) takes the kind of what it meets; rule T2.
struct value_type {
    dtype type = dtype::f32;
    bool weak = false;
};

/// What a type rule answers: the type of the result, and the compute type that each argument is converted to first.
enum class type_violation : u8 { none, needs_float, needs_integer, needs_bool, no_common_type, literal_out_of_range, f64_function, codes_with_integers, quantized_axes, fractional_zero, needs_codes, bool_in_order };
struct typing {
    value_type result{};
    dtype argument[max_arguments]{};
    type_violation why = type_violation::none;
};
using type_rule = typing (*)(const value_type* arguments, int count);

struct axis_list {
    int count = 0;
    i64 axis[max_rank]{};
};

/// All that inference, planning and printing need to know of an operation.
struct op_facts {
    const char* name = "";
    node_kind kind = node_kind::map;
    int arity = 1;
    type_rule rule = nullptr;
    int cost = 1;                      ///< instructions per element, roughly; decides what is worth stashing
    bool keeps_codes = false;          ///< it moves or chooses values: of codes with one set of parameters it gives such codes
    bool rounds = false;               ///< its result is a value of its type already: a cast
    bool takes_integers = false;       ///< integers beside a quantized argument have a meaning of their own: zero points, codes
    axis_list axes{};                  ///< reduce: the axes as written
    bool all_axes = false;             ///< reduce: every axis
    bool keep = true;                  ///< reduce: reduced axes stay as 1
    bool needs_elements = false;       ///< reduce: integers have no value over nothing
    bool always_needs_elements = false;  ///< reduce: no type has a value over nothing (argmax)
    bool two_phase = false;            ///< reduce: a segment is read twice (monoid with a second phase)
    bool identity_is_exact = false;    ///< reduce: merging with the identity changes no bit
    index_map_spec map{};              ///< index map
    i64 axis = 0;                      ///< coordinate: the axis
    bool own = false;                  ///< the user's: the operation checks itself that lanes go through (`verdict`)
    u64 parameters = 0;                ///< what else the operation's type fixes and its name doesn't tell (a scale): plans' hashes take it in
    int divided_axis = 0;              ///< map that looks a table up: the table's axis along which `divisor` coordinates share an element
    i64 divisor = 1;
};

/// From the address of an operation's facts back to its type, by a friend that is defined with the operation. It lets the
/// tape hold operations as plain pointers.
#if SINTER_GCC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
#if SINTER_NVCC
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
template <const op_facts* Facts>
struct op_key {
    friend constexpr auto op_from_key(op_key<Facts>);
};
#if SINTER_NVCC
#pragma nv_diagnostic pop
#endif
#if SINTER_GCC
#pragma GCC diagnostic pop
#endif
template <class Op>
struct op_holder {
    using type = Op;
};
template <class Op>
struct op_registration {
    friend constexpr auto op_from_key(op_key<&Op::facts>) { return op_holder<Op>{}; }
    static constexpr const op_facts* facts = &Op::facts;
};
template <const op_facts* Facts>
using op_of = typename decltype(op_from_key(op_key<Facts>{}))::type;

// ------------------------------------------------------------------------------------------------------------- node types

template <int Operand>
struct leaf {};
template <literal_kind Kind, u64 Bits>
struct literal {};
template <class Op, int... Arguments>
struct map {};
template <class Op, int Argument>
struct reduce {};
template <class Op, int Argument>
struct index_map {};
/// The coordinate along an axis of the argument's shape; the argument's values aren't read.
template <class Op, int Argument>
struct coordinate {};
/// How many elements the reduction folds into one value.
template <int Reduction>
struct count {};
template <class... Nodes>
struct program {
    static constexpr int size = int(sizeof...(Nodes));
};

/// Whether two addresses of facts are one. Under -fsanitize=undefined or -fno-delete-null-pointer-checks g++ takes any two objects
/// for possibly absent and finds no constant in the comparison of different ones; that of an object with itself is always one.
SINTER_INLINE bool same_facts(const op_facts* left, const op_facts* right) {
#if SINTER_GCC && !SINTER_NVCC
    return __builtin_constant_p(left == right) ? left == right : !SINTER_CONSTANT_EVALUATED && left == right;
#else
    return left == right;
#endif
}

/// Whether a pointer names an object. Likewise: that of an object with null is no constant there, and what is no constant isn't null.
SINTER_INLINE bool is_object(const void* pointer) {
#if SINTER_GCC && !SINTER_NVCC
    return __builtin_constant_p(pointer != nullptr) ? pointer != nullptr : SINTER_CONSTANT_EVALUATED || pointer != nullptr;
#else
    return pointer != nullptr;
#endif
}

/// A node as a value.
struct node_value {
    node_kind kind = node_kind::leaf;
    literal_kind literal = literal_kind::floating;
    const op_facts* op = nullptr;
    int arity = 0;
    int argument[max_arguments]{};
    u64 bits = 0;  ///< literal: its bits; leaf: operand index

    /// Whether the node names an operation. By kind: a sanitized build can't compare an address with null in a constant.
    SINTER_INLINE bool has_op() const { return kind != node_kind::leaf && kind != node_kind::literal && kind != node_kind::count; }
    SINTER_INLINE bool operator==(const node_value& other) const {
        if (kind != other.kind || !same_facts(op, other.op) || arity != other.arity || bits != other.bits || literal != other.literal)
            return false;
        for (int i = 0; i < arity; ++i)
            if (argument[i] != other.argument[i]) return false;
        return true;
    }
};

template <class Node>
struct node_traits;
template <int Operand>
struct node_traits<leaf<Operand>> {
    static constexpr node_value value{node_kind::leaf, {}, nullptr, 0, {}, u64(Operand)};
    template <int Nodes, int Leaves>
    using shifted = leaf<Operand + Leaves>;
};
template <literal_kind Kind, u64 Bits>
struct node_traits<literal<Kind, Bits>> {
    static constexpr node_value value{node_kind::literal, Kind, nullptr, 0, {}, Bits};
    template <int Nodes, int Leaves>
    using shifted = literal<Kind, Bits>;
};
template <class Op, int... Arguments>
struct node_traits<map<Op, Arguments...>> {
    using op = Op;
    static constexpr node_value value{
        node_kind::map, {}, op_registration<Op>::facts, int(sizeof...(Arguments)), {Arguments...}, 0};
    template <int Nodes, int Leaves>
    using shifted = map<Op, (Arguments + Nodes)...>;
};
template <class Op, int Argument>
struct node_traits<reduce<Op, Argument>> {
    using op = Op;
    static constexpr node_value value{node_kind::reduce, {}, op_registration<Op>::facts, 1, {Argument}, 0};
    template <int Nodes, int Leaves>
    using shifted = reduce<Op, Argument + Nodes>;
};
template <class Op, int Argument>
struct node_traits<index_map<Op, Argument>> {
    using op = Op;
    static constexpr node_value value{node_kind::index_map, {}, op_registration<Op>::facts, 1, {Argument}, 0};
    template <int Nodes, int Leaves>
    using shifted = index_map<Op, Argument + Nodes>;
};
template <class Op, int Argument>
struct node_traits<coordinate<Op, Argument>> {
    using op = Op;
    static constexpr node_value value{node_kind::coordinate, {}, op_registration<Op>::facts, 1, {Argument}, 0};
    template <int Nodes, int Leaves>
    using shifted = coordinate<Op, Argument + Nodes>;
};
template <int Reduction>
struct node_traits<count<Reduction>> {
    static constexpr node_value value{node_kind::count, {}, nullptr, 1, {Reduction}, 0};
    template <int Nodes, int Leaves>
    using shifted = count<Reduction + Nodes>;
};

// --------------------------------------------------------------------------------------------------------------- literals

SINTER_INLINE u64 literal_bits(double value) { return __builtin_bit_cast(u64, value); }
SINTER_INLINE u64 literal_bits(i64 value) { return static_cast<u64>(value); }

/// A literal in the compute type of its consumer; rounded once from the written value.
template <class Type, literal_kind Kind, u64 Bits>
SINTER_INLINE Type literal_value() {
    if constexpr (Kind == literal_kind::floating)
        return convert<Type>(__builtin_bit_cast(double, Bits));
    else if constexpr (Kind == literal_kind::boolean)
        return convert<Type>(Bits != 0);
    else if constexpr (Kind == literal_kind::large)
        return convert<Type>(Bits);
    else
        return convert<Type>(static_cast<i64>(Bits));
}

SINTER_INLINE bool literal_fits(const node_value& node, dtype type) {
    if (node.literal == literal_kind::large) return !is_integer(type) || type == dtype::u64;
    if (node.literal != literal_kind::integer || !is_integer(type)) return true;
    const i64 value = static_cast<i64>(node.bits);
    const int width = int(dtype_size(type)) * 8;
    if (is_signed(type)) return width == 64 || (value >= -(i64(1) << (width - 1)) && value < (i64(1) << (width - 1)));
    return value >= 0 && (width == 64 || value < (i64(1) << width));
}

// -------------------------------------------------------------------------------------------------------------- inference

/// Shapes and types of all nodes, or the first violation.
template <int Size>
struct inferred {
    shape sizes[unsigned(Size > 0 ? Size : 1)]{};
    value_type type[unsigned(Size > 0 ? Size : 1)]{};
    dtype argument_type[unsigned(Size > 0 ? Size : 1)][max_arguments]{};
    violation why = violation::none;
    type_violation type_why = type_violation::none;
    int at = -1;       ///< node of the violation
    int other = 0;     ///< which argument (1 or 2 ...) clashed with those before it
    int axis = 0;
    shape left{};      ///< the shape on the other side of a clash
    bool own_operations = false;  ///< some are the user's own
};

/// Reduced axes of `op` over an argument of this rank.
SINTER_INLINE violation reduced_axes(const op_facts& op, int rank, bool (&reduced)[max_rank], int& axis) {
    for (int i = 0; i < max_rank; ++i) reduced[i] = op.all_axes && i < rank;
    if (op.all_axes) return violation::none;
    for (int i = 0; i < op.axes.count; ++i) {
        const int normal = normal_axis(op.axes.axis[i], rank);
        axis = int(op.axes.axis[i]);
        if (normal < 0) return violation::axis_out_of_range;
        if (reduced[normal]) return violation::axis_repeated;
        reduced[normal] = true;
    }
    return violation::none;
}

/// Does a reduction without a value over nothing fold an axis of static size 0 for at least one result? (Sizes that aren't
/// known yet are left to the run.)
SINTER_INLINE bool folds_nothing(const op_facts& op, dtype folded, const shape& from, const bool (&reduced)[max_rank]) {
    if (!op.always_needs_elements && !(op.needs_elements && !is_float(folded))) return false;
    bool nothing = false;
    for (int i = 0; i < from.rank; ++i) {
        if (!reduced[i] && from.size[i] <= 0) return false;
        nothing = nothing || (reduced[i] && from.size[i] == 0);
    }
    return nothing;
}

/// The arguments of an operation as its type rule takes them: a quantized one is a real number. Where the operation only moves or
/// chooses and all arguments are codes of one type (a condition aside), so is the result: `kept` is that type then, else f32. False
/// where a tensor of integers stands beside a quantized one, which could mean codes or numbers.
SINTER_INLINE bool real_arguments(const op_facts& op, value_type* arguments, int count, dtype& kept) {
    kept = dtype::f32;
    bool any = false, every = true, integers = false;
    for (int i = 0; i < count; ++i) {
        const value_type given = arguments[i];
        if (is_quantized_type(given.type)) {
            every = every && (!any || kept == given.type);
            kept = given.type;
            any = true;
            arguments[i].type = dtype::f32;
        } else if (!(i == 0 && count == 3 && given.type == dtype::boolean)) {
            every = false;
            integers = integers || (is_integer(given.type) && !given.weak);
        }
    }
    if (!any || !every || !op.keeps_codes) kept = dtype::f32;
    return !(any && integers) || op.takes_integers;
}

/// Is a node's value one that its type can hold, without another rounding: an operand, a cast, or a choice among such?
template <int Size>
SINTER_HOST_DEVICE constexpr bool is_rounded(const inferred<Size>& all, const node_value* nodes, int index) {
    const node_value& node = nodes[index];
    if (node.kind == node_kind::leaf) return true;
    if (node.kind == node_kind::index_map) return is_rounded(all, nodes, node.argument[0]);
    if ((node.kind != node_kind::map && node.kind != node_kind::reduce) || (!node.op->rounds && !node.op->keeps_codes)) return false;
    if (node.op->rounds) return true;
    for (int a = node.arity == 3 ? 1 : 0; a < node.arity; ++a)
        if (all.type[node.argument[a]].type != all.type[index].type || !is_rounded(all, nodes, node.argument[a])) return false;
    return true;
}

/// Infers node `index` from the nodes before it. Leaves must be filled in by the caller. False on a violation.
template <int Size>
SINTER_HOST_DEVICE constexpr bool infer_node(inferred<Size>& all, const node_value* nodes, int index) {
    const node_value& node = nodes[index];
    all.at = index;
    switch (node.kind) {
        case node_kind::leaf: break;
        case node_kind::literal:
            all.type[index].weak = true;
            all.type[index].type = node.literal == literal_kind::floating  ? dtype::f32
                                   : node.literal == literal_kind::integer ? dtype::i64
                                   : node.literal == literal_kind::large   ? dtype::u64
                                                                           : dtype::boolean;
            break;
        case node_kind::map: {
            shape sizes = all.sizes[node.argument[0]];
            value_type types[max_arguments]{};
            types[0] = all.type[node.argument[0]];
            for (int i = 1; i < node.arity; ++i) {
                const shape_result both = broadcast(sizes, all.sizes[node.argument[i]]);
                if (!both.ok()) {
                    all.why = both.why;
                    all.axis = both.axis;
                    all.other = i;
                    all.left = sizes;
                    return false;
                }
                sizes = both.value;
                types[i] = all.type[node.argument[i]];
            }
            all.sizes[index] = sizes;
            all.own_operations = all.own_operations || node.op->own;
            dtype kept{};
            const bool clear = real_arguments(*node.op, types, node.arity, kept);
            const typing answer = node.op->rule(types, node.arity);
            all.type_why = clear ? answer.why : type_violation::codes_with_integers;
            if (all.type_why != type_violation::none) return false;
            all.type[index] = answer.result;
            if (is_quantized_type(kept)) all.type[index].type = kept;
            for (int i = 0; i < node.arity; ++i) {
                all.argument_type[index][i] = answer.argument[i];
                if (nodes[node.argument[i]].kind == node_kind::literal && !literal_fits(nodes[node.argument[i]], answer.argument[i])) {
                    all.type_why = type_violation::literal_out_of_range;
                    all.other = i;
                    return false;
                }
            }
            break;
        }
        case node_kind::reduce: {
            const shape& from = all.sizes[node.argument[0]];
            bool reduced[max_rank]{};
            all.why = reduced_axes(*node.op, from.rank, reduced, all.axis);
            if (all.why != violation::none) return false;
            all.sizes[index] = reduce_axes(from, reduced, node.op->keep);
            value_type argument = all.type[node.argument[0]];
            all.own_operations = all.own_operations || node.op->own;
            dtype kept{};
            real_arguments(*node.op, &argument, 1, kept);
            const typing answer = node.op->rule(&argument, 1);
            all.type_why = answer.why;
            if (answer.why != type_violation::none) return false;
            all.type[index] = answer.result;
            if (is_quantized_type(kept)) all.type[index].type = kept;
            all.argument_type[index][0] = answer.argument[0];
            if (folds_nothing(*node.op, answer.argument[0], from, reduced)) {
                all.why = violation::nothing_to_fold;
                return false;
            }
            break;
        }
        case node_kind::index_map: {
            const shape_result mapped = mapped_shape(node.op->map, all.sizes[node.argument[0]]);
            all.why = mapped.why;
            all.axis = mapped.axis;
            if (!mapped.ok()) return false;
            all.sizes[index] = mapped.value;
            all.type[index] = all.type[node.argument[0]];
            all.argument_type[index][0] = compute_dtype(all.type[index].type);
            break;
        }
        case node_kind::coordinate: {
            const shape& from = all.sizes[node.argument[0]];
            const int axis = normal_axis(node.op->axis, from.rank);
            all.axis = int(node.op->axis);
            if (axis < 0) {
                all.why = violation::axis_out_of_range;
                return false;
            }
            all.sizes[index] = from;
            for (int i = 0; i < from.rank; ++i)
                if (i != axis) all.sizes[index].size[i] = 1;
            all.type[index] = {dtype::i64, false};
            break;
        }
        case node_kind::count:
            all.type[index] = {dtype::i64, true};
            break;
        default: break;
    }
    return true;
}
/// Infers a program from its leaves: shapes and types of all nodes, or the first violation.
template <int Size>
constexpr inferred<Size> infer_nodes(const node_value* node, const shape* leaf_shape, const value_type* leaf_type) {
    inferred<Size> out;
    for (int i = 0; i < Size; ++i) {
        if (node[i].kind == node_kind::leaf) {
            out.sizes[i] = leaf_shape[node[i].bits];
            out.type[i] = leaf_type[node[i].bits];
        }
        if (!infer_node(out, node, i)) return out;
    }
    out.at = -1;
    return out;
}

}  // namespace sinter
