// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of a language model's inference, each one kernel: rotary positions, SwiGLU, attention weights, rows of a cache in int8, the
// next token with its log-probability. docs/recipes.md explains them.
#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace si = sinter;
using si::bf16;
constexpr si::i64 positions = 6, heads = 2, width = 32, tokens = 1000;

// [rotate]
inline constexpr auto rotate = si::fused([](auto low, auto high, auto cosine, auto sine) {
    return si::outputs(low * cosine - high * sine, high * cosine + low * sine);
});
// [/rotate]
// [swiglu]
inline constexpr auto swiglu = si::fused([](auto gate, auto up) { return silu(gate) * up; });
// [/swiglu]
// [attention]
inline constexpr auto attention_weights = si::fused([](auto scores, auto scale) {
    const auto query = si::iota<-2>(scores), key = si::iota<-1>(scores);
    return softmax(scores * scale, key <= query);  // masked elements don't count and give 0
});
// [/attention]
// [cache]
inline constexpr auto to_cache = si::fused([](auto x) { return dynamic_quantize(x); });  // codes, and a scale for each row
// [/cache]
// [greedy]
inline constexpr auto greedy = si::fused([](auto logits) {
    return si::outputs(argmax(logits, si::last_axis), max(logits, si::last_axis) - logsumexp(logits, si::last_axis));
});
// [/greedy]
// [weights]
inline constexpr auto int8_layer = si::fused([](auto x, auto weight, auto scale, auto bias) {
    return relu(sum(si::cast<float>(weight) * x, si::last_axis, si::drop) * scale + bias);
});
// [/weights]
// [named]
inline constexpr auto codes_and_inverse = si::fused([](auto x) {
    const auto [codes, scale] = dynamic_quantize(x);  // names for a result's values, inside a lambda
    return si::outputs(codes, scale, 1.0f / scale);
});
// [/named]

int main() {
    std::vector<bf16> x(positions * heads * width), gate(x.size()), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = bf16(float(int(i * 37 % 101) - 50) * 0.02f), gate[i] = bf16(float(int(i * 53 % 97) - 48) * 0.05f);

    std::vector<float> cosine(positions * width / 2), sine(cosine.size());
    for (int p = 0; p < positions; ++p)
        for (int i = 0; i < width / 2; ++i) {
            const double angle = p * std::pow(10000.0, -2.0 * i / width);
            cosine[std::size_t(p * width / 2 + i)] = float(std::cos(angle)), sine[std::size_t(p * width / 2 + i)] = float(std::sin(angle));
        }
    // [run_rotate]
    const si::extents<positions, heads, width> sizes;
    const auto low = [&](auto from) { return si::slice<-1, 0, width / 2>(from); };
    const auto high = [&](auto from) { return si::slice<-1, width / 2, width>(from); };
    const auto angles = [&](auto& from) { return si::view(from, si::extents<positions, 1, width / 2>{}); };
    const auto in = si::view(x, sizes), out = si::view(y, sizes);
    si::run(si::cpu, si::tie(low(out), high(out)) = rotate(low(in), high(in), angles(cosine), angles(sine)));
    // [/run_rotate]
    std::printf("rotated: %g %g\n", double(float(y[2 * heads * width])), double(float(y[2 * heads * width + width / 2])));

    si::run(si::cpu, out = swiglu(si::view(gate, sizes), in));
    std::printf("gated: %g\n", double(float(y[1])));

    std::vector<float> scores(heads * positions * positions, 0.5f);
    const auto weights = si::view(scores, si::extents<heads, positions, positions>{});
    si::run(si::cpu, weights = attention_weights(weights, 0.125f));  // in place
    std::printf("weights of position 2: %g %g %g %g\n", double(scores[12]), double(scores[13]), double(scores[14]), double(scores[15]));

    std::vector<si::i8> codes(x.size());
    std::vector<float> scales(positions * heads);
    si::run(si::cpu, si::tie(si::view(codes, sizes), si::view(scales, si::extents<positions, heads, 1>{})) = to_cache(in));

    std::vector<float> inverse(scales.size());
    const si::extents<positions, heads, 1> of_rows;
    si::run(si::cpu, si::tie(si::view(codes, sizes), si::view(scales, of_rows), si::view(inverse, of_rows)) = codes_and_inverse(in));
    std::printf("cache: %d * %g, or / %g\n", codes[1], double(scales[0]), double(inverse[0]));

    const std::vector<si::i8> weight(3 * width, 2);
    const std::vector<float> token_of(width, 0.5f), scale_of{0.25f, 0.5f, -1}, bias(3, 1.0f);
    std::vector<float> layer(3);
    const si::extents<3> outputs;
    si::run(si::cpu, si::view(layer, outputs) = int8_layer(si::view(token_of, si::extents<width>{}), si::view(weight, si::extents<3, width>{}), si::view(scale_of, outputs), si::view(bias, outputs)));
    std::printf("layer: %g %g %g\n", double(layer[0]), double(layer[1]), double(layer[2]));

    std::vector<float> logits(tokens, 1.0f);
    logits[321] = 9.0f;
    si::i64 token = 0;
    float log_probability = 0;
    si::run(si::cpu, si::tie(si::view(&token, si::extents<1>{}), si::view(&log_probability, si::extents<1>{})) = greedy(si::view(logits, si::extents<tokens>{})));
    std::printf("token %d, log-probability %g\n", int(token), double(log_probability));
}
