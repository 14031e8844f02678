// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of games and robots, each one kernel without an allocation: particles that bounce, a camera's image as planes, a depth image as
// points, the nearest landmark of every point, intervals that overlap. docs/recipes.md explains them.
#include <sinter/backend/cpu.hpp>
#include <sinter/sinter.hpp>

#include <cstdio>

namespace si = sinter;

// [particles]
inline constexpr auto fall = si::fused([](auto height, auto speed, auto seconds) {
    const auto falling = speed - 9.81f * seconds, next = height + falling * seconds;
    const auto bounces = next < 0.0f;
    return si::outputs(abs(next), si::where(bounces, -0.8f * falling, falling));
});
// [/particles]
// [planes]
inline constexpr auto to_planes = si::fused([](auto image, auto mean, auto scale) {
    return (si::cast<float>(si::permute<2, 0, 1>(image)) - mean) * scale;
});
// [/planes]
// [points]
inline constexpr auto to_points = si::fused([](auto depth, auto focal, auto centre_x, auto centre_y) {
    const auto z = si::cast<float>(depth) * 0.001f;  // millimetres
    const auto column = si::cast<float>(si::iota<-1>(depth)), row = si::cast<float>(si::iota<-2>(depth));
    return si::outputs((column - centre_x) * z / focal, (row - centre_y) * z / focal, z);
});
// [/points]
// [nearest]
inline constexpr auto nearest = si::fused([](auto x, auto y, auto landmark_x, auto landmark_y) {
    const auto dx = si::unsqueeze<-1>(x) - landmark_x, dy = si::unsqueeze<-1>(y) - landmark_y;  // points by landmarks, never stored
    const auto square = dx * dx + dy * dy;
    return si::outputs(argmin(square, si::last_axis), sqrt(min(square, si::last_axis)));
});
// [/nearest]
// [overlap]
inline constexpr auto overlap = si::fused([](auto left, auto right, auto other_left, auto other_right) {
    return any(left < other_right && other_left < right, si::last_axis);
});
// [/overlap]

int main() {
    float height[5] = {1, 0.5f, 2, 0.01f, 3}, speed[5] = {0, -3, 1, -2, 0};
    // [run_particles]
    const auto h = si::view(height), v = si::view(speed);
    for (int frame = 0; frame < 60; ++frame) si::run(si::cpu, si::tie(h, v) = fall(h, v, 1.0f / 60));  // in place
    // [/run_particles]
    for (float at : height) std::printf("%.3f ", double(at));
    std::puts("metres");

    si::u8 image[2 * 4 * 3];
    for (int i = 0; i < 24; ++i) image[i] = si::u8(i * 10);
    float planes[3 * 2 * 4], mean[3] = {100, 110, 120}, scale[3] = {0.01f, 0.02f, 0.04f};
    const si::extents<3, 1, 1> channel{};
    si::run(si::cpu, si::view(planes, si::extents<3, 2, 4>{}) = to_planes(si::view(image, si::extents<2, 4, 3>{}), si::view(mean, channel), si::view(scale, channel)));
    std::printf("first of each plane: %g %g %g\n", double(planes[0]), double(planes[8]), double(planes[16]));

    si::u16 depth[3 * 4];
    for (int i = 0; i < 12; ++i) depth[i] = si::u16(1000 + 100 * i);
    float points[12 * 3];  // x, y, z beside each other
    // [run_points]
    const si::extents<3, 4> pixels{};
    const auto part = [&](int i) { return si::view(points + i, pixels, si::array<si::i64, 2>{{12, 3}}); };
    si::run(si::cpu, si::tie(part(0), part(1), part(2)) = to_points(si::view(depth, pixels), 500.0f, 1.5f, 1.0f));
    // [/run_points]
    std::printf("last point: %g %g %g\n", double(points[33]), double(points[34]), double(points[35]));

    float x[3] = {0, 5, 9}, y[3] = {0, 5, 1}, landmark_x[4] = {1, 4, 8, 0}, landmark_y[4] = {1, 4, 0, 9}, distance[3];
    si::i64 which[3];
    si::run(si::cpu, si::tie(si::view(which, si::extents<3, 1>{}), si::view(distance, si::extents<3, 1>{})) =
                         nearest(si::view(x), si::view(y), si::view(landmark_x), si::view(landmark_y)));
    for (int i = 0; i < 3; ++i) std::printf("landmark %d at %.3f  ", int(which[i]), double(distance[i]));
    std::puts("");
    float left[3] = {0, 2, 6}, right[3] = {1, 3, 7}, other_left[2] = {0.5f, 4}, other_right[2] = {1.5f, 5};
    bool hits[3];
    const si::extents<3, 1> boxes{};
    si::run(si::cpu, si::view(hits, boxes) = overlap(si::view(left, boxes), si::view(right, boxes), si::view(other_left), si::view(other_right)));
    std::printf("overlap: %d %d %d\n", hits[0], hits[1], hits[2]);
}
