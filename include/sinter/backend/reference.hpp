// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference: every node is computed on its own, element by element, into a buffer, straight from the rules of
// docs/numerics. It shares no fusion, no index-map pushing and no loop nest with the other backends, so it is their oracle.
// Slow by design; allocates.
#pragma once

#include "../ops/reduce.hpp"
#include "../plan.hpp"
#include "../run.hpp"

namespace sinter {
namespace detail {

/// The reference's walk over indices. Out of line, since it is the same for every node: inlined, it was most of what a formula cost
/// the compiler. `Tag` is a type of one instruction set: code of two must not meet in the linker.
template <class Tag>
struct reference_walk {
    using index_type = i64[max_rank];
    /// Row-major index of the element `linear`.
    static SINTER_NOINLINE void index_of(i64 linear, const shape& sizes, index_type& index) {
        for (int i = sizes.rank - 1; i >= 0; --i) {
            index[i] = linear % sizes.size[i];
            linear /= sizes.size[i];
        }
    }
    /// Offset of the element `linear` under strides.
    static SINTER_NOINLINE i64 offset_in(const view_state& state, i64 linear) {
        index_type index{};
        index_of(linear, state.sizes, index);
        i64 offset = state.offset;
        for (int a = 0; a < state.sizes.rank; ++a) offset += index[a] * state.stride[a];
        return offset;
    }
    /// Offset of an operand that broadcasts to a shape of `rank` axes, both row-major. Its leading axes beyond that are of size 1.
    static SINTER_NOINLINE i64 broadcast_offset(const index_type& index, int rank, const shape& own) {
        i64 offset = 0;
        for (int i = own.rank > rank ? own.rank - rank : 0; i < own.rank; ++i)
            offset = offset * own.size[i] + (own.size[i] == 1 ? 0 : index[rank - own.rank + i]);
        return offset;
    }
    /// How a reduction goes through its argument: kept axes, column axes (folded, not trailing) and lane axes (folded, trailing), each
    /// row-major with the argument's strides.
    struct parts {
        view_state kept, column, lane;
    };
    static SINTER_NOINLINE parts parts_of(const op_facts& op, const shape& from) {
        bool reduced[max_rank]{};
        int ignored = 0;
        reduced_axes(op, from.rank, reduced, ignored);
        int trailing = from.rank;
        while (trailing > 0 && reduced[trailing - 1]) --trailing;
        view_state whole;
        whole.sizes = from;
        set_row_major_strides(whole);
        parts out;
        for (int i = 0; i < from.rank; ++i) {
            view_state& part = !reduced[i] ? out.kept : i < trailing ? out.column : out.lane;
            part.stride[part.sizes.rank] = whole.stride[i];
            part.sizes.size[part.sizes.rank++] = from.size[i];
        }
        return out;
    }
};

template <class Kernel, class Assignment, class Tag>
struct reference_evaluation;
template <class Kernel, class... Node, int... Roots, class... Leaves, class... Outputs, class Tag>
struct reference_evaluation<Kernel, assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>, Tag> {
    using assignment_type = assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>;
    using walk = reference_walk<Tag>;
    static constexpr int nodes = int(sizeof...(Node));
    template <int Index>
    using node_type = nth_type<Index, Node...>;
    template <int Index>
    using element = type_of<compute_dtype(Kernel::facts.type[Index].type)>;
    template <class Type>
    using lane_of = lane::scalar<Type>;

    const assignment_type& assigned;
    shape sizes[unsigned(nodes)]{};
    void* buffer[unsigned(nodes)]{};

    static constexpr bool immediate(int index) {
        const node_value& node = Kernel::node[index];
        return node.kind == node_kind::literal || node.kind == node_kind::count ||
               (node.kind == node_kind::leaf && Kernel::weak_leaf[node.bits]);
    }
    /// Nodes that are only asked for their shape, by coordinates and counts, have no value to compute, and no memory to read.
    static constexpr array<bool, nodes> find_needed() {
        array<bool, nodes> out{};
        for (int o = 0; o < Kernel::output_count; ++o) out[Kernel::root[o]] = true;
        for (int i = nodes - 1; i >= 0; --i) {
            const node_value& node = Kernel::node[i];
            if (!out[i] || node.kind == node_kind::coordinate || node.kind == node_kind::count) continue;
            for (int a = 0; a < node.arity; ++a) out[node.argument[a]] = true;
        }
        return out;
    }
    static constexpr array<bool, nodes> needed = find_needed();
    template <int Index>
    static constexpr bool has_value() {
        if constexpr (immediate(Index) || !needed[Index])
            return false;
        else if constexpr (Kernel::node[Index].kind == node_kind::leaf)
            return operand_kind_of<nth_type<int(Kernel::node[Index].bits), Leaves...>> == operand_kind::view;
        else
            return true;
    }
    template <int Index>
    element<Index>* data() {
        return static_cast<element<Index>*>(buffer[Index]);
    }
    i64 folded_count(int reduction) const {
        const shape& from = sizes[Kernel::node[reduction].argument[0]];
        bool reduced[max_rank]{};
        int ignored = 0;
        reduced_axes(*Kernel::node[reduction].op, from.rank, reduced, ignored);
        i64 count = 1;
        for (int i = 0; i < from.rank; ++i)
            if (reduced[i]) count *= from.size[i];
        return count;
    }

    /// Value of node `Index` for its consumer, converted to `Type`; `offset` is into its own buffer.
    template <int Index, class Type>
    Type value_as(i64 offset) {
        constexpr node_value node = Kernel::node[Index];
        if constexpr (node.kind == node_kind::literal)
            return literal_value<Type, node.literal, node.bits>();
        else if constexpr (node.kind == node_kind::count)
            return sinter::convert<Type>(folded_count(node.argument[0]));
        else if constexpr (immediate(Index))
            return sinter::convert<Type>(get<int(node.bits)>(assigned.operands).value);
        else if constexpr (is_same<Type, element<Index>>)
            return data<Index>()[offset];
        else
            return sinter::convert<Type>(data<Index>()[offset]);
    }

    template <int Index, int... Argument>
    SINTER_NOINLINE void compute_map(indices<Argument...>) {
        using op = typename node_traits<node_type<Index>>::op;
        const i64 count = sizes[Index].count();
        for (i64 i = 0; i < count; ++i) {
            i64 index[max_rank]{};
            walk::index_of(i, sizes[Index], index);
            data<Index>()[i] =
                first(op::apply(argument_as<Kernel::node[Index].argument[Argument], type_of<Kernel::facts.argument_type[Index][Argument]>>(
                    walk::broadcast_offset(index, sizes[Index].rank, sizes[Kernel::node[Index].argument[Argument]]))...));
        }
    }
    /// A value as an operation takes it: a lane, or the view that it looks up in.
    template <int Index, class Type>
    auto argument_as(i64 offset) {
        if constexpr (immediate(Index) && Kernel::node[Index].kind == node_kind::leaf) {
            if constexpr (is_table<nth_type<int(Kernel::node[Index].bits), Leaves...>>)
                return get<int(Kernel::node[Index].bits)>(assigned.operands).value;
            else
                return lane_of<Type>(value_as<Index, Type>(offset));
        } else {
            return lane_of<Type>(value_as<Index, Type>(offset));
        }
    }

    /// Folds `count` elements by the lane rule; `at(i)` gives element i as a lane.
    template <class Monoid, class Value, class At>
    static auto lane_rule(i64 count, const At& at, Value first_element, i64 index_base) {
        if constexpr (monoids::is_two_phase<Monoid>) {
            using summary = typename Monoid::template summary<Value>;
            return pairwise<summary>(
                (count + order::segment - 1) / order::segment, Monoid::template nothing<Value>(),
                [&](i64 s) {
                    const i64 begin = s * order::segment, length = count - begin < order::segment ? count - begin : order::segment;
                    const Value n(convert_count<typename Value::element>(length));
                    const auto context = Monoid::settle(
                        one_segment(length, Monoid::template identity<Value>(),
                                    [&](i64 i) { return Monoid::lift(at(begin + i), first_element); },
                                    [](const auto& a, const auto& b) { return Monoid::combine(a, b); }),
                        n);
                    return Monoid::close(
                        context,
                        one_segment(length, Monoid::template identity_second<Value>(),
                                    [&](i64 i) { return Monoid::lift_second(at(begin + i), first_element, context); },
                                    [](const auto& a, const auto& b) { return Monoid::combine_second(a, b); }),
                        n);
                },
                [](const summary& a, const summary& b) { return Monoid::merge(a, b); });
        } else {
            const auto identity = Monoid::template identity<Value>();
            return pairwise<remove_cvref<decltype(identity)>>(
                (count + order::segment - 1) / order::segment, identity,
                [&](i64 s) {
                    const i64 begin = s * order::segment, length = count - begin < order::segment ? count - begin : order::segment;
                    return one_segment(
                        length, identity, [&](i64 i) { return lift<Monoid>(at(begin + i), index_base + begin + i); },
                        [](const auto& a, const auto& b) { return Monoid::combine(a, b); });
                },
                [](const auto& a, const auto& b) { return Monoid::combine(a, b); });
        }
    }
    template <class Monoid, class Value>
    static auto lift(Value x, i64 index) {
        if constexpr (monoids::takes_index<Monoid>)
            return Monoid::lift(x, lane_of<i64>(index));
        else
            return Monoid::lift(x);
    }
    template <class Type>
    static Type convert_count(i64 count) {
        return sinter::convert<Type>(count);
    }
    template <class State, class Lift, class Combine>
    static State one_segment(i64 length, const State& identity, const Lift& lifted, const Combine& combine) {
        State lanes[order::lanes];
        for (State& lane : lanes) lane = identity;
        for (i64 i = 0; i < length; ++i) lanes[i % order::lanes] = combine(lanes[i % order::lanes], lifted(i));
        for (int stride = order::lanes / 2; stride > 0; stride /= 2)
            for (int l = 0; l < stride; ++l) lanes[l] = combine(lanes[l], lanes[l + stride]);
        return lanes[0];
    }
    /// Adjacent pairs level by level, an odd last one carried up unchanged.
    template <class State, class Make, class Combine>
    static State pairwise(i64 count, const State& nothing, const Make& make, const Combine& combine) {
        if (count == 0) return nothing;
        State stack[order::stack_depth];
        int depth = 0;
        for (i64 i = 0; i < count; ++i) {
            State now = make(i);
            for (i64 level = i; level & 1; level >>= 1) now = combine(stack[--depth], now);
            stack[depth++] = now;
        }
        State all = stack[--depth];
        while (depth > 0) all = combine(stack[--depth], all);
        return all;
    }

    template <int Index>
    SINTER_NOINLINE void compute_reduce() {
        using monoid = typename node_traits<node_type<Index>>::op::monoid;
        constexpr int argument = Kernel::node[Index].argument[0];
        using type = type_of<Kernel::facts.argument_type[Index][0]>;
        using value = lane_of<type>;
        const auto parts = walk::parts_of(*Kernel::node[Index].op, sizes[argument]);
        const view_state &kept = parts.kept, &column = parts.column, &lane_part = parts.lane;
        const i64 kept_count = kept.sizes.count(), column_count = column.sizes.count(), lane_count = lane_part.sizes.count();
        for (i64 k = 0; k < kept_count; ++k) {
            const i64 base = walk::offset_in(kept, k);
            const bool any = column_count > 0 && lane_count > 0;
            const value first_element(any ? value_as<argument, type>(base) : type{});
            const auto element_at = [&](i64 c, i64 l) {
                return value(value_as<argument, type>(base + walk::offset_in(column, c) + walk::offset_in(lane_part, l)));
            };
            element<Index> result;
            if (lane_part.sizes.rank > 0) {
                const auto row = [&](i64 c) {
                    return lane_rule<monoid>(
                        lane_count, [&](i64 l) { return element_at(c, l); }, first_element, c * lane_count);
                };
                if (column.sizes.rank == 0)
                    result = first(monoid::finalize(row(0)));
                else
                    result = first(monoid::finalize(columns_of_rows<monoid, value>(column_count, row)));
            } else {
                result = first(monoid::finalize(
                    column_rule<monoid, value>(column_count, [&](i64 c) { return element_at(c, 0); }, first_element)));
            }
            data<Index>()[k] = result;
        }
    }
    template <class Monoid, class Value, class Row>
    static auto columns_of_rows(i64 count, const Row& row) {
        using summary = remove_cvref<decltype(row(0))>;
        const auto merge = [](const summary& a, const summary& b) {
            if constexpr (monoids::is_two_phase<Monoid>)
                return Monoid::merge(a, b);
            else
                return Monoid::combine(a, b);
        };
        const auto nothing = [] {
            if constexpr (monoids::is_two_phase<Monoid>)
                return Monoid::template nothing<Value>();
            else
                return Monoid::template identity<Value>();
        }();
        return pairwise<summary>(
            (count + order::column_segment - 1) / order::column_segment, nothing,
            [&](i64 s) {
                const i64 begin = s * order::column_segment;
                const i64 stop = begin + order::column_segment < count ? begin + order::column_segment : count;
                summary all = row(begin);
                for (i64 c = begin + 1; c < stop; ++c) all = merge(all, row(c));
                return all;
            },
            merge);
    }
    template <class Monoid, class Value, class At>
    static auto column_rule(i64 count, const At& at, Value first_element) {
        const i64 segments = (count + order::column_segment - 1) / order::column_segment;
        const auto bounds = [&](i64 s, i64& begin, i64& stop) {
            begin = s * order::column_segment;
            stop = begin + order::column_segment < count ? begin + order::column_segment : count;
        };
        if constexpr (monoids::is_two_phase<Monoid>) {
            using summary = typename Monoid::template summary<Value>;
            return pairwise<summary>(
                segments, Monoid::template nothing<Value>(),
                [&](i64 s) {
                    i64 begin = 0, stop = 0;
                    bounds(s, begin, stop);
                    const Value n(convert_count<typename Value::element>(stop - begin));
                    auto total = Monoid::template identity<Value>();
                    for (i64 c = begin; c < stop; ++c) total = Monoid::combine(total, Monoid::lift(at(c), first_element));
                    const auto context = Monoid::settle(total, n);
                    auto second = Monoid::template identity_second<Value>();
                    for (i64 c = begin; c < stop; ++c)
                        second = Monoid::combine_second(second, Monoid::lift_second(at(c), first_element, context));
                    return Monoid::close(context, second, n);
                },
                [](const summary& a, const summary& b) { return Monoid::merge(a, b); });
        } else {
            const auto identity = Monoid::template identity<Value>();
            return pairwise<remove_cvref<decltype(identity)>>(
                segments, identity,
                [&](i64 s) {
                    i64 begin = 0, stop = 0;
                    bounds(s, begin, stop);
                    auto all = Monoid::template identity<Value>();
                    for (i64 c = begin; c < stop; ++c) all = Monoid::combine(all, lift<Monoid>(at(c), c));
                    return all;
                },
                [](const auto& a, const auto& b) { return Monoid::combine(a, b); });
        }
    }

    /// A function for each node, which isn't inlined: optimizers take a time that grows with the square of a function's length, and all
    /// nodes of a program with 64 operands in one took 50 s.
    template <int Index>
    SINTER_NOINLINE void compute() {
        constexpr node_value node = Kernel::node[Index];
        if constexpr (!has_value<Index>()) {
        } else if constexpr (node.kind == node_kind::leaf) {
            const auto& operand = get<int(node.bits)>(assigned.operands);
            const view_state state = operand.state();
            const i64 count = state.sizes.count();
            for (i64 i = 0; i < count; ++i)
                data<Index>()[i] = first(lane_of<element<Index>>::load(operand.data() + walk::offset_in(state, i)));
        } else if constexpr (node.kind == node_kind::map)
            compute_map<Index>(make_indices<node.arity>{});
        else if constexpr (node.kind == node_kind::reduce)
            compute_reduce<Index>();
        else if constexpr (node.kind == node_kind::index_map) {
            view_state state;
            state.sizes = sizes[node.argument[0]];
            set_row_major_strides(state);
            const bool stretched[max_rank]{};
            apply_map(Kernel::node[Index].op->map, state, stretched);
            const i64 count = state.sizes.count();
            for (i64 i = 0; i < count; ++i) data<Index>()[i] = value_as<node.argument[0], element<Index>>(walk::offset_in(state, i));
        } else if constexpr (node.kind == node_kind::coordinate) {
            const i64 count = sizes[Index].count();
            for (i64 i = 0; i < count; ++i) data<Index>()[i] = i;
        }
    }

    template <int Output, int Root, class Target>
    SINTER_NOINLINE void store(const Target& target) {
        using storage = typename Target::element;
        using type = compute_of<storage>;
        const view_state state = target.state();
        const i64 count = state.sizes.count();
        for (i64 i = 0; i < count; ++i) {
            i64 index[max_rank]{};
            walk::index_of(i, state.sizes, index);
            const i64 offset = walk::offset_in(state, i), source = walk::broadcast_offset(index, state.sizes.rank, sizes[Root]);
            if constexpr (immediate(Root))
                lane::store(target.data() + offset, lane_of<type>(value_as<Root, type>(source)));
            else
                lane::store(target.data() + offset,
                            cast_to_store<Kernel, storage, Root>(lane_of<element<Root>>(value_as<Root, element<Root>>(source))));
        }
    }
    template <int... Index, int... Output>
    SINTER_NOINLINE status run(indices<Index...>, indices<Output...>) {
        const bool shaped[] = {(sizes[Index] = run_time_shape<Kernel, Index>(assigned.operands), true)...};
        (void)shaped;
        bool there = true;
        const bool allocated[] = {allocate<Index>(there)...};
        (void)allocated;
        if (there) {
            const bool computed[] = {(compute<Index>(), true)...};
            const bool stored[] = {(store<Output, Roots>(get<Output>(assigned.targets)), true)...};
            (void)computed;
            (void)stored;
        }
        for (void* memory : buffer) ::operator delete(memory, std::align_val_t{64});
        return there ? status{} : status{error::out_of_memory, -1, -1, 0, 0};
    }
    template <int Index>
    bool allocate(bool& there) {
        if constexpr (has_value<Index>()) {
            // (No operand has bounded a coordinate's sizes: their product may leave 64 bits.)
            i64 bytes = i64(sizeof(element<Index>));
            for (int a = 0; a < sizes[Index].rank; ++a) there = there && !__builtin_mul_overflow(bytes, sizes[Index].size[a], &bytes);
            there = there && !__builtin_add_overflow(bytes, i64(sizeof(element<Index>)), &bytes);
            buffer[Index] = there ? ::operator new(std::size_t(bytes), std::align_val_t{64}, std::nothrow) : nullptr;
            there = there && buffer[Index] != nullptr;
        }
        return there;
    }
};
}  // namespace detail

namespace backend::SINTER_ISA {
/// Executor: the oracle. Host memory, one thread, allocates a buffer per node.
struct reference_executor {
    using memory_space = host_memory;
    using target = targets::reference;
    template <class Assignment>
    status launch(const Assignment& assigned) const {
        using kernel = kernel_facts<Assignment>;
        sinter::detail::binding_of<kernel> bound;
        const void* pointer[sinter::detail::slots<kernel>::count];
        const status checked = sinter::detail::bind<kernel, reference_executor>(assigned, bound, pointer);
        if (!checked.ok() || bound.empty_output) return checked;
        [[maybe_unused]] const float_environment exact;
        return sinter::detail::reference_evaluation<kernel, Assignment, reference_executor>{assigned}.run(
            make_indices<kernel::node_count>{}, make_indices<kernel::output_count>{});
    }
};
inline constexpr reference_executor reference{};
}  // namespace backend::SINTER_ISA
using backend::SINTER_ISA::reference;
using backend::SINTER_ISA::reference_executor;

}  // namespace sinter
