// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The network of network.hpp on integer codes, with the parameters that calibrate.cpp found: the same formulas, converted. Weights and
// activations are 8-bit codes, sums are exact integers, and a layer is one kernel as before.
#pragma once

#include "int8_one.hpp"
#include "int8_three.hpp"
#include "int8_two.hpp"
#include "network.hpp"

#include <sinter/calibrate_convert.hpp>

namespace digits {

// [convert]
inline constexpr auto first8 = si::convert<layer_one>(hidden);
inline constexpr auto hidden8 = si::convert<layer_two>(hidden);
inline constexpr auto linear8 = si::convert<layer_three>(linear);
// [/convert]

/// Codes of the weights and biases, and the weights' scales; in memory of the host or of a device.
struct weights_int8 {
    const si::i8 *w1 = nullptr, *w2 = nullptr, *w3 = nullptr;
    const si::i32 *b1 = nullptr, *b2 = nullptr, *b3 = nullptr;
    const float *s1 = nullptr, *s2 = nullptr, *s3 = nullptr;
};
struct values_int8 {
    si::u8 *one = nullptr, *two = nullptr;
    float* scores = nullptr;
    si::i64* answers = nullptr;
};

/// The codes, made of the f32 weights when the program starts.
struct files_int8 {
    std::vector<si::i8> w1, w2, w3;
    std::vector<si::i32> b1, b2, b3;
    weights_int8 net;

    void make(const weights& from) {
        make<layer_one, pixels, wide>(from.w1, from.b1, w1, b1);
        make<layer_two, wide, narrow>(from.w2, from.b2, w2, b2);
        make<layer_three, narrow, classes>(from.w3, from.b3, w3, b3);
        net = {w1.data(), w2.data(), w3.data(), b1.data(), b2.data(), b3.data(),
               layer_one::scales_of_input_1.item, layer_two::scales_of_input_1.item, layer_three::scales_of_input_1.item};
    }

private:
    template <class Calibration, si::i64 Inputs, si::i64 Outputs>
    static void make(const float* w, const float* b, std::vector<si::i8>& w_codes, std::vector<si::i32>& b_codes) {
        using matrix = si::extents<Inputs, Outputs>;
        using row = si::extents<Outputs>;
        w_codes.resize(std::size_t(Inputs * Outputs)), b_codes.resize(std::size_t(Outputs));
        const si::tensor_view<const float, row> w_scale(Calibration::scales_of_input_1.item), b_scale(Calibration::scales_of_input_2.item);
        // [codes]
        si::run(si::reference, si::tensor_view<si::i8, matrix>(w_codes.data()) =
                                   si::cast<si::i8>(clamp(round(si::tensor_view<const float, matrix>(w) / w_scale), -127.0f, 127.0f)));
        si::run(si::reference, si::tensor_view<si::i32, row>(b_codes.data()) = si::cast<si::i32>(round(si::tensor_view<const float, row>(b) / b_scale)));
        // [/codes]
    }
};

/// Runs the network on `count` images: the pixels are the first layer's codes.
template <class Executor>
si::status run(const Executor& executor, const weights_int8& net, const si::u8* images, si::i64 count, const values_int8& to) {
    using space = typename Executor::memory_space;
    const si::tensor_view<const si::u8, si::extents<si::dyn, pixels>, si::row_major, space> x(images, count);
    const si::tensor_view<si::u8, si::extents<si::dyn, wide>, si::row_major, space> one(to.one, count);
    const si::tensor_view<si::u8, si::extents<si::dyn, narrow>, si::row_major, space> two(to.two, count);
    const si::tensor_view<float, si::extents<si::dyn, classes>, si::row_major, space> scores(to.scores, count);
    const si::tensor_view<si::i64, si::extents<si::dyn>, si::row_major, space> answers(to.answers, count);
    const layer<pixels, wide, space, si::i8, si::i32> l1{net.w1, net.b1};
    const layer<wide, narrow, space, si::i8, si::i32> l2{net.w2, net.b2};
    const layer<narrow, classes, space, si::i8, si::i32> l3{net.w3, net.b3};
    const si::tensor_view<const float, si::extents<wide>, si::row_major, space> s1(net.s1);
    const si::tensor_view<const float, si::extents<narrow>, si::row_major, space> s2(net.s2);
    const si::tensor_view<const float, si::extents<classes>, si::row_major, space> s3(net.s3);
    // [run]
    static_assert(si::plan_of<decltype(one = first8(x, l1.w(), l1.b(), s1))>.kernels == 1);
    static_assert(si::plan_of<decltype(two = hidden8(one, l2.w(), l2.b(), s2))>.kernels == 1);
    static_assert(si::plan_of<decltype(scores = linear8(two, l3.w(), l3.b(), s3))>.kernels == 1);
    si::status said = si::try_run(executor, one = first8(x, l1.w(), l1.b(), s1));
    if (said.ok()) said = si::try_run(executor, two = hidden8(one, l2.w(), l2.b(), s2));
    if (said.ok()) said = si::try_run(executor, scores = linear8(two, l3.w(), l3.b(), s3));
    if (said.ok()) said = si::try_run(executor, answers = decide(scores));
    // [/run]
    return said;
}

}  // namespace digits
