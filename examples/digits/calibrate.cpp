// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calibrates the network for int8: runs it on the training images with observers and writes the parameters of every layer as a header
// of constants and its JSON twin, int8_one to int8_three, into a folder. The same bytes every time, with any executor.
//     example_digits_calibrate [FOLDER [WHERE]]      FOLDER: examples/digits; WHERE the files go: FOLDER
#include "network.hpp"

#include <sinter/backend/cpu.hpp>
#include <sinter/calibrate.hpp>

#include <cstdio>

#ifndef SINTER_DIGITS_FOLDER
#define SINTER_DIGITS_FOLDER "examples/digits"
#endif

namespace si = sinter;

// [quantizer]
/// u8 activations by least and greatest value, i8 weights with a scale for each output, a bias in the units of their products.
constexpr si::quantizer_choice of_weights(si::node_facts value) {
    if (value.is("input", 1)) return si::choose::own(si::observer::absmax, si::code_kind::i8, si::scheme::absmax_127).per_axis(1);
    if (value.is("input", 2)) return si::choose::derived({"input", 0}, {"input", 1});
    return si::choose::nothing();
}
inline constexpr auto of_first = si::quantizer([](si::node_facts value) {
    if (value.is("input", 0)) return si::choose::fixed(si::stored_as(si::qp(0.0625f), si::code_kind::u8));  // the pixels as they are
    if (value.output == 0) return si::choose::own(si::observer::min_max, si::code_kind::u8);
    return of_weights(value);
});
inline constexpr auto of_second = si::quantizer([](si::node_facts value) {
    if (value.is("input", 0) || value.output == 0) return si::choose::own(si::observer::min_max, si::code_kind::u8);
    return of_weights(value);
});
inline constexpr auto of_last = si::quantizer([](si::node_facts value) {
    if (value.is("input", 0)) return si::choose::own(si::observer::min_max, si::code_kind::u8);
    return of_weights(value);
});
// [/quantizer]

int main(int count, char** arguments) {
    const std::string folder = count > 1 ? arguments[1] : SINTER_DIGITS_FOLDER, where = count > 2 ? arguments[2] : folder;
    digits::files files;
    const std::string wrong = files.read(folder);
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;

    using namespace digits;
    constexpr si::i64 batch = 449;  // three calls
    std::vector<float> x(batch * pixels), one(batch * wide), two(batch * narrow), scores(batch * classes);
    const si::tensor_view<float, si::extents<si::dyn, pixels>> x_view(x.data(), batch);
    const si::tensor_view<float, si::extents<si::dyn, wide>> one_view(one.data(), batch);
    const si::tensor_view<float, si::extents<si::dyn, narrow>> two_view(two.data(), batch);
    const si::tensor_view<float, si::extents<si::dyn, classes>> scores_view(scores.data(), batch);
    const layer<pixels, wide, si::host_memory> first_layer{files.net.w1, files.net.b1};
    const layer<wide, narrow, si::host_memory> second_layer{files.net.w2, files.net.b2};
    const layer<narrow, classes, si::host_memory> last_layer{files.net.w3, files.net.b3};

    // [observe]
    auto seen_one = si::calibrate(hidden, of_first, x_view, first_layer.w(), first_layer.b());
    auto seen_two = si::calibrate(hidden, of_second, one_view, second_layer.w(), second_layer.b());
    auto seen_three = si::calibrate(linear, of_last, two_view, last_layer.w(), last_layer.b());
    si::calibration_status said;
    for (si::i64 from = 0; from < training && said.ok(); from += batch) {
        const si::tensor_view<const si::u8, si::extents<si::dyn, pixels>> images(files.images + from * pixels, batch);
        si::run(si::cpu, x_view = si::cast<float>(images) * 0.0625f);
        said = seen_one.observe(si::cpu, one_view, x_view, first_layer.w(), first_layer.b());
        if (said.ok()) said = seen_two.observe(si::cpu, two_view, one_view, second_layer.w(), second_layer.b());
        if (said.ok()) said = seen_three.observe(si::cpu, scores_view, two_view, last_layer.w(), last_layer.b());
    }
    // [/observe]
    // [export]
    if (said.ok()) said = si::export_calibration(seen_one.results(), where + "/int8_one", "layer_one", "digits");
    if (said.ok()) said = si::export_calibration(seen_two.results(), where + "/int8_two", "layer_two", "digits");
    if (said.ok()) said = si::export_calibration(seen_three.results(), where + "/int8_three", "layer_three", "digits");
    // [/export]
    if (!said.ok()) return std::puts(said.message().c_str()), 1;
    std::printf("written: int8_one, int8_two, int8_three\n");
}
