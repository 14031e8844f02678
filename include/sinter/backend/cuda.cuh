// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend: `run(cuda(stream), y = formula)` is one launch on the caller's stream. Nothing is allocated, synchronised or
// asked of the driver.
#pragma once

#include "cuda_pointwise.cuh"
#include "cuda_rows.cuh"

namespace sinter {

namespace detail::device {

template <class Kernel>
SINTER_FORCE_INLINE void fill_parameters(parameters<Kernel>& out, const binding_of<Kernel>& bound, const loops<slots<Kernel>::count>& along) {
    constexpr int count = slots<Kernel>::count;
    constexpr int pack = facts<Kernel>::pack;
    out.rows = along.rows;
    out.length = along.length;
    out.outer_axes = along.outer.count;
    for (int a = 0; a < Kernel::axes; ++a) out.folded_size[a] = bound.size[a];
    for (auto& word : out.wide) word = 0;
    for (int a = 0; a < along.outer.count; ++a) {
        out.outer_size[a] = static_cast<u32>(along.outer.size[a]);
        for (int s = 0; s < count; ++s) out.outer_step[a][s] = along.outer.stride[a][s];
    }
    for (int s = 0; s < count; ++s) {
        out.base[s] = bound.base[s];
        out.lane_step[s] = along.lane.count > 0 ? along.lane.stride[0][s] : 0;
        const u64 size = binding_facts_of<Kernel>::value.slot[s].element_size;
        u64 places = reinterpret_cast<u64>(out.pointer[s]);
        for (int a = 0; a < along.outer.count; ++a) places |= u64(along.outer.stride[a][s]) * size;
        const u64 bytes = pack * size < 16 ? pack * size : 16;
        if (size > 0 && out.lane_step[s] == 1 && places % bytes == 0) out.wide[s / 64] |= u64(1) << s % 64;
    }
}
template <class Kernel>
status launch(const parameters<Kernel>& given, cudaStream_t stream) {
    using work = facts<Kernel>;
    if constexpr (Kernel::nest == nest_kind::pointwise) {
        constexpr int threads = pointwise_tuning::threads;
        const i64 vectors = (given.length + work::pack - 1) / work::pack;
        int across = 1;
        while (across < threads && across * pointwise_tuning::packs < vectors) across *= 2;
        const i64 blocks = (vectors + i64(across) * pointwise_tuning::packs - 1) / (i64(across) * pointwise_tuning::packs);
        const i64 down = (given.rows + threads / across - 1) / (threads / across);
        const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(down < 65535 ? down : 65535));
        run_pointwise<Kernel><<<grid, dim3(unsigned(across), unsigned(threads / across)), 0, stream>>>(given);
    } else {
        using worker = row_facts<Kernel>;
        const i64 segments = (given.length + order::segment - 1) / order::segment;
        i64 threads = 128;
        if (segments > 1) {
            threads = (segments * worker::group + 31) / 32 * 32;
            if (threads > worker::most_threads) threads = worker::most_threads;
        }
        const i64 rows_of_block = segments <= 1 ? threads / worker::group : 1;
        const i64 blocks = (given.rows + rows_of_block - 1) / rows_of_block;
        const u64 shared = segments > 1 ? u64(2 * segments + 1) * row_worker<Kernel>::summary_bytes() : 0;
        run_rows<Kernel><<<unsigned(blocks < 0x7fffffff ? blocks : 0x7fffffff), unsigned(threads), shared, stream>>>(given);
    }
    return cudaGetLastError() == cudaSuccess ? status{} : status{error::backend_failure};
}

}  // namespace detail::device

struct cuda_executor {
    using memory_space = device_memory;
    cudaStream_t stream = nullptr;

    template <class Assignment>
    status launch(const Assignment& assigned) const {
        using made = kernel<Assignment>;
        constexpr int count = detail::slots<made>::count;
        static_assert(made::nest != nest_kind::columns && made::table.inner == made::table.inner_lane && made::table.outer == 0, "not yet");
        static_assert(detail::lane_axis_count<made>() <= 1, "not yet");
        static_assert(sizeof(detail::device::parameters<made>) <= 4000);
        detail::device::parameters<made> given{assigned};
        detail::binding_of<made> bound;
        const status checked = detail::bind<made, detail::scalar_family>(assigned, bound, given.pointer);
        if (!checked.ok() || bound.empty_output) return checked;
        detail::loops<count> along;
        detail::loop_maker<detail::scalar_family, count>::make(detail::loop_facts_of<made>::value, bound, along);
        detail::device::fill_parameters<made>(given, bound, along);
        return detail::device::launch<made>(given, stream);
    }
};
inline cuda_executor cuda(cudaStream_t stream = nullptr) { return {stream}; }

}  // namespace sinter
