// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lowering makes of a program: nodes at their places in a loop nest, the nest's axes and form, or why there is none. Plain values.
#pragma once

#include "program.hpp"

namespace sinter {

/// Loop axes of a kernel: those of the outputs, and one for each axis that a dropping reduction folds.
inline constexpr int max_loop_axes = 12;
inline constexpr int max_chain = 8;
inline constexpr int max_chain_steps = 24;

/// Why a program is not one kernel.
enum class nest_violation : u8 {
    none,
    incompatible_axes,   ///< two reductions fold different sets of axes and neither nests in the other
    different_sizes,     ///< outputs, or axes that reductions fold, have different sizes on one loop axis
    map_of_reduction,    ///< an index map of a reduced value that can't be pushed to the operands
    map_of_broadcast,    ///< a reshape of a value that is broadcast
    too_large,           ///< more axes, maps or instances than the tables hold
};

/// An operand that elements are looked up in. No bytes: another operand.
struct table_facts {
    u8 element_size = 0;
    shape sizes{};  ///< static ones
};

/// The form of the loops around a kernel's body.
enum class nest_kind : u8 {
    pointwise,  ///< no reduction
    rows,       ///< the folded axes include the last one: a lane holds elements of one row
    columns,    ///< the folded axes are outer ones: a lane holds neighbouring columns
};

/// One index map on the way from an operand to its use. `stretched`: axes along which the operand is only broadcast.
struct chain_step {
    index_map_spec map{};
    bool stretched[max_rank]{};
    int pad_to = 0;  ///< rank to which axes of size 1 are added at the left first
    constexpr bool operator==(const chain_step& other) const {
        if (!(map == other.map) || pad_to != other.pad_to) return false;
        for (int i = 0; i < max_rank; ++i)
            if (stretched[i] != other.stretched[i]) return false;
        return true;
    }
};

/// A node at one place of the nest.
struct instance {
    node_kind kind{};
    int node = -1;                    ///< index in the program
    int arity = 0;
    int argument[max_arguments]{};    ///< instances; -1: an immediate (literal, scalar operand or count)
    int immediate[max_arguments]{};   ///< node of the immediate
    int count_of[max_arguments]{};    ///< instance of the reduction that an immediate count refers to
    dtype type = dtype::f32;          ///< what the lane holds
    int rank = 0;
    int axis[max_rank]{};             ///< loop axis of each own axis (after the chain), -1 if none
    bool varies[max_rank]{};          ///< false: broadcast along it
    int chain = 0;                    ///< first of its index maps in `lowered::step`
    int chain_length = 0;
    u32 free = 0;                     ///< loop axes that the value varies over
    u32 folded = 0;                   ///< reduce: loop axes that it folds
    u32 lane_axes = 0;                ///< reduce: the folded ones under the lane rule (trailing); the others: column rule
    int level = 0;
    int fold_group = 0;               ///< reduce: 0 inner, 1 outer
};

template <int Nodes, int Outputs>
struct lowered {
    static constexpr int capacity = Nodes + Nodes / 2 + 8;
    int size = 0;
    instance at[unsigned(capacity)]{};
    int step_count = 0;
    chain_step step[max_chain_steps]{};  ///< index maps of operand instances, chain after chain
    int output[unsigned(Outputs)]{};            ///< instance of each output, -1 if it is an immediate
    int output_immediate[unsigned(Outputs)]{};
    int output_axis[unsigned(Outputs)][max_rank]{};
    bool output_varies[unsigned(Outputs)][max_rank]{};
    u32 output_free[unsigned(Outputs)]{};       ///< loop axes along which the output has elements

    int axis_count = 0;
    i64 axis_size[max_loop_axes]{};   ///< static size, or dyn / a name
    int axis_key[max_loop_axes]{};    ///< sorts axes from outer to inner
    int order[max_loop_axes]{};       ///< axes from outer to inner

    nest_violation why = nest_violation::none;
    bool restored = false;            ///< one kernel if outputs lie as if dropping reductions kept their axes
    nest_kind kind = nest_kind::pointwise;
    u32 inner = 0;                    ///< axes that the inner reductions fold (rows, columns)
    u32 inner_lane = 0;               ///< those of them under the lane rule
    u32 outer = 0;                    ///< axes that reductions over row values fold; 0 if there are none
    int levels = 0;                   ///< dependent reductions of the inner group
};

}  // namespace sinter
