// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables, the operands that coordinates are looked up in, on the reference and the CPU, on several threads, and where a formula is cut.
#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#if defined(__linux__)
#include "lookup_cases.hpp"

namespace si = sinter;
using si::extents;

namespace {
const auto said = [](const char* name, long long size, bool holds) {
    INFO(name, " ", size);
    CHECK(holds);
};
struct backwards {
    template <class Function>
    void operator()(int count, const Function& function) const {
        for (int i = count - 1; i >= 0; --i) function(i);
    }
};
}  // namespace

TEST_CASE("the reference") { lookups::run_cases(si::reference, said); }
TEST_CASE("the CPU") { lookups::run_cases(si::cpu, said); }
TEST_CASE("parts of a row, each on a thread of its own") {
    constexpr int bytes = 997;
    using pair = si::q4x2<si::qp(1.0f)>;
    static pair q[bytes];
    for (pair& one : q) one = pair(0.0f, 1.0f);
    const auto numbers = si::packed(q, extents<bytes>{});
    REQUIRE(si::try_run(si::cpu.parallel(backwards{}, 3), numbers = numbers + 1.0f).ok());
    for (const pair& one : q) REQUIRE((one.code(0) == 1 && one.code(1) == 2));
    REQUIRE(si::try_run(si::cpu, numbers = 5.0f).ok());
    for (const pair& one : q) REQUIRE((one.code(0) == 5 && one.code(1) == 5));
}
TEST_CASE("several stages: what a later one looks up in isn't written by an early one") {
    using pair = si::q4x2<si::qp(1.0f)>;
    pair w[8];
    si::u8 before[8];
    for (int i = 0; i < 8; ++i) w[i] = pair(float(i % 3 + 1), float(i % 2 + 1)), before[i] = w[i].codes;
    float columns[8], x[16] = {};
    const auto numbers = si::packed(w, extents<2, 4>{});
    const auto by_rows = numbers / sum(numbers * 1.0f, si::axes<1>);
    const auto status = si::try_run(si::split(si::cpu), numbers = by_rows, si::view(columns, extents<1, 8>{}) = sum(numbers * 1.0f, si::axes<0>));
    CHECK(status.code() == si::error::overlap);
    for (int i = 0; i < 8; ++i) CHECK(w[i].codes == before[i]);
    CHECK(si::try_run(si::split(si::cpu), si::view(x, extents<2, 8>{}) = by_rows, si::view(columns, extents<1, 8>{}) = sum(numbers * 1.0f, si::axes<0>)).ok());
    CHECK(columns[0] == w[0].value(0) + w[4].value(0));
}
#endif
