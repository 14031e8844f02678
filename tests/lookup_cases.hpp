// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every backend does with tables, the operands that coordinates are looked up in (scales of blocks, codes two in a byte): it reads
// none of the memory around them, computes in place where an output is the table element for element, and refuses any other overlap and
// a table without memory. `check(name, size, holds)` counts; memory that may not be read ends the program.
#pragma once

#include <sinter/backend/reference.hpp>
#include <sinter/ops/nn.hpp>
#include <sinter/ops/quantized_view.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace lookups {

namespace si = sinter;
using si::dyn;
using si::i64;
using si::i8;
using si::u8;
using pair = si::q4x2<si::qp(1.0f)>;
using row_sizes = si::extents<dyn>;
using matrix_sizes = si::extents<dyn, dyn>;

/// A page of which the one before and the one behind may not be touched.
class page_alone {
public:
    page_alone() : bytes_(i64(sysconf(_SC_PAGESIZE))) {
        void* const pages = mmap(nullptr, std::size_t(3 * bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) std::abort();
        first_ = static_cast<char*>(pages) + bytes_;
        if (mprotect(first_ - bytes_, std::size_t(bytes_), PROT_NONE) != 0 || mprotect(first_ + bytes_, std::size_t(bytes_), PROT_NONE) != 0) std::abort();
    }
    page_alone(const page_alone&) = delete;
    page_alone& operator=(const page_alone&) = delete;
    ~page_alone() { munmap(first_ - bytes_, std::size_t(3 * bytes_)); }
    /// So many elements, which begin or end with the page.
    template <class Type>
    Type* take(i64 count, bool at_the_end) const {
        return reinterpret_cast<Type*>(at_the_end ? first_ + bytes_ - count * i64(sizeof(Type)) : first_);
    }

private:
    i64 bytes_;
    char* first_;
};

template <class Executor, class Check>
struct cases {
    using space = typename Executor::memory_space;
    template <class Type, class Extents>
    using view_of = si::tensor_view<Type, Extents, si::row_major, space>;
    template <class Type, class Extents>
    using strided_view = si::tensor_view<Type, Extents, si::strided, space>;
    template <class Pair, i64... Sizes>
    static auto packed(Pair* pairs, const si::extents<Sizes...>& sizes) {
        return si::packed<space>(pairs, sizes);
    }
    Executor executor;
    Check check;

    // ---------------------------------------------------------------------------------------- the memory around a table

    template <int Bytes>
    void packed_numbers(const page_alone& page) const {
        std::vector<float> y(2 * Bytes);
        const view_of<float, si::extents<2 * Bytes>> to(y.data());
        for (const bool at_the_end : {false, true}) {
            pair* const w = page.take<pair>(Bytes, at_the_end);
            float total = 0;
            for (int i = 0; i < Bytes; ++i) {
                w[i] = pair(float(i % 15 - 7), float(i % 4));
                total += w[i].value(0) + w[i].value(1);
            }
            const auto numbers = packed(w, si::extents<Bytes>{});
            int wrong = 0;
            si::run(executor, to = numbers * 1.0f);
            for (std::size_t i = 0; i < y.size(); ++i) wrong += y[i] != w[i / 2].value(int(i % 2));
            si::run(executor, to = si::flip<0>(numbers * 1.0f));
            for (std::size_t i = 0; i < y.size(); ++i) wrong += y[y.size() - 1 - i] != w[i / 2].value(int(i % 2));
            si::run(executor, view_of<float, si::extents<>>(y.data()) = sum(numbers * 1.0f));
            wrong += y[0] != total;
            check("packed codes, flipped, their sum", Bytes, wrong == 0);
        }
    }
    void packed_matrices(const page_alone& page) const {
        float y[30];
        for (const bool at_the_end : {false, true}) {
            pair* const w = page.take<pair>(15, at_the_end);
            float columns[10] = {}, largest[3] = {-9, -9, -9};
            for (int i = 0; i < 15; ++i) w[i] = pair(float(i % 15 - 7), float(i % 4));
            const auto value = [&](int r, int c) { return w[r * 5 + c / 2].value(c % 2); };
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 10; ++c) {
                    columns[c] += value(r, c);
                    if (value(r, c) > largest[r]) largest[r] = value(r, c);
                }
            const auto numbers = packed(w, si::extents<3, 5>{});
            int wrong = 0;
            si::run(executor, view_of<float, si::extents<1, 10>>(y) = sum(numbers * 1.0f, si::axes<0>));
            for (int c = 0; c < 10; ++c) wrong += y[c] != columns[c];
            si::run(executor, view_of<float, si::extents<3, 1>>(y) = max(si::flip<1>(numbers * 1.0f), si::axes<1>));
            for (int r = 0; r < 3; ++r) wrong += y[r] != largest[r];
            si::run(executor, view_of<float, si::extents<10, 3>>(y) = si::transpose(numbers * 1.0f));
            for (int i = 0; i < 30; ++i) wrong += y[i] != value(i % 3, i / 3);
            check("a matrix of packed codes", at_the_end, wrong == 0);
        }
    }
    /// A scale for each block of `Length` codes.
    template <i64 Length>
    void scales_of_rows(const page_alone& page) const {
        constexpr i64 most = 70;
        i8 codes[most];
        float y[most];
        for (i64 i = 0; i < most; ++i) codes[i] = static_cast<i8>(i % 100 + 1);
        for (i64 n = 1; n <= most; ++n)
            for (const bool at_the_end : {false, true}) {
                const i64 count = (n + Length - 1) / Length;
                float* const s = page.take<float>(count, at_the_end);
                for (i64 i = 0; i < count; ++i) s[i] = float(i % 8 + 1);
                const auto wanted = [&](i64 i) { return float(codes[i]) * s[i / Length]; };
                float largest = 0, total = 0;
                for (i64 i = 0; i < n; ++i) {
                    if (wanted(i) > largest) largest = wanted(i);
                    total += wanted(i);
                }
                const view_of<float, row_sizes> scales(s, count), to(y, n);
                const view_of<i8, row_sizes> from(codes, n);
                const auto values = si::quantized(from, si::partial_block<0, Length>, scales);
                const view_of<float, si::extents<1>> one(y);
                int wrong = 0;
                si::run(executor, to = values * 1.0f);
                for (i64 i = 0; i < n; ++i) wrong += y[i] != wanted(i);
                si::run(executor, to = si::flip<0>(values * 1.0f));
                for (i64 i = 0; i < n; ++i) wrong += y[n - 1 - i] != wanted(i);
                si::run(executor, one = max(values * 1.0f, si::axes<0>));
                wrong += y[0] != largest;
                si::run(executor, one = sum(values * 1.0f, si::axes<0>));  // whole numbers: every order has this sum
                wrong += y[0] != total;
                i8 stored[most];
                for (i64 i = 0; i < n; ++i) y[i] = wanted(i);
                si::run(executor, si::quantized(view_of<i8, row_sizes>(stored, n), si::partial_block<0, Length>, scales) = to);
                for (i64 i = 0; i < n; ++i) wrong += stored[i] != codes[i];
                check("scales of blocks, n", n, wrong == 0);
            }
    }
    void scales_of_matrices(const page_alone& page) const {
        constexpr i64 rows = 3, most = 40;
        i8 codes[rows * most];
        float y[rows * most], scale[rows * most];
        for (i64 i = 0; i < rows * most; ++i) {
            codes[i] = static_cast<i8>(i % 100 + 1);
            scale[i] = float(i % 8 + 1);
        }
        for (i64 n = 1; n <= most; ++n)
            for (const bool at_the_end : {false, true}) {
                float* const s = page.take<float>(rows * n, at_the_end);
                std::memcpy(s, scale, sizeof(float) * std::size_t(rows * n));
                const matrix_sizes sizes(rows, n);
                const auto values = si::quantized(view_of<i8, matrix_sizes>(codes, sizes), si::block<1, 1>, view_of<float, matrix_sizes>(s, sizes));
                const auto wanted = [&](i64 r, i64 c) { return float(codes[r * n + c]) * scale[r * n + c]; };
                int wrong = 0;
                si::run(executor, view_of<float, si::extents<1, dyn>>(y, n) = max(values * 1.0f, si::axes<0>));
                for (i64 c = 0; c < n; ++c) {
                    float largest = 0;
                    for (i64 r = 0; r < rows; ++r)
                        if (wanted(r, c) > largest) largest = wanted(r, c);
                    wrong += y[c] != largest;
                }
                si::run(executor, view_of<float, si::extents<dyn, 1>>(y, rows) = sum(values * 1.0f, si::axes<1>));
                for (i64 r = 0; r < rows; ++r) {
                    float total = 0;
                    for (i64 c = 0; c < n; ++c) total += wanted(r, c);
                    wrong += y[r] != total;
                }
                const strided_view<float, matrix_sizes> turned(y, sizes, si::array<i64, 2>{{1, rows}});
                si::run(executor, turned = values * 1.0f);
                for (i64 i = 0; i < rows * n; ++i) wrong += y[i % n * rows + i / n] != wanted(i / n, i % n);
                check("scales of blocks of a matrix, columns", n, wrong == 0);
            }
    }

    // ------------------------------------------------------------------------------------------------------------ in place

    template <int Bytes>
    void adds_in_place() const {
        pair q[Bytes];
        for (int i = 0; i < Bytes; ++i) q[i] = pair(float(i % 9 - 4), float(i % 5));
        const auto numbers = packed(q, si::extents<Bytes>{});
        check("packed codes in place run", Bytes, si::try_run(executor, numbers = numbers + 1.0f).ok());
        int wrong = 0;
        for (int i = 0; i < Bytes; ++i) wrong += q[i].code(0) != i % 9 - 3 || q[i].code(1) != i % 5 + 1;
        const auto matrix = packed(q, si::extents<3, Bytes / 3>{});
        check("a matrix of packed codes in place runs", Bytes, si::try_run(executor, matrix = matrix + 1.0f).ok());
        for (int i = 0; i < Bytes / 3 * 3; ++i) wrong += q[i].code(0) != i % 9 - 2 || q[i].code(1) != i % 5 + 2;
        check("packed codes in place", Bytes, wrong == 0);
    }
    void scales_become_the_result() const {
        constexpr i64 most = 50, rows = 2;
        i8 codes[rows * most];
        float y[rows * most], apart[rows * most];
        for (i64 i = 0; i < rows * most; ++i) codes[i] = static_cast<i8>(i % 7 - 3);
        for (i64 n = 1; n <= most; ++n) {
            const auto fill = [&] {
                for (i64 i = 0; i < rows * n; ++i) y[i] = float(i % 3 + 1) * 0.25f;
            };
            const matrix_sizes sizes(rows, n);
            const view_of<float, matrix_sizes> to(y, sizes), beside(apart, sizes);
            const auto values = si::quantized(view_of<i8, matrix_sizes>(codes, sizes), si::block<1, 1>, to);
            fill();
            bool good = si::try_run(executor, beside = values * 1.5f).ok() && si::try_run(executor, to = values * 1.5f).ok() &&
                        std::memcmp(y, apart, sizeof(float) * std::size_t(rows * n)) == 0;
            fill();
            good = good && si::try_run(executor, beside = softmax(values) + values).ok() && si::try_run(executor, to = softmax(values) + values).ok() &&
                   std::memcmp(y, apart, sizeof(float) * std::size_t(rows * n)) == 0;
            check("scales that become the result", n, good);
        }
    }

    // ------------------------------------------------------------------------------------------------------------ refused

    template <class Assignment>
    bool overlaps(const Assignment& assigned) const {
        return si::try_run(executor, assigned).code() == si::error::overlap;
    }
    void overlaps_are_refused() const {
        constexpr int bytes = 301;
        unsigned char memory[2 * bytes], before[2 * bytes];
        for (int i = 0; i < 2 * bytes; ++i) memory[i] = static_cast<unsigned char>(i * 37 + 11);
        std::memcpy(before, memory, sizeof memory);
        pair* const q = reinterpret_cast<pair*>(memory);
        const auto first = packed(q, si::extents<bytes>{}), shifted = packed(q + 1, si::extents<bytes>{}), second = packed(q + bytes, si::extents<bytes>{});
        check("packed codes turned in place", bytes, overlaps(first = si::flip<0>(first * 1.0f)));
        check("packed codes a byte further on", bytes, overlaps(shifted = first * 1.0f));
        check("packed codes a byte before", bytes, overlaps(first = shifted * 1.0f));
        check("pairs turned within", bytes, overlaps(first = si::where(first > 0.0f, first * 1.0f, si::flip<0>(first * 1.0f))));
        check("nothing was written", bytes, std::memcmp(memory, before, sizeof memory) == 0);
        check("packed codes side by side", bytes, si::try_run(executor, second = first * 1.0f).ok() && std::memcmp(memory, memory + bytes, bytes) == 0);

        i8 codes[256] = {};
        float y[264];
        for (float& one : y) one = 1;
        const auto with_scales_at = [&](int place) {
            return si::quantized(view_of<i8, si::extents<256>>(codes), si::block<0, 32>, view_of<float, si::extents<8>>(y + place));
        };
        const view_of<float, si::extents<256>> to(y);
        for (const int place : {0, 100, 248, 255}) check("a result over the scales", place, overlaps(to = with_scales_at(place) * 1.0f));
        check("a result before the scales", 256, si::try_run(executor, to = with_scales_at(256) * 1.0f).ok());
        const i64 n = 256;
        for (float& one : y) one = 1;
        const auto when_run = si::quantized(view_of<i8, row_sizes>(codes, n), si::block<0, 32>, view_of<float, row_sizes>(y + 100, n / 32));
        check("a result over the scales, sizes known when run", n, overlaps(view_of<float, row_sizes>(y, n) = when_run * 1.0f));
        alignas(float) i8 both[288] = {};
        float* const scales = reinterpret_cast<float*>(both + 96);
        for (int i = 0; i < 8; ++i) scales[i] = 1;
        const view_of<float, si::extents<8>> of_blocks(scales);
        check("codes over their scales", 256, overlaps(si::quantized(view_of<i8, si::extents<256>>(both), si::block<0, 32>, of_blocks) = to));
    }
    /// Each block's codes behind its scale, as files of language models have them: ranges that cross, elements that don't meet.
    void scales_between_codes() const {
        struct block {
            float scale;
            i8 code[32];
        };
        block blocks[5];
        float x[5 * 32];
        for (int i = 0; i < 5 * 32; ++i) x[i] = float(i % 50 - 25);
        for (block& one : blocks) one.scale = 0.5f;
        const strided_view<i8, si::extents<5, 32>> codes(blocks[0].code, {}, si::array<i64, 2>{{sizeof(block), 1}});
        const strided_view<float, si::extents<5, 1>> scales(&blocks[0].scale, {}, si::array<i64, 2>{{sizeof(block) / sizeof(float), 1}});
        check("scales between codes run", 5,
              si::try_run(executor, si::quantized(codes, si::block<1, 32>, scales) = view_of<float, si::extents<5, 32>>(x) * 1.0f).ok());
        int wrong = 0;
        for (int i = 0; i < 5 * 32; ++i) wrong += blocks[i / 32].code[i % 32] != 2 * (i % 50 - 25) || blocks[i / 32].scale != 0.5f;
        check("scales between codes", 5, wrong == 0);
    }
    template <class Assignment>
    bool lacks_memory(const Assignment& assigned) const {
        return si::try_run(executor, assigned).code() == si::error::null_pointer;
    }
    void tables_without_memory_are_refused() const {
        float y[32] = {};
        i8 codes[32] = {};
        const view_of<float, si::extents<32>> to(y);
        const view_of<i8, si::extents<32>> from(codes);
        float* const none = nullptr;
        check("packed codes without memory", 16, lacks_memory(to = packed(static_cast<const pair*>(nullptr), si::extents<16>{}) * 1.0f));
        check("packed codes without memory, as an output", 16, lacks_memory(packed(static_cast<pair*>(nullptr), si::extents<16>{}) = to));
        check("scales without memory", 16, lacks_memory(to = si::quantized(from, si::block<0, 2>, view_of<float, si::extents<16>>(none)) * 1.0f));
        check("scales without memory, of an output", 16, lacks_memory(si::quantized(from, si::block<0, 2>, view_of<float, si::extents<16>>(none)) = to));
        const i64 n = 32;
        check("scales without memory, sizes known when run", n,
              lacks_memory(view_of<float, row_sizes>(y, n) = si::quantized(view_of<i8, row_sizes>(codes, n), si::block<0, 2>, view_of<float, row_sizes>(none, n / 2)) * 1.0f));
    }

    void all() const {
        const page_alone page;
        packed_numbers<5>(page);
        packed_numbers<45>(page);
        packed_matrices(page);
        scales_of_rows<1>(page);
        scales_of_rows<3>(page);
        scales_of_matrices(page);
        adds_in_place<33>();
        adds_in_place<301>();
        scales_become_the_result();
        overlaps_are_refused();
        scales_between_codes();
        tables_without_memory_are_refused();
    }
};

/// Runs all on an executor.
template <class Executor, class Check>
void run_cases(const Executor& executor, const Check& check) {
    cases<Executor, Check>{executor, check}.all();
}

}  // namespace lookups
