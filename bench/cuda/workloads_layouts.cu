// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workloads of the GPU benchmark whose operands disagree about the contiguous axis, or that write slices of one output.
#include "workload.hpp"

namespace bench {
namespace {

inline constexpr auto to_planes = si::fused([](auto x, auto mean, auto scale) {
    return (si::cast<float>(si::permute<0, 3, 1, 2>(x)) * float(1 / 255.0) - mean) * scale;
});
inline constexpr auto to_points = si::fused([](auto d) {
    const auto z = si::cast<float>(d) * 0.001f;
    const auto u = si::cast<float>(si::iota<-1>(d)), v = si::cast<float>(si::iota<-2>(d));
    return si::outputs((u - 960.0f) * z * float(1 / 1400.0), (v - 540.0f) * z * float(1 / 1400.0), z);
});
inline constexpr auto rotate = si::fused([](auto low, auto high, auto cosine, auto sine) {
    const auto a = si::cast<float>(low), b = si::cast<float>(high);
    return si::outputs(a * cosine - b * sine, b * cosine + a * sine);
});

constexpr i64 height = 1080, width = 1920;
const char* planes(const call& with) {
    const auto channels = [&](int i) { return si::device_view(static_cast<const float*>(with.at[i]), si::extents<3, 1, 1>{}); };
    return said(si::try_run(executor_of(with), si::device_view(static_cast<float*>(with.at[3]), si::extents<dyn, 3, dyn, dyn>(16, height, width)) =
                                                   to_planes(si::device_view(static_cast<const u8*>(with.at[0]), si::extents<dyn, dyn, dyn, 3>(16, height, width)), channels(1), channels(2))));
}
const char* add_transposed(const call& with) {
    return said(si::try_run(executor_of(with), matrix<float, 8192>(with.at[2], 8192) = matrix<const float, 8192>(with.at[0], 8192) + transpose(matrix<const float, 8192>(with.at[1], 8192))));
}
const char* points(const call& with) {
    const si::extents<dyn, dyn, dyn> sizes(32, height, width);
    const auto out = [&](int i) {
        return si::device_view(static_cast<float*>(with.at[1]) + i, sizes, si::array<i64, 3>{{height * width * 3, width * 3, 3}});
    };
    return said(si::try_run(executor_of(with), si::tie(out(0), out(1), out(2)) = to_points(si::device_view(static_cast<const i16*>(with.at[0]), sizes))));
}
const char* rope(const call& with) {
    const si::extents<dyn, dyn, dyn, 64> sizes(4, 4096, 32);
    const auto half = [&](auto* at, int i) {
        return si::device_view(at + 64 * i, sizes, si::array<i64, 4>{{i64(4096) * 32 * 128, 32 * 128, 128, 1}});
    };
    const auto angles = [&](int i) { return si::device_view(static_cast<const float*>(with.at[i]), si::extents<dyn, 1, 64>(4096)); };
    const auto x = static_cast<const bf16*>(with.at[0]);
    const auto y = static_cast<bf16*>(with.at[3]);
    return said(si::try_run(executor_of(with), si::tie(half(y, 0), half(y, 1)) = rotate(half(x, 0), half(x, 1), angles(1), angles(2))));
}

constexpr long long n26 = 1 << 26, image = 16 * height * width * 3, depth = 32 * height * width;
constexpr workload workloads[] = {
    {"image_norm_16x1080x1920x3_u8", 3, 1, {{kind::u8, image}, {kind::f32, 3}, {kind::f32, 3}, {kind::f32, image}}, planes},
    {"transpose_add_8192_f32", 2, 1, {{kind::f32, n26}, {kind::f32, n26}, {kind::f32, n26}}, add_transposed},
    {"depth_points_32x1080x1920_i16", 1, 1, {{kind::i16, depth}, {kind::f32, depth * 3}}, points},
    {"rope_4x4096x32x128_bf16", 3, 1, {{kind::bf16, n26}, {kind::f32, 4096 * 64}, {kind::f32, 4096 * 64}, {kind::bf16, n26}}, rope},
};
}  // namespace

SINTER_BENCH_LIST(layouts);
}  // namespace bench
