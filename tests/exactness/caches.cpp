// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a driver does otherwise when memory matters: outputs beyond the caches are stored past them, costly values of a row are kept
// in a buffer meanwhile, lines are asked for ahead; and maxima, which may be folded in any order but for NaN and zeros.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

#include <initializer_list>
#include <vector>

using namespace harness;

namespace {
using matrix = si::extents<dyn, dyn>;

/// Outputs of more than 8 MiB; rows with tails, rows longer than any buffer, memories aligned and not, with gaps and without. Special values
/// in one layout alone: a NaN makes a whole row of softmax NaN, which hides all else.
template <class Build>
void large_cases(tally& all, const Build& build) {
    const shape sizes[] = {{2, {600, 3616}}, {2, {594, 3645}}, {2, {118, 18013}}};
    const layout lies[] = {layout::contiguous, layout::offset, layout::padded, layout::reversed};
    int seed = 0;
    for (const shape& size : sizes)
        for (const layout how : lies) {
            ++seed;
            const shape row{2, {1, size.size[1]}};
            all.same(build, memory<float, matrix>(place(size, how), mix::plain, u64(seed)), memory<float, matrix>(place(size, how), how == layout::padded ? mix::sprinkled : mix::plain, u64(seed + 50)),
                     memory<float, matrix>(place(row, layout::contiguous), mix::plain, u64(seed + 90)));
        }
}
}  // namespace

TEST_CASE("beyond the caches: softmax, whose exponentials a buffer keeps") {
    tally all("beyond the caches, softmax");
    large_cases(all, [](auto y, auto x, auto) { return y = si::softmax(x); });
}
TEST_CASE("beyond the caches: softmax in place") {
    tally all("beyond the caches, softmax in place");
    large_cases(all, [](auto y, auto, auto) { return y = si::softmax(y); });
}
TEST_CASE("beyond the caches: RMSNorm with weights") {
    tally all("beyond the caches, RMSNorm");
    large_cases(all, [](auto y, auto x, auto w) {
        return y = si::let(x, w, [](auto a, auto b) { return a * rsqrt(mean(a * a, si::last_axis) + 1e-5f) * b; });
    });
}
TEST_CASE("beyond the caches: pointwise with a bias") {
    tally all("beyond the caches, pointwise");
    large_cases(all, [](auto y, auto x, auto b) { return y = gelu_tanh(x + b); });
}
TEST_CASE("beyond the caches: outputs of three sizes, each at an address of its own, whose rows end anywhere") {
    tally all("beyond the caches, three outputs");
    const layout lies[] = {layout::contiguous, layout::offset};
    for (int k = 0; k < 8; ++k) {
        const shape size{2, {k < 4 ? 300 : 301, 3616 + 7 * (k % 4)}};
        all.same([](auto y, auto z, auto d, auto x) {
            return si::tie(y, z, d) = si::let(x, [](auto a) { return si::outputs(a * 0.5f, si::cast<u8>(abs(a)), si::cast<double>(a) + 1.0); });
        }, memory<float, matrix>(place(size, lies[k & 1]), mix::plain, u64(k)), memory<u8, matrix>(place(size, lies[k >> 1 & 1]), mix::plain, u64(k + 10)),
            memory<double, matrix>(place(size, lies[k >> 2]), mix::plain, u64(k + 20)), memory<float, matrix>(place(size, lies[~k & 1]), mix::sprinkled, u64(k + 30)));
    }
}
#ifndef SINTER_TEST_BACKEND_HEADER
TEST_CASE("beyond the caches: rows of little more than a line, at every address") {
    constexpr i64 rows = 28000, gap = 64;
    for (const i64 columns : {i64(64), i64(65), i64(66), i64(71), i64(130)})
        for (const int address : {0, 1, 2, 3, 4, 31, 32, 33, 60, 61, 62, 63}) {
            std::vector<float> x(std::size_t(rows * columns), 2.5f), z(std::size_t(rows * columns + 64), 7.0f);
            std::vector<u8> bytes(std::size_t(rows * (columns + gap) + 256), u8(7));
            u8* y = bytes.data() + 64;
            while (reinterpret_cast<u64>(y) % 64 != u64(address)) ++y;
            const matrix sizes(rows, columns);
            const auto in = si::view(static_cast<const float*>(x.data()), sizes);
            si::run(si::cpu, si::view(y, sizes, si::array<i64, 2>{{columns + gap, 1}}) = si::cast<u8>(in), si::view(z.data(), sizes) = in + 1.0f);
            i64 wrong = 0;
            for (i64 r = 0; r < rows; ++r)
                for (i64 c = 0; c < columns + gap; ++c) wrong += y[r * (columns + gap) + c] != (c < columns ? 2 : 7);
            for (const u8* before = bytes.data(); before < y; ++before) wrong += *before != 7;
            for (std::size_t i = 0; i < z.size(); ++i) wrong += z[i] != (i < x.size() ? 3.5f : 7.0f);
            CHECK_MESSAGE(wrong == 0, columns << " columns at " << address << ": " << wrong);
        }
}
#endif
TEST_CASE("beyond the caches: folds alone") {
    tally all("beyond the caches, folds");
    const layout lies[] = {layout::contiguous, layout::offset, layout::padded};
    for (int k = 0; k < 3; ++k) {
        const shape size{2, {601, 3645}}, rows{2, {601, 1}}, columns{2, {1, 3645}};
        all.same([](auto y, auto x) { return y = si::let(x, [](auto a) { return sum(a * a, si::last_axis); }); },
                 memory<float, matrix>(place(rows, lies[k]), mix::plain, u64(k)), memory<float, matrix>(place(size, lies[k]), mix::plain, u64(k + 5)));
        all.same([](auto y, auto x) { return y = sum(x, si::axes<0>); }, memory<float, matrix>(place(columns, lies[k]), mix::plain, u64(k)),
                 memory<float, matrix>(place(size, lies[k]), mix::plain, u64(k + 5)));
    }
}

TEST_CASE("maxima alone: NaN anywhere") {
    tally all("maximum");
    fold_cases<4>(all, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return max(a, si::last_axis); }), 9000);
    fold_cases<4>(all, types<kept<double>>{}, types<double>{}, si::fused([](auto a) { return max(a, si::last_axis); }), 9000);
}
TEST_CASE("maxima alone: zeros of both signs, and of one") {
    tally all("maximum of zeros");
    fold_cases<4>(all, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return max(a * 0.0f, si::last_axis); }), 9000);
    fold_cases<4>(all, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return max(abs(a) * -0.0f, si::last_axis); }), 9000);
    fold_cases<4>(all, types<kept<float>>{}, types<float>{}, si::fused([](auto a) { return max(minimum(a, -0.0f), si::last_axis); }), 9000);
}
TEST_CASE("several maxima at once, and a maximum under others") {
    tally all("maxima");
    fold_cases<4>(all, types<kept<float>, kept<float>, whole<float>>{}, types<float, float>{}, si::fused([](auto a, auto b) {
        return si::outputs(max(a, si::last_axis), max(abs(b), si::last_axis), a - max(a, si::last_axis));
    }), 9000);
}
