// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `run(split(executor), y = e)`: a formula that can't be one kernel, run as several. The program is cut where the plan says
// (stage.hpp); a value that crosses a cut is stored in its compute type, so that splitting changes no bits; then the stages run
// in order. A formula that is one kernel runs as one.
//
// Memory between stages is one block for each call: from `executor.workspace(bytes)` if the executor has that member, else
// from the heap. All checks of all stages happen before the first write.
#pragma once

#include "plan.hpp"
#include "run.hpp"

#include <new>  // aligned memory between stages

namespace sinter {
namespace detail {

/// A node of a stage: arguments under their new numbers; what is in memory by then is an operand.
template <class Node, class Renumber>
struct renumbered {
    using type = Node;  // leaves and literals
};
template <class Op, int... Arguments, class Renumber>
struct renumbered<map<Op, Arguments...>, Renumber> {
    using type = map<Op, Renumber::place[Arguments]...>;
};
template <class Op, int Argument, class Renumber>
struct renumbered<reduce<Op, Argument>, Renumber> {
    using type = reduce<Op, Renumber::place[Argument]>;
};
template <class Op, int Argument, class Renumber>
struct renumbered<index_map<Op, Argument>, Renumber> {
    using type = index_map<Op, Renumber::place[Argument]>;
};
template <class Op, int Argument, class Renumber>
struct renumbered<coordinate<Op, Argument>, Renumber> {
    using type = coordinate<Op, Renumber::place[Argument]>;
};
template <int Reduction, class Renumber>
struct renumbered<count<Reduction>, Renumber> {
    using type = count<Renumber::place[Reduction]>;
};

/// What crosses cuts: buffers, then the counts of reductions that are buffers. They become operands behind the formula's own.
template <class Lowering>
struct crossing {
    static constexpr auto& cut = whole_cut<Lowering>();
    static constexpr int nodes = Lowering::node_count;
    static constexpr int first_buffer = Lowering::leaf_count;
    static constexpr int first_count = first_buffer + cut.buffers;
    static constexpr bool is_count(int node) {
        return Lowering::node[node].kind == node_kind::count && cut.buffer_of[Lowering::node[node].argument[0]] >= 0;
    }
    static constexpr int count_counts() {
        int total = 0;
        for (int i = 0; i < nodes; ++i) total += is_count(i);
        return total;
    }
    static constexpr int counts = count_counts();
    /// The node of a count by number, and the other way round.
    static constexpr int count_node(int number) {
        for (int i = 0; i < nodes; ++i)
            if (is_count(i) && number-- == 0) return i;
        return 0;
    }
    static constexpr int count_number(int node) {
        int number = 0;
        for (int i = 0; i < node; ++i) number += is_count(i);
        return number;
    }
    /// The operand that stands for a node in a stage, or -1: it is computed there.
    static constexpr int operand_for(int node, int stage) {
        const int source = is_count(node) ? Lowering::node[node].argument[0] : node;
        if (cut.buffer_of[source] < 0 || cut.buffer[cut.buffer_of[source]].written >= stage) return -1;
        return is_count(node) ? first_count + count_number(node) : first_buffer + cut.buffer_of[node];
    }
};

/// One stage: which nodes it has and what it stores. Targets are outputs, then buffers.
template <class Lowering>
struct stage_facts {
    static constexpr int nodes = Lowering::node_count;
    int target_count = 0, output_targets = 0, size = 0;
    int target[Lowering::output_count + nodes]{};  ///< number of the output or of the buffer
    int root[Lowering::output_count + nodes]{};    ///< node of the formula that is stored
    bool has[unsigned(nodes)]{};                             ///< by node of the formula: it is in the stage,
    bool reads[unsigned(nodes)]{};                           ///< and not for its shape alone
    int kept[unsigned(nodes)]{};                             ///< the nodes that are
    int place[unsigned(nodes)]{};                            ///< and where each stands in the stage's program

    constexpr explicit stage_facts(int stage) {
        using across = crossing<Lowering>;
        constexpr auto& cut = across::cut;
        for (int o = 0; o < Lowering::output_count; ++o)
            if (cut.output_stage[o] == stage) add(o, Lowering::root[o]);
        output_targets = target_count;
        for (int b = 0; b < cut.buffers; ++b)
            if (cut.buffer[b].written == stage) add(b, cut.buffer[b].node);
        for (int i = nodes - 1; i >= 0; --i) {
            const node_value& node = Lowering::node[i];
            if (!has[i] || across::operand_for(i, stage) >= 0) continue;
            for (int a = 0; a < node.arity; ++a) {
                has[node.argument[a]] = true;
                if (reads[i] && node.kind != node_kind::coordinate && node.kind != node_kind::count) reads[node.argument[a]] = true;
            }
        }
        for (int i = 0; i < nodes; ++i) {
            place[i] = size;
            if (has[i]) kept[size++] = i;
        }
    }
    constexpr void add(int number, int node) {
        target[target_count] = number;
        root[target_count++] = node;
        has[node] = reads[node] = true;
    }
    /// What a stage says, in the numbers of the whole formula: its operands are the formula's, buffers and counts; its targets outputs and
    /// buffers. What neither has isn't named.
    constexpr status in_whole(status said) const {
        if (said.output >= 0) {
            said.output = said.output < output_targets ? target[said.output] : -1;
            said.operand = said.output < 0 ? -1 : Lowering::leaf_count + said.output;
        } else if (said.operand >= Lowering::leaf_count) {
            said.operand = -1;
        }
        return said;
    }
};

/// The executor is in the type, not its memory space alone: code of two instruction sets must not meet in the linker.
template <class Assignment, class Executor>
struct splitter;
template <class... Node, int... Roots, class... Leaves, class... Outputs, class Executor>
struct splitter<assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>, Executor> {
    using space = typename Executor::memory_space;
    using assignment_type = assignment<program<Node...>, indices<Roots...>, list<Leaves...>, list<Outputs...>>;
    using lowering = lowering_of<assignment_type>;
    using across = crossing<lowering>;
    static constexpr auto& cut = across::cut;
    static_assert(one_kernel<cut.possible ? nest_violation::none : lowering::value.why>::ok);

    template <int Buffer>
    struct buffer_shape {
        static constexpr shape value = cut.buffer[Buffer].sizes;
    };
    template <int Buffer>
    using buffer_view = tensor_view<type_of<cut.buffer[Buffer].type>, extents_from<buffer_shape<Buffer>>, row_major, space>;

    template <int Stage>
    struct stage {
        static constexpr stage_facts<lowering> facts{Stage};
        struct renumber {
            static constexpr const int (&place)[lowering::node_count] = facts.place;
        };
        template <int Index>
        static constexpr auto node() {
            constexpr int operand = across::operand_for(facts.kept[Index], Stage);
            if constexpr (operand >= 0)
                return leaf<operand>{};
            else
                return typename renumbered<nth_type<facts.kept[Index], Node...>, renumber>::type{};
        }
        template <int... Index>
        static auto program_of(indices<Index...>) -> program<decltype(node<Index>())...>;
        template <int... Target>
        static auto roots_of(indices<Target...>) -> indices<facts.place[facts.root[Target]]...>;
        using program_type = decltype(program_of(make_indices<facts.size>{}));
        using roots = decltype(roots_of(make_indices<facts.target_count>{}));
    };

    template <int Buffer>
    static buffer_view<Buffer> place_buffer(const assignment_type& whole, char* block, i64& used) {
        using view_type = buffer_view<Buffer>;
        const shape sizes = run_time_shape<lowering, cut.buffer[Buffer].node>(whole.operands, true);
        char* const memory = block ? block + used : nullptr;
        const i64 bytes = count_of_pairs(sizes.count(), i64(sizeof(typename view_type::element)));
        used = bytes > uncountable - 63 - used ? uncountable - 63 : used + (bytes + 63) / 64 * 64;  // more than there is
        return view_type(reinterpret_cast<typename view_type::element*>(memory),
                         extents_with<typename view_type::extents_type>(sizes));
    }
    template <int Number>
    static scalar_operand<i64> count_operand(const assignment_type& whole) {
        constexpr int reduction = lowering::node[across::count_node(Number)].argument[0];
        const shape from = run_time_shape<lowering, lowering::node[reduction].argument[0]>(whole.operands);
        bool reduced[max_rank]{};
        int ignored = 0;
        reduced_axes(*lowering::node[reduction].op, from.rank, reduced, ignored);
        i64 folded = 1;
        for (int i = 0; i < from.rank; ++i)
            if (reduced[i]) folded = count_of_pairs(folded, from.size[i]);
        return {folded};
    }
    /// All buffers as a pack; `used` becomes the bytes that they take.
    template <int... Buffer>
    static pack<buffer_view<Buffer>...> place_buffers(const assignment_type& whole, char* block, i64& used, indices<Buffer...>) {
        used = 0;
        (void)whole, (void)block;
        return pack<buffer_view<Buffer>...>{{{place_buffer<Buffer>(whole, block, used)}...}};
    }
    template <int... Number>
    static auto count_operands(const assignment_type& whole, indices<Number...>) {
        (void)whole;
        return pack<decltype(count_operand<Number>(whole))...>{{{count_operand<Number>(whole)}...}};
    }

    template <int Stage, int Target, class Buffers>
    static const auto& target_of(const assignment_type& whole, const Buffers& buffers) {
        constexpr int number = stage<Stage>::facts.target[Target];
        if constexpr (Target < stage<Stage>::facts.output_targets)
            return get<number>(whole.targets);
        else
            return get<number>(buffers);
    }
    template <class Program, class Where, class... Operand, class... Target>
    static auto make_assignment(const pack<Operand...>& operands, const pack<Target...>& targets) {
        return assignment<Program, Where, list<Operand...>, list<Target...>>{operands, targets};
    }
    template <int Stage, class Buffers, int... Target>
    static auto stage_assignment(const assignment_type& whole, const Buffers& buffers, indices<Target...>) {
        const auto targets = pack<remove_cvref<decltype(target_of<Stage, Target>(whole, buffers))>...>{
            {{target_of<Stage, Target>(whole, buffers)}...}};
        return make_assignment<typename stage<Stage>::program_type, typename stage<Stage>::roots>(
            join(join(whole.operands, buffers), count_operands(whole, make_indices<across::counts>{})), targets);
    }
    template <int Stage, class Buffers>
    static auto stage_assignment(const assignment_type& whole, const Buffers& buffers) {
        return stage_assignment<Stage>(whole, buffers, make_indices<stage<Stage>::facts.target_count>{});
    }

    template <int Stage, class Buffers>
    static bool bind_stage(const assignment_type& whole, const Buffers& buffers, status& result) {
        const auto assigned = stage_assignment<Stage>(whole, buffers);
        using kernel = kernel_facts<remove_cvref<decltype(assigned)>>;
        binding_of<kernel> bound;
        const void* pointer[slots<kernel>::count];
        result = stage<Stage>::facts.in_whole(bind<kernel, Executor>(assigned, bound, pointer));
        return result.ok();
    }
    template <int Stage, class Buffers>
    static bool launch_stage(const Executor& executor, const assignment_type& whole, const Buffers& buffers, status& result) {
        result = stage<Stage>::facts.in_whole(executor.launch(stage_assignment<Stage>(whole, buffers)));
        return result.ok();
    }

    /// Views that no call could be given are said before buffers get their sizes from them.
    template <int Leaf>
    static bool is_formed(const assignment_type& whole, status& said) {
        using checks = binder<Executor, 1>;
        slot_state given;
        leaf_access<nth_type<Leaf, Leaves...>>::fill(given, get<Leaf>(whole.operands));
        slot_facts slot{};
        slot.operand = Leaf;
        for (int a = 0; a < given.rank && said.ok(); ++a)
            if (given.size[a] < 0) said = checks::unformed(slot, given, a);
        return said.ok();
    }
    template <int... Leaf>
    static status formed([[maybe_unused]] const assignment_type& whole, indices<Leaf...>) {
        status said;
        (void)(is_formed<Leaf>(whole, said) && ...);
        return said;
    }

    /// An output of an early stage may meet no operand of a later one, not even element for element: it would be read too late.
    template <class View>
    static bool range_of(const View& view, u64& begin, u64& stop) {
        if constexpr (operand_kind_of<View> == operand_kind::view) {
            const byte_range range = touched_bytes(view.state(), i64(sizeof(typename View::element)));
            begin = reinterpret_cast<u64>(view.data()) + u64(range.first);
            stop = reinterpret_cast<u64>(view.data()) + u64(range.last) + 1;
            return range.first <= range.last;
        } else if constexpr (is_table<View>) {
            return range_of(view.value, begin, stop);
        } else {
            return false;
        }
    }
    template <class Left, class Right>
    static bool meet(const Left& left, const Right& right) {
        u64 begin = 0, stop = 0, other_begin = 0, other_stop = 0;
        return range_of(left, begin, stop) && range_of(right, other_begin, other_stop) && begin < other_stop && other_begin < stop;
    }
    static constexpr bool reads_after(int operand, int written) {
        for (int s = written + 1; s < cut.stages; ++s) {
            const stage_facts<lowering> later(s);
            for (int i = 0; i < lowering::node_count; ++i)
                if (later.reads[i] && lowering::node[i].kind == node_kind::leaf && int(lowering::node[i].bits) == operand) return true;
        }
        return false;
    }
    template <bool Value>
    struct boolean {
        static constexpr bool value = Value;
    };
    template <int Output, int... Leaf, int... Other>
    static bool apart(const assignment_type& whole, status& result, indices<Leaf...>, indices<Other...>) {
        bool ok = true;
        const auto& written = get<Output>(whole.targets);
        constexpr int stage_of_output = cut.output_stage[Output];
        const bool leaves_apart[] = {
            true, !(boolean<reads_after(Leaf, stage_of_output)>::value && meet(written, get<Leaf>(whole.operands)))...};
        const bool outputs_apart[] = {true,
                                      !(cut.output_stage[Other] != stage_of_output && meet(written, get<Other>(whole.targets)))...};
        for (const bool one : leaves_apart) ok = ok && one;
        for (const bool one : outputs_apart) ok = ok && one;
        if (!ok) result = status{error::overlap, lowering::leaf_count + Output, -1, 0, 0, Output};
        return ok;
    }

    template <int... Stage, int... Output>
    static status run(const Executor& executor, const assignment_type& whole, indices<Stage...>, indices<Output...>) {
        using all_buffers = make_indices<cut.buffers>;
        status result = formed(whole, make_indices<lowering::leaf_count>{});
        if (!result.ok()) return result;
        i64 bytes = 0;
        (void)place_buffers(whole, nullptr, bytes, all_buffers{});
        char* block = nullptr;
        constexpr bool has_workspace = requires { executor.workspace(bytes); };
        if (bytes > 0) {
            if constexpr (has_workspace)
                block = static_cast<char*>(executor.workspace(bytes));
            else
                block = static_cast<char*>(::operator new(static_cast<std::size_t>(bytes), std::align_val_t{64}, std::nothrow));
            if (block == nullptr) return {error::out_of_memory, -1, -1, 0, 0};
        }
        const auto buffers = place_buffers(whole, block, bytes, all_buffers{});
        // (Bound first: views that can't be formed have no ranges.)
        (void)((bind_stage<Stage>(whole, buffers, result) && ...) &&
               (apart<Output>(whole, result, make_indices<lowering::leaf_count>{}, indices<Output...>{}) && ...) && (launch_stage<Stage>(executor, whole, buffers, result) && ...));
        if constexpr (!has_workspace) ::operator delete(block, std::align_val_t{64});
        return result;
    }
};
}  // namespace detail

/// Executor: another one, with formulas of several kernels allowed. Host memory between stages comes from the heap unless
/// the executor has `void* workspace(i64 bytes) const`, 64-byte aligned and valid until the call ends (on its stream).
template <class Executor>
struct split_executor {
    using memory_space = typename Executor::memory_space;
    using target = typename detail::target_of<Executor>::type;
    static constexpr bool splits = true;
    Executor executor;

    template <class Assignment>
    status launch(const Assignment& assigned) const {
        using lowering = lowering_of<Assignment>;
        if constexpr (detail::is_surely_one_kernel<lowering>())
            return executor.launch(assigned);
        else if constexpr (lowering::value.why == nest_violation::none && !lowering::value.restored) {
            // Operands that nothing relates are folded along one axis, two mentions of a view mostly. Where their sizes do differ, that is
            // found before anything is written.
            const status one_kernel = executor.launch(assigned);
            if (one_kernel.code() != error::size_mismatch) return one_kernel;
            const status several = cut_and_run(assigned);
            return several.code() == error::size_mismatch ? one_kernel : several;  // cut, it may be refused for something else
        } else
            return cut_and_run(assigned);
    }

private:
    template <class Assignment>
    status cut_and_run(const Assignment& assigned) const {
        using splitter = detail::splitter<Assignment, Executor>;
        return splitter::run(executor, assigned, make_indices<splitter::cut.stages>{}, make_indices<lowering_of<Assignment>::output_count>{});
    }
};
/// split(cpu): runs what isn't one kernel as several; `plan_of<E>.kernels` says how many.
template <class Executor>
constexpr split_executor<Executor> split(const Executor& executor) {
    return {executor};
}

}  // namespace sinter
