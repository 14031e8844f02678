// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one code, as a kernel: an elementwise formula with one operand of 8 bits and one result of 8 bits, all else numbers. It has
// 256 values, so a backend may compute these once a call and look the rest up. Recognised here, from types alone; plan.hpp says so to
// people, drive_table.hpp runs it. (The table isn't a constant: evaluating a chain 256 times while compiling would cost seconds, when
// called it costs what 256 elements do, and numbers that are known only then are welcome.)
#pragma once

#include "evaluate.hpp"

namespace sinter::detail {

template <class Kernel>
struct code_table_facts {
    static constexpr bool is_code(dtype type) { return type == dtype::i8 || type == dtype::u8 || type == dtype::q8 || type == dtype::qu8; }
    static constexpr dtype memory_type(int leaf) { return Kernel::leaf_type[Kernel::node[Kernel::table.at[leaf].node].bits].type; }
    /// The operand; -1: the kernel is something else.
    static constexpr int find_operand() {
        if (Kernel::nest != nest_kind::pointwise || Kernel::outputs != 1 || Kernel::table.output[0] < 0 || !is_code(Kernel::output_type[0])) return -1;
        int found = -1;
        for (int i = 0; i < Kernel::instances; ++i) {
            const instance& it = Kernel::table.at[i];
            if (it.kind == node_kind::map) {
                for (int a = 0; a < it.arity; ++a)
                    if (it.argument[a] < 0 && Kernel::node[it.immediate[a]].kind == node_kind::count) return -1;
            } else if (it.kind != node_kind::leaf || found >= 0 || it.free != Kernel::table.output_free[0] || !is_code(memory_type(i))) {
                return -1;
            } else {
                found = i;
            }
        }
        return found;
    }
    static constexpr int operand = find_operand();
    static constexpr bool possible = operand >= 0;
    /// Instructions an element, roughly, with those of the codes.
    static constexpr int find_cost() {
        if (!possible) return 0;
        int sum = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (Kernel::table.at[i].kind == node_kind::map) sum += Kernel::node[Kernel::table.at[i].node].op->cost;
        if (sum == 0 && memory_type(operand) == Kernel::output_type[0]) return 0;  // a copy
        if (memory_type(operand) == dtype::q8 || memory_type(operand) == dtype::qu8) sum += 3;
        if (Kernel::output_type[0] == dtype::q8 || Kernel::output_type[0] == dtype::qu8) sum += 8;
        return sum;
    }
    static constexpr int cost = find_cost();
};

}  // namespace sinter::detail
