// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise nests on CUDA that take operands with two to four interleaved channels apart (an image of u8, channels innermost, to planes):
// a thread reads the channels of a pack of neighbouring positions as whole words, picks each channel's elements from them in registers
// and stores a pack to every plane. So memory is read once, by words, where planes one after the other would read every third byte
// three times. Compiled for formulas with an operand whose steps aren't known to be those of the output, and an axis of two to four.
#pragma once

#include "cuda_pointwise.cuh"

namespace sinter::detail::device {

/// The parameters, with the axis of the channels taken out of the outer ones.
template <class Kernel>
struct channel_parameters : parameters<Kernel> {
    using parameters<Kernel>::parameters;
    i64 channel_step[parameters<Kernel>::count];
};

template <class Kernel>
struct channel_shape {
    template <class Look>
    static constexpr void each_element_type(const Look& look) {
        for (int i = 0; i < Kernel::instances; ++i)
            if (operand_facts<Kernel>::is_element_leaf(i)) look(dtype_size(Kernel::view.memory_type(i)));
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) look(dtype_size(Kernel::output_type[o]));
    }
    /// Elements of a pack: the broadest fill 16 bytes, so that neighbouring threads store whole lines.
    static constexpr int find_pack() {
        int broad = 1;
        each_element_type([&](int size) { broad = size > broad ? size : broad; });
        return 16 / broad;
    }
    static constexpr int pack = find_pack();
    static constexpr int find_channels() {
        for (int a = Kernel::axes - 1; a >= 0; --a)
            if ((Kernel::vector_bit >> a & 1) == 0 && Kernel::table.axis_size[a] >= 2 && Kernel::table.axis_size[a] <= 4) return int(Kernel::table.axis_size[a]);
        return 0;
    }
    static constexpr int channels = find_channels();  ///< 0: no axis is so short
};

template <class Kernel>
struct channel_facts : facts<Kernel, channel_shape<Kernel>::pack> {
    using work = facts<Kernel, channel_shape<Kernel>::pack>;
    using rows = typename work::rows;
    using work::count, work::pack;
    static constexpr int channels = channel_shape<Kernel>::channels;
    template <int... Instance>
    static constexpr array<bool, Kernel::instances> find_interleaved(indices<Instance...>) {
        array<bool, Kernel::instances> out{};
        ((out[Instance] = operand_stride<Kernel, Instance, typename rows::template leaf_type<Instance>>() == lane_stride::unknown), ...);
        return out;
    }
    static constexpr array<bool, Kernel::instances> interleaved = find_interleaved(selected<typename work::element_leaves>{});
    struct interleaved_leaves {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return interleaved[i]; }
    };
    struct plain_leaves {
        static constexpr int limit = Kernel::instances;
        static constexpr bool test(int i) { return work::is_element_leaf(i) && !interleaved[i]; }
    };
    static constexpr bool possible = Kernel::nest == nest_kind::pointwise && channels > 0 && Kernel::stores_elements(0) && selected_indices<interleaved_leaves>::size > 0 &&
                                     sizeof(channel_parameters<Kernel>) <= 4096;
    static constexpr typename work::slot_set find_whole() {
        typename work::slot_set out;
        for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
            if (work::is_element_leaf(i) && !interleaved[i]) out.add(slot);
            slot += slots<Kernel>::is_operand(i);
        }
        for (int o = 0; o < Kernel::outputs; ++o)
            if (Kernel::stores_elements(o)) out.add(slots<Kernel>::of_output(o));
        return out;
    }
    static constexpr typename work::slot_set whole = find_whole();  ///< read or written in packs

    /// The channels of a pack as they lie in memory, in the widest words that divide them.
    template <int Instance>
    struct mixed {
        static constexpr int size = int(sizeof(typename rows::template storage_of<Instance>)), bytes = channels * pack * size;
        static constexpr int word = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
        static_assert(bytes % 4 == 0);
        u32 at[bytes / 4];
        __device__ __forceinline__ void load(const void* from) {
#pragma unroll
            for (int i = 0; i < bytes / word; ++i) {
                element_pack<u8, word> part;
                load_whole(part, static_cast<const char*>(from) + i * word);
                __builtin_memcpy(&at[i * word / 4], &part, word);
            }
        }
        /// Byte `byte` of a channel's pack is this one here.
        static constexpr int place(int channel, int byte) { return (byte / size * channels + channel) * size + byte % size; }
        /// How a permutation of bytes adds those of word `from` to word `to` of a channel's pack; those of word `and_from` come as the first.
        static constexpr unsigned selector(int channel, int to, int from, int and_from) {
            unsigned out = 0;
            for (int i = 0; i < 4; ++i) {
                const int at = place(channel, 4 * to + i), word_of = at / 4;
                const int nibble = word_of == from ? 4 + at % 4 : word_of == and_from ? at % 4 : i;
                out |= unsigned(nibble) << 4 * i;
            }
            return out;
        }
        /// Word `Word` of a channel's pack: its bytes lie in increasing words here, from the first to the last one.
        template <int Channel, int Word>
        struct gather {
            static constexpr int first = place(Channel, 4 * Word) / 4, words = place(Channel, 4 * Word + 3) / 4 - first + 1;
            static constexpr unsigned two = selector(Channel, Word, first + 1, first), third = selector(Channel, Word, first + 2, -1),
                                      fourth = selector(Channel, Word, first + 3, -1);
        };
        template <int Channel, int Word>
        __device__ __forceinline__ u32 word_of() const {
            using how = gather<Channel, Word>;
            if constexpr (size >= 4) {
                return at[how::first];
            } else {
                u32 out = permute_bytes(at[how::first], at[how::first + 1], how::two);
                if constexpr (how::words > 2) out = permute_bytes(out, at[how::first + 2], how::third);
                if constexpr (how::words > 3) out = permute_bytes(out, at[how::first + 3], how::fourth);
                return out;
            }
        }
        static __device__ __forceinline__ u32 permute_bytes(u32 low, u32 high, unsigned selector) {
#if SINTER_DEVICE_PASS
            return __byte_perm(low, high, selector);
#else
            const u64 both = u64(high) << 32 | low;
            u32 out = 0;
            for (int i = 0; i < 4; ++i) out |= u32(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
            return out;
#endif
        }
        template <int Channel, int... Word>
        __device__ __forceinline__ void pick(typename work::template pack_of<Instance>& to, indices<Word...>) const {
            const u32 words[] = {word_of<Channel, Word>()...};
            __builtin_memcpy(&to, words, sizeof to);
        }
    };
    template <class List>
    struct mixed_list;
    template <int... Instance>
    struct mixed_list<indices<Instance...>> : slot<Instance, mixed<Instance>>... {};
    using mixed_packs = mixed_list<selected<interleaved_leaves>>;
};
/// Its facts, of packs of their own, are made where an axis may be one of channels.
template <class Kernel>
constexpr bool takes_channels_apart() {
    if constexpr (Kernel::nest == nest_kind::pointwise && channel_shape<Kernel>::channels > 0)
        return channel_facts<Kernel>::possible;
    else
        return false;
}

template <class Kernel>
struct channel_worker {
    using work = channel_facts<Kernel>;
    using rows = typename work::rows;
    static constexpr int channels = work::channels, pack = work::pack, count = work::count;
    template <int Instance>
    static __device__ __forceinline__ auto address(const parameters<Kernel>& in, const i64 (&offset)[count], i64 position) {
        constexpr int slot = slots<Kernel>::template place<Instance>;
        return static_cast<const typename rows::template storage_of<Instance>*>(in.pointer[slot]) + offset[slot] + position;
    }
    template <int... Instance>
    static __device__ __forceinline__ void load_mixed(const parameters<Kernel>& in, typename work::mixed_packs& to, const i64 (&offset)[count], i64 position,
                                                      indices<Instance...>) {
        (static_cast<slot<Instance, typename work::template mixed<Instance>>&>(to).value.load(address<Instance>(in, offset, position * channels)), ...);
    }
    template <int Channel, int... Instance>
    static __device__ __forceinline__ void pick(const typename work::mixed_packs& from, typename work::operand_packs& to, indices<Instance...>) {
        (static_cast<const slot<Instance, typename work::template mixed<Instance>>&>(from).value.template pick<Channel>(
             static_cast<typename work::template pack_slot<Instance>&>(to).value, make_indices<int(sizeof(typename work::template pack_of<Instance>) / 4)>{}),
         ...);
    }
    template <int... Instance>
    static __device__ __forceinline__ void load_plain(const parameters<Kernel>& in, typename work::operand_packs& to, const i64 (&offset)[count], i64 position,
                                                      indices<Instance...>) {
        (load_whole(static_cast<typename work::template pack_slot<Instance>&>(to).value, address<Instance>(in, offset, position)), ...);
    }
    template <int... Output>
    static __device__ __forceinline__ void store(const parameters<Kernel>& in, const typename work::output_packs& from, const i64 (&offset)[count], i64 position,
                                                 indices<Output...>) {
        (store_whole(static_cast<typename rows::template output_storage<Output>*>(const_cast<void*>(in.pointer[slots<Kernel>::of_output(0) + Output])) +
                         offset[slots<Kernel>::of_output(0) + Output] + position,
                     static_cast<const slot<Output, typename work::template output_pack<Output>>&>(from).value),
         ...);
    }
};

template <class Kernel>
__global__ void __launch_bounds__(tuning_of<Kernel>::pointwise::threads) run_channels(const __grid_constant__ channel_parameters<Kernel> in) {
    await_stream();
    using worker = channel_worker<Kernel>;
    using work = typename worker::work;
    using rows = typename work::rows;
    constexpr int channels = work::channels, packs = tuning_of<Kernel>::pointwise::channel_packs;
    const i64 first = (i64(blockIdx.x) * packs * blockDim.x + threadIdx.x) * work::pack, step = i64(blockDim.x) * work::pack;
    if (first >= in.length) return;
    typename rows::once_values once;
    for (i64 row = i64(blockIdx.y) * blockDim.y + threadIdx.y; row < in.rows; row += i64(gridDim.y) * blockDim.y) {
        i64 offset[channels][work::count];
        pointwise_worker<Kernel>::place(in, row, offset[0]);
        typename work::mixed_packs mixed[packs];
#pragma unroll
        for (int p = 0; p < packs; ++p)
            if (first + p * step < in.length) worker::load_mixed(in, mixed[p], offset[0], first + p * step, selected<typename work::interleaved_leaves>{});
        // What belongs to a channel is read for all of them before the first store, which loads don't pass.
        typename rows::row_values of_channel[channels];
#pragma unroll
        for (int c = 0; c < channels; ++c) {
#pragma unroll
            for (int s = 0; s < work::count; ++s) offset[c][s] = offset[0][s] + c * in.channel_step[s];
            const typename work::common around{in, once, of_channel[c], offset[c]};
            const typename work::row_frame frame{around};
            if (c == 0) work::eval::fill(once, frame, selected<at_place<Kernel, site::once>>{});
            work::eval::fill(of_channel[c], frame, selected<rows_after<Kernel, 0>>{});
        }
        const auto take = [&]<int Channel>(indices<Channel>) {
            const typename work::common around{in, once, of_channel[Channel], offset[Channel]};
#pragma unroll
            for (int p = 0; p < packs; ++p) {
                const i64 position = first + p * step;
                if (position >= in.length) break;
                typename work::operand_packs loaded;
                worker::load_plain(in, loaded, offset[Channel], position, selected<typename work::plain_leaves>{});
                worker::template pick<Channel>(mixed[p], loaded, selected<typename work::interleaved_leaves>{});
                typename work::output_packs results;
                work::results_of(around, loaded, results, position, selected<element_outputs<Kernel>>{});
                worker::store(in, results, offset[Channel], position, selected<element_outputs<Kernel>>{});
            }
            if (first == 0) work::store_row(typename work::row_frame{around}, selected<row_outputs<Kernel>>{});
        };
        take(indices<0>{});
        take(indices<1>{});
        if constexpr (channels > 2) take(indices<2>{});
        if constexpr (channels > 3) take(indices<3>{});
    }
}

/// Whether a call's operands of unknown steps all have their channels innermost, along one outer axis, in whole aligned words, and all
/// else whole packs; takes that axis out then.
template <class Kernel>
bool plan_channels(channel_parameters<Kernel>& given) {
    using work = channel_facts<Kernel>;
    if (given.length <= 0 || given.length % work::pack != 0 || !work::whole.is_within(given.wide)) return false;
    int axis = -1;
    for (int a = 0; a < given.outer_axes; ++a) {
        bool all = given.outer_size[a] == work::channels;
        for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
            if (work::interleaved[i]) all = all && given.outer_step[a][slot] == 1 && given.lane_step[slot] == work::channels;
            slot += slots<Kernel>::is_operand(i);
        }
        if (all) axis = a;
    }
    if (axis < 0) return false;
    const auto aligned = [&]<int... Instance>(indices<Instance...>) {
        const auto one = [&](int slot, u64 size, u64 word) {
            u64 places = reinterpret_cast<u64>(given.pointer[slot]);
            for (int a = 0; a < given.outer_axes; ++a)
                if (a != axis) places |= u64(given.outer_step[a][slot]) * size;
            return places % word == 0;
        };
        return (one(slots<Kernel>::template place<Instance>, work::template mixed<Instance>::size, work::template mixed<Instance>::word) && ...);
    };
    if (!aligned(selected<typename work::interleaved_leaves>{})) return false;
    for (int s = 0; s < work::count; ++s) given.channel_step[s] = given.outer_step[axis][s];
    for (int a = axis; a + 1 < given.outer_axes; ++a) {
        given.outer_size[a] = given.outer_size[a + 1];
        for (int s = 0; s < work::count; ++s) given.outer_step[a][s] = given.outer_step[a + 1][s];
    }
    --given.outer_axes;
    given.rows /= work::channels;
    return true;
}
template <class Kernel>
status launch_channels(channel_parameters<Kernel>& given, cudaStream_t stream) {
    constexpr int threads = tuning_of<Kernel>::pointwise::threads;
    number_maker<scalar_family, parameters<Kernel>::count, parameters<Kernel>::axes>::find_divisions(given, given);
    constexpr int each = tuning_of<Kernel>::pointwise::channel_packs;
    const i64 packs = given.length / channel_facts<Kernel>::pack;
    int across = 1;
    while (across < threads && i64(across) * each < packs) across *= 2;
    const i64 blocks = (packs + i64(across) * each - 1) / (i64(across) * each), down = (given.rows + threads / across - 1) / (threads / across);
    static kernel_handles known;
    return start(known, run_channels<Kernel>, dim3(unsigned(blocks), unsigned(down < 65535 ? down : 65535)), dim3(unsigned(across), unsigned(threads / across)), 0, stream, given);
}

}  // namespace sinter::detail::device
