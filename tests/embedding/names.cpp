// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sinter beside names of a user's own: functions before the includes that would take its lanes, and names after `using namespace`.
// (scripts/header_alone has every name; here results are compared.)
template <class Type>
auto lower_lanes(Type x) {
    return x;
}
template <class Type>
auto upper_lanes(Type x) {
    return x;
}
template <class Type>
auto round_to_f16(Type x) {
    return x + x;
}
template <class Type>
auto gelu(Type&& x) {
    return x * 2;
}
inline constexpr auto silu = [](auto x) { return x + x; };
struct any_function {
    template <class... Any>
    constexpr int operator()(Any&&...) const {
        return 7;
    }
};
inline constexpr any_function exchange, fms, neg, sub;

#include <doctest/doctest.h>

#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cstring>
#include <functional>
#include <set>
#include <vector>

using namespace std;
using namespace sinter;

namespace {
int first = 1;
struct store {};
enum step_of { add, mul };
const int bits = 3;
}  // namespace

TEST_CASE("a user's names are neither taken nor in the way") {
    set<int, less<int>> ordered{3, first, bits};
    CHECK((*ordered.begin() == 1 && bit_and<int>{}(6, 3) == 2 && add == 0 && mul == 1 && sizeof(store) == 1));
    vector<float> x(1000), y(1000), wanted(1000);
    for (size_t i = 0; i < x.size(); ++i) x[i] = float(i) * 0.013f - 5.7f;
    float total = 0, wanted_total = 0;
    run(cpu, view(y) = sinter::gelu(view(x)) + sinter::silu(-view(x)) + sinter::cast<f16>(view(x)),
        view(&total, extents<1>{}) = sinter::sum(view(x) * view(x), last_axis));
    run(reference, view(wanted) = sinter::gelu(view(x)) + sinter::silu(-view(x)) + sinter::cast<f16>(view(x)),
        view(&wanted_total, extents<1>{}) = sinter::sum(view(x) * view(x), last_axis));
    CHECK(memcmp(y.data(), wanted.data(), 4 * x.size()) == 0);
    CHECK(memcmp(&total, &wanted_total, 4) == 0);
}
