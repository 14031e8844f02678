// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A handler of the user's own in place of an exception: `run` hands the status over, and is noexcept where the handler promises not to
// throw although the file has exceptions.
namespace sinter {
struct status;
}
void record(const sinter::status& problem) noexcept;
#define SINTER_THROW(status) record(status)
#define SINTER_THROW_IS_NOEXCEPT
#include <doctest/doctest.h>

#include <sinter/sinter.hpp>

namespace si = sinter;

namespace {
si::error last = si::error::none;
}  // namespace
void record(const si::status& problem) noexcept { last = problem.code(); }

TEST_CASE("run hands an error to the handler and throws nothing") {
    float data[4] = {1, 2, 3, 4};
    const auto x = si::view(data, si::extents<4>{});
    const auto nowhere = si::view(static_cast<float*>(nullptr), si::extents<4>{});
    const auto good = x = x * 2.0f;
    const auto bad = nowhere = x * 2.0f;
    static_assert(noexcept(si::run(si::reference, good)));
    si::run(si::reference, good);
    CHECK(last == si::error::none);
    CHECK(data[3] == 8);
    si::run(si::reference, bad);
    CHECK(last == si::error::null_pointer);
}
