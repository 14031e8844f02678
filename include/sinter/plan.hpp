// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan: what a formula becomes, as constants. The logical plan knows no target: kernels, passes, loads, stores, bytes, a
// name and a hash. The physical plan adds the facts of a target: width, how threads share the work, scratch memory.
//
//     static_assert(sinter::plan_of<decltype(softmax(x))>.kernels == 1);
//     static_assert(sinter::plan_of<decltype(e)>.bytes(4096) == 4096 * 768 * 8);   // one argument per run-time loop axis
//     constexpr int width = sinter::plan_of<decltype(e), sinter::targets::this_cpu>.width;
//
// Everything is a function of types alone: two builds, with two compilers on two machines, agree to the byte.
#pragma once

#include "bind.hpp"
#include "code_product.hpp"
#include "code_sum.hpp"
#include "code_table.hpp"
#include "stage.hpp"
#include "text.hpp"

namespace sinter {

/// Facts of targets. A target is any struct with the four members of `reference`; `targets::cuda` is reserved.
namespace targets {

/// No target: the logical plan.
struct logical {};

/// Plain loops, one element a step.
struct reference {
    static constexpr const char* name = "reference";
    static constexpr int vector_bytes = 0;          ///< of a register; 0: one element a step
    static constexpr i64 streaming_threshold = -1;  ///< bytes from which stores pass the caches; -1: never
    static constexpr bool threads = false;
};
/// A SIMD processor. Outputs of at least the threshold are stored past the caches. With 32 MiB of third level both kinds of stores take as
/// long at 8 MiB, and at 12 MiB where something reads the results at once.
template <int VectorBytes>
struct cpu_with {
    static constexpr const char* name = "cpu";
    static constexpr int vector_bytes = VectorBytes;
    static constexpr i64 streaming_threshold = i64(8) << 20;
    static constexpr bool threads = true;
};
namespace isa_bytes {
inline constexpr int isa_avx512 = 64, isa_avx2_fma = 32, isa_avx = 16, isa_sse41 = 16, isa_sse2 = 16, isa_neon = 16, isa_generic = 16;
}
/// The processor that this file is compiled for: another type for another instruction set.
using this_cpu = cpu_with<isa_bytes::SINTER_ISA>;

}  // namespace targets

/// What threads may share without touching a reduction's order.
enum class split_rule : u8 {
    nothing,   ///< one value, or a target without threads
    elements,  ///< runs of elements of a pointwise nest
    rows,      ///< whole rows: every folded axis stays in one thread
    columns,   ///< runs of columns: every folded axis stays in one thread
};

namespace detail {

/// FNV-1a, 64 bits, over bytes in an order of our own: neither layout nor byte order of the machine matters.
struct fnv_hash {
    u64 value = 0xcbf29ce484222325u;
    constexpr void byte(u64 one) { value = (value ^ (one & 255)) * 0x100000001b3u; }
    constexpr void number(i64 all) {
        for (int shift = 0; shift < 64; shift += 8) byte(static_cast<u64>(all) >> shift);
    }
    constexpr void text(const char* letters) {
        for (; *letters; ++letters) byte(static_cast<unsigned char>(*letters));
        byte(0);
    }
    constexpr void sizes(const shape& from) {
        byte(u64(from.rank));
        for (int i = 0; i < from.rank; ++i) number(from.size[i]);
    }
};

/// The nodes that the outputs need, in post-order from the first output on: the same for every spelling that gives them. `at[i]`
/// is the node at place i, `place[n]` the place of node n or -1.
template <int Nodes>
struct canonical_order {
    int size = 0;
    int at[unsigned(Nodes)]{};
    int place[unsigned(Nodes)]{};
    constexpr canonical_order(const node_value* node, const int* root, int roots) {
        for (int& p : place) p = -1;
        int stack[unsigned(Nodes + 1)]{}, next[unsigned(Nodes)]{};  // depth first without recursion: a chain may be longer than a compiler nests
        for (int r = 0; r < roots; ++r) {
            int depth = 0;
            stack[depth++] = root[r];
            while (depth > 0) {
                const int top = stack[depth - 1];
                if (place[top] >= 0) {
                    --depth;
                } else if (next[top] < node[top].arity) {
                    const int argument = node[top].argument[next[top]++];
                    if (place[argument] < 0) stack[depth++] = argument;
                } else {
                    place[top] = size;
                    at[size++] = top;
                    --depth;
                }
            }
        }
    }
};

inline constexpr int plan_name_capacity = 63;
/// Has a node an operation that is worth a name? Conversions to float that nobody wrote stay out.
constexpr bool named(const node_value& node) {
    if (!node.has_op()) return false;
    const char* name = node.op->name;
    const char* implicit = "to_float";
    while (*name && *name == *implicit) ++name, ++implicit;
    return *name != *implicit;
}

/// Names of the operations in canonical order: "max_sub_exp_sum_reciprocal_mul". A long one ends in "_and_17_more". Letters, digits
/// and underscores only.
template <int Nodes>
constexpr fixed_text<plan_name_capacity> plan_name(const node_value* node, const canonical_order<Nodes>& order) {
    fixed_text<plan_name_capacity> out;
    text_writer to(out.letters, plan_name_capacity + 1);
    int names = 0;
    for (int i = 0; i < order.size; ++i) names += named(node[order.at[i]]);
    if (names == 0) to.add("copy");
    for (int i = 0, written = 0; i < order.size; ++i) {
        if (!named(node[order.at[i]])) continue;
        const op_facts* op = node[order.at[i]].op;
        int letters = 0;
        while (op->name[letters]) ++letters;
        if (to.length + letters + 14 > plan_name_capacity && written + 1 < names) {
            to.add("_and_").add(names - written).add("_more");
            break;
        }
        if (written++ > 0) to.add('_');
        for (const char* letter = op->name; *letter; ++letter) {
            const char c = *letter;
            const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            to.add(plain ? c : '_');
        }
    }
    return out;
}

/// Hash of all that decides the values of a formula: operations with their numbers, literals, types and their scales, shapes and
/// outputs. Layouts, alignment and memory spaces of views aren't in it.
template <class Lowering>
constexpr u64 plan_hash(const canonical_order<Lowering::node_count>& order) {
    fnv_hash hash;
    hash.text("sinter plan 1 portable");
    for (int i = 0; i < order.size; ++i) {
        const int index = order.at[i];
        const node_value& n = Lowering::node[index];
        hash.byte(u64(n.kind));
        hash.byte(u64(n.literal));
        hash.number(static_cast<i64>(n.bits));
        for (int a = 0; a < n.arity; ++a) hash.number(order.place[n.argument[a]]);
        if (n.has_op()) {
            hash.text(n.op->name);
            hash.byte(u64(n.op->all_axes) | u64(n.op->keep) << 1);
            for (int a = 0; a < n.op->axes.count; ++a) {  // counted from the end, however they are written
                const int rank = Lowering::facts.sizes[n.argument[0]].rank;
                hash.number(normal_axis(n.op->axes.axis[a], rank) - rank);
            }
            hash.byte(u64(n.op->map.kind));
            for (int a = 0; a < n.op->map.count; ++a) hash.number(n.op->map.number[a]);
            hash.number(n.op->axis);
            if (n.op->parameters != 0) hash.number(static_cast<i64>(n.op->parameters));
        } else if (n.kind == node_kind::leaf && Lowering::leaf_parameters[n.bits] != 0) {
            hash.number(static_cast<i64>(Lowering::leaf_parameters[n.bits]));
        }
        hash.text(dtype_name(Lowering::facts.type[index].type));
        hash.byte(u64(Lowering::facts.type[index].weak));
        hash.sizes(Lowering::facts.sizes[index]);
    }
    for (int o = 0; o < Lowering::output_count; ++o) {
        hash.number(order.place[Lowering::root[o]]);
        hash.text(dtype_name(Lowering::output_type[o]));
        hash.sizes(Lowering::output_shape[o]);
        if (Lowering::output_parameters[o] != 0) hash.number(static_cast<i64>(Lowering::output_parameters[o]));
    }
    return hash.value;
}

template <class Lowering>
struct leaf_types_of {
    dtype type[Lowering::leaf_count + 1]{};
    constexpr leaf_types_of() {
        for (int i = 0; i < Lowering::leaf_count; ++i) type[i] = Lowering::leaf_type[i].type;
    }
};

}  // namespace detail

/// The plan of a formula: an expression, several (`outputs`), or an assignment. Use `plan_of`.
template <class Formula, class Target = targets::logical>
struct plan;

template <class Formula>
struct plan<Formula, targets::logical> {
    using assignment_type = typename detail::as_assignment<Formula>::type;
    using lowering = lowering_of<assignment_type>;
    static constexpr auto& table = lowering::value;

    /// Why the formula isn't one kernel; `none` if it is. `split(executor)` runs it as `kernels` kernels, 0: nothing can.
    static constexpr nest_violation why = table.why;
    static constexpr bool one_kernel = why == nest_violation::none;
    static constexpr int stages = detail::stages_of<lowering>::value.possible ? detail::stages_of<lowering>::value.stages : 0;
    static constexpr int kernels = stages;
    static constexpr plan_stage stage(int index) { return detail::stages_of<lowering>::value.stage[index]; }
    /// Memory between stages: none in one kernel.
    static constexpr int buffers = detail::stages_of<lowering>::value.buffers;
    static constexpr plan_buffer buffer(int index) { return detail::stages_of<lowering>::value.buffer[index]; }

private:
    template <int plan_piece::*Member>
    static constexpr int total() {
        int sum = 0;
        for (int s = 0; s < stages; ++s) sum += stage(s).piece.*Member;
        return sum;
    }
    static constexpr detail::canonical_order<lowering::node_count> order{lowering::node, lowering::root, lowering::output_count};
    static constexpr int count_nodes(bool operations_only) {
        int count = 0;
        for (int i = 0; i < order.size; ++i) count += !operations_only || lowering::node[order.at[i]].kind == node_kind::map;
        return count;
    }
    static constexpr int count_flops() {
        int sum = 0;
        const u32 last = table.axis_count > 0 ? u32(1) << table.order[table.axis_count - 1] : 0;
        for (int i = 0; i < table.size; ++i)
            if (const node_value& node = lowering::node[table.at[i].node]; node.has_op() && ((table.at[i].free | table.at[i].folded) & last || !last))
                sum += node.op->cost;
        return sum;
    }
    static constexpr bool is_open(int place) { return table.axis_size[table.order[place]] < 0; }
    static constexpr bool find_code_product() {
        if constexpr (one_kernel)
            return detail::code_product_facts<kernel<assignment_type>>::possible;
        else
            return false;
    }
    static constexpr bool find_code_sum() {
        if constexpr (one_kernel)
            return detail::code_sum_facts<kernel<assignment_type>>::possible;
        else
            return false;
    }
    static constexpr bool find_code_table() {
        if constexpr (one_kernel)
            return detail::code_table_facts<kernel<assignment_type>>::cost > 0;
        else
            return false;
    }
    static constexpr int count_open_axes() {
        int count = 0;
        for (int i = 0; i < table.axis_count; ++i) count += is_open(i);
        return count;
    }

public:
    static constexpr nest_kind nest = table.kind;
    /// Of all kernels together: sweeps over rows or elements, dependent reductions, operands and outputs in memory.
    static constexpr int passes = total<&plan_piece::passes>();
    static constexpr int levels = total<&plan_piece::levels>();
    static constexpr int loads = total<&plan_piece::loads>();
    static constexpr int stores = total<&plan_piece::stores>();
    /// Values of the program that the outputs need, and the elementwise operations among them.
    static constexpr int nodes = count_nodes(false);
    static constexpr int operations = count_nodes(true);
    /// Instructions per element of the innermost axis, roughly, each value computed once.
    static constexpr int flops = count_flops();

    /// Loop axes whose size is known only when run, from outer to inner; `bytes` takes one number for each.
    static constexpr int open_axes = one_kernel ? count_open_axes() : 0;
    /// Is it an exact product of a matrix of 8-bit codes and some vectors? Backends that know it read the matrix once for up to 16 vectors.
    static constexpr bool code_product = find_code_product();
    /// Is it a sum or a difference of two operands of 8-bit codes, relu of it or not, to 8 bits, whose short form is proved to have the same
    /// bits? Backends that know it take half the instructions.
    static constexpr bool code_sum = find_code_sum();
    /// Is it a function of one 8-bit code, to 8 bits? Backends that look bytes up compute its 256 values once a call, where that is faster.
    static constexpr bool code_table = find_code_table();
    /// Bytes moved at least: each operand read once along the axes on which it varies, each output written once. -1 for a cut program
    /// with run-time sizes.
    template <class... Sizes>
        requires(int(sizeof...(Sizes)) == open_axes && (is_index<Sizes> && ...))
    static constexpr i64 bytes(Sizes... sizes) {
        const i64 given[] = {i64(sizes)..., 0};
        if constexpr (one_kernel) {
            i64 size[max_loop_axes]{};
            for (int i = 0, next = 0; i < table.axis_count; ++i)
                size[table.order[i]] = is_open(i) ? given[next++] : table.axis_size[table.order[i]];
            return bytes_at(size);
        } else {
            i64 sum = 0;
            for (int s = 0; s < stages; ++s) {
                if (stage(s).piece.bytes < 0) return -1;
                sum += stage(s).piece.bytes;
            }
            return sum;
        }
    }
    /// The same from the sizes of all loop axes, as a binding has them.
    static constexpr i64 bytes_at(const i64 (&size)[max_loop_axes]) {
        const detail::leaf_types_of<lowering> leaf;
        return detail::bytes_moved(table, lowering::output_count, lowering::node, {leaf.type, lowering::output_type}, size);
    }

    /// A short readable text and a 64-bit hash, independent of compiler, platform and addresses.
    static constexpr fixed_text<detail::plan_name_capacity> name = detail::plan_name(lowering::node, order);
    static constexpr u64 hash = detail::plan_hash<lowering>(order);
};

/// The physical plan: the logical one and what a target makes of it.
template <class Formula, class Target>
struct plan : plan<Formula, targets::logical> {
    using base = plan<Formula, targets::logical>;
    using base::table;

private:
    static constexpr split_rule choose_split() {
        u32 kept = 0;
        for (const u32 axes_of_output : base::lowering::value.output_free) kept |= axes_of_output & ~(table.inner | table.outer);
        if (!Target::threads || !base::one_kernel || kept == 0 || table.outer) return split_rule::nothing;
        return base::nest == nest_kind::pointwise ? split_rule::elements
               : base::nest == nest_kind::rows    ? split_rule::rows
                                                  : split_rule::columns;
    }

public:
    using target = Target;
    /// Elements that one step computes on: of every type as many as a register holds of f32.
    static constexpr int width = Target::vector_bytes >= 4 ? Target::vector_bytes / 4 : 1;
    static constexpr split_rule split = choose_split();
    /// Memory that a launch needs beyond operands and outputs: nothing yet on any target.
    static constexpr i64 scratch = 0;
    /// May outputs be stored past the caches, given as many run-time sizes as `bytes` takes?
    template <class... Sizes>
    static constexpr bool streams(Sizes... sizes) {
        return Target::streaming_threshold >= 0 && base::bytes(sizes...) >= Target::streaming_threshold;
    }
};

namespace detail {
/// What stands in for a formula that didn't compile says nothing new.
struct plan_of_mistake {
    static constexpr bool one_kernel = true;
    static constexpr int kernels = 1, stages = 1;
};
template <class Formula, class Target>
using plan_for = conditional<operand_kind_of<Formula> == operand_kind::poison, plan_of_mistake, plan<remove_cvref<Formula>, Target>>;
}  // namespace detail

/// The plan of a formula's type: `plan_of<decltype(e)>.kernels`, `plan_of<decltype(e), targets::this_cpu>.width`.
template <class Formula, class Target = targets::logical>
inline constexpr detail::plan_for<Formula, Target> plan_of{};

namespace detail {
inline namespace SINTER_ISA {  // called by explain, compiled for each instruction set
/// What an executor names as `target`; `targets::logical` if it names none.
template <class Executor>
struct target_of {
    static auto find() {
        if constexpr (requires { typename Executor::target; })
            return typename Executor::target{};
        else
            return targets::logical{};
    }
    using type = decltype(find());
};
/// The sizes of a formula's loop axes with these operands; outputs that aren't there yet have the sizes of their values. An axis
/// that nothing gives stays negative.
template <class Plan, class Operands, int... Output, int... Instance>
constexpr void loop_sizes(const Operands& operands, i64 (&size)[max_loop_axes], indices<Output...>, indices<Instance...>) {
    using kernel = kernel_facts<typename Plan::assignment_type>;
    for (int a = 0; a < kernel::axes; ++a) size[a] = kernel::table.axis_size[a] >= 0 ? kernel::table.axis_size[a] : -1;
    const shape result[] = {run_time_shape<kernel, kernel::root[Output]>(operands)...};
    for (int o = 0; o < kernel::output_count; ++o)
        for (int i = 0; i < kernel::output_shape[o].rank; ++i) {
            const i64 found = result[o].from_right(kernel::output_shape[o].rank - 1 - i);
            if (kernel::table.output_varies[o][i] && found > size[kernel::table.output_axis[o][i]])
                size[kernel::table.output_axis[o][i]] = found;
        }
    slot_state given[slots<kernel>::count];
    const bool done[] = {true, (give_operand<kernel, Instance>(given[slots<kernel>::of_instance(Instance)], operands), true)...};
    (void)done;
    constexpr auto& facts = binding_facts_of<kernel>::value;
    for (int s = 0; s < slots<kernel>::first_table; ++s) {
        view_state view = given[s].view();
        for (int c = 0; c < facts.slot[s].chain_length; ++c)
            if (!apply_step(kernel::table.step[facts.slot[s].chain + c], view)) return;
        for (int i = 0; i < facts.slot[s].rank; ++i)
            if (facts.slot[s].varies >> i & 1) size[facts.slot[s].axis[i]] = view.sizes.size[i];
    }
}
template <class Plan, class Operands>
constexpr void loop_sizes(const Operands& operands, i64 (&size)[max_loop_axes]) {
    using kernel = kernel_facts<typename Plan::assignment_type>;
    loop_sizes<Plan>(operands, size, make_indices<kernel::output_count>{}, selected<operand_instances<kernel>>{});
}
}  // namespace SINTER_ISA
}  // namespace detail

}  // namespace sinter
