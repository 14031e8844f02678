// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding: from the operands of one call to numbers that a loop driver needs - the size of every loop axis, and a pointer
// with one stride per loop axis for every operand instance and output. All run-time checks happen here, before anything is
// written: sizes agree, views are valid, outputs overlap nothing other than element for element.
#pragma once

#include "lower.hpp"

namespace sinter {

/// An operand or output as a driver sees it: element strides per loop axis, 0 where it doesn't vary.
struct bound_operand {
    const void* pointer = nullptr;   ///< already offset
    i64 base = 0;                    ///< coordinate: value at the origin
    i64 stride[max_loop_axes]{};
};

/// Numbers of a kernel that don't depend on the call.
template <class Assignment>
struct kernel_facts : lowering_of<Assignment> {
    using lowering = lowering_of<Assignment>;
    using assignment_type = Assignment;
    static constexpr const auto& table = lowering::value;
    static constexpr int axes = table.axis_count;
    static constexpr int instances = table.size;
    static_assert(one_kernel<table.why>::ok);  // run, eval and plan ask before, nearer to the user
};

template <class Kernel>
struct binding {
    i64 size[Kernel::axes > 0 ? Kernel::axes : 1]{};
    bound_operand instance_operand[Kernel::instances > 0 ? Kernel::instances : 1]{};
    bound_operand output[Kernel::output_count]{};
    bool empty_output = false;  ///< no output has an element: nothing to do
};

namespace detail {

template <class Leaf>
struct leaf_access {
    template <class Operand>
    static SINTER_INLINE view_state state(const Operand& operand) {
        return operand.state();
    }
    template <class Operand>
    static SINTER_INLINE const void* pointer(const Operand& operand) {
        return operand.data();
    }
};
template <class Type>
struct leaf_access<scalar_operand<Type>> {
    static SINTER_INLINE view_state state(const scalar_operand<Type>&) { return {}; }
    static SINTER_INLINE const void* pointer(const scalar_operand<Type>&) { return nullptr; }
};
template <class Extents>
struct leaf_access<shape_operand<Extents>> {
    static SINTER_INLINE view_state state(const shape_operand<Extents>& operand) {
        view_state out;
        out.sizes = operand.sizes();
        return out;
    }
    static SINTER_INLINE const void* pointer(const shape_operand<Extents>&) { return nullptr; }
};

/// The sizes of a node when run; only coordinates ask, everything else learns its sizes from operands.
template <class Kernel, int Node, class Operands>
SINTER_INLINE shape run_time_shape(const Operands& operands) {
    constexpr auto& node = Kernel::node[Node];
    if constexpr (Kernel::facts.sizes[Node].is_static())
        return Kernel::facts.sizes[Node];
    else if constexpr (node.kind == node_kind::leaf)
        return leaf_access<remove_cvref<decltype(get<int(node.bits)>(operands))>>::state(get<int(node.bits)>(operands)).sizes;
    else if constexpr (node.kind == node_kind::map) {
        shape out = run_time_shape<Kernel, node.argument[0]>(operands);
        if constexpr (node.arity > 1) out = broadcast(out, run_time_shape<Kernel, node.argument[1]>(operands)).value;
        if constexpr (node.arity > 2) out = broadcast(out, run_time_shape<Kernel, node.argument[2]>(operands)).value;
        if constexpr (node.arity > 3) out = broadcast(out, run_time_shape<Kernel, node.argument[3]>(operands)).value;
        return out;
    } else if constexpr (node.kind == node_kind::reduce) {
        const shape from = run_time_shape<Kernel, node.argument[0]>(operands);
        bool reduced[max_rank]{};
        int ignored = 0;
        reduced_axes(*node.op, from.rank, reduced, ignored);
        return reduce_axes(from, reduced, node.op->keep);
    } else if constexpr (node.kind == node_kind::index_map)
        return mapped_shape(node.op->map, run_time_shape<Kernel, node.argument[0]>(operands)).value;
    else if constexpr (node.kind == node_kind::coordinate) {
        shape out = run_time_shape<Kernel, node.argument[0]>(operands);
        const int axis = normal_axis(node.op->axis, out.rank);
        for (int i = 0; i < out.rank; ++i)
            if (i != axis) out.size[i] = 1;
        return out;
    } else
        return shape{};
}

template <class Kernel>
struct binder {
    using binding_type = binding<Kernel>;
    static constexpr auto& table = Kernel::table;

    /// Agrees on the size of a loop axis with what other operands said.
    static SINTER_INLINE bool agree(binding_type& out, status& result, int operand, int own_axis, int axis, i64 size, bool folded,
                                    i64& stride) {
        if (size < 0) {
            result = status{error::bad_view, operand, own_axis, 0, size};
            return false;
        }
        if (out.size[axis] == size) return true;
        if (size == 1 && !folded) {  // a run-time 1 broadcasts, as in NumPy, where no reduction counts on it
            stride = 0;
            return true;
        }
        if (out.size[axis] < 0 || (out.size[axis] == 1 && !folded)) {
            out.size[axis] = size;
            return true;
        }
        result = status{error::size_mismatch, operand, own_axis, out.size[axis], size};
        return false;
    }

    template <int Instance, class Operands>
    static SINTER_INLINE bool bind_instance(const Operands& operands, binding_type& out, status& result) {
        constexpr node_kind kind = table.at[Instance].kind;
        if constexpr (kind == node_kind::leaf || kind == node_kind::coordinate) {
            constexpr int node = table.at[Instance].node;
            bound_operand& bound = out.instance_operand[Instance];
            view_state state;
            int operand = -1;
            i64 element_size = 0;
            if constexpr (kind == node_kind::leaf) {
                constexpr int index = int(Kernel::node[node].bits);
                const auto& from = get<index>(operands);
                using access_type = leaf_access<remove_cvref<decltype(from)>>;
                state = access_type::state(from);
                bound.pointer = access_type::pointer(from);
                operand = index;
                element_size = dtype_size(Kernel::leaf_type[index].type);
            } else {
                // A coordinate is an operand whose address is its value.
                state.sizes = run_time_shape<Kernel, node>(operands);
                state.stride[normal_axis(Kernel::node[node].op->axis, state.sizes.rank)] = 1;
            }
            for (int i = 0; i < state.sizes.rank; ++i)
                if (state.sizes.size[i] < 0) {
                    result = status{error::bad_view, operand, i, 0, state.sizes.size[i]};
                    return false;
                }
            for (int s = 0; s < table.at[Instance].chain_length; ++s) {
                const chain_step& step = table.at[Instance].chain[s];
                if (step.pad_to > state.sizes.rank) pad(state, step.pad_to);
                bool ok = true;
                if (step.map.kind == map_kind::expand) {
                    index_map_spec map = step.map;
                    for (int i = 0; i < state.sizes.rank; ++i)
                        if (step.stretched[i]) map.number[map.count - state.sizes.rank + i] = 1;
                    ok = apply_map(map, state, step.stretched);
                } else {
                    ok = apply_map(step.map, state, step.stretched);
                }
                if (!ok) {
                    result = status{error::bad_view, operand, -1, 0, 0};
                    return false;
                }
            }
            bound.base = state.offset;
            if (bound.pointer) bound.pointer = static_cast<const char*>(bound.pointer) + state.offset * element_size;
            i64 count = 1;
            for (int i = 0; i < state.sizes.rank; ++i) {
                count *= state.sizes.size[i];
                if (!table.at[Instance].varies[i]) continue;
                const int axis = table.at[Instance].axis[i];
                i64 stride = state.stride[i];
                if (!agree(out, result, operand, i, axis, state.sizes.size[i], is_folded(axis), stride)) return false;
                bound.stride[axis] = stride;
            }
            if (kind == node_kind::leaf && count > 0 && bound.pointer == nullptr && element_size > 0) {
                if constexpr (kind == node_kind::leaf) {
                    using leaf_type = remove_cvref<decltype(get<int(Kernel::node[node].bits)>(operands))>;
                    if constexpr (operand_kind_of<leaf_type> == operand_kind::view) {
                        result = status{error::null_pointer, operand, -1, 0, 0};
                        return false;
                    }
                }
            }
        }
        return true;
    }
    static SINTER_INLINE bool is_folded(int axis) { return ((table.inner | table.outer) >> axis & 1) != 0; }
    static SINTER_INLINE void pad(view_state& state, int rank) {
        const int grow = rank - state.sizes.rank;
        for (int i = rank - 1; i >= 0; --i) {
            state.sizes.size[i] = i >= grow ? state.sizes.size[i - grow] : 1;
            state.stride[i] = i >= grow ? state.stride[i - grow] : 0;
        }
        state.sizes.rank = rank;
    }

    template <int Output, class Target>
    static SINTER_INLINE bool bind_output(const Target& target, binding_type& out, status& result) {
        const view_state state = target.state();
        constexpr int operand = Kernel::leaf_count + Output;
        bound_operand& bound = out.output[Output];
        bound.pointer = target.data();
        i64 count = 1;
        for (int i = 0; i < Target::rank; ++i) {
            count *= state.sizes.size[i];
            if (state.sizes.size[i] < 0) {
                result = status{error::bad_view, operand, i, 0, state.sizes.size[i]};
                return false;
            }
            if (!table.output_varies[Output][i]) continue;
            const int axis = table.output_axis[Output][i];
            if (out.size[axis] >= 0 && out.size[axis] != state.sizes.size[i]) {
                result = status{error::size_mismatch, operand, i, out.size[axis], state.sizes.size[i]};
                return false;
            }
            out.size[axis] = state.sizes.size[i];
            bound.stride[axis] = state.stride[i];
        }
        for (int i = 0; count > 0 && i < Target::rank; ++i)
            if (state.stride[i] == 0 && state.sizes.size[i] > 1) {
                result = status{error::overlap, operand, i, 0, 0};  // an output that is broadcast onto itself
                return false;
            }
        if (count > 0 && bound.pointer == nullptr) {
            result = status{error::null_pointer, operand, -1, 0, 0};
            return false;
        }
        return true;
    }

    /// Bytes that an operand touches over the loop axes it varies along.
    static SINTER_INLINE byte_range range_of(const binding_type& from, const bound_operand& bound, i64 element_size) {
        i64 low = 0, high = 0;
        for (int a = 0; a < Kernel::axes; ++a) {
            if (bound.stride[a] == 0) continue;
            if (from.size[a] == 0) return {};
            const i64 span = (from.size[a] - 1) * bound.stride[a];
            if (span < 0)
                low += span;
            else
                high += span;
        }
        return {low * element_size, (high + 1) * element_size - 1};
    }
    static SINTER_INLINE bool meets(const binding_type& from, const bound_operand& left, i64 left_size, const bound_operand& right,
                                    i64 right_size) {
        const byte_range a = range_of(from, left, left_size), b = range_of(from, right, right_size);
        if (a.first > a.last || b.first > b.last) return false;
        const u64 p = reinterpret_cast<u64>(left.pointer), q = reinterpret_cast<u64>(right.pointer);
        return p + u64(a.first) <= q + u64(b.last) && q + u64(b.first) <= p + u64(a.last);
    }
    static SINTER_INLINE bool element_for_element(const bound_operand& left, i64 left_size, const bound_operand& right,
                                                  i64 right_size) {
        if (left.pointer != right.pointer || left_size != right_size) return false;
        for (int a = 0; a < Kernel::axes; ++a)
            if (left.stride[a] != right.stride[a]) return false;
        return true;
    }
    template <int Output, class Target, int... Instance>
    static SINTER_INLINE bool overlap_free(const binding_type& from, status& result, indices<Instance...>) {
        const bound_operand& bound = from.output[Output];
        constexpr i64 size = sizeof(typename Target::element);
        bool ok = true;
        const int checks[] = {0, (overlap_with<Output, Instance>(from, bound, size, ok), 0)...};
        (void)checks;
        for (int other = 0; other < Output; ++other)
            if (meets(from, bound, size, from.output[other], output_element_size(other))) ok = false;
        if (!ok) result = status{error::overlap, Kernel::leaf_count + Output, -1, 0, 0};
        return ok;
    }
    template <int Output, int Instance>
    static SINTER_INLINE void overlap_with(const binding_type& from, const bound_operand& bound, i64 size, bool& ok) {
        if constexpr (table.at[Instance].kind == node_kind::leaf) {
            const bound_operand& operand = from.instance_operand[Instance];
            constexpr i64 operand_size = dtype_size(Kernel::leaf_type[Kernel::node[table.at[Instance].node].bits].type);
            if (operand.pointer && meets(from, bound, size, operand, operand_size) &&
                !element_for_element(bound, size, operand, operand_size))
                ok = false;
        }
    }
    template <class... Targets>
    struct sizes_of_outputs {
        static constexpr i64 value[] = {i64(sizeof(typename Targets::element))...};
    };
    static SINTER_INLINE i64 output_element_size(int output) { return output_sizes(output, static_cast<typename Kernel::assignment_type*>(nullptr)); }
    template <class Program, class Roots, class Leaves, class... Targets>
    static SINTER_INLINE i64 output_sizes(int output, assignment<Program, Roots, Leaves, list<Targets...>>*) {
        const i64 value[] = {i64(sizeof(typename Targets::element))...};
        return value[output];
    }

    template <class Operands, class... Targets, int... Instance, int... Output>
    static SINTER_INLINE status bind(const Operands& operands, const pack<Targets...>& targets, binding_type& out,
                                     indices<Instance...>, indices<Output...>) {
        status result;
        for (int a = 0; a < Kernel::axes; ++a) out.size[a] = table.axis_size[a] >= 0 ? table.axis_size[a] : -1;
        // Outputs first: their sizes are the loop's, and operands broadcast to them.
        if (!(bind_output<Output>(get<Output>(targets), out, result) && ...)) return result;
        bool ok = true;
        const int bound[] = {0, (ok = ok && bind_instance<Instance>(operands, out, result), 0)...};
        (void)bound;
        if (!ok) return result;
        for (int a = 0; a < Kernel::axes; ++a)
            if (out.size[a] < 0) out.size[a] = 1;
        // An operand that was seen before a larger one set an axis must still agree (a run-time 1 that was taken as the size).
        if (!(overlap_free<Output, Targets>(out, result, indices<Instance...>{}) && ...)) return result;
        if (!(elements_there<Instance>(out, result) && ...)) return result;
        out.empty_output = true;
        const bool empty[] = {output_is_empty<Output>(out)...};
        for (bool e : empty)
            if (!e) out.empty_output = false;
        return result;
    }
    template <int Output>
    static SINTER_INLINE bool output_is_empty(const binding_type& from) {
        for (int a = 0; a < Kernel::axes; ++a)
            if ((table.output_free[Output] >> a & 1) && from.size[a] == 0) return true;
        return false;
    }
    /// Integer max and min, and argmax, have no value over nothing.
    template <int Instance>
    static SINTER_INLINE bool elements_there(const binding_type& from, status& result) {
        if constexpr (table.at[Instance].kind == node_kind::reduce) {
            constexpr const op_facts& op = *Kernel::node[table.at[Instance].node].op;
            if constexpr (op.always_needs_elements || (op.needs_elements && !is_float(Kernel::facts.argument_type[table.at[Instance].node][0]))) {
                i64 folded = 1, kept = 1;
                for (int a = 0; a < Kernel::axes; ++a) {
                    if (table.at[Instance].folded >> a & 1) folded *= from.size[a];
                    if (table.at[Instance].free >> a & 1) kept *= from.size[a];
                }
                if (folded == 0 && kept > 0) {
                    result = status{error::empty_reduction, -1, -1, 1, 0};
                    return false;
                }
            }
        }
        return true;
    }
};

template <class Kernel, class Assignment>
SINTER_INLINE status bind(const Assignment& assigned, binding<Kernel>& out) {
    return binder<Kernel>::bind(assigned.operands, assigned.targets, out, make_indices<Kernel::instances>{},
                                make_indices<Kernel::output_count>{});
}

}  // namespace detail
}  // namespace sinter
