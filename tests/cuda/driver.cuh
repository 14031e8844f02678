// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver in its shortest form: kernels, evaluation, monoids and the canonical order need nothing of a CPU. It isn't fast. A
// thread's lane is lane::scalar. Pointwise: a thread per element. Rows: a block of 128 threads per row, thread l is lane l of the
// canonical order; the tree runs in shared memory, segments merge pairwise in every thread alike. Other nests don't compile.
#pragma once

#include <sinter/drive.hpp>
#include <sinter/run.hpp>

namespace seam {

using namespace sinter; using namespace sinter::detail;
using family = scalar_family;

/// What a launch carries: the operands and the loops, as kernel parameters.
template <class Kernel>
struct call {
    typename Kernel::assignment_type assigned;
    binding_of<Kernel> bound;
    loops<slots<Kernel>::count> along;
    const void* pointer[slots<Kernel>::count];
};

// [frame]
/// What is around a value: known values and the element's place. Rows' own values have position 0.
template <class Kernel, class Environment>
struct frame {
    using rows = row_driver<Kernel, family>;
    const call<Kernel>& in;
    const typename rows::once_values& once;
    const typename rows::row_values& row;
    const Environment& values;
    const i64* offset;  ///< of the row, in elements of each slot
    i64 position;
    SINTER_INLINE i64 place(int slot) const { return offset[slot] + offset_at(in.along.lane, slot, position); }
    SINTER_INLINE const auto& operands() const { return in.assigned.operands; }
    SINTER_INLINE i64 folded_count(u32 folded) const {
        i64 product = 1;
        for (int a = 0; a < Kernel::axes; ++a) product *= folded >> a & 1 ? in.bound.size[a] : 1;
        return product;
    }
    template <int Instance>
    SINTER_INLINE const auto& value() const {
        if constexpr (Kernel::where[Instance] == site::once)
            return static_cast<const typename rows::template value_slot<Instance>&>(once).value;
        else if constexpr (Kernel::where[Instance] == site::row)
            return static_cast<const typename rows::template value_slot<Instance>&>(row).value;
        else
            return static_cast<const typename rows::template value_slot<Instance>&>(values).value;
    }
    template <int Instance>
    SINTER_INLINE auto operand() const {
        using storage = typename rows::template storage_of<Instance>;
        constexpr int slot = slots<Kernel>::template place<Instance>;
        return family::value<compute_of<storage>>::load(static_cast<const storage*>(in.pointer[slot]) + place(slot));
    }
    template <int Instance>
    SINTER_INLINE auto coordinate() const {
        constexpr int slot = slots<Kernel>::template place<Instance>;
        return family::value<i64>(in.bound.base[slot] + place(slot));
    }
};
// [/frame]

/// One thread's part of one row.
template <class Kernel>
struct worker {
    using rows = row_driver<Kernel, family>;
    using eval = evaluator<Kernel, family>;
    template <int Pass, int Phase = 1>
    using phase = typename rows::template phase<Pass, Phase>;
    static constexpr int last = Kernel::levels + 1;
    const call<Kernel>& in;
    typename rows::once_values once;
    typename rows::row_values row;
    odometer<slots<Kernel>::count> place;
    __device__ worker(const call<Kernel>& given, i64 number) : in(given) {
        place.set(in.along.outer, number);
        eval::fill(once, at(row, 0), selected<at_place<Kernel, site::once>>{});
        passes<1>();
    }
    __device__ auto at(const auto& values, i64 position) const {
        return frame<Kernel, remove_cvref<decltype(values)>>{in, once, row, values, place.offset, position};
    }
    /// Hands `use` the frame of an element whose values for a pass are known.
    template <int Pass, class Use>
    __device__ void with_element(i64 position, const Use& use) const {
        typename rows::template pass_values<Pass> values;
        const auto here = at(values, position);
        eval::fill(values, here, selected<needed_in_pass<Kernel, Pass>>{});
        use(here);
    }
    template <int Pass>
    __device__ void passes() {
        eval::fill(row, at(row, 0), selected<rows_after<Kernel, Pass - 1>>{});
        if constexpr (Pass < last) {
            fold<Pass>();
            passes<Pass + 1>();
        }
    }
    /// One segment: `total` becomes the same in every thread.
    template <class Step, int Pass, class Context, class Firsts>
    __device__ void segment(i64 begin, i64 stop, typename Step::states& total, const Context& context, const Firsts& firsts) const {
        const typename Step::list list{};
        const int lane = int(threadIdx.x);
        Step::start(total, list);
        for (i64 i = begin + lane; i < stop; i += order::lanes)
            with_element<Pass>(i, [&](const auto& here) { Step::fold_in(here, total, context, firsts, i, list); });
        __shared__ alignas(16) unsigned char memory[order::lanes * sizeof(total)];
        auto* const shared = reinterpret_cast<typename Step::states*>(memory);
        shared[lane] = total;
        for (int stride = order::lanes / 2; stride > 0; stride /= 2) {
            __syncthreads();
            if (lane < stride) Step::combine(shared[lane], shared[lane + stride], list);
        }
        __syncthreads();
        total = shared[0];
        __syncthreads();
    }
    /// The first element of the row, for the monoids that shift by it.
    template <int Pass, int... Instance>
    __device__ void first_elements(typename phase<Pass>::firsts& out, indices<Instance...>) const {
        with_element<Pass>(0, [&](const auto& here) {
            ((rows::template member<pick_value, Instance>(out) = eval::template argument<Instance, 0>(here)), ...);
        });
    }
    template <int Pass>
    __device__ void fold() {
        using merging = typename rows::template one_lane<Pass>;
        const typename rows::template folds<Pass> folds{};
        const typename rows::template two_phase_folds<Pass> two_phase{};
        typename rows::template summaries<Pass> result, stack[order::stack_depth];
        merging::nothing(result, folds);
        typename phase<Pass>::firsts firsts;
        if constexpr (rows::template pass_has_second<Pass>)
            if (in.along.length > 0) first_elements<Pass>(firsts, two_phase);
        int depth = 0;
        i64 number = 0;
        for (i64 begin = 0; begin < in.along.length; begin += order::segment, ++number) {
            const i64 stop = begin + order::segment < in.along.length ? begin + order::segment : in.along.length;
            typename phase<Pass>::states total;
            typename phase<Pass>::contexts context;
            typename rows::template two_phase_bundle<Pass, pick_second> second;
            segment<phase<Pass>, Pass>(begin, stop, total, context, firsts);
            if constexpr (rows::template pass_has_second<Pass>) {
                merging::settle(context, total, stop - begin, two_phase);
                segment<phase<Pass, 2>, Pass>(begin, stop, second, context, firsts);
            }
            merging::close(result, total, context, second, stop - begin, folds);
            for (i64 level = number; level & 1; level >>= 1) merging::merge(result, stack[--depth], result, folds);
            stack[depth++] = result;
        }
        if (depth > 0) result = stack[--depth];
        while (depth > 0) merging::merge(result, stack[--depth], result, folds);
        rows::template finalize<Pass>(result, row, folds);
    }
    template <class Frame, int... Output>
    __device__ void store_all(const Frame& here, indices<Output...>) const {
        constexpr int first = slots<Kernel>::of_output(0);
        (store(static_cast<typename rows::template output_storage<Output>*>(const_cast<void*>(in.pointer[first + Output])) + here.place(first + Output),
               rows::template stored_value<Output>(here)), ...);
    }
    __device__ void store_element(i64 position) const {
        with_element<last>(position, [&](const auto& here) { store_all(here, selected<element_outputs<Kernel>>{}); });
        if (position == 0) store_all(at(row, 0), selected<row_outputs<Kernel>>{});
    }
};

template <class Kernel>
__global__ void __launch_bounds__(order::lanes) drive(const __grid_constant__ call<Kernel> in) {
    constexpr bool pointwise = Kernel::nest == nest_kind::pointwise;
    const i64 length = in.along.length, first = pointwise ? i64(blockIdx.x) * order::lanes + threadIdx.x : threadIdx.x;
    if constexpr (pointwise) {
        for (i64 i = first; i < in.along.rows * length; i += i64(gridDim.x) * order::lanes) worker<Kernel>(in, i / length).store_element(i % length);
    } else {
        for (i64 r = blockIdx.x; r < in.along.rows; r += gridDim.x) {
            const worker<Kernel> thread(in, r);
            for (i64 i = first; i < length; i += order::lanes) thread.store_element(i);
        }
    }
}

struct executor {
    using memory_space = device_memory;
    cudaStream_t stream = nullptr;
    template <class Assignment>
    status launch(const Assignment& assigned) const {
        using made = kernel<Assignment>;
        static_assert(made::nest != nest_kind::columns && made::table.inner == made::table.inner_lane && made::table.outer == 0 && sizeof(call<made>) <= 4096);
        call<made> given{assigned, {}, {}, {}};
        const status checked = bind<made, family>(assigned, given.bound, given.pointer);
        if (!checked.ok() || given.bound.empty_output) return checked;
        loop_maker<family, slots<made>::count>::make(loop_facts_of<made>::value, given.bound, given.along);
        const i64 blocks = made::nest == nest_kind::pointwise ? given.along.rows * given.along.length / order::lanes + 1 : given.along.rows;
        drive<made><<<unsigned(blocks < 4096 ? blocks : 4096), order::lanes, 0, stream>>>(given);
        return cudaGetLastError() == cudaSuccess ? status{} : status{error::backend_failure};
    }
};

}  // namespace seam
