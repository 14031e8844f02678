// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one code, as a kernel: an elementwise formula with one operand of 8 bits and one result of 8 bits, all else numbers. It has
// 256 values, so a backend may compute these once a call and look the rest up. Recognised here, from types alone; plan.hpp says so to
// people, drive_table.hpp runs it. (The table isn't a constant: evaluating a chain 256 times while compiling would cost seconds, when
// called it costs what 256 elements do, and numbers that are known only then are welcome.)
#pragma once

#include "evaluate.hpp"

namespace sinter::detail {

struct table_facts {
    int operand = -1;  ///< instance; -1: the kernel is something else
    int cost = 0;      ///< instructions an element, roughly, with those of the codes; 0: nothing to look up
};
constexpr table_facts find_code_table(const kernel_view& of) {
    const auto is_code = [](dtype type) { return type == dtype::i8 || type == dtype::u8 || type == dtype::q8 || type == dtype::qu8; };
    table_facts out;
    if (of.nest != nest_kind::pointwise || of.outputs != 1 || of.output[0] < 0 || !is_code(of.output_type[0])) return out;
    int found = -1, sum = 0;
    for (int i = 0; i < of.instances; ++i) {
        const instance& it = of.at[i];
        if (it.kind == node_kind::map) {
            for (int a = 0; a < it.arity; ++a)
                if (it.argument[a] < 0 && of.node[it.immediate[a]].kind == node_kind::count) return out;
            sum += of.cost_of(i);
        } else if (it.kind != node_kind::leaf || found >= 0 || it.free != of.output_free[0] || !is_code(of.memory_type(i))) {
            return out;
        } else {
            found = i;
        }
    }
    if (found < 0) return out;
    out.operand = found;
    const dtype from = of.memory_type(found), to = of.output_type[0];
    if (sum == 0 && from == to) return out;  // a copy
    if (from == dtype::q8 || from == dtype::qu8) sum += 3;
    if (to == dtype::q8 || to == dtype::qu8) sum += 8;
    out.cost = sum;
    return out;
}
template <class Kernel>
struct code_table_facts {
    static constexpr table_facts found = find_code_table(Kernel::view);
    static constexpr int operand = found.operand, cost = found.cost;
    static constexpr bool possible = operand >= 0;
};

}  // namespace sinter::detail
