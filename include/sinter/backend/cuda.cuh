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
/// Whether run_rows can take a call: whole aligned packs, rows that fit a cluster, a grid of one block or cluster per row.
template <class Kernel>
bool rows_fit(const parameters<Kernel>& given) {
    using work = row_facts<Kernel>;
    if (given.length <= 0 || given.length % work::pack != 0 || given.length > work::longest) return false;
    if (given.rows > i64(0x7fffffff) / row_tuning::most_blocks) return false;
    for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
        if (work::is_element_leaf(i) && !given.is_wide(slot)) return false;
        slot += slots<Kernel>::is_operand(i);
    }
    for (int o = 0; o < Kernel::outputs; ++o)
        if (Kernel::stores_elements(o) && !given.is_wide(slots<Kernel>::of_output(o))) return false;
    return true;
}
/// One row: a group, a block or a cluster, by its length.
template <class Kernel>
status launch_rows(const parameters<Kernel>& given, cudaStream_t stream) {
    using work = row_facts<Kernel>;
    using tuning = row_tuning;
    const i64 segments = given.length > order::segment ? (given.length + order::segment - 1) / order::segment : 1;
    const i64 wanted = (segments * work::group + 31) / 32 * 32;
    cudaLaunchConfig_t how{};
    how.stream = stream;
    if (wanted <= work::block_threads()) {
        const i64 threads = segments == 1 ? tuning::short_threads : wanted;
        const i64 rows_of_block = segments == 1 ? threads / work::group : 1;
        how.gridDim = dim3(unsigned((given.rows + rows_of_block - 1) / rows_of_block));
        how.blockDim = dim3(unsigned(threads));
        how.dynamicSmemBytes = work::shared_bytes(segments, false);
        if constexpr (work::may_be_short)
            if (given.length <= order::lanes) cudaLaunchKernelEx(&how, run_rows<Kernel, 1, false>, given);
        if constexpr (work::may_be_long)
            if (given.length > order::lanes) cudaLaunchKernelEx(&how, run_rows<Kernel, work::long_rounds, false>, given);
    } else if constexpr (work::may_be_long) {
        i64 threads = tuning::cluster_threads, blocks = 2;
        while (blocks * threads < wanted && blocks < tuning::most_blocks) blocks *= 2;
        while (blocks * threads < wanted) threads *= 2;
        cudaLaunchAttribute cluster{};
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = unsigned(blocks);
        cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        how.gridDim = dim3(unsigned(given.rows * blocks));
        how.blockDim = dim3(unsigned(threads));
        how.dynamicSmemBytes = work::shared_bytes(segments, true);
        how.attrs = &cluster;
        how.numAttrs = 1;
        cudaLaunchKernelEx(&how, run_rows<Kernel, work::long_rounds, true>, given);
    }
    return cudaGetLastError() == cudaSuccess ? status{} : status{error::backend_failure};
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
        if (!rows_fit<Kernel>(given)) return status{error::backend_failure};
        return launch_rows<Kernel>(given, stream);
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
