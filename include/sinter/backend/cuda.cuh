// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend: `run(cuda(stream), y = formula)` is one kernel on the caller's stream. Nothing is allocated, synchronised or
// asked of the driver, so that a call can be captured into a graph.
//
// A reduction that is split over blocks keeps its parts in memory of the caller:
//
//     const i64 bytes = cuda_workspace_size(y = sum(x));               // 0: it needs none
//     run(cuda(stream, {pointer, bytes}), y = sum(x));
//
// The workspace is aligned to 16 bytes and serves one call at a time: calls on one stream may share it, two streams need two. It
// needs no initial values: where blocks count themselves, the counters (16 bytes, or 4 for each row or group of columns) are
// cleared on the stream before the kernel. That costs about a microsecond and spares the rule that memory must be zero at first
// and may be used by nobody else, whose breach would be a wrong sum and no message.
#pragma once

#include "cuda_any_rows.cuh"
#include "cuda_columns.cuh"
#include "cuda_fast.cuh"
#include "cuda_pointwise.cuh"
#include "cuda_rows.cuh"
#include "cuda_tiles.cuh"
#include "cuda_view.cuh"

namespace sinter {

/// Scratch memory of the caller on the device.
struct cuda_workspace {
    void* pointer = nullptr;
    i64 bytes = 0;
};

namespace detail::device {

/// Kernel parameters that every device takes.
inline constexpr u64 parameter_limit = 4096;
template <u64 Bytes>
struct kernel_parameters_are {
    static_assert(Bytes <= parameter_limit,
                  "[SINTER-C003] the views of this formula exceed the 4096 bytes of parameters that a CUDA kernel takes (the number is in the type). "
                  "Hint: fewer operands or outputs in one run, or static extents, which take no room.");
    static constexpr bool ok = true;  // one mistake, one message
};

template <class Kernel, int Pack>
SINTER_FORCE_INLINE void fill_parameters(parameters<Kernel>& out, const binding_of<Kernel>& bound, const loops<slots<Kernel>::count>& along) {
    constexpr int count = slots<Kernel>::count;
    out.rows = along.rows;
    out.length = along.length;
    out.outer_axes = along.outer.count;
    for (int a = 0; a < Kernel::axes; ++a) out.folded_size[a] = bound.size[a];
    for (auto& word : out.wide) word = 0;
    for (int a = 0; a < along.outer.count; ++a) {
        out.outer_size[a] = along.outer.size[a];
        for (int s = 0; s < count; ++s) out.outer_step[a][s] = along.outer.stride[a][s];
    }
    for (int s = 0; s < count; ++s) {
        out.base[s] = bound.base[s];
        out.lane_step[s] = along.lane.count > 0 ? along.lane.stride[0][s] : 0;
        const u64 size = binding_facts_of<Kernel>::value.slot[s].element_size;
        u64 places = reinterpret_cast<u64>(out.pointer[s]);
        for (int a = 0; a < along.outer.count; ++a) places |= u64(along.outer.stride[a][s]) * size;
        for (int a = 0; a < along.column.count; ++a) places |= u64(along.column.stride[a][s]) * size;
        const u64 bytes = Pack * size < 16 ? Pack * size : 16;
        if (size > 0 && along.lane.count == 1 && out.lane_step[s] == 1 && places % bytes == 0) out.wide[s / 64] |= u64(1) << s % 64;
    }
}
/// The same with the loops over folded axes.
template <class Kernel, int Pack>
SINTER_FORCE_INLINE void fill_fold_parameters(fold_parameters<Kernel>& out, const binding_of<Kernel>& bound, const loops<slots<Kernel>::count>& along) {
    constexpr int count = slots<Kernel>::count;
    fill_parameters<Kernel, Pack>(out, bound, along);
    out.columns = along.columns;
    out.column_axes = along.column.count;
    out.lane_axes = along.lane.count;
    int next = 0;
    const axis_loops<count>* const lists[] = {&along.column, &along.lane};
    for (const axis_loops<count>* list : lists)
        for (int a = 0; a < list->count; ++a, ++next) {
            out.inner_size[next] = list->size[a];
            for (int s = 0; s < count; ++s) out.inner_step[next][s] = list->stride[a][s];
        }
    out.all_wide = true;
    for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
        if (facts<Kernel>::is_element_leaf(i) && !out.is_wide(slot)) out.all_wide = false;
        slot += slots<Kernel>::is_operand(i);
    }
    out.scratch = nullptr;
    out.ticket = nullptr;
}

/// Whether run_rows can take a call: whole aligned packs, a row that fits its threads, a grid of one block or cluster per row.
template <class Kernel>
bool rows_fit(const parameters<Kernel>& given) {
    using work = row_facts<Kernel>;
    if (given.length <= 0 || given.length % work::pack != 0 || given.length > work::longest) return false;
    if (given.rows > i64(0x7fffffff) / row_tuning::most_blocks) return false;
    if (work::threads_of(given.length) > work::block_threads && !clusters_here()) return false;
    for (int i = 0, slot = 0; i < Kernel::instances; ++i) {
        if (work::is_element_leaf(i) && !given.is_wide(slot)) return false;
        if (Kernel::table.at[i].kind == node_kind::coordinate && (Kernel::table.at[i].free & work::lane_bits) != 0 && given.lane_step[slot] != 1) return false;
        slot += slots<Kernel>::is_operand(i);
    }
    for (int o = 0; o < Kernel::outputs; ++o)
        if (Kernel::stores_elements(o) && !given.is_wide(slots<Kernel>::of_output(o))) return false;
    return true;
}
/// A row gets a group, a block or a cluster, by its length.
template <class Kernel>
status launch_rows(const parameters<Kernel>& given, cudaStream_t stream) {
    using work = row_facts<Kernel>;
    const i64 segments = given.length > order::segment ? (given.length + order::segment - 1) / order::segment : 1;
    const i64 wanted = work::threads_of(given.length);
    if constexpr (work::may_fill_blocks) if (wanted <= work::block_threads) {
        const i64 threads = segments == 1 ? row_tuning::short_threads : wanted;
        const i64 rows_of_block = segments == 1 ? threads / work::group : 1;
        const dim3 grid(unsigned((given.rows + rows_of_block - 1) / rows_of_block)), block{unsigned(threads)};
        const u64 shared = work::shared_bytes(segments, false);
        if constexpr (work::may_be_short)
            if (given.length <= order::lanes) return start(run_rows<Kernel, 1, row_sharing::block>, grid, block, shared, stream, given);
        if constexpr (work::may_be_long) return start(run_rows<Kernel, work::long_rounds, work::of_blocks>, grid, block, shared, stream, given);
    }
    if constexpr (work::may_be_long && work::may_need_clusters) {
        i64 threads = row_tuning::cluster_threads, blocks = 2;
        while (blocks * threads < wanted && blocks < row_tuning::most_blocks) blocks *= 2;
        while (blocks * threads < wanted) threads *= 2;
        return start_cluster(run_rows<Kernel, work::long_rounds, work::of_clusters>, unsigned(blocks), dim3(unsigned(given.rows * blocks)), dim3(unsigned(threads)),
                             work::shared_bytes(segments, true), stream, given);
    }
    return {};
}

/// A call on its way: checks, loops, the choice of a kernel. `launch` false: only the workspace is asked for.
template <class Kernel>
struct device_call {
    static constexpr int count = slots<Kernel>::count;
    using assignment_type = typename Kernel::assignment_type;
    static constexpr bool folds = Kernel::nest != nest_kind::pointwise;
    using given_type = conditional<folds, fold_parameters<Kernel>, parameters<Kernel>>;

    static status enough(i64 bytes, const cuda_workspace& workspace) {
        if (bytes > 0 && (workspace.pointer == nullptr || workspace.bytes < bytes))
            return status{error::workspace_too_small, -1, -1, bytes, workspace.pointer == nullptr ? 0 : workspace.bytes};
        return {};
    }
    static status run(const assignment_type& assigned, cudaStream_t stream, const cuda_workspace& workspace, bool launches, i64& bytes) {
        constexpr bool columns = Kernel::nest == nest_kind::columns;
        bytes = 0;
        const void* pointer[count];
        binding_of<Kernel> bound;
        const status checked = bind<Kernel, scalar_family>(assigned, bound, pointer);
        if (!checked.ok() || bound.empty_output) return checked;
        loops<count> along;
        loop_maker<scalar_family, count>::make(loop_facts_of<Kernel>::value, bound, along);
        if constexpr (row_facts_of<Kernel>::possible) {
            // What is not worth a split.
            const i64 segments = (along.length + order::segment - 1) / order::segment;
            const bool split = fold_facts_of<Kernel>::splittable && along.rows < any_rows_tuning::split_rows && segments >= any_rows_tuning::split_from;
            if (!split) {
                using of_rows = row_kernel<Kernel>;
                parameters<of_rows> given = begin<parameters<of_rows>>(assigned, pointer);
                fill_parameters<of_rows, row_facts<of_rows>::pack>(given, bound, along);
                if (rows_fit<of_rows>(given)) return launches ? launch_rows<of_rows>(given, stream) : status{};
            }
        }
        {
            given_type given = begin<given_type>(assigned, pointer);
            if constexpr (!folds) {
                if (!launches) return {};
                if constexpr (tile_facts<Kernel>::possible) {
                    tile_parameters<Kernel> tiled = begin<tile_parameters<Kernel>>(assigned, pointer);
                    fill_parameters<Kernel, 1>(tiled, bound, along);
                    if (plan_tiles(tiled)) return launch_tiles(tiled, stream);
                }
                fill_parameters<Kernel, facts<Kernel>::pack>(given, bound, along);
                return launch_pointwise<Kernel>(given, stream);
            } else if constexpr (columns) {
                fill_fold_parameters<Kernel, columns_worker<Kernel>::pack>(given, bound, along);
                columns_shape shape;
                bytes = plan_columns<Kernel>(given, shape);
                const status room = enough(bytes, workspace);
                if (!launches || !room.ok()) return launches ? room : status{};
                return launch_columns<Kernel>(given, shape, static_cast<unsigned char*>(workspace.pointer), stream);
            } else {
                fill_fold_parameters<Kernel, any_rows_facts<Kernel>::pack>(given, bound, along);
                bytes = plan_any_rows<Kernel>(given);
                const status room = enough(bytes, workspace);
                if (!launches || !room.ok()) return launches ? room : status{};
                return launch_any_rows<Kernel>(given, static_cast<unsigned char*>(workspace.pointer), stream);
            }
        }
    }
    template <class Given>
    static Given begin(const assignment_type& assigned, const void* const* pointer) {
        Given out = make<Given>(assigned);
        for (int s = 0; s < count; ++s) out.pointer[s] = pointer[s];
        return out;
    }
    template <class Given>
    static Given make(const assignment_type& assigned) {
        if constexpr (is_same<Given, parameters<Kernel>>)
            return Given{assigned};
        else
            return Given{{assigned}};
    }
};

}  // namespace detail::device

namespace detail::device {
/// What no call of a kernel's type exceeds; -1 where the number of rows decides.
template <class Kernel>
constexpr i64 workspace_bound() {
    if constexpr (Kernel::nest == nest_kind::pointwise) {
        return 0;
    } else if constexpr (Kernel::table.outer != 0) {
        return -1;
    } else if constexpr (!fold_facts_of<Kernel>::splittable) {
        return 0;
    } else if constexpr (Kernel::nest == nest_kind::columns) {
        constexpr i64 blocks = columns_tuning::blocks;
        return blocks * 4 + blocks * columns_worker<Kernel>::pack * columns_tuning::across * fold_facts_of<Kernel>::summary_bytes();
    } else {
        return any_rows_tuning::split_rows * 4 + i64(any_rows_tuning::blocks) * fold_facts_of<Kernel>::summary_bytes();
    }
}
}  // namespace detail::device

struct cuda_fast_executor;
/// Portable: the reference's bits.
struct cuda_executor {
    using memory_space = device_memory;
    cudaStream_t stream = nullptr;
    cuda_workspace workspace{};

    /// The same under the policy `fast` (cuda_fast.cuh).
    constexpr cuda_fast_executor fast() const;

    template <class Assignment>
    status launch(const Assignment& assigned) const {
        return launch_kernel<kernel<Assignment>>(assigned);
    }

protected:
    template <class Kernel, class Assignment>
    status launch_kernel(const Assignment& assigned) const {
        using call = detail::device::device_call<Kernel>;
        if constexpr (sizeof(typename call::given_type) <= detail::device::parameter_limit) {
            i64 bytes;
            return call::run(assigned, stream, workspace, true, bytes);
        } else {
            static_assert(detail::device::kernel_parameters_are<sizeof(typename call::given_type)>::ok);
            return {};
        }
    }
};
/// Approximate, by name: `si::cuda(stream).fast()` or `si::fast(si::cuda(stream))`. As much workspace as the portable one.
struct cuda_fast_executor : cuda_executor {
    template <class Assignment>
    status launch(const Assignment& assigned) const {
        return launch_kernel<detail::device::fast_kernel<kernel<Assignment>>>(assigned);
    }
};
constexpr cuda_fast_executor cuda_executor::fast() const { return {*this}; }
inline cuda_executor cuda(cudaStream_t stream = nullptr) { return {stream, {}}; }
inline cuda_executor cuda(cudaStream_t stream, cuda_workspace workspace) { return {stream, workspace}; }

/// Bytes of workspace that a call needs; 0 also for a wrong call, which `run` answers.
template <class... Assignments>
i64 cuda_workspace_size(const Assignments&... assignments) {
    const auto joined = detail::join_assignments(assignments...);
    i64 bytes = 0;
    (void)detail::device::device_call<kernel<remove_cvref<decltype(joined)>>>::run(joined, nullptr, {}, false, bytes);
    return bytes;
}
/// The most that any call of an assignment's type needs, as a constant; -1 where only its sizes tell (reductions over row values).
template <class Assignment>
inline constexpr i64 cuda_workspace_bound = detail::device::workspace_bound<kernel<Assignment>>();
/// What CUDA reported, where that is what a status is about; its text with cudaGetErrorString.
inline cudaError_t cuda_error(const status& from) {
    return from.code() == error::backend_failure ? static_cast<cudaError_t>(from.found) : cudaSuccess;
}
/// The message of a status, with CUDA's own text where CUDA reported the error.
inline const char* cuda_message(const status& from) {
    return from.code() == error::backend_failure ? cudaGetErrorString(cuda_error(from)) : from.message();
}

}  // namespace sinter
