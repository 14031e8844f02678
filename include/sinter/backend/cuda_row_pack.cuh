// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many neighbouring elements of a row a thread takes as one (cuda_rows.cuh), and the kernels that it is smaller for: products of a matrix of
// 8-bit numbers and a vector. Instructions limit those, and not memory, so a thread holds its part of the vector for all rows that its
// block takes: it is read, unpacked and looked at once (int8 weights of 16384 x 16384 times bf16 on an H200: 69 us instead of 82).
#pragma once

#include "cuda_fold.cuh"
#include "cuda_tuning.cuh"

namespace sinter::detail::device {

/// Is an operand of elements the same for all rows (weights)?
template <class Kernel>
constexpr bool is_weight(int i) {
    if (!facts<Kernel>::is_element_leaf(i)) return false;
    bool rows_differ = false;
    for (int a = 0; a < Kernel::axes; ++a) {
        if (role_of<Kernel>(a) != axis_role::outer) continue;
        rows_differ = true;
        if (Kernel::table.at[i].free >> a & 1) return false;
    }
    return rows_differ;
}
/// Elements of a row; -1: known when run.
template <class Kernel>
constexpr i64 known_row_length() {
    i64 product = 1;
    for (int a = 0; a < Kernel::axes; ++a) {
        if (role_of<Kernel>(a) != axis_role::lane) continue;
        if (Kernel::table.axis_size[a] < 0) return -1;
        product *= Kernel::table.axis_size[a];
    }
    return product;
}

/// Elements of a pack: what memory likes, as long as a thread's part of a row, 8 packs of each operand, leaves registers to compute in.
template <class Kernel>
struct row_pack {
    using tuning = typename tuning_of<Kernel>::rows;
    static constexpr int rounds = order::segment / order::lanes;
    static constexpr int bytes_of_element(bool weights_only) {
        int bytes = 0;
        for (int i = 0; i < Kernel::instances; ++i)
            if (weights_only ? is_weight<Kernel>(i) : facts<Kernel>::is_element_leaf(i)) bytes += dtype_size(Kernel::view.memory_type(i));
        return bytes;
    }
    static constexpr int find_usual() {
        int pack = facts<Kernel>::pack;
        while (pack > 4 && pack * bytes_of_element(false) > tuning::most_pack_bytes) pack /= 2;
        return pack;
    }
    static constexpr int usual = find_usual();

    static constexpr bool is_weight_type(dtype type) { return type == dtype::bf16 || type == dtype::f16 || type == dtype::f32 || type == dtype::f64; }
    /// Is a row of 8-bit numbers read for one pass only, beside weights that are floats? (Integers of 8 bits are read packed, which costs little.)
    /// What else a row has is for its values alone.
    static constexpr bool is_product() {
        if (Kernel::levels != 1 || facts<Kernel>::stores_elements || bytes_of_element(true) == 0 || bytes_of_element(false) != bytes_of_element(true) + 1) return false;
        array<bool, Kernel::instances> need = Kernel::roots_of_pass(1);
        Kernel::mark_needed(need, -1);
        for (int i = 0; i < Kernel::instances; ++i) {
            if (is_weight<Kernel>(i) && !is_weight_type(Kernel::view.memory_type(i))) return false;
            if (Kernel::is_fold(i) && Kernel::node[Kernel::table.at[i].node].op->two_phase) return false;
            if (!need[i] || Kernel::where[i] != site::element) continue;
            if (Kernel::table.at[i].kind == node_kind::coordinate) return false;
            for (int a = 0; a < Kernel::table.at[i].arity; ++a)
                if (const int argument = Kernel::table.at[i].argument[a]; argument >= 0 && Kernel::where[argument] == site::row) return false;
        }
        return true;
    }
    /// Registers of the weights (16-bit ones as f32), of a row and of the states.
    static constexpr int registers_of(int pack) {
        int bytes = rounds * pack + pack * fold_facts_of<Kernel>::state_bytes();
        for (int i = 0; i < Kernel::instances; ++i)
            if (is_weight<Kernel>(i)) bytes += rounds * pack * (dtype_size(Kernel::view.memory_type(i)) < 4 ? 4 : dtype_size(Kernel::view.memory_type(i)));
        return bytes / 4;
    }
    /// A pack small enough for a thread to hold its weights, where a row is whole segments of one block; 0: there is none.
    static constexpr int find_for_weights() {
        constexpr i64 length = known_row_length<Kernel>();
        if (tuning::rows_of_weights <= 1 || length <= order::segment || length % order::segment != 0 || length > 32 * order::segment || !is_product()) return 0;
        int pack = usual;
        while (pack > 4 && registers_of(pack) > tuning::weight_registers) pack /= 2;
        const bool in_a_block = length / order::segment * (order::lanes / pack) <= tuning::block_threads;
        return in_a_block && registers_of(pack) <= tuning::weight_registers ? pack : 0;
    }
    static constexpr int for_weights = find_for_weights();
    static constexpr bool holds_weights = for_weights > 0;
    static constexpr int value = holds_weights ? for_weights : usual;
};

}  // namespace sinter::detail::device
