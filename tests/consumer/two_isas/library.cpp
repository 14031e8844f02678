// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One source, built into a static library per instruction set: -DLIBRARY=<its name>.
#include "formulas.hpp"
#include <sinter/backend/cpu.hpp>
#include <sinter/calibrate.hpp>
#include <sinter/explain.hpp>
#include <sinter/print.hpp>

#include <cstring>

namespace {
void chain(input x, input w, matrix y) { si::run(si::cpu, y = formulas::chain(x, w)); }
void norm(input x, input w, matrix y, per_row top) { si::run(si::cpu, si::tie(y, top) = formulas::norm(x, w)); }
void statistics(input x, per_row variance, index_per_row where) { si::run(si::cpu, si::tie(variance, where) = formulas::statistics(x)); }
void columns(bf16_input x, per_column y) { si::run(si::cpu, y = formulas::columns(x)); }
void halves(strided_input x, half_matrix y) { si::run(si::cpu, y = si::cast<si::f16>(softmax(x))); }
void fixed(const_small x, small y) { si::run(si::cpu, y = gelu(x) + 0.25f); }
void relay(const library& other, input x, input w, matrix between, matrix y) {
    si::run(si::cpu, between = formulas::chain(x, w));
    other.chain(between, w, y);
}
float total(input x) { return si::eval(si::cpu, sum(x * 0.5f)); }
si::tensor<float, si::extents<si::dyn, si::dyn>> doubled(input x) { return si::eval(si::cpu, x * 2.0f); }
si::status split(input x, matrix y) { return si::try_run(si::split(si::cpu), y = formulas::parts(x)); }
si::status by_reference(input x, input w, matrix y) { return si::try_run(si::reference, y = formulas::chain(x, w)); }
si::status wrong(input x, matrix y) { return si::try_run(si::cpu, y = relu(x)); }
bool throws(input x, matrix y) {
    try {
        si::run(si::cpu, y = relu(x));
    } catch (const si::run_error& caught) {
        return !caught.get_status().ok() && caught.what()[0] == '[';
    }
    return false;
}
void throws_through(input x, matrix y) { si::run(si::cpu, y = relu(x)); }
/// What is printed of a tensor and of a formula.
int says(input x, char* text, int capacity) {
    const auto plan = si::explanation(x * 2.0f + sum(x));
    std::strncpy(text, plan.c_str(), std::size_t(capacity - 1));
    const int length = int(std::strlen(text));
    return length + si::to_text(x, text + length, capacity - length);
}
inline constexpr auto each_observer = si::quantizer([](si::node_facts value) {
    if (value.input == 0) return si::choose::own(si::observer::mse, si::code_kind::i8);
    if (value.input == 1) return si::choose::own(si::observer::absmax, si::code_kind::i8, si::scheme::absmax_127).per_axis(0);
    if (value.output == 0) return si::choose::own(si::observer::histogram, si::code_kind::u8);
    return si::choose::own(si::observer::percentile, si::code_kind::i8, si::scheme::absmax_127_5);
});
/// Both files' texts, one behind the other; 0 where something is refused.
int calibrates(input x, input w, matrix y, char* text, int capacity) {
    auto seen = si::calibrate(formulas::watched, each_observer, x, w);
    if (!seen.observe(si::cpu, y, x, w).ok()) return 0;
    seen.second_pass();
    if (!seen.observe(si::cpu, y, x, w).ok()) return 0;
    const si::calibration_results found = seen.results();
    if (!found.ok() || si::export_calibration(found, "no such folder/file", "none").ok()) return 0;
    const std::string header = si::calibration_header(found, "both"), twin = si::calibration_json(found, "both");
    return std::snprintf(text, std::size_t(capacity), "%s%s", header.c_str(), twin.c_str());
}
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
}  // namespace

extern const library LIBRARY;
const library LIBRARY{TEXT(LIBRARY), chain, norm, statistics, columns, halves, fixed, relay, total, doubled, split, by_reference, wrong, throws, throws_through, says, calibrates};
