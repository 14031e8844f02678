// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend: `run(cuda(stream), y = formula)` is one kernel on the caller's stream. Nothing is allocated, synchronised or
// asked of the driver, so that a call can be captured into a graph.
//
// Beside it include <sinter/sinter.hpp>, which brings the operators: this header brings those alone that it needs itself.
//
// A reduction that is split over blocks keeps its parts in memory of the caller:
//
//     const i64 bytes = cuda_workspace_size(y = sum(x));               // 0: it needs none
//     run(cuda(stream, {pointer, bytes}), y = sum(x));
//
// The workspace is aligned to 16 bytes and serves one call at a time: calls on one stream may share it, two streams need two. It
// needs no initial values, and nothing is cleared: where blocks count themselves, a counter (8 bytes for each row or group of columns)
// bears a name beside the count, and a block that finds another one there begins to count (tickets in cuda_fold.cuh). The name is drawn
// by the process: 40 bits.
#pragma once

#if !defined(__CUDACC__) && !defined(SINTER_CUDA_EMULATED)
#error "[SINTER-B004] the CUDA backend is CUDA C++: compile this file with nvcc (named .cu, or with -x cu), or with clang -x cuda."
#else  // all of it: one mistake, one message

#include "cuda_any_rows.cuh"
#include "cuda_channels.cuh"
#include "cuda_columns.cuh"
#include "cuda_fast.cuh"
#include "cuda_long_rows.cuh"
#include "cuda_packed_columns.cuh"
#include "cuda_pointwise.cuh"
#include "cuda_product.cuh"
#include "cuda_rows.cuh"
#include "cuda_tiles.cuh"
#include "cuda_view.cuh"

namespace sinter {

/// Scratch memory of the caller on the device.
struct cuda_workspace {
    void* pointer = nullptr;
    i64 bytes = 0;
    constexpr cuda_workspace() = default;
    /// `size` of any integer type, which has no half. (A braced i64 alone would make a std::size_t a narrowing.)
    template <class Bytes>
        requires(static_cast<Bytes>(0.5f) == Bytes(0))
    constexpr cuda_workspace(void* memory, Bytes size) : pointer(memory), bytes(static_cast<i64>(size)) {}
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

/// The kernel of an assignment in this file.
template <class Assignment>
using cuda_kernel = tuned_kernel<kernel<Assignment>, compiled_arch>;

/// A call on its way: checks, loops, the choice of a kernel. `launch` false: only the workspace is asked for.
template <class Kernel>
struct device_call {
    static constexpr int count = slots<Kernel>::count;
    using assignment_type = typename Kernel::assignment_type;
    static constexpr bool folds = Kernel::nest != nest_kind::pointwise;
    using given_type = conditional<folds, fold_parameters<Kernel>, parameters<Kernel>>;
    using maker = number_maker<scalar_family, count, parameters<Kernel>::axes>;
    using known = known_binding<Kernel, scalar_family, assignment_type>;  ///< static shapes: all but the pointers is a constant

    static status enough(i64 bytes, const cuda_workspace& workspace) {
        const bool usable = workspace.pointer != nullptr && reinterpret_cast<u64>(workspace.pointer) % 16 == 0;
        if (bytes > 0 && (!usable || workspace.bytes < bytes)) return status{error::workspace_too_small, -1, -1, bytes, usable ? workspace.bytes : 0};
        return {};
    }
    /// Does a call go on? One that asks for its workspace needs no memory yet.
    static bool goes_on(const status& checked, bool launches) {
        return checked.ok() || (!launches && (checked.code() == error::null_pointer || checked.code() == error::overlap));
    }
    static status run(const assignment_type& assigned, cudaStream_t stream, const cuda_workspace& workspace, bool launches, i64& bytes) {
        bytes = 0;
        const void* pointer[count];
        if constexpr (known::value) {
            const status checked = known::check_operands(assigned, pointer, make_indices<Kernel::instances>{}, make_indices<Kernel::outputs>{});
            if (!goes_on(checked, launches) || known::known.bound.empty_output) return checked;
            return run_bound(assigned, pointer, known::known.bound, known_call<Kernel>::along, stream, workspace, launches, bytes);
        } else {
            binding_of<Kernel> bound;
            const status checked = bind<Kernel, scalar_family>(assigned, bound, pointer);
            if (!goes_on(checked, launches) || bound.empty_output) return checked;
            loops<count> along;
            loop_maker<scalar_family, count>::make(loop_facts_of<Kernel>::value, bound, along);
            return run_bound(assigned, pointer, bound, along, stream, workspace, launches, bytes);
        }
    }
    static SINTER_FORCE_INLINE status run_bound(const assignment_type& assigned, const void* const* pointer, const binding_of<Kernel>& bound,
                                                const loops<count>& along, cudaStream_t stream, const cuda_workspace& workspace, bool launches, i64& bytes) {
        if constexpr (multiplies<Kernel>()) {
            product_parameters<Kernel> given(assigned);
            lay_out<16>(given, pointer, bound, along);
            if (plan_product(given)) return launches ? launch_product(given, stream) : status{};
        }
        if constexpr (row_facts_of<Kernel>::possible) {
            if (!(fold_facts_of<Kernel>::splittable && splits(along))) {
                using of_rows = row_kernel<Kernel>;
                if constexpr (row_facts<of_rows>::may_walk) {
                    using walking = walking_kernel<of_rows>;
                    parameters<walking> given(assigned);
                    lay_out<row_facts<walking>::pack>(given, pointer, bound, along);
                    if (rows_fit<walking>(given)) return launches ? launch_rows<walking>(given, stream) : status{};
                }
                parameters<of_rows> given(assigned);
                lay_out<row_facts<of_rows>::pack>(given, pointer, bound, along);
                if (rows_fit<of_rows>(given)) return launches ? launch_rows<of_rows>(given, stream) : status{};
            }
        }
        given_type given(assigned);
        if constexpr (!folds) {
            if (!launches) return {};
            if constexpr (takes_channels_apart<Kernel>()) {
                channel_parameters<Kernel> apart(assigned);
                lay_out<channel_facts<Kernel>::pack>(apart, pointer, bound, along);
                if (plan_channels(apart)) return launch_channels(apart, stream);
            }
            if constexpr (tile_choice<Kernel>::possible) {
                tile_parameters<Kernel> tiled(assigned);
                lay_out<1>(tiled, pointer, bound, along);
                if (plan_tiles(tiled)) return launch_tiles(tiled, stream);
            }
            lay_out<facts<Kernel>::pack>(given, pointer, bound, along);
            return launch_pointwise<Kernel>(given, stream);
        } else if constexpr (Kernel::nest == nest_kind::columns) {
            lay_out_folds<columns_worker<Kernel>::pack>(given, pointer, bound, along);
            columns_shape shape;
            bytes = plan_column_folds<Kernel>(given, shape);
            const status room = enough(bytes, workspace);
            if (!launches || !room.ok()) return launches ? room : status{};
            return launch_column_folds<Kernel>(given, shape, static_cast<unsigned char*>(workspace.pointer), stream);
        } else {
            if constexpr (may_have_long_rows<Kernel>()) {
                if (splits(along)) {
                    lay_out_folds<long_row_facts<Kernel>::pack>(given, pointer, bound, along);
                    if (plan_long_rows<Kernel>(given, bytes)) {
                        const status room = enough(bytes, workspace);
                        if (!launches || !room.ok()) return launches ? room : status{};
                        return launch_long_rows<Kernel>(given, static_cast<unsigned char*>(workspace.pointer), stream);
                    }
                }
            }
            lay_out_folds<any_rows_facts<Kernel>::pack>(given, pointer, bound, along);
            bytes = plan_any_rows<Kernel>(given);
            const status room = enough(bytes, workspace);
            if (!launches || !room.ok()) return launches ? room : status{};
            return launch_any_rows<Kernel>(given, static_cast<unsigned char*>(workspace.pointer), stream);
        }
    }
    /// Few and long rows: worth more blocks than one each.
    static bool splits(const loops<count>& along) {
        const i64 segments = (along.length + order::segment - 1) / order::segment;
        return along.rows < tuning_of<Kernel>::any_rows::split_rows && segments >= tuning_of<Kernel>::any_rows::split_from;
    }
    template <int Pack>
    static SINTER_FORCE_INLINE void lay_out(call_numbers<count, parameters<Kernel>::axes>& out, const void* const* pointer, const binding_of<Kernel>& bound,
                                            const loops<count>& along) {
        if constexpr (known::value)
            out = known_call<Kernel>::template numbers<Pack>;
        else
            maker::lay_out(out, binding_facts_of<Kernel>::value, bound, along, Pack);
        maker::point(out, binding_facts_of<Kernel>::value, pointer, Pack);
    }
    template <int Pack>
    static SINTER_FORCE_INLINE void lay_out_folds(fold_parameters<Kernel>& out, const void* const* pointer, const binding_of<Kernel>& bound,
                                                  const loops<count>& along) {
        lay_out<Pack>(out, pointer, bound, along);
        if constexpr (known::value)
            static_cast<fold_numbers<count, parameters<Kernel>::axes>&>(out) = known_call<Kernel>::folds;
        else
            maker::lay_out_folds(out, along);
        out.all_wide = facts<Kernel>::read_in_packs.is_within(out.wide);
        out.scratch = nullptr;
        out.tickets = {};
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
        constexpr i64 blocks = tuning_of<Kernel>::columns::blocks;
        return ticket_bytes(blocks) + blocks * columns_worker<Kernel>::pack * tuning_of<Kernel>::columns::across * fold_facts_of<Kernel>::summary_bytes();
    } else {
        using tuning = tuning_of<Kernel>;
        constexpr i64 blocks = tuning::any_rows::blocks > tuning::long_rows::blocks ? tuning::any_rows::blocks : tuning::long_rows::blocks;
        return ticket_bytes(tuning::any_rows::split_rows) + blocks * fold_facts_of<Kernel>::summary_bytes();
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
        return launch_kernel<detail::device::cuda_kernel<Assignment>>(assigned);
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
        return launch_kernel<detail::device::fast_kernel_of<Assignment, detail::device::compiled_arch>>(assigned);
    }
};
constexpr cuda_fast_executor cuda_executor::fast() const { return {*this}; }
inline cuda_executor cuda(cudaStream_t stream = nullptr) { return {stream, {}}; }
inline cuda_executor cuda(cudaStream_t stream, cuda_workspace workspace) { return {stream, workspace}; }

/// Bytes of workspace that a call needs. Views may be without memory yet, or share it: their sizes and alignment count (no pointer is an aligned
/// one). 0 also where sizes don't fit each other, which `run` answers.
template <class... Assignments>
i64 cuda_workspace_size(const Assignments&... assignments) {
    using wrong = detail::run_mistake<cuda_executor, Assignments...>;
    i64 bytes = 0;
    if constexpr (is_same<wrong, detail::nothing_wrong>) {
        const auto joined = detail::join_assignments(assignments...);
        (void)detail::device::device_call<detail::device::cuda_kernel<remove_cvref<decltype(joined)>>>::run(joined, nullptr, {}, false, bytes);
    } else {
        (void)sizeof(wrong);
    }
    return bytes;
}
namespace detail::device {
template <class Assignment>
constexpr i64 bound_of_call() {
    using wrong = run_mistake<cuda_executor, Assignment>;
    if constexpr (is_same<wrong, nothing_wrong>) {
        return workspace_bound<cuda_kernel<Assignment>>();
    } else {
        (void)sizeof(wrong);
        return -1;
    }
}
}  // namespace detail::device
/// The most that any call of an assignment's type needs, as a constant; -1 where only its sizes tell (reductions over row values).
template <class Assignment>
inline constexpr i64 cuda_workspace_bound = detail::device::bound_of_call<Assignment>();
/// What CUDA reported, where that is what a status is about; `describe(status)` says it in words.
inline cudaError_t cuda_error(const status& from) {
    return from.code() == error::backend_failure ? static_cast<cudaError_t>(from.found) : cudaSuccess;
}

}  // namespace sinter

#endif
