// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver of sums of two operands of codes (code_sum.hpp), on a family that has them: `Family::code_sums`. It takes whole steps of rows
// whose elements lie side by side; what is left of a row, and rows of few elements, are computed as they are written, to the same bits.
#pragma once

#include "code_sum.hpp"
#include "drive.hpp"

namespace sinter::detail {

template <class Kernel, class Family>
struct code_sum_driver {
    using rows = row_driver<Kernel, Family>;
    using facts = code_sum_facts<Kernel>;
    using sums = typename Family::code_sums;
    static constexpr int slot_count = rows::slot_count;
    static constexpr int left_slot = slots<Kernel>::template place<facts::left>, right_slot = slots<Kernel>::template place<facts::right>;
    static constexpr int to_slot = slots<Kernel>::of_output(0);
    using left_code = typename facts::template storage_at<facts::left>::code_type;
    using right_code = typename facts::template storage_at<facts::right>::code_type;
    using result_code = typename facts::result_type::code_type;
    static constexpr i64 fewest = 8 * sums::step;

    static SINTER_NOINLINE void run(const void* assigned, const typename rows::call_binding& bound, const typename rows::all_loops& along, i64 first_row, i64 stop_row,
                                    i64 begin, i64 stop) {
        if (bound.packs || along.lane.count != 1 || stop - begin < fewest) {
            rows::run(assigned, bound, along, first_row, stop_row, begin, stop);
            return;
        }
        constexpr qparams result = facts::result_type::parameters;
        const typename rows::row_position origin = rows::work::origin(bound);
        odometer<slot_count> row;
        row.set(along.outer, first_row);
        for (i64 r = first_row; r < stop_row; ++r) {
            result_code* const to = static_cast<result_code*>(const_cast<void*>(origin.pointer[to_slot])) + row.offset[to_slot];
            const i64 head = bound.streams ? i64(0 - reinterpret_cast<u64>(to + begin)) & 63 : 0, first = begin + head;
            const i64 last = first + (stop - first) / sums::step * sums::step;
            if (begin < first) rows::run(assigned, bound, along, r, r + 1, begin, first);
            sums::add(facts::form, static_cast<const left_code*>(origin.pointer[left_slot]) + row.offset[left_slot] + first,
                      static_cast<const right_code*>(origin.pointer[right_slot]) + row.offset[right_slot] + first, to + first, last - first, result.zero,
                      facts::has_relu ? result.zero : result.low, bound.streams);
            if (last < stop) rows::run(assigned, bound, along, r, r + 1, last, stop);
            row.next(along.outer);
        }
    }
};

}  // namespace sinter::detail
