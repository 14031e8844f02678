// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short rows and turned images, Sinter beside the loops that one would write: scripts/bench --short.
#include <sinter/sinter.hpp>

#include <sinter/backend/cpu.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace si = sinter;
using si::dyn;

namespace {

constexpr long count = 100000, height = 480, width = 640;
constexpr double tolerance = 1e-4;

double milliseconds(auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}
/// Both in turns, the least time of each; results must agree.
template <class Element>
void job(const char* name, std::vector<Element>& to, auto&& sinter, auto&& loop) {
    double ours = 1e9, plain = 1e9;
    std::vector<Element> kept;
    for (int i = 0; i < 25; ++i) {
        ours = std::min(ours, milliseconds(sinter));
        if (i == 0) kept = to;
        plain = std::min(plain, milliseconds(loop));
    }
    double worst = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) worst = std::max(worst, std::fabs(double(kept[i]) - double(to[i])));
    std::printf("%-44s %8.3f ms  loop %8.3f ms  %6.2f times its speed%s\n", name, ours, plain, plain / ours, worst > tolerance ? "  DIFFERENT" : "");
}
/// Rows of `columns` elements beside one row, and beside one number for each row; the number of columns known only when run.
void beside(int columns, const float* x, std::vector<float>& to) {
    const long rows = count * 8 / columns;
    const std::vector<float> row(std::size_t(columns), 0.5f), each(std::size_t(rows), 1.5f);
    const float *const b = row.data(), *const s = each.data();
    float* const y = to.data();
    const auto in = si::view(x, si::extents<dyn, dyn>(rows, columns));
    const auto out = si::view(y, si::extents<dyn, dyn>(rows, columns));
    char name[64];
    std::snprintf(name, sizeof name, "rows of %d + a row", columns);
    job(name, to, [&] { si::run(si::cpu, out = in + si::view(b, si::extents<dyn>(columns))); }, [&] {
        for (long i = 0; i < rows; ++i)
            for (long k = 0; k < columns; ++k) y[i * columns + k] = x[i * columns + k] + b[k];
    });
    std::snprintf(name, sizeof name, "rows of %d * a number for each", columns);
    job(name, to, [&] { si::run(si::cpu, out = in * si::view(s, si::extents<dyn, 1>(rows))); }, [&] {
        for (long i = 0; i < rows; ++i)
            for (long k = 0; k < columns; ++k) y[i * columns + k] = x[i * columns + k] * s[i];
    });
}
/// Rotary positions of 12 heads of `length` elements: halves of rows, beside angles of each position. And one half of each row alone.
void rotate(int length, const float* x, std::vector<float>& to) {
    constexpr long heads = 12;
    const long half = length / 2, positions = count * 8 / (heads * length), rows = positions * heads;
    const std::vector<float> cosine(std::size_t(positions * half), 0.5f), sine(cosine.size(), 0.25f);
    const float *const c = cosine.data(), *const s = sine.data();
    float* const y = to.data();
    const auto halves = [&](auto* from, int i) {
        return si::view(from + i * half, si::extents<dyn, dyn, dyn>(positions, heads, half), si::array<si::i64, 3>{{heads * length, length, 1}});
    };
    const auto angles = [&](const float* of) { return si::view(of, si::extents<dyn, 1, dyn>(positions, half)); };
    constexpr auto rotary = si::fused([](auto low, auto high, auto of_cosine, auto of_sine) {
        return si::outputs(low * of_cosine - high * of_sine, high * of_cosine + low * of_sine);
    });
    char name[64];
    std::snprintf(name, sizeof name, "rotary positions, heads of %d", length);
    job(name, to, [&] { si::run(si::cpu, si::tie(halves(y, 0), halves(y, 1)) = rotary(halves(x, 0), halves(x, 1), angles(c), angles(s))); }, [&] {
        for (long i = 0; i < rows; ++i)
            for (long k = 0; k < half; ++k) {
                const float low = x[i * length + k], high = x[i * length + half + k], by = c[i / heads * half + k], aside = s[i / heads * half + k];
                y[i * length + k] = low * by - high * aside;
                y[i * length + half + k] = high * by + low * aside;
            }
    });
    std::snprintf(name, sizeof name, "%ld of each %d elements * 2 + 1", half, length);
    job(name, to, [&] { si::run(si::cpu, halves(y, 0) = halves(x, 0) * 2.0f + 1.0f); }, [&] {
        for (long i = 0; i < rows; ++i)
            for (long k = 0; k < half; ++k) y[i * length + k] = x[i * length + k] * 2 + 1;
    });
}
}  // namespace

int main() {
    std::vector<float> in(count * 10), to(count * 10), bias{1, 2, 3}, matrix(9), ones(10, 1.0f), zeros(10);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(int(i * 7919 % 2003) - 1000) * 0.004f;
    for (std::size_t i = 0; i < 9; ++i) matrix[i] = float(i) * 0.3f - 1;
    std::vector<unsigned char> pixels(height * width * 3);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(i * 31 >> 2);
    const float *const x = in.data(), *const b = bias.data(), *const m = matrix.data();
    float* const y = to.data();
    const auto points = si::view(x, si::extents<dyn, 3>(count));
    const auto points_out = si::view(y, si::extents<dyn, 3>(count));
    const auto rows = si::view(x, si::extents<dyn, 10>(count));
    const auto three = si::view(b, si::extents<3>{});

    job("points * 2 + bias", to, [&] { si::run(si::cpu, points_out = points * 2.0f + three); }, [&] {
        for (long i = 0; i < count; ++i)
            for (int k = 0; k < 3; ++k) y[3 * i + k] = x[3 * i + k] * 2 + b[k];
    });
    job("points . matrix + bias", to, [&] { si::run(si::cpu, points_out = sum(si::unsqueeze<1>(points) * si::view(m, si::extents<3, 3>{}), si::last_axis, si::drop) + three); }, [&] {
        for (long i = 0; i < count; ++i)
            for (int k = 0; k < 3; ++k) y[3 * i + k] = x[3 * i] * m[3 * k] + x[3 * i + 1] * m[3 * k + 1] + x[3 * i + 2] * m[3 * k + 2] + b[k];
    });
    job("points / their norms", to, [&] { si::run(si::cpu, points_out = points / maximum(norm_l2(points, si::last_axis), 1e-6f)); }, [&] {
        for (long i = 0; i < count; ++i) {
            const float norm = std::fmax(std::sqrt(x[3 * i] * x[3 * i] + x[3 * i + 1] * x[3 * i + 1] + x[3 * i + 2] * x[3 * i + 2]), 1e-6f);
            for (int k = 0; k < 3; ++k) y[3 * i + k] = x[3 * i + k] / norm;
        }
    });
    job("softmax of 10", to, [&] { si::run(si::cpu, si::view(y, si::extents<dyn, 10>(count)) = softmax(rows)); }, [&] {
        for (long i = 0; i < count; ++i) {
            float most = x[10 * i], sum = 0;
            for (int k = 1; k < 10; ++k) most = std::max(most, x[10 * i + k]);
            for (int k = 0; k < 10; ++k) sum += y[10 * i + k] = std::exp(x[10 * i + k] - most);
            for (int k = 0; k < 10; ++k) y[10 * i + k] /= sum;
        }
    });
    job("layer norm of 10", to, [&] { si::run(si::cpu, si::view(y, si::extents<dyn, 10>(count)) = si::layer_norm(rows, si::view(ones.data(), si::extents<10>{}), si::view(zeros.data(), si::extents<10>{}), 1e-5f)); }, [&] {
        for (long i = 0; i < count; ++i) {
            float mean = 0, squares = 0;
            for (int k = 0; k < 10; ++k) mean += x[10 * i + k] * 0.1f;
            for (int k = 0; k < 10; ++k) squares += (x[10 * i + k] - mean) * (x[10 * i + k] - mean);
            const float scale = 1 / std::sqrt(squares * 0.1f + 1e-5f);
            for (int k = 0; k < 10; ++k) y[10 * i + k] = (x[10 * i + k] - mean) * scale;
        }
    });
    job("pixels to planes of floats, 640 x 480", to, [&] {
        si::run(si::cpu, si::view(y, si::extents<3, height, width>{}) = (si::cast<float>(si::permute<2, 0, 1>(si::view(pixels.data(), si::extents<height, width, 3>{}))) - 100.0f) * 0.01f);
    }, [&] {
        for (int c = 0; c < 3; ++c)
            for (long i = 0; i < height * width; ++i) y[c * height * width + i] = (float(pixels[std::size_t(3 * i + c)]) - 100) * 0.01f;
    });
    std::vector<unsigned char> planes(pixels.size());
    job("pixels to planes of bytes, 640 x 480", planes, [&] {
        si::run(si::cpu, si::view(planes.data(), si::extents<3, height, width>{}) = si::permute<2, 0, 1>(si::view(std::as_const(pixels).data(), si::extents<height, width, 3>{})) + 0);
    }, [&] {
        for (int c = 0; c < 3; ++c)
            for (long i = 0; i < height * width; ++i) planes[std::size_t(c * height * width + i)] = pixels[std::size_t(3 * i + c)];
    });
    for (const int columns : {8, 16, 50, 64, 100, 128, 256, 512}) beside(columns, x, to);
    for (const int length : {32, 64, 128, 256}) rotate(length, x, to);
    constexpr long boxes = 400;
    std::vector<float> corners(boxes * 4);
    for (std::size_t i = 0; i < corners.size(); ++i) corners[i] = float(i * 7919 % 61) + (i % 4 < 2 ? 0.0f : 50.0f);
    const float* const box = corners.data();
    const auto pairwise_by_loop = [&] {
        for (long i = 0; i < boxes; ++i)
            for (long k = 0; k < boxes; ++k) {
                const float *a = box + 4 * i, *c = box + 4 * k;
                const float common = std::max(std::min(a[2], c[2]) - std::max(a[0], c[0]), 0.0f) * std::max(std::min(a[3], c[3]) - std::max(a[1], c[1]), 0.0f);
                y[i * boxes + k] = common / ((a[2] - a[0]) * (a[3] - a[1]) + (c[2] - c[0]) * (c[3] - c[1]) - common);
            }
    };
    job("pairwise IoU of 400 boxes", to, [&] {
        const auto all = si::view(box, si::extents<dyn, 4>(boxes));
        const auto one = si::unsqueeze<1>(all);
        const auto other = si::unsqueeze<0>(all);
        const auto low = [](const auto& of) { return si::slice<2, 0, 2>(of); };
        const auto high = [](const auto& of) { return si::slice<2, 2, 4>(of); };
        const auto common = prod(maximum(minimum(high(one), high(other)) - maximum(low(one), low(other)), 0.0f), si::last_axis);
        si::run(si::cpu, si::view(y, si::extents<dyn, dyn, 1>(boxes, boxes)) = common / (prod(high(one) - low(one), si::last_axis) + prod(high(other) - low(other), si::last_axis) - common));
    }, pairwise_by_loop);
    job("the same by columns", to, [&] {
        const auto all = si::view(box, si::extents<dyn, 4>(boxes));
        const auto x0 = si::slice<1, 0, 1>(all), y0 = si::slice<1, 1, 2>(all), x1 = si::slice<1, 2, 3>(all), y1 = si::slice<1, 3, 4>(all);
        const auto common = maximum(minimum(x1, si::transpose(x1)) - maximum(x0, si::transpose(x0)), 0.0f) * maximum(minimum(y1, si::transpose(y1)) - maximum(y0, si::transpose(y0)), 0.0f);
        const auto area = [&](const auto& of) { return of(x1 - x0) * of(y1 - y0); };
        si::run(si::cpu, si::view(y, si::extents<dyn, dyn>(boxes, boxes)) = common / (area([](auto of) { return of; }) + area([](auto of) { return si::transpose(of); }) - common));
    }, pairwise_by_loop);
    job("pixels to grey, 640 x 480", to, [&] {
        si::run(si::cpu, si::view(y, si::extents<height, width, 1>{}) = sum(si::cast<float>(si::view(pixels.data(), si::extents<height, width, 3>{})) * three, si::last_axis));
    }, [&] {
        for (long i = 0; i < height * width; ++i)
            y[i] = float(pixels[std::size_t(3 * i)]) * b[0] + float(pixels[std::size_t(3 * i + 1)]) * b[1] + float(pixels[std::size_t(3 * i + 2)]) * b[2];
    });
    job("a matrix of 1000 x 1000 turned", to, [&] { si::run(si::cpu, si::view(y, si::extents<1000, 1000>{}) = si::transpose(si::view(x, si::extents<1000, 1000>{})) + 1.0f); }, [&] {
        for (long i = 0; i < 1000; ++i)
            for (long k = 0; k < 1000; ++k) y[1000 * i + k] = x[1000 * k + i] + 1;
    });
}
