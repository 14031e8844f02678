// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A real model: handwritten digits of 8 x 8 pixels, weights from .npy files, one fused kernel a layer.
//   example_12_digits [FOLDER]      FOLDER: examples/digits
#include "digits/network.hpp"

#include <sinter/backend/cpu.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#ifndef SINTER_DIGITS_FOLDER
#define SINTER_DIGITS_FOLDER "examples/digits"
#endif

namespace si = sinter;

/// Memory of the host between the layers.
struct host_memory {
    std::vector<float> one, two, scores;
    std::vector<si::i64> answers;
    explicit host_memory(si::i64 images)
        : one(std::size_t(images * digits::wide)), two(std::size_t(images * digits::narrow)), scores(std::size_t(images * digits::classes)),
          answers(std::size_t(images)) {}
    digits::values places() { return {one.data(), two.data(), scores.data(), answers.data()}; }
};

int right(const std::vector<si::i64>& answers, const si::u8* labels) {
    int count = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) count += answers[i] == labels[i];
    return count;
}

/// The best of several calls, in microseconds.
template <class Work>
double best_time(Work work) {
    double best = 1e9;
    for (int i = 0; i < 50; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        if (took.count() < best) best = took.count();
    }
    return best;
}

int main(int count, char** arguments) {
    digits::files files;
    const std::string wrong = files.read(count > 1 ? arguments[1] : SINTER_DIGITS_FOLDER);
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;
    const si::i64 tests = files.count - digits::training;
    const si::u8* const x = files.images + digits::training * digits::pixels;

    host_memory slow(tests), fast(tests);
    si::status said = digits::run(si::reference, files.net, x, tests, slow.places());
    if (said.ok()) said = digits::run(si::cpu, files.net, x, tests, fast.places());
    if (!said.ok()) return std::puts(said.message()), 1;
    const bool equal = std::memcmp(slow.scores.data(), fast.scores.data(), slow.scores.size() * sizeof(float)) == 0;
    const int good = right(fast.answers, files.labels + digits::training);
    std::printf("f32: %d of %d right, reference and cpu %s\n", good, int(tests), equal ? "equal to the bit" : "NOT equal");

    const double all = best_time([&] { (void)digits::run(si::cpu, files.net, x, tests, fast.places()); });
    const double alone = best_time([&] { (void)digits::run(si::cpu, files.net, x, 1, fast.places()); });
    std::fprintf(stderr, "f32: %.2f us an image in a batch of %d, %.2f us alone\n", all / double(tests), int(tests), alone);
    return equal && good >= 425 ? 0 : 1;
}
