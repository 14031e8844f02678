// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short rows and turned images, Sinter beside the loops that one would write: scripts/bench --short.
#include <sinter/sinter.hpp>

#include <sinter/backend/cpu.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
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
void job(const char* name, std::vector<float>& to, auto&& sinter, auto&& loop) {
    double ours = 1e9, plain = 1e9;
    std::vector<float> kept;
    for (int i = 0; i < 25; ++i) {
        ours = std::min(ours, milliseconds(sinter));
        if (i == 0) kept = to;
        plain = std::min(plain, milliseconds(loop));
    }
    double worst = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) worst = std::max(worst, std::fabs(double(kept[i]) - double(to[i])));
    std::printf("%-44s %8.3f ms  loop %8.3f ms  %6.2f times its speed%s\n", name, ours, plain, plain / ours, worst > tolerance ? "  DIFFERENT" : "");
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
