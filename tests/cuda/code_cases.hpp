// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Codes of 8 bits on a device, `Storage` its memory: all pairs of codes through sums that round again, floats around every threshold, and
// rows that find their own scale, ordinary and extreme ones. Bits as the reference.
#pragma once

#include "device_copy.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cstring>
#include <type_traits>
#include <vector>

namespace codes_of_device {

namespace si = sinter;
using namespace sinter::literals;
using si::i64;

template <class Type, class Extents>
auto host_view(std::vector<Type>& of, const Extents& sizes) {
    return si::tensor_view<Type, Extents>(of.data(), sizes);
}
template <class Type, class Extents>
auto host_view(const std::vector<Type>& of, const Extents& sizes) {
    return si::tensor_view<const Type, Extents>(of.data(), sizes);
}
template <class Storage, class Type, class Extents>
auto device_view(const device_copy<Storage, Type>& of, const Extents& sizes) {
    return si::tensor_view<Type, Extents, si::row_major, si::device_memory>(of.device, sizes);
}
template <class Type>
bool same_bits(const std::vector<Type>& found, const std::vector<Type>& wanted) {
    i64 wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (std::memcmp(&found[i], &wanted[i], sizeof(Type)) == 0) continue;
        if constexpr (si::detail::is_float_v<Type>)
            if (found[i] != found[i] && wanted[i] != wanted[i]) continue;  // any NaN is any other
        ++wrong;
    }
    return wrong == 0;
}
inline float of_bits(unsigned bits) { return __builtin_bit_cast(float, bits); }

/// All 256 x 256 pairs of codes: once (what a card does by little kernels), again and again to an odd length, and all but the first one, so
/// that nothing is aligned.
template <class Storage, class Left, class Right, class Result, class Formula, class Executor>
void check_pairs(const char* name, const Formula& formula, const Executor& executor) {
    constexpr i64 pairs = 65536, many = 10 * pairs + 5;
    std::vector<Left> a(many);
    std::vector<Right> b(many);
    for (std::size_t i = 0; i < std::size_t(many); ++i) {
        reinterpret_cast<unsigned char&>(a[i]) = static_cast<unsigned char>(i >> 8);
        reinterpret_cast<unsigned char&>(b[i]) = static_cast<unsigned char>(i);
    }
    std::vector<Result> wanted(many);
    bool ran = si::try_run(si::reference, host_view(wanted, si::extents<si::dyn>(pairs)) = formula(host_view(a, si::extents<si::dyn>(pairs)), host_view(b, si::extents<si::dyn>(pairs)))).ok();
    for (std::size_t i = pairs; i < std::size_t(many); ++i) wanted[i] = wanted[i - pairs];
    const device_copy<Storage, Left> left(a);
    const device_copy<Storage, Right> right(b);
    const auto check_from = [&](i64 first, i64 count) {
        const device_copy<Storage, Result> result(std::vector<Result>(static_cast<std::size_t>(many)));
        const auto part = [&](auto* of) {
            return si::tensor_view<std::remove_pointer_t<decltype(of)>, si::extents<si::dyn>, si::row_major, si::device_memory>(of + first, si::extents<si::dyn>(count));
        };
        ran = ran && si::try_run(executor, part(result.device) = formula(part(left.device), part(right.device))).ok();
        std::vector<Result> found = result.read();
        check(name, count, ran && std::memcmp(found.data() + first, wanted.data() + first, std::size_t(count)) == 0);
    };
    check_from(0, pairs);
    check_from(0, many);
    check_from(1, pairs - 1);
}
template <class Storage, class Left, class Right, class Result, class Executor>
void check_sum(const char* name, const Executor& executor) {
    check_pairs<Storage, Left, Right, Result>(name, [](const auto& x, const auto& y) { return relu(x + y); }, executor);
    check_pairs<Storage, Left, Right, Result>(name, [](const auto& x, const auto& y) { return x - y * 1.5f; }, executor);
}
inline constexpr auto sum = si::fused([](auto x, auto y) { return (si::cast<float>(x) - 3.0f) * 0.05f + (si::cast<float>(y) + 7.0f) * 0.03f; });
/// The same arithmetic written on bare codes; `Shift`: a zero point.
template <class Storage, class Left, class Right, int Shift, class Executor>
void check_written(const char* name, const Executor& executor) {
    static constexpr float low = float(si::detail::integer_min<Left>), high = float(si::detail::integer_max<Left>);
    check_pairs<Storage, Left, Right, Left>(name, si::fused([](auto x, auto y) {
        return si::cast<Left>(clamp(round(sum(x, y) * 25.0f) + float(Shift), low, high));
    }), executor);
    check_pairs<Storage, Left, Right, Left>(name, si::fused([](auto x, auto y) {
        return si::cast<Left>(clamp(round((sum(x, y) / 0.0f) * 25.0f) + float(Shift), low, high));  // infinities and NaN
    }), executor);
    check_pairs<Storage, Left, Right, Left>(name, si::fused([](auto x, auto y) { return si::cast<Left>(clamp(round(sum(x, y) * 1e6f), low, high)); }), executor);
    check_pairs<Storage, Left, Right, Left>(name, si::fused([](auto x, auto y) { return si::cast<Left>(clamp(round(sum(x, y)) + 0.5f, low, high - 1.0f)); }), executor);
}

/// Floats around every threshold of a scale, and every kind of float.
inline std::vector<float> hard_floats(float scale) {
    std::vector<float> out;
    for (int half = -600; half <= 600; ++half)
        for (int step = -4; step <= 4; ++step) {
            const unsigned middle = __builtin_bit_cast(unsigned, float(half) * 0.5f * scale);
            out.push_back(of_bits(middle + static_cast<unsigned>(half == 0 ? 0 : step)));
        }
    const unsigned kinds[] = {0x7f800000u, 0x7fc00000u, 0x7f7fffffu, 0u, 1u, 0x007fffffu, 0x00800000u, 0x4b000000u, 0x4a800001u, 0x4a000000u, 0x49ffffffu};
    for (const unsigned bits : kinds) out.push_back(of_bits(bits)), out.push_back(of_bits(bits | 0x80000000u));
    while (out.size() % 32 != 0) out.push_back(0.25f);
    return out;
}
template <class Storage, class Result, class Formula, class Executor>
void check_floats(const char* name, float scale, const Formula& formula, const Executor& executor) {
    std::vector<float> x = hard_floats(scale);
    std::vector<Result> wanted(x.size());
    const si::extents<si::dyn> line(i64(x.size()));
    const device_copy<Storage, float> from(x);
    const device_copy<Storage, Result> result(wanted);
    const bool ran = si::try_run(si::reference, host_view(wanted, line) = formula(host_view(x, line))).ok() &&
                     si::try_run(executor, device_view(result, line) = formula(device_view(from, line))).ok();
    check(name, i64(x.size()), ran && same_bits(result.read(), wanted));
}
template <class Storage, si::qparams Parameters, class Executor>
void check_scale(const char* name, const Executor& executor) {
    const float scale = Parameters.scale();
    check_floats<Storage, si::q8<Parameters>>(name, scale, [](const auto& x) { return copy(x); }, executor);
    check_floats<Storage, si::i8>(name, scale, [](const auto& x) { return si::quantize<Parameters>(x); }, executor);
    check_floats<Storage, si::i8>(name, scale, [scale](const auto& x) { return si::quantize<si::i8>(x, scale, Parameters.zero); }, executor);
    check_floats<Storage, si::i8>(name, scale, [scale](const auto& x) { return si::quantize<si::i8, -127, 127>(x, scale); }, executor);
    check_floats<Storage, si::u8>(name, scale, [scale](const auto& x) { return si::quantize<si::u8>(x, scale, 128); }, executor);
}

/// Rows of a scale of their own: ordinary ones, with a NaN, an infinity, zeros alone, subnormal, tiny and huge ones, and such whose quotients
/// lie as near to halves as floats can.
template <class Type>
std::vector<Type> rows_of(i64 rows, i64 length) {
    std::vector<Type> out;
    unsigned state = 5;
    for (i64 r = 0; r < rows; ++r) {
        const float reach = r % 12 == 3 ? 1e-37f : r % 12 == 4 ? 1e-29f : r % 12 == 5 ? 3e38f : r % 12 == 6 ? 1e-43f : r % 12 == 7 ? 1e30f : 1.0f + float(r) * 0.37f;
        for (i64 i = 0; i < length; ++i) {
            state = state * 1664525u + 1013904223u;
            float x = float(int(state)) * 0x1p-31f * reach;
            if (r % 12 >= 8) {  // scale = reach / 127
                const float half = (float(state >> 24) - 128.0f) + 0.5f;
                x = of_bits(__builtin_bit_cast(unsigned, half * (reach / 127.0f)) + (state >> 12 & 7) - 3u);
                if (i == 5) x = reach;
                if (x > reach || x < -reach) x = reach * 0.5f;
            }
            if (r % 12 == 2) x = 0.0f;
            if (r % 12 == 0 && i == 7) x = of_bits(0x7fc00000u);
            if (r % 12 == 1 && i == 9) x = of_bits(0xff800000u);
            out.push_back(si::convert<Type>(x));
        }
    }
    return out;
}
/// Rows whose scale, or whose scale's neighbours, have a significand that lies beside a multiple of 2^16 by so much: there the quotient of a
/// product and a sum decides a code just so, or doesn't (cuda_row_codes.cuh): with a significand of ones it gives other codes next to 1/2. All
/// elements are floats next to a half of it.
inline std::vector<float> rows_of_hard_scales(i64 rows, i64 length) {
    std::vector<float> out;
    const unsigned beside[] = {0, 1, 5, 30, 31, 32, 33, 40, 0xffff, 0xfffa, 0xffe1, 0xffe0, 0xffdf, 0xffd0, 0x8000, 0x1234};
    for (i64 r = 0; r < rows; ++r) {
        const unsigned power = r % 5 == 0 ? 0x3c000000u : r % 5 == 1 ? 0x0d800000u : r % 5 == 2 ? 0x5d000000u : r % 5 == 3 ? 0x0d000000u : 0x42800000u;
        const float scale = of_bits(power | (r % 32 == 8 ? 127u : unsigned(r) * 37u & 127u) << 16 | beside[r % 16]);
        float reach = 127.0f * scale;
        for (int step = -2; step <= 2; ++step)
            if (of_bits(__builtin_bit_cast(unsigned, 127.0f * scale) + unsigned(step)) / 127.0f == scale) reach = of_bits(__builtin_bit_cast(unsigned, 127.0f * scale) + unsigned(step));
        const float found = reach / 127.0f;
        for (i64 i = 0; i < length; ++i) {
            const float half = float(i * 7 % 254) - 126.5f;
            const float x = of_bits(__builtin_bit_cast(unsigned, half * found) + unsigned(i / 254 % 5) - 2u);
            out.push_back(i == 3 ? reach : x > reach || x < -reach ? 0.5f * reach : x);
        }
    }
    return out;
}
template <class Type, i64 Length, class Storage, class Formula, class Executor>
void check_these_rows(const char* name, const std::vector<Type>& x, const Formula& formula, const Executor& executor) {
    const i64 rows = i64(x.size()) / Length;
    std::vector<si::i8> wanted(x.size());
    std::vector<float> wanted_scale(static_cast<std::size_t>(rows));
    const si::extents<si::dyn, Length> matrix(rows);
    const si::extents<si::dyn, 1> column(rows);
    const device_copy<Storage, Type> from(x);
    const device_copy<Storage, si::i8> codes(wanted);
    const device_copy<Storage, float> scales(wanted_scale);
    const bool ran = si::try_run(si::reference, si::tie(host_view(wanted, matrix), host_view(wanted_scale, column)) = formula(host_view(x, matrix))).ok() &&
                     si::try_run(executor, si::tie(device_view(codes, matrix), device_view(scales, column)) = formula(device_view(from, matrix))).ok();
    check(name, Length, ran && same_bits(codes.read(), wanted) && same_bits(scales.read(), wanted_scale));
}
template <class Type, i64 Length, class Storage, class Formula, class Executor>
void check_rows(const char* name, const Formula& formula, const Executor& executor) {
    check_these_rows<Type, Length, Storage>(name, rows_of<Type>(36, Length), formula, executor);
}
/// Codes of x + x beside x + x, which takes the place of x.
template <i64 Length, class Storage, class Executor>
void check_rows_in_place(const Executor& executor) {
    constexpr i64 rows = 36;
    std::vector<float> x = rows_of<float>(rows, Length), wanted_x(x.size()), wanted_scale(rows);
    std::vector<si::i8> wanted(x.size());
    const si::extents<si::dyn, Length> matrix(rows);
    const si::extents<si::dyn, 1> column(rows);
    const device_copy<Storage, float> elements(x), scales(wanted_scale);
    const device_copy<Storage, si::i8> codes(wanted);
    const auto formula = si::fused([](auto x) {
        const auto h = x + x;
        const auto scale = max(abs(h), si::last_axis) / 127.0f;
        return si::outputs(h, si::quantize<si::i8>(h, scale), scale);
    });
    const bool ran = si::try_run(si::reference, si::tie(host_view(wanted_x, matrix), host_view(wanted, matrix), host_view(wanted_scale, column)) = formula(host_view(x, matrix))).ok() &&
                     si::try_run(executor, si::tie(device_view(elements, matrix), device_view(codes, matrix), device_view(scales, column)) = formula(device_view(elements, matrix))).ok();
    check("codes of rows beside what replaces their operand", Length,
          ran && same_bits(elements.read(), wanted_x) && same_bits(codes.read(), wanted) && same_bits(scales.read(), wanted_scale));
}
template <class Type, i64 Length, class Storage, class Executor>
void check_row_formulas(const Executor& executor) {
    check_rows<Type, Length, Storage>("dynamic codes of rows", [](const auto& x) { return si::dynamic_quantize(x); }, executor);
    check_rows<Type, Length, Storage>("dynamic codes of a norm", si::fused([](auto x) { return dynamic_quantize(si::rms_norm(x, 1e-5f)); }), executor);
    check_rows<Type, Length, Storage>("codes of rows, written out", si::fused([](auto x) {
        const auto wide = si::cast<float>(x);
        const auto scale = maximum(max(abs(wide), si::last_axis), 1e-8f) / 127.0f;
        return si::outputs(si::cast<si::i8>(clamp(round(wide / scale), -128.0f, 127.0f)), scale);
    }), executor);
    check_rows<Type, Length, Storage>("codes of rows that their scale doesn't cover", si::fused([](auto x) {
        const auto wide = si::cast<float>(x);
        const auto scale = max(abs(wide), si::last_axis) / 500.0f;
        return si::outputs(si::quantize<si::i8>(wide, scale), scale);
    }), executor);
}
/// A maximum with 0 right before codes: ptxas makes an instruction of both that a card may refuse (cuda_encode.cuh).
template <class Storage, class Code, class Executor>
void check_bounded(const char* name, const Executor& executor) {
    check_floats<Storage, Code>(name, 1.0f, si::fused([](auto x) { return si::cast<Code>(maximum(round(x), 0.0f)); }), executor);
    check_floats<Storage, Code>(name, 1.0f, si::fused([](auto x) { return si::cast<Code>(relu(x)); }), executor);
    check_floats<Storage, Code>(name, 1.0f, si::fused([](auto x) { return si::cast<Code>(clamp(round(x), 0.0f, 100.0f)); }), executor);
}
/// Everything; 0 if all is right.
template <class Storage, class Executor>
int check_all(const Executor& executor) {
    check_sum<Storage, si::q8<"0.05:3"_qp>, si::q8<"0.03:-7"_qp>, si::q8<"0.04:-5"_qp>>("sums of codes", executor);
    check_sum<Storage, si::q8<"0.05:3"_qp>, si::qu8<"0.013:7"_qp>, si::q8<"0.0773:-5"_qp>>("sums of codes, in two steps", executor);
    check_sum<Storage, si::qu8<"0.021:131"_qp>, si::q8<"0.0317"_qp>, si::qu8<"0.0571:128"_qp>>("sums of codes, in two steps", executor);
    check_sum<Storage, si::qu8<"0.02:131"_qp>, si::q8<"0.0625"_qp>, si::qu8<"0.0773:128"_qp>>("sums of unsigned codes", executor);
    check_sum<Storage, si::q8<si::narrow("0.01"_qp)>, si::q8<"0.5:127"_qp>, si::q8<si::narrow("0.013"_qp)>>("sums to narrow codes", executor);
    check_sum<Storage, si::q8<"1e37:-128"_qp>, si::q8<"1e37:127"_qp>, si::q8<"1e35:2"_qp>>("sums that overflow", executor);
    check_written<Storage, si::i8, si::u8, -5>("sums written out", executor);
    check_written<Storage, si::u8, si::i8, 128>("unsigned sums written out", executor);
    check_scale<Storage, "0.05:3"_qp>("codes of floats", executor);
    check_scale<Storage, "0.0773:-5"_qp>("codes of floats", executor);
    check_scale<Storage, "0.25:-128"_qp>("codes of floats, a power of two", executor);
    check_scale<Storage, "0.0021485486067831516:127"_qp>("codes of floats", executor);
    check_scale<Storage, "1e-38"_qp>("codes of floats, by division", executor);
    check_bounded<Storage, si::u8>("codes not below 0", executor);
    check_bounded<Storage, si::i8>("codes not below 0", executor);
    check_floats<Storage, si::qu8<"0.0021485486067831516"_qp>>("codes from 0", 0.0021485486f, si::fused([](auto x) { return copy(x); }), executor);
    check_row_formulas<float, 100, Storage>(executor);
    check_row_formulas<float, 1024, Storage>(executor);
    check_row_formulas<si::bf16, 4096, Storage>(executor);
    check_row_formulas<si::bf16, 3000, Storage>(executor);
    check_row_formulas<si::f16, 512, Storage>(executor);
    check_these_rows<float, 1024, Storage>("codes of rows with hard scales", rows_of_hard_scales(160, 1024), [](const auto& x) { return si::dynamic_quantize(x); }, executor);
    check_rows_in_place<512, Storage>(executor);
    check_rows_in_place<4096, Storage>(executor);
    return tally();
}

}  // namespace codes_of_device
