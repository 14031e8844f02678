// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts on the emulated device: operands that disagree about the contiguous axis (tiles through shared memory), static row lengths
// whose threads test nothing, outputs that are slices of one tensor, columns held in registers, indices, short lines in place. Bits as the reference.
#include "emulated.hpp"
#include "numbers.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;

template <class Type>
bool equal(const std::vector<Type>& a, const std::vector<Type>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Type)) == 0;
}

/// Two operands, `y` as the formula turns it, and one output of x's shape.
template <class Type, class Sizes, class Turned, class Formula>
void tiled(const char* name, const Sizes& sizes, const Turned& turned, const Formula& formula) {
    const i64 count = sizes.sizes().count();
    std::vector<Type> x = numbers<Type>(count, 1), y = numbers<Type>(count, 2), found(x.size()), wanted(x.size());
    const auto device = [](auto& of, const auto& shape) { return si::device_view(of.data(), shape); };
    const auto host = [](auto& of, const auto& shape) { return si::view(of.data(), shape); };
    const bool ran = si::try_run(emulated::executor{}, device(found, sizes) = formula(device(x, sizes), device(y, turned))).ok() &&
                     si::try_run(si::reference, host(wanted, sizes) = formula(host(x, sizes), host(y, turned))).ok();
    check(name, count, ran && equal(found, wanted));
}
inline constexpr auto with_transposed = si::fused([](auto x, auto y) { return x * 2.0f + transpose(y) * si::cast<float>(si::iota<-1>(x)); });
inline constexpr auto with_row = si::fused([](auto x, auto y) { return x * y + transpose(y) * si::cast<float>(si::iota<-2>(x)); });
inline constexpr auto with_permuted = si::fused([](auto x, auto y) { return x - si::permute<1, 2, 0>(y); });

template <class Type, i64 Length, class Formula>
void whole(const char* name, i64 rows, const Formula& formula) {
    const si::extents<dyn, Length> sizes(rows);
    const si::extents<Length> line;
    std::vector<Type> x = numbers<Type>(rows * Length, 3), w = numbers<Type>(Length, 4), found(x.size()), wanted(x.size());
    const bool ran = si::try_run(emulated::executor{}, si::device_view(found.data(), sizes) = formula(si::device_view(x.data(), sizes), si::device_view(w.data(), line))).ok() &&
                     si::try_run(si::reference, si::view(wanted.data(), sizes) = formula(si::view(x.data(), sizes), si::view(w.data(), line))).ok();
    check(name, Length, ran && equal(found, wanted));
}
inline constexpr auto normalized = si::fused([](auto x, auto w) { return si::layer_norm(x, w, 1e-5f) + softmax(x * w); });
inline constexpr auto masked = si::fused([](auto x, auto w) { return softmax(x, si::iota<-1>(x) <= si::iota<-2>(x) * 100) * w; });

void columns(i64 rows, i64 width) {
    const si::extents<dyn, dyn> sizes(rows, width);
    const si::extents<1, dyn> line(width);
    std::vector<float> x = numbers<float>(rows * width, 5), found[2], wanted[2];
    for (auto* of : {found, wanted})
        for (int o = 0; o < 2; ++o) of[o].resize(std::size_t(width));
    const auto formula = si::fused([](auto v) { return si::outputs(variance(v, si::axes<0>), mean(v * v, si::axes<0>)); });
    const bool ran = si::try_run(emulated::executor{}, si::tie(si::device_view(found[0].data(), line), si::device_view(found[1].data(), line)) =
                                                           formula(si::device_view(x.data(), sizes))).ok() &&
                     si::try_run(si::reference, si::tie(si::view(wanted[0].data(), line), si::view(wanted[1].data(), line)) = formula(si::view(x.data(), sizes))).ok();
    check("variance of columns", rows, ran && equal(found[0], wanted[0]) && equal(found[1], wanted[1]));
}
void indices(i64 length, float everywhere, bool with_nan) {
    const si::extents<dyn, dyn> sizes(3, length);
    const si::extents<dyn, 1> each(3);
    std::vector<float> x = numbers<float>(3 * length, 6);
    for (i64 i = 0; i < length; ++i) x[std::size_t(i)] = everywhere;
    if (with_nan) x[std::size_t(length + length / 2)] = __builtin_nanf("");
    std::vector<i64> found[4], wanted[4];
    for (int o = 0; o < 4; ++o) found[o].assign(3, -7), wanted[o].assign(3, -7);
    const auto formula = si::fused([](auto v) {
        return si::outputs(argmax(v, si::last_axis), argmin(v, si::last_axis), si::argmax<si::pick::last>(v, si::last_axis), si::argmin<si::pick::last>(v, si::last_axis));
    });
    const bool ran =
        si::try_run(emulated::executor{}, si::tie(si::device_view(found[0].data(), each), si::device_view(found[1].data(), each), si::device_view(found[2].data(), each),
                                                  si::device_view(found[3].data(), each)) = formula(si::device_view(x.data(), sizes))).ok() &&
        si::try_run(si::reference, si::tie(si::view(wanted[0].data(), each), si::view(wanted[1].data(), each), si::view(wanted[2].data(), each),
                                           si::view(wanted[3].data(), each)) = formula(si::view(x.data(), sizes))).ok();
    bool same = ran;
    for (int o = 0; o < 4; ++o) same = same && equal(found[o], wanted[o]);
    // The first row holds one value: the first and the last index.
    check("indices", length, same && wanted[0][0] == 0 && wanted[1][0] == 0 && wanted[2][0] == length - 1 && wanted[3][0] == length - 1);
    if (with_nan) check("indices of a NaN", length, wanted[0][1] == length / 2 && wanted[3][1] == length / 2);
}
/// Interleaved slices of one tensor as two outputs, in steps of elements and of runs.
void slices(i64 rows, i64 length, bool runs) {
    std::vector<float> x = numbers<float>(rows * length, 8), found(x.size() * 2), wanted(x.size() * 2);
    const si::extents<dyn, dyn> sizes(rows, length);
    const si::array<i64, 2> steps = runs ? si::array<i64, 2>{{2 * length, 1}} : si::array<i64, 2>{{2 * length, 2}};
    const i64 second = runs ? length : 1;
    const auto formula = si::fused([](auto v) { return si::outputs(v + 1.0f, v * 3.0f); });
    const bool ran = si::try_run(emulated::executor{}, si::tie(si::device_view(found.data(), sizes, steps), si::device_view(found.data() + second, sizes, steps)) =
                                                           formula(si::device_view(x.data(), sizes))).ok() &&
                     si::try_run(si::reference, si::tie(si::view(wanted.data(), sizes, steps), si::view(wanted.data() + second, sizes, steps)) =
                                                    formula(si::view(x.data(), sizes))).ok();
    check("slices", rows, ran && equal(found, wanted) && found[0] == x[0] + 1.0f && found[std::size_t(second)] == x[0] * 3.0f);
}

/// Comparisons of the place in a row with a number of the row, within it and beyond 32 bits.
template <i64 Length>
void places() {
    const i64 rows = 11;
    const si::extents<dyn, Length> sizes(rows);
    const si::extents<dyn, 1> each(rows);
    std::vector<float> x = numbers<float>(rows * Length, 13), found[2], wanted[2];
    for (auto* of : {found, wanted})
        for (int o = 0; o < 2; ++o) of[o].resize(x.size());
    std::vector<i64> t{5, -1, Length, (i64(1) << 32) + 3, INT64_MIN, INT64_MAX, Length - 1, 0, 77, 0x7fffffff, 64};
    const auto formula = si::fused([](auto v, auto target) {
        const auto at = si::iota<-1>(v);
        return si::outputs(v * sum(where(at == target, v, 0.0f), si::last_axis) + sum(where(target < at, v, 1.0f), si::last_axis), where(at >= target, v, 0.0f) * where(at != 40, v, 2.0f));
    });
    const bool ran = si::try_run(emulated::executor{}, si::tie(si::device_view(found[0].data(), sizes), si::device_view(found[1].data(), sizes)) =
                                                           formula(si::device_view(x.data(), sizes), si::device_view(t.data(), each))).ok() &&
                     si::try_run(si::reference, si::tie(si::view(wanted[0].data(), sizes), si::view(wanted[1].data(), sizes)) =
                                                    formula(si::view(x.data(), sizes), si::view(t.data(), each))).ok();
    check("places", Length, ran && equal(found[0], wanted[0]) && equal(found[1], wanted[1]));
}
/// Functions whose stored bits a rounding test decides. (The host has no approximations; that elements in doubt are found and put back is
/// tested here, the bounds by kernels.cu.)
void rounded(i64 length) {
    const si::extents<dyn> sizes(length);
    std::vector<si::bf16> x = numbers<si::bf16>(length, 14), y = numbers<si::bf16>(length, 15), found(x.size()), wanted(x.size());
    for (i64 i = 0; i < length; ++i) {
        const float extreme[] = {-6.0f, -11.0f, 1e-40f, __builtin_huge_valf(), -__builtin_huge_valf(), 0.0f};
        if (i % 9 == 4) x[std::size_t(i)] = si::convert<si::bf16>(extreme[i % 6]);
    }
    const auto formula = si::fused([](auto v, auto w) { return silu(v) * w * sigmoid(w); });
    const bool ran = si::try_run(emulated::executor{}, si::device_view(found.data(), sizes) = formula(si::device_view(x.data(), sizes), si::device_view(y.data(), sizes))).ok() &&
                     si::try_run(si::reference, si::view(wanted.data(), sizes) = formula(si::view(x.data(), sizes), si::view(y.data(), sizes))).ok();
    check("rounding test", length, ran && equal(found, wanted));
}
/// So much that every thread has all its packs, and nothing is tested: rows side by side or apart, an operand of a row's length and numbers of
/// the row. Beside them what the general kernel takes: elements that fill no pack, packs that don't fill the threads, memory that isn't aligned,
/// formulas of few instructions.
template <class Type, class Formula>
void even(const char* name, const Formula& formula, i64 rows, i64 length, i64 pitch, i64 shift, int blocks) {
    const si::extents<dyn, dyn> sizes(rows, length);
    const si::extents<dyn> line(length);
    const si::array<i64, 2> strides{{pitch, 1}};
    std::vector<Type> x = numbers<Type>(rows * pitch + shift, 20), w = numbers<Type>(length, 21), found(x.size()), wanted(x.size());
    const auto on_host = [&](Type* from) { return si::tensor_view<Type, si::extents<dyn, dyn>, si::strided>(from + shift, sizes, strides); };
    const bool ran = si::try_run(emulated::executor{}, si::device_view(found.data() + shift, sizes, strides) =
                                                           formula(si::device_view(x.data() + shift, sizes, strides), si::device_view(w.data(), line))).ok() &&
                     si::try_run(si::reference, on_host(wanted.data()) = formula(on_host(x.data()), si::view(w.data(), line))).ok();
    check(name, length, ran && equal(found, wanted));
    if (blocks > 0) check("blocks of threads with all their packs", length, int(gridDim.x) == blocks);
}
void even_packs() {
    const auto gated = si::fused([](auto v, auto w) { return silu(v) * w; });
    const auto scaled = si::fused([](auto v, auto w) { return silu(v * si::cast<float>(si::iota<-2>(v))) + w; });
    const auto added = si::fused([](auto v, auto w) { return v + w; });
    even<si::bf16>("even packs, a rounding test", gated, 70, 4096, 4096, 0, 1);
    even<si::bf16>("even packs, a rounding test, short rows", gated, 281, 1024, 1024, 0, 1);
    even<si::bf16>("even packs, a rounding test, rows apart", gated, 70, 4096, 4104, 0, 1);
    even<si::bf16>("packs that don't fill the threads", gated, 70, 4104, 4104, 0, 0);
    even<si::bf16>("packs that aren't aligned", gated, 70, 4096, 4096, 1, 0);
    even<si::bf16>("elements that fill no pack", gated, 70, 4093, 4093, 0, 0);
    even<float>("even packs of f32", scaled, 70, 2048, 2048, 0, 2);
    even<float>("even packs of f32, rows apart", scaled, 70, 2048, 2056, 0, 2);
    even<float>("f32 that fill no pack", scaled, 70, 2047, 2047, 0, 0);
    even<float>("few instructions", added, 70, 2048, 2048, 0, 0);
}
/// Channels that lie innermost to planes, and short rows with several loops around them.
void short_steps(i64 height, i64 width) {
    const auto planes = si::fused([](auto v, auto m) { return si::cast<float>(si::permute<0, 3, 1, 2>(v)) * 0.25f - m; });
    std::vector<si::u8> image(std::size_t(2 * height * width * 3));
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = si::u8(i * 37 + i / 11);
    std::vector<float> m = numbers<float>(3, 16), found(image.size()), wanted(image.size());
    const si::extents<dyn, dyn, dyn, 3> from(2, height, width);
    const si::extents<dyn, 3, dyn, dyn> to(2, height, width);
    const si::extents<3, 1, 1> channel;
    bool ran = si::try_run(emulated::executor{}, si::device_view(found.data(), to) = planes(si::device_view(image.data(), from), si::device_view(m.data(), channel))).ok() &&
               si::try_run(si::reference, si::view(wanted.data(), to) = planes(si::view(image.data(), from), si::view(m.data(), channel))).ok();
    check("planes of an image", width, ran && equal(found, wanted));
    const auto rotate = si::fused([](auto v, auto c) { return v * c + si::cast<float>(si::iota<1>(v)); });
    const si::extents<dyn, dyn, dyn, dyn> sizes(3, height, 5, 64);
    const si::extents<dyn, 1, dyn> angles(height, 64);
    std::vector<float> x = numbers<float>(3 * height * 5 * 64, 17), c = numbers<float>(height * 64, 18), turned(x.size()), rotated(x.size());
    ran = si::try_run(emulated::executor{}, si::device_view(turned.data(), sizes) = rotate(si::device_view(x.data(), sizes), si::device_view(c.data(), angles))).ok() &&
          si::try_run(si::reference, si::view(rotated.data(), sizes) = rotate(si::view(x.data(), sizes), si::view(c.data(), angles))).ok();
    check("short rows", height, ran && equal(turned, rotated));
}
/// Sums of columns in whole packs, of which a thread has several segments.
template <class Type>
void packed(i64 rows, i64 width) {
    const si::extents<dyn, dyn> sizes(rows, width);
    const si::extents<1, dyn> line(width);
    std::vector<Type> x = numbers<Type>(rows * width, 19);
    std::vector<float> found[2], wanted[2];
    for (auto* of : {found, wanted})
        for (int o = 0; o < 2; ++o) of[o].resize(std::size_t(width));
    const auto formula = si::fused([](auto v) { return si::outputs(sum(si::cast<float>(v) * 0.5f, si::axes<0>), max(si::cast<float>(v), si::axes<0>)); });
    const bool ran = si::try_run(emulated::executor{}, si::tie(si::device_view(found[0].data(), line), si::device_view(found[1].data(), line)) =
                                                           formula(si::device_view(x.data(), sizes))).ok() &&
                     si::try_run(si::reference, si::tie(si::view(wanted[0].data(), line), si::view(wanted[1].data(), line)) = formula(si::view(x.data(), sizes))).ok();
    check("columns in packs", rows, ran && equal(found[0], wanted[0]) && equal(found[1], wanted[1]));
}

/// Costly values that depend on the lane alone.
void scaled_channels(i64 rows, i64 length) {
    const si::extents<dyn, dyn> sizes(rows, length);
    const si::extents<dyn> line(length);
    std::vector<si::bf16> x = numbers<si::bf16>(rows * length, 9), found(x.size()), wanted(x.size());
    std::vector<float> v = numbers<float>(length, 10), w = numbers<float>(length, 11);
    const auto formula = si::fused([](auto a, auto variance, auto weight) {
        return relu(si::cast<float>(a) * (rsqrt(abs(variance) + 1e-5f) * weight) + si::cast<float>(si::iota<-2>(a)));
    });
    const bool ran = si::try_run(emulated::executor{}, si::device_view(found.data(), sizes) = formula(si::device_view(x.data(), sizes), si::device_view(v.data(), line),
                                                                                                      si::device_view(w.data(), line))).ok() &&
                     si::try_run(si::reference, si::view(wanted.data(), sizes) = formula(si::view(x.data(), sizes), si::view(v.data(), line), si::view(w.data(), line))).ok();
    check("channels", rows, ran && equal(found, wanted));
}
/// Codes of 8 bits, saturated and of NaN.
void codes(i64 length) {
    const si::extents<dyn> line(length);
    std::vector<float> x = numbers<float>(length, 12);
    for (i64 i = 0; i < length; ++i) x[std::size_t(i)] *= i % 5 == 0 ? 1e4f : 100.0f;
    x[0] = __builtin_nanf("");
    std::vector<si::i8> found(x.size()), wanted(x.size());
    std::vector<si::u8> found_u(x.size()), wanted_u(x.size());
    const auto formula = si::fused([](auto v) { return si::outputs(si::cast<si::i8>(v * 2.0f), si::cast<si::u8>(si::cast<float>(si::cast<si::i8>(v)) + 7.0f)); });
    const bool ran = si::try_run(emulated::executor{}, si::tie(si::device_view(found.data(), line), si::device_view(found_u.data(), line)) = formula(si::device_view(x.data(), line))).ok() &&
                     si::try_run(si::reference, si::tie(si::view(wanted.data(), line), si::view(wanted_u.data(), line)) = formula(si::view(x.data(), line))).ok();
    check("codes", length, ran && equal(found, wanted) && equal(found_u, wanted_u) && found[0] == 0);
}

/// Values of f32, stored as f64: a tile's values are of the type that is stored.
void wider() {
    const si::extents<dyn, dyn> sizes(64, 96), turned(96, 64);
    const std::vector<float> x = numbers<float>(64 * 96, 5), y = numbers<float>(64 * 96, 6);
    std::vector<double> found(x.size()), wanted(x.size());
    const bool ran = si::try_run(emulated::executor{}, si::device_view(found.data(), sizes) = si::device_view(x.data(), sizes) * transpose(si::device_view(y.data(), turned))).ok() &&
                     si::try_run(si::reference, si::view(wanted.data(), sizes) = si::view(x.data(), sizes) * transpose(si::view(y.data(), turned))).ok();
    check("f32 in tiles to f64", 64 * 96, ran && equal(found, wanted));
}

/// One axis, fewer packs than threads: each element is computed once, so that it may be done in place.
template <class Type>
void line_in_place(i64 count) {
    std::vector<Type> x(std::size_t(count), Type(1));
    const auto line = si::device_view(x.data(), si::extents<dyn>(count));
    const bool ran = si::try_run(emulated::executor{}, line = line + line).ok();
    check("a line in place", count, ran && equal(x, std::vector<Type>(std::size_t(count), Type(2))));
}

int main() {
    for (const i64 count : {1, 7, 33, 100, 480, 3000}) line_in_place<float>(count), line_in_place<unsigned char>(count);
    wider();
    codes(1000), codes(31);
    for (const auto& [rows, length] : {std::pair<i64, i64>{64, 64}, {70, 130}, {16, 200}, {129, 16}, {15, 40}}) {
        tiled<float>("x and a transposed y", si::extents<dyn, dyn>(rows, length), si::extents<dyn, dyn>(length, rows), with_transposed);
        tiled<si::bf16>("x and a transposed y, bf16", si::extents<dyn, dyn>(rows, length), si::extents<dyn, dyn>(length, rows), with_transposed);
        tiled<float>("x and a permuted y", si::extents<dyn, dyn, dyn>(3, rows, length), si::extents<dyn, dyn, dyn>(length, 3, rows), with_permuted);
    }
    tiled<float>("y straight and transposed", si::extents<dyn, dyn>(100, 100), si::extents<dyn, dyn>(100, 100), with_row);
    whole<si::bf16, 128>("whole rows, bf16", 21, normalized);
    whole<float, 768>("whole rows, f32", 5, normalized);
    whole<float, 1024>("whole rows, f32", 9, normalized);
    whole<si::bf16, 3072>("whole rows, bf16", 3, normalized);
    whole<float, 4096>("whole rows, f32", 2, normalized);
    whole<float, 1000>("rows that aren't whole", 3, normalized);
    whole<float, 4096>("whole masked rows, f32", 30, masked);
    for (const i64 rows : {1, 63, 64, 65, 1000, 5000}) columns(rows, 40);
    columns(3000, 33);
    for (const i64 length : {1, 5, 128, 1024, 4100}) {
        indices(length, -__builtin_huge_valf(), length > 1);
        indices(length, __builtin_huge_valf(), false);
        indices(length, 2.5f, false);
    }
    slices(3, 40, false), slices(3, 40, true), slices(1, 1, false), slices(5, 1024, false), slices(2, 5000, false), slices(1, 9000, true);
    even_packs();
    for (const i64 rows : {3, 70, 200, 1001}) scaled_channels(rows, 40), scaled_channels(rows, 33), scaled_channels(rows, 300);
    places<100>(), places<1024>(), places<3000>();
    rounded(5), rounded(4096), rounded(100003);
    short_steps(20, 70), short_steps(3, 16), short_steps(64, 64);
    for (const i64 rows : {1, 100, 700, 9000}) packed<float>(rows, 8), packed<si::bf16>(rows, 24);
    packed<float>(40000, 64);
    return tally();
}
