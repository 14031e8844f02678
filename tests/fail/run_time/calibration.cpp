// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a calibration refuses when it runs: each gives its code, and no file is written. Prints what differs; silent when all is well.
#include <sinter/sinter.hpp>
#include <sinter/calibrate.hpp>

#include <cstdio>
#include <string>

namespace si = sinter;

namespace {
inline constexpr auto layer = si::fused([](auto x, auto w) { return relu(sum(si::unsqueeze<1>(x) * w, si::last_axis, si::drop)); });
inline constexpr auto scheme = si::quantizer([](si::node_facts value) {
    return value.input == 0 ? si::choose::own(si::observer::histogram, si::code_kind::i8, si::scheme::absmax_127) : si::choose::nothing();
});
inline constexpr auto twice = si::fused([](auto x) { return x * 2; });
inline constexpr auto by_rows = si::quantizer([](si::node_facts value) {
    return value.input == 0 ? si::choose::own(si::observer::absmax, si::code_kind::i8, si::scheme::absmax_127).per_axis(0) : si::choose::nothing();
});

int wrong = 0;
void expect(const char* code, const std::string& got) {
    if (got.find("[SINTER-" + std::string(code) + "]") != std::string::npos) return;
    std::printf("expected %s, got %s\n", code, got.c_str());
    ++wrong;
}
}  // namespace

int main() {
    float x[6] = {1, 2, 3, -4, 5, 6}, w[6] = {1, 3, 5, -2, -4, -7}, y[4];
    const auto in = si::view(x, si::extents<2, 3>{}), weights = si::view(w, si::extents<2, 3>{});
    const auto out = si::view(y, si::extents<2, 2>{});
    auto seen = si::calibrate(layer, scheme, in, weights);
    expect("K011", seen.results().status.message());  // SINTER-K011: no call was observed
    x[1] = __builtin_nanf("");
    expect("K012", seen.observe(si::reference, out, in, weights).message());  // SINTER-K012: a NaN
    x[1] = __builtin_huge_valf();
    expect("K013", seen.observe(si::reference, out, in, weights).message());  // SINTER-K013: an infinity
    x[1] = 2;
    (void)seen.observe(si::reference, out, in, weights);
    expect("K014", seen.results().status.message());  // SINTER-K014: a histogram needs the data twice
    seen.second_pass();
    (void)seen.observe(si::reference, out, in, weights);
    const si::calibration_results found = seen.results();
    if (!found.ok()) std::printf("a calibration of two passes: %s\n", found.status.message().c_str()), ++wrong;
    expect("K015", si::export_calibration(found, "no such folder/file", "layer").message());  // SINTER-K015: no such folder
    float z[6];
    const auto of = [](float* at, int rows) { return si::view(at, si::extents<si::dyn, 2>(rows)); };
    auto of_rows = si::calibrate(twice, by_rows, of(x, 2));
    (void)of_rows.observe(si::reference, of(z, 2), of(x, 2));
    expect("K016", of_rows.observe(si::reference, of(z, 3), of(x, 3)).message());  // SINTER-K016: three rows after two
    return wrong;
}
