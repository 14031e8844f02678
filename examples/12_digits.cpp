// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A real model: handwritten digits of 8 x 8 pixels, weights from .npy files, one fused kernel a layer; in f32, and in int8 with the
// parameters that digits/calibrate.cpp found.
//   example_12_digits [FOLDER]      FOLDER: examples/digits
#include "digits/network.hpp"
#include "digits/network_int8.hpp"

#include <sinter/backend/cpu.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#ifndef SINTER_DIGITS_FOLDER
#define SINTER_DIGITS_FOLDER "examples/digits"
#endif

namespace si = sinter;

/// Memory of the host between the layers, for activations of that type.
template <class Value, class Places>
struct host_memory {
    std::vector<Value> one, two;
    std::vector<float> scores;
    std::vector<si::i64> answers;
    explicit host_memory(si::i64 images)
        : one(std::size_t(images * digits::wide)), two(std::size_t(images * digits::narrow)), scores(std::size_t(images * digits::classes)),
          answers(std::size_t(images)) {}
    Places places() { return {one.data(), two.data(), scores.data(), answers.data()}; }
};

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

/// Runs a network on the test images, on the reference and on the CPU, and says how well it did: the number of right answers, or -1.
template <class Value, class Places, class Weights>
int judge(const char* name, const Weights& net, const digits::files& files) {
    const si::i64 tests = files.count - digits::training;
    const si::u8* const x = files.images + digits::training * digits::pixels;
    host_memory<Value, Places> slow(tests), fast(tests);
    si::status said = digits::run(si::reference, net, x, tests, slow.places());
    if (said.ok()) said = digits::run(si::cpu, net, x, tests, fast.places());
    if (!said.ok()) return std::puts(said.message()), -1;

    const bool equal = std::memcmp(slow.scores.data(), fast.scores.data(), slow.scores.size() * sizeof(float)) == 0 && slow.answers == fast.answers;
    int right = 0;
    for (si::i64 i = 0; i < tests; ++i) right += fast.answers[std::size_t(i)] == files.labels[digits::training + i];
    std::printf("%s: %d of %d right, reference and cpu %s\n", name, right, int(tests), equal ? "equal to the bit" : "NOT equal");
    const double all = best_time([&] { (void)digits::run(si::cpu, net, x, tests, fast.places()); });
    const double alone = best_time([&] { (void)digits::run(si::cpu, net, x, 1, fast.places()); });
    std::fprintf(stderr, "%s: %.2f us an image in a batch of %d, %.2f us alone\n", name, all / double(tests), int(tests), alone);
    return equal ? right : -1;
}

int main(int count, char** arguments) {
    digits::files files;
    const std::string wrong = files.read(count > 1 ? arguments[1] : SINTER_DIGITS_FOLDER);
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;
    digits::files_int8 codes;
    codes.make(files.net);
    const int real = judge<float, digits::values>("f32", files.net, files);
    const int int8 = judge<si::u8, digits::values_int8>("int8", codes.net, files);
    // int8 may lose half a point: two of 450 images.
    return real >= 425 && int8 >= real - 2 ? 0 : 1;
}
