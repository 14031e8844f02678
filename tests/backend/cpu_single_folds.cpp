// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One fold of one operand, in every way that registers hold a segment's lanes: few registers take it in two walks (drive.hpp). Small, so
// that it is built for every instruction set. Bits as the reference, rows of every kind of length, one and several threads.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include "numbers.hpp"

#include <cstring>
#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;

namespace {
std::vector<float> numbers(i64 count) {
    test_numbers::generator random;
    std::vector<float> out;
    for (i64 i = 0; i < count; ++i) out.push_back(static_cast<float>(static_cast<int>(random() >> 40) - 0x800000) * 0x1p-20f);
    return out;
}
/// One result a row, of rows that follow one another or stand apart.
template <class Formula>
void same(const char* name, const Formula& formula) {
    constexpr i64 rows = 5, longest = 9 * 1024 + 300;
    const std::vector<float> x = numbers(rows * longest);
    for (const i64 length : {i64(1), i64(7), i64(16), i64(127), i64(128), i64(129), i64(512), i64(640), i64(1023), i64(1024), i64(1025), i64(1536), i64(2048), i64(3000), i64(4096),
                             i64(5 * 1024 + 128), i64(9 * 1024 + 300)}) {
        for (const i64 pitch : {length, longest}) {
            const si::tensor_view<const float, si::extents<dyn, dyn>, si::strided> in(x.data(), si::extents<dyn, dyn>(rows, length), {{pitch, 1}});
            std::vector<float> wanted(rows, -7.0f), found(rows, -8.0f);
            const si::extents<dyn, 1> one_each(rows);
            si::run(si::reference, si::view(wanted.data(), one_each) = formula(in));
            si::run(si::cpu, si::view(found.data(), one_each) = formula(in));
            CHECK_MESSAGE(std::memcmp(found.data(), wanted.data(), rows * sizeof(float)) == 0, name, " of ", length, ", ", pitch, " apart");
        }
    }
    const i64 all = 40 * 1024 + 77;
    const std::vector<float> line = numbers(all);
    const auto in = si::view(line.data(), si::extents<1, dyn>(all));
    float wanted = -7, found = -8;
    si::run(si::reference, si::view(&wanted, si::extents<1, 1>{}) = formula(in));
    si::run(si::cpu, si::view(&found, si::extents<1, 1>{}) = formula(in));
    CHECK_MESSAGE(std::memcmp(&found, &wanted, sizeof found) == 0, name, " of one row");
}
}  // namespace

TEST_CASE("a fold alone") {
    same("sum", si::fused([](auto x) { return sum(x, si::last_axis); }));
    same("sum of squares", si::fused([](auto x) { return sum(x * x, si::last_axis); }));
    same("sum of magnitudes", si::fused([](auto x) { return sum(abs(x), si::last_axis); }));
    same("product", si::fused([](auto x) { return prod(x * 0x1p-3f, si::last_axis); }));
    same("maximum", si::fused([](auto x) { return max(x, si::last_axis); }));
    same("logsumexp", si::fused([](auto x) { return logsumexp(x, si::last_axis); }));
    same("variance", si::fused([](auto x) { return variance(x, si::last_axis); }));
}
