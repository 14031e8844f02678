// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The classifier of handwritten digits that train.py trained: its layers as formulas, and its files. A linear layer is a
// reduction of a broadcast product, so each layer is one kernel, on every backend.
#pragma once

#include <sinter/sinter.hpp>
#include <sinter/io/npy.hpp>

#include <string>
#include <vector>

namespace digits {
namespace si = sinter;

// [layers]
/// (images, inputs), (inputs, outputs), (outputs): the inputs meet the weights along axis 1, which the sum folds.
inline constexpr auto linear = si::fused([](auto x, auto w, auto b) {
    return sum(si::unsqueeze<2>(x) * w, si::axes<1>, si::drop) + b;
});
inline constexpr auto hidden = si::fused([](auto x, auto w, auto b) { return relu(linear(x, w, b)); });
/// The first layer reads the pixels as they are stored, 0 to 16.
inline constexpr auto first = si::fused([](auto pixels, auto w, auto b) { return hidden(si::cast<float>(pixels) * 0.0625f, w, b); });
inline constexpr auto decide = si::fused([](auto scores) { return argmax(scores, si::last_axis, si::drop); });
// [/layers]

inline constexpr si::i64 pixels = 64, wide = 64, narrow = 32, classes = 10;
inline constexpr si::i64 training = 1347;  ///< images for training and calibration; the others are the test

/// Where the weights and the values between the layers are: memory of the host, or of a device.
struct weights {
    const float *w1 = nullptr, *b1 = nullptr, *w2 = nullptr, *b2 = nullptr, *w3 = nullptr, *b3 = nullptr;
};
struct values {
    float *one = nullptr, *two = nullptr, *scores = nullptr;
    si::i64* answers = nullptr;
};

/// A layer's weights and bias as views.
template <si::i64 Inputs, si::i64 Outputs, class Space, class Weight = float, class Bias = float>
struct layer {
    const Weight* weights;
    const Bias* bias;
    auto w() const { return si::tensor_view<const Weight, si::extents<Inputs, Outputs>, si::row_major, Space>(weights); }
    auto b() const { return si::tensor_view<const Bias, si::extents<Outputs>, si::row_major, Space>(bias); }
};

/// What the files hold.
struct files {
    si::npy_array array[8];
    weights net;
    const si::u8* images = nullptr;
    const si::u8* labels = nullptr;
    si::i64 count = 0;

    /// An empty text, or what is wrong.
    std::string read(const std::string& folder) {
        const char* const names[8] = {"w1", "b1", "w2", "b2", "w3", "b3", "images", "labels"};
        for (int i = 0; i < 8; ++i) {
            si::npy_result file = si::read_npy(folder + "/" + names[i] + ".npy");
            if (!file.ok()) return file.status.message();
            array[i] = static_cast<si::npy_array&&>(file.array);
        }
        std::string wrong;
        net = {take<2>(0, {pixels, wide}, wrong), take<1>(1, {wide}, wrong),          take<2>(2, {wide, narrow}, wrong),
               take<1>(3, {narrow}, wrong),       take<2>(4, {narrow, classes}, wrong), take<1>(5, {classes}, wrong)};
        if (!wrong.empty()) return wrong;
        const auto pictures = si::npy_as<si::u8, 2>(array[6]);
        const auto answers = si::npy_as<si::u8, 1>(array[7]);
        if (!pictures.ok()) return pictures.status.message();
        if (!answers.ok()) return answers.status.message();
        if (pictures.sizes[1] != pixels || pictures.sizes[0] != answers.sizes[0] || pictures.sizes[0] <= training)
            return "images.npy and labels.npy should be (n, 64) and (n), n above 1347";
        images = pictures.pointer, labels = answers.pointer, count = pictures.sizes[0];
        return {};
    }

private:
    template <int Rank>
    const float* take(int at, const std::vector<si::i64>& sizes, std::string& wrong) {
        const auto span = si::npy_as<float, Rank>(array[at]);
        if (!span.ok())
            wrong = span.status.message();
        else if (array[at].shape != sizes)
            wrong = array[at].path + " has another shape than the network";
        return span.pointer;
    }
};

/// Runs the network on `count` images: a kernel a layer, and one that decides.
template <class Executor>
si::status run(const Executor& executor, const weights& net, const si::u8* images, si::i64 count, const values& to) {
    using space = typename Executor::memory_space;
    // [views]
    const si::tensor_view<const si::u8, si::extents<si::dyn, pixels>, si::row_major, space> x(images, count);
    const si::tensor_view<float, si::extents<si::dyn, wide>, si::row_major, space> one(to.one, count);
    const si::tensor_view<float, si::extents<si::dyn, narrow>, si::row_major, space> two(to.two, count);
    const si::tensor_view<float, si::extents<si::dyn, classes>, si::row_major, space> scores(to.scores, count);
    const si::tensor_view<si::i64, si::extents<si::dyn>, si::row_major, space> answers(to.answers, count);
    // [/views]
    const layer<pixels, wide, space> l1{net.w1, net.b1};
    const layer<wide, narrow, space> l2{net.w2, net.b2};
    const layer<narrow, classes, space> l3{net.w3, net.b3};
    // [run]
    static_assert(si::plan_of<decltype(one = first(x, l1.w(), l1.b()))>.kernels == 1);
    static_assert(si::plan_of<decltype(two = hidden(one, l2.w(), l2.b()))>.kernels == 1);
    static_assert(si::plan_of<decltype(scores = linear(two, l3.w(), l3.b()))>.kernels == 1);
    si::status said = si::try_run(executor, one = first(x, l1.w(), l1.b()));
    if (said.ok()) said = si::try_run(executor, two = hidden(one, l2.w(), l2.b()));
    if (said.ok()) said = si::try_run(executor, scores = linear(two, l3.w(), l3.b()));
    if (said.ok()) said = si::try_run(executor, answers = decide(scores));
    // [/run]
    return said;
}

}  // namespace digits
