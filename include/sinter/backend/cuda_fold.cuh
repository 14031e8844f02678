// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the general reductions on CUDA share (cuda_any_rows, cuda_columns, cuda_outer): parameters with loops over folded axes, the
// exchange of states between threads, the pairwise merge of summaries in canonical order, the tickets by which the last block
// finishes. No nest is walked here.
#pragma once

#include <time.h>  // the time that names tickets

#include "cuda_call.cuh"

namespace sinter::detail::device {

// ---- tickets: words of the workspace in which the blocks of a reduction count. The workspace may hold anything, and clearing it by a launch
// of its own takes 3 us. So a ticket's upper 40 bits are a name that says that the lower 24 count; a block that finds another one puts the
// name there with a count of 0, and the last block leaves 0. A count that isn't one is trusted where memory holds the name: so a process
// draws its name, which then no content can depend on - what calls leave is 0, and all else that their kernels write are results. Whatever
// the memory holds, a word of it is taken for a ticket with probability 2^-40.
struct ticket_word {
    static constexpr int count_bits = 24;
    static constexpr u64 count = (u64(1) << count_bits) - 1;
    u64 name;  ///< the lower bits are 0
    __device__ __forceinline__ bool has_name(u64 word) const { return word >> count_bits == name >> count_bits; }

    /// Puts the name there where it isn't. It helps when a reduction's first block does so early.
    __device__ __forceinline__ void set_name(u64* ticket) const {
#if SINTER_DEVICE_PASS
        u64 found;
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(found) : "l"(ticket) : "memory");
        if (!has_name(found)) asm volatile("{ .reg .b64 before; atom.relaxed.gpu.global.cas.b64 before, [%0], %1, %2; }" ::"l"(ticket), "l"(found), "l"(name) : "memory");
#else
        if (!has_name(*ticket)) *ticket = name;
#endif
    }
    /// Adds one. Before it, what all blocks stored that added before.
    static __device__ __forceinline__ u64 add(u64* ticket) {
#if SINTER_DEVICE_PASS
        u64 before;
        asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], 1;" : "=l"(before) : "l"(ticket) : "memory");
        return before;
#else
        return (*ticket)++;
#endif
    }
    /// One thread of each of `blocks`: is it the last one here?
    __device__ __forceinline__ bool is_last(u64* ticket, i64 blocks) const {
        u64 before = add(ticket);
        while (!has_name(before)) {
            set_name(ticket);
            before = add(ticket);
        }
        const bool last = i64(before & count) + 1 == blocks;
        if (last) *ticket = 0;
        return last;
    }
};
/// Not a secret, but of its own for each process: the time and where the system put the program and its stack, mixed (Steele et al., "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
inline u64 draw_name() {
    static char here;
    timespec now{};
    (void)timespec_get(&now, TIME_UTC);
    u64 bits = u64(now.tv_sec) * 1000000007u + u64(now.tv_nsec);
    const u64 places[] = {reinterpret_cast<u64>(&here), reinterpret_cast<u64>(&now)};
    for (const u64 place : places) {
        bits = (bits ^ place) + 0x9e3779b97f4a7c15u;
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
        bits ^= bits >> 31;
    }
    return bits & ~ticket_word::count;
}
/// The process's.
inline u64 name_of_process() {
    static const u64 name = draw_name();
    return name;
}
/// Bytes of so many tickets.
constexpr i64 ticket_bytes(i64 tickets) { return (tickets * i64(sizeof(u64)) + 15) / 16 * 16; }

/// The tickets of a call, one for each reduction that is split.
struct call_tickets {
    u64* first;
    u64 name;
    /// All threads of the first block of a reduction, at its start.
    __device__ __forceinline__ void begin(i64 number) const {
        if (threadIdx.x == 0 && threadIdx.y == 0) ticket_word{name}.set_name(first + number);
    }
    /// All threads of a block, after their stores to scratch: is this the last of `blocks` (below 2^24) to come here? What the others stored is
    /// visible then: one thread's order does for the block's threads, which it meets before and after. `flag`: a word of shared memory.
    __device__ __forceinline__ bool is_last_block(i64 number, i64 blocks, u32* flag) const {
        __syncthreads();
        if (threadIdx.x == 0 && threadIdx.y == 0) *flag = ticket_word{name}.is_last(first + number, blocks);
        __syncthreads();
        const bool last = *flag != 0;
        __syncthreads();
        return last;
    }
};

/// Parameters of a kernel that folds over several loops.
template <class Kernel>
struct fold_parameters : parameters<Kernel>, fold_numbers<parameters<Kernel>::count, parameters<Kernel>::axes> {
    using parameters<Kernel>::parameters;
    bool all_wide;                                         ///< every operand that is read in packs is aligned for them
    // How the work is cut.
    i64 units, unit;                                       ///< parts of one reduction, and what each takes
    int capacity, depth;                                   ///< shared memory, in summaries: tasks at once; of one stack
    unsigned char* scratch;                                ///< the caller's workspace,
    call_tickets tickets;                                  ///< behind these

    /// Where the tickets of a split call and its parts lie.
    void take(unsigned char* workspace, i64 count_of_tickets) {
        tickets = {reinterpret_cast<u64*>(workspace), name_of_process()};
        scratch = workspace + ticket_bytes(count_of_tickets);
    }
};

/// Steps of all slots to a linear position of some axes.
template <class Kernel>
__device__ __forceinline__ void advance(const fold_parameters<Kernel>& in, int first_axis, int axes, i64 position, i64 (&offset)[fold_parameters<Kernel>::count]) {
    constexpr int count = fold_parameters<Kernel>::count;
    if (axes == 1) {
#pragma unroll
        for (int s = 0; s < count; ++s) offset[s] += position * in.inner_step[first_axis][s];
        return;
    }
#pragma unroll 1
    for (int a = first_axis + axes - 1; a >= first_axis; --a) {
        i64 whole;
        const i64 index = divide(position, in.inner_size[a], whole);
#pragma unroll
        for (int s = 0; s < count; ++s) offset[s] += index * in.inner_step[a][s];
        position = whole;
    }
}

/// Receives from the thread `distance` further on among `group` neighbours; a negative distance: from the first of them.
struct from_neighbour {
    int distance, group;
    template <class Value>
    __device__ __forceinline__ Value operator()(Value from) const {
        using element = typename Value::element;
        constexpr int size = sizeof(element) == 8 ? 8 : 4;
        using word = conditional<size == 8, unsigned long long, unsigned>;
        Value out = from;
        word bits = 0;
        __builtin_memcpy(&bits, &from.value, sizeof(element));
        bits = distance < 0 ? __shfl_sync(~0u, bits, 0, group) : __shfl_down_sync(~0u, bits, static_cast<unsigned>(distance), group);
        __builtin_memcpy(&out.value, &bits, sizeof(element));
        return out;
    }
};
template <class Rows, class Pick, class Bundle, int... Instance>
__device__ __forceinline__ Bundle moved(const Bundle& from, int distance, int group, indices<Instance...>) {
    Bundle out = from;
    ((Rows::template member<Pick, Instance>(out) = lane::transform(from_neighbour{distance, group}, Rows::template member<Pick, Instance>(from))), ...);
    return out;
}

/// Facts about the states of a kernel's folds.
template <class Kernel>
struct fold_facts_of {
    using rows = row_driver<Kernel, family>;
    static constexpr int last = Kernel::levels + 1;
    template <int Pass = 1>
    static constexpr int summary_bytes() {
        if constexpr (Pass >= last) {
            return 1;
        } else {
            constexpr int own = int(sizeof(typename rows::template summaries<Pass>)), others = summary_bytes<Pass + 1>();
            return own > others ? own : others;
        }
    }
    template <int Pass = 1>
    static constexpr int state_bytes() {
        if constexpr (Pass >= last) {
            return 1;
        } else {
            using step = typename rows::template phase<Pass, 1>;
            // (Two phases: the first one's, what it leaves, and the second one's.)
            constexpr int own = int(sizeof(typename step::states)) * (rows::template pass_has_second<Pass> ? 3 : 1), others = state_bytes<Pass + 1>();
            return own > others ? own : others;
        }
    }
    /// Instructions per element of the costliest pass, roughly.
    static constexpr int find_cost() {
        int most = 0;
        for (int pass = 1; pass <= Kernel::levels; ++pass) {
            array<bool, Kernel::instances> need = Kernel::roots_of_pass(pass);
            Kernel::mark_needed(need, -1);
            int own = 0;
            for (int i = 0; i < Kernel::instances; ++i) {
                if (need[i]) own += Kernel::table.at[i].kind == node_kind::map ? Kernel::node[Kernel::table.at[i].node].op->cost : 1;
                if (Kernel::folds_in_pass(i, pass)) own += 3;
            }
            if (own > most) most = own;
        }
        return most;
    }
    static constexpr int cost = find_cost();
    /// Bytes per element of what is read in packs.
    static constexpr int element_bytes() {
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (facts<Kernel>::is_element_leaf(i)) bytes += dtype_size(Kernel::view.memory_type(i));
        return bytes;
    }
    /// A long formula is written out for few elements only: it has work enough between its loads, and compiles sooner.
    static constexpr bool heavy = cost > 24;
    /// Elements of a pack, at least `Least`: what memory likes, as long as their states stay in registers.
    static constexpr int pack_of(int least) {
        int pack = facts<Kernel>::pack;
        while (pack > least && (pack * state_bytes() > 128 || (heavy && pack > 4))) pack /= 2;
        return pack < least ? least : pack;
    }
    /// Packs in flight, at most `most`.
    static constexpr int batch_of(int pack, int most) {
        int batch = heavy ? 1 : most;
        while (batch > 1 && batch * pack * element_bytes() > 128) batch /= 2;
        return batch;
    }
    static constexpr bool any_two_phase() {
        for (int i = 0; i < Kernel::instances; ++i)
            if (Kernel::is_fold(i) && Kernel::node[Kernel::table.at[i].node].op->two_phase) return true;
        return false;
    }
    /// Can parts of one reduction be folded apart? Not where later passes or outputs read the elements again.
    /// (What cuda_one_walk.cuh wrote anew isn't: as the formula was written it takes no workspace, and a caller has none.)
    static constexpr bool splittable = Kernel::levels == 1 && !Kernel::any_element_output() && Kernel::table.outer == 0 && !requires { Kernel::folds_of_one_walk; };
};

/// Pairwise merges of one list in shared memory: `capacity` summaries at a time in a tree, their results on a stack that waits for
/// its neighbour as a binary counter carries. Indices are positions in the list, so that the tree is the canonical one.
template <class Summary, class Merge>
struct pair_stack {
    Summary* at;       ///< in shared memory; one thread uses it
    int depth = 0;
    __device__ __forceinline__ void push(Summary now, i64 number) {
#pragma unroll 1
        for (; number & 1; number >>= 1) now = Merge::merged(at[--depth], now);
        at[depth++] = now;
    }
    /// What the stack holds together; it must hold something.
    __device__ __forceinline__ Summary collapse() {
        Summary all = at[--depth];
#pragma unroll 1
        while (depth > 0) all = Merge::merged(at[--depth], all);
        return all;
    }
};
/// All threads of a block: `lists` lists of `count` summaries each, `stride` apart; the first of each becomes their merge.
template <class Merge, class Summary>
__device__ __forceinline__ void merge_pairs(Summary* lists_at, int lists, int count, int stride) {
#pragma unroll 1
    for (int step = 1; step < count; step *= 2) {
        const int pairs = (count + 2 * step - 1) / (2 * step);
#pragma unroll 1
        for (int i = int(threadIdx.x); i < lists * pairs; i += int(blockDim.x)) {
            const int list = lists == 1 ? 0 : i / pairs, place = (lists == 1 ? i : i - list * pairs) * 2 * step;
            Summary* const left = lists_at + list * stride + place;
            if (place + step < count) *left = Merge::merged(left[0], left[step]);
        }
        __syncthreads();
    }
}
/// The merge of a pass's folds.
template <class Kernel, int Pass>
struct pass_merge {
    using rows = row_driver<Kernel, family>;
    using summary = typename rows::template summaries<Pass>;
    static __device__ __forceinline__ summary merged(const summary& left, const summary& right) {
        summary out;
        rows::template one_lane<Pass>::merge(out, left, right, typename rows::template folds<Pass>{});
        return out;
    }
};

/// Bits of a number: the depth of a stack that takes so many.
constexpr int bits_of(i64 number) {
    int bits = 0;
    for (; number > 0; number >>= 1) ++bits;
    return bits;
}

}  // namespace sinter::detail::device
