// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of bytes on a CPU: some rows of weights times some rows of packed activations, exact modulo 2^32. It is compiled once
// for all kernels; drive_product.hpp packs the activations and corrects for zero points.
//
// Bytes are widened to 16 bits and multiplied by pmaddwd, which adds two products and can't overflow: two rows of weights' bytes cost
// about as much as one by the form that multiplies bytes and saturates, which isn't used. With VNNI one instruction sums four products
// of an unsigned and a signed byte, without saturation: weights are read as unsigned ones, i8 less -128, which the caller corrects.
#pragma once

#include "cpu_lane_memory.hpp"

namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

struct cpu_products {
    /// Activations are packed as `packed`, less their offset; a row of them is padded with zeros to whole steps. Weights count less theirs.
#if SINTER_CPU_VNNI
    using packed = i8;
    static constexpr i32 activation_offset(bool counts, i32) { return counts ? 128 : 0; }
    static constexpr i32 weight_offset(bool counts) { return counts ? 0 : -128; }
#else
    using packed = i16;
    static constexpr i32 activation_offset(bool, i32 zero) { return zero; }
    static constexpr i32 weight_offset(bool) { return 0; }
#endif
    static constexpr int step = 64;  ///< bytes of weights at a time: a cache line

    /// Adds to sums[column * sum_step + row] the products of row `row` of weights with row `column` of activations, for `Columns` of
    /// these, each `length` long. `ahead`: weights lie out of the caches, so that the next rows are asked for.
    template <bool Counts, int Columns>
    static SINTER_NOINLINE void multiply(const u8* weights, i64 weight_step, int rows, const packed* activations, i64 activation_step, i64 length, i32* sums,
                                         i64 sum_step, bool ahead) {
        // As many rows at a time as leave registers for the factors.
        constexpr int at_once = Columns == 1 ? 4 : (SINTER_CPU_AVX512 || SINTER_CPU_NEON ? 16 : 8) / Columns;
        int row = 0;
        for (; row + at_once <= rows; row += at_once, weights += at_once * weight_step)
            some_rows<Counts>(weights, weight_step, activations, activation_step, length, sums + row, sum_step, ahead, make_indices<at_once>{}, make_indices<Columns>{});
        for (; row < rows; ++row, weights += weight_step)
            some_rows<Counts>(weights, weight_step, activations, activation_step, length, sums + row, sum_step, ahead, make_indices<1>{}, make_indices<Columns>{});
    }

private:
    using sum = simd<i32, SINTER_CPU_BYTES>;
    using part = simd<packed, SINTER_CPU_BYTES>;  ///< of the activations
    static constexpr int parts = step * int(sizeof(packed)) / SINTER_CPU_BYTES;
    static constexpr int bytes = step / parts;    ///< of the weights that a part is multiplied with

    /// Weights as the instruction takes them.
    template <bool Counts>
    static SINTER_FORCE_INLINE part widened(const u8* from) {
#if SINTER_CPU_VNNI
        const auto raw = detail::read<part>(from);
        if constexpr (Counts)
            return raw;
        else
            return raw ^ static_cast<i8>(-128);
#elif SINTER_CPU_SSE41
        const auto& narrow = *reinterpret_cast<const typename detail::unaligned<detail::bytes_of<bytes>>::type*>(from);
        part result;
        if constexpr (Counts)
            __asm__(SINTER_CPU_TEXT_1(SINTER_CPU_VEX("pmovzxbw")) : SINTER_CPU_OUT(result) : "m"(narrow));
        else
            __asm__(SINTER_CPU_TEXT_1(SINTER_CPU_VEX("pmovsxbw")) : SINTER_CPU_OUT(result) : "m"(narrow));
        return result;
#elif SINTER_CPU_X86 || SINTER_CPU_NEON
        const auto narrow = detail::read_register<u8, bytes>(from);
        const auto twice = as<u16>(__builtin_shufflevector(narrow, narrow, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7));
        return Counts ? as<i16>(twice >> 8) : as<i16>(twice) >> 8;
#else
        part result{};
        for (int at = 0; at < bytes; ++at) result[at] = Counts ? static_cast<i16>(from[at]) : static_cast<i16>(static_cast<i8>(from[at]));
        return result;
#endif
    }
    static SINTER_FORCE_INLINE void take(sum& into, part weights, part activations) {
#if SINTER_CPU_VNNI
        __asm__("vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(into) : "v"(weights), "v"(activations));
#elif SINTER_CPU_AVX
        // In one piece: g++ else multiplies far ahead and keeps sums in memory.
        sum products;
        __asm__("vpmaddwd {%3, %2, %1|%1, %2, %3}\n\tvpaddd {%1, %0, %0|%0, %0, %1}" : "+" SINTER_CPU_REGISTER(into), "=&" SINTER_CPU_REGISTER(products)
                : SINTER_CPU_IN(weights), SINTER_CPU_IN(activations));
#elif SINTER_CPU_X86
        sum products;
        SINTER_CPU_X86_BINARY("pmaddwd", products, weights, activations);
        into += products;
#elif SINTER_CPU_NEON
        __asm__("smlal %0.4s, %1.4h, %2.4h\n\tsmlal2 %0.4s, %1.8h, %2.8h" : "+w"(into) : "w"(weights), "w"(activations));
#else
        for (int at = 0; at < bytes; ++at) into[at / 2] += i32(weights[at]) * activations[at];
#endif
    }
    template <int Width>
    static SINTER_FORCE_INLINE i32 total(vec<i32, Width> all) {
        if constexpr (Width > 4) {
            return total(add(lower_lanes(all), upper_lanes(all)));
        } else {
            const auto two = add(all, exchange<2>(all));
            return first(add(two, exchange<1>(two)));
        }
    }

    // Sums in variables of their own: compilers keep an array of them in memory.
    template <class List>
    struct all_sums;
    template <int... Cell>
    struct all_sums<indices<Cell...>> : slot<Cell, sum>... {};
    template <class List>
    struct all_weights;
    template <int... Row>
    struct all_weights<indices<Row...>> : slot<Row, part>... {};

    template <int Columns, int Column, class Sums, class Weights, int... Row>
    static SINTER_FORCE_INLINE void take_column(Sums& sums, const Weights& weights, const packed* activations, indices<Row...>) {
        const auto these = detail::read<part>(activations);
        const int done[] = {(take(static_cast<slot<Row * Columns + Column, sum>&>(sums).value, static_cast<const slot<Row, part>&>(weights).value, these), 0)...};
        (void)done;
    }
    /// One part of a step, for all rows and columns.
    template <bool Counts, class Sums, int... Row, int... Column>
    static SINTER_FORCE_INLINE void take_part(Sums& sums, const u8* weights, i64 weight_step, const packed* activations, i64 activation_step, indices<Row...> rows,
                                              indices<Column...>) {
        all_weights<indices<Row...>> these;
        const int read[] = {(static_cast<slot<Row, part>&>(these).value = widened<Counts>(weights + Row * weight_step), 0)...};
        (void)read;
        const int done[] = {(take_column<int(sizeof...(Column)), Column>(sums, these, activations + Column * activation_step, rows), 0)...};
        (void)done;
    }
    template <bool Counts, class Sums, class Rows, class Columns, int... Part>
    static SINTER_FORCE_INLINE void take_step(Sums& sums, const u8* weights, i64 weight_step, const packed* activations, i64 activation_step, Rows rows, Columns columns,
                                              indices<Part...>) {
        const int done[] = {(take_part<Counts>(sums, weights + Part * bytes, weight_step, activations + Part * bytes, activation_step, rows, columns), 0)...};
        (void)done;
    }
    template <bool Counts, int... Row, int... Column>
    static SINTER_FORCE_INLINE void some_rows(const u8* weights, i64 weight_step, const packed* activations, i64 activation_step, i64 length, i32* sums, i64 sum_step,
                                              bool ahead, indices<Row...> rows, indices<Column...> columns) {
        constexpr int row_count = int(sizeof...(Row)), column_count = int(sizeof...(Column));
        all_sums<make_indices<row_count * column_count>> all;
        start(all, make_indices<row_count * column_count>{});
        const i64 whole = length / step * step;
        const u8* const next = weights + row_count * weight_step;
        for (i64 at = 0; at < whole; at += step) {
            if (ahead) {
                // Into the second-level cache: asked for nearer, the lines of four rows at one place push each other out.
                const int asked[] = {(__builtin_prefetch(next + Row * weight_step + at, 0, 2), 0)...};
                (void)asked;
            }
            take_step<Counts>(all, weights + at, weight_step, activations + at, activation_step, rows, columns, make_indices<parts>{});
        }
        if (whole < length) {
            // (What lies behind the weights may be no memory. The activations are 0 there.)
            u8 last[unsigned(row_count)][unsigned(step)] = {};
            for (int row = 0; row < row_count; ++row) __builtin_memcpy(last[row], weights + row * weight_step + whole, std::size_t(length - whole));
            take_step<Counts>(all, last[0], step, activations + whole, activation_step, rows, columns, make_indices<parts>{});
        }
        finish<column_count>(all, sums, sum_step, make_indices<row_count * column_count>{});
    }
    template <class Sums, int... Cell>
    static SINTER_FORCE_INLINE void start(Sums& all, indices<Cell...>) {
        const int done[] = {(static_cast<slot<Cell, sum>&>(all).value = sum{}, 0)...};
        (void)done;
    }
    template <int Columns, class Sums, int... Cell>
    static SINTER_FORCE_INLINE void finish(const Sums& all, i32* sums, i64 sum_step, indices<Cell...>) {
        const int done[] = {(sums[Cell % Columns * sum_step + Cell / Columns] = static_cast<i32>(
                                 u32(sums[Cell % Columns * sum_step + Cell / Columns]) +
                                 u32(total(vec<i32, native_width>::of(static_cast<const slot<Cell, sum>&>(all).value)))), 0)...};
        (void)done;
    }
};

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
