// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver of functions of one code (code_table.hpp), on a family that looks bytes up: `Family::code_tables`. The kernel itself computes the
// 256 results of a call, so that the bits are its own; every element is looked up among these. Calls of few elements, or whose elements
// don't lie side by side, are computed.
#pragma once

#include "code_table.hpp"
#include "drive.hpp"

namespace sinter::detail {

template <class Kernel, class Family>
struct table_driver {
    using rows = row_driver<Kernel, Family>;
    static constexpr int slot_count = rows::slot_count;
    static constexpr int from_slot = slots<Kernel>::template place<code_table_facts<Kernel>::operand>, to_slot = slots<Kernel>::of_output(0);
    static constexpr i64 fewest = 4096;  ///< elements that pay for a table

    static SINTER_NOINLINE void run(const void* assigned, const typename rows::call_binding& bound, const typename rows::all_loops& along, i64 first_row, i64 stop_row,
                                    i64 begin, i64 stop) {
        if (bound.packs || along.lane.count != 1 || (stop_row - first_row) * (stop - begin) < fewest) {
            rows::run(assigned, bound, along, first_row, stop_row, begin, stop);
            return;
        }
        alignas(64) u8 codes[256], table[256];
        for (int i = 0; i < 256; ++i) codes[i] = static_cast<u8>(i);
        typename rows::row_context in(*static_cast<const typename rows::assignment_type*>(assigned), bound, along);
        const typename rows::row_position origin = rows::work::origin(bound);
        rows::fill_once(in, origin);
        typename rows::row_position of_table = origin;
        of_table.pointer[from_slot] = codes;
        of_table.pointer[to_slot] = table;
        rows::output_vectors(in, of_table, 0, 0, 256 / rows::width, 0);

        odometer<slot_count> row;
        row.set(along.outer, first_row);
        for (i64 r = first_row; r < stop_row; ++r) {
            const u8* const from = static_cast<const u8*>(origin.pointer[from_slot]) + row.offset[from_slot];
            u8* const to = static_cast<u8*>(const_cast<void*>(origin.pointer[to_slot])) + row.offset[to_slot];
            Family::code_tables::look_up(table, from + begin, to + begin, stop - begin);
            row.next(along.outer);
        }
    }

private:
    using eval = typename rows::eval;
};

}  // namespace sinter::detail
