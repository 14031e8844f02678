// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digits of 12_digits.cpp on a GPU, in f32 and int8: the same formulas, equal bits.
//     nvcc -std=c++20 -O2 -arch=native -Iinclude examples/13_digits_cuda.cu && ./a.out [FOLDER]
#include "digits/network.hpp"
#include "digits/network_int8.hpp"

#include <sinter/backend/cuda.cuh>
#include <sinter/backend/cuda_tensor.cuh>

#include <cstdio>
#include <cstring>

namespace si = sinter;

/// Elements on the device, copied from the host.
template <class Type>
struct on_device {
    si::device_tensor<Type, si::extents<si::dyn>> memory;
    si::status said;
    on_device(const Type* from, si::i64 count) : memory(si::extents<si::dyn>(count)), said(from ? memory.copy_from(from) : si::status{}) {}
    Type* data() { return memory.data(); }
};

/// Weights on the device.
struct weights_there {
    on_device<float> w1, b1, w2, b2, w3, b3;
    explicit weights_there(const digits::weights& net)
        : w1(net.w1, digits::pixels * digits::wide), b1(net.b1, digits::wide), w2(net.w2, digits::wide * digits::narrow), b2(net.b2, digits::narrow),
          w3(net.w3, digits::narrow * digits::classes), b3(net.b3, digits::classes) {}
    digits::weights net() { return {w1.data(), b1.data(), w2.data(), b2.data(), w3.data(), b3.data()}; }
};
struct weights_int8_there {
    on_device<si::i8> w1, w2, w3;
    on_device<si::i32> b1, b2, b3;
    on_device<float> s1, s2, s3;
    explicit weights_int8_there(const digits::weights_int8& net)
        : w1(net.w1, digits::pixels * digits::wide), w2(net.w2, digits::wide * digits::narrow), w3(net.w3, digits::narrow * digits::classes),
          b1(net.b1, digits::wide), b2(net.b2, digits::narrow), b3(net.b3, digits::classes), s1(net.s1, digits::wide), s2(net.s2, digits::narrow),
          s3(net.s3, digits::classes) {}
    digits::weights_int8 net() {
        return {w1.data(), w2.data(), w3.data(), b1.data(), b2.data(), b3.data(), s1.data(), s2.data(), s3.data()};
    }
};

/// Runs the reference and the GPU on the test images and compares; without a GPU the reference alone.
template <class Value, class Places, class There, class Weights>
bool judge(const char* name, const Weights& net, const digits::files& files, bool has_gpu) {
    const si::i64 tests = files.count - digits::training;
    const si::u8* const x = files.images + digits::training * digits::pixels;
    std::vector<Value> one(std::size_t(tests * digits::wide)), two(std::size_t(tests * digits::narrow));
    std::vector<float> scores(std::size_t(tests * digits::classes)), scores_gpu(scores.size());
    std::vector<si::i64> answers(std::size_t(tests), 0), answers_gpu(answers);
    si::status said = digits::run(si::reference, net, x, tests, Places{one.data(), two.data(), scores.data(), answers.data()});
    if (!said.ok()) return std::puts(said.message()), false;
    if (!has_gpu) return true;

    There weights(net);
    on_device<Value> one_on(nullptr, tests * digits::wide), two_on(nullptr, tests * digits::narrow);
    on_device<float> scores_on(nullptr, tests * digits::classes);
    on_device<si::u8> x_on(x, tests * digits::pixels);
    on_device<si::i64> answers_on(nullptr, tests);
    const auto there = weights.net();
    const Places values{one_on.data(), two_on.data(), scores_on.data(), answers_on.data()};
    said = digits::run(si::cuda(), there, x_on.data(), tests, values);
    if (said.ok()) said = scores_on.memory.copy_to(scores_gpu.data());
    if (said.ok()) said = answers_on.memory.copy_to(answers_gpu.data());
    if (!said.ok()) return std::printf("%s\n", si::describe(said).c_str()), false;

    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    float best = 1e9f;
    for (int i = 0; i < 50; ++i) {
        float took = 0;
        cudaEventRecord(begin);
        (void)digits::run(si::cuda(), there, x_on.data(), tests, values);
        cudaEventRecord(end), cudaEventSynchronize(end), cudaEventElapsedTime(&took, begin, end);
        if (took < best) best = took;
    }
    int right = 0;
    for (si::i64 i = 0; i < tests; ++i) right += answers_gpu[std::size_t(i)] == files.labels[digits::training + i];
    const bool equal = std::memcmp(scores.data(), scores_gpu.data(), scores.size() * sizeof(float)) == 0 && answers == answers_gpu;
    std::printf("%s: %d of %d right, GPU and reference %s\n", name, right, int(tests), equal ? "equal to the bit" : "NOT equal");
    std::fprintf(stderr, "%s: %.1f us for all\n", name, double(best) * 1000);
    return equal;
}

int main(int count, char** arguments) {
    digits::files files;
    const std::string wrong = files.read(count > 1 ? arguments[1] : "examples/digits");
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;
    digits::files_int8 codes;
    codes.make(files.net);
    int devices = 0;
    const bool has_gpu = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!has_gpu) std::puts("no GPU here: the reference runs on this processor");
    const bool real = judge<float, digits::values, weights_there>("f32", files.net, files, has_gpu);
    const bool int8 = judge<si::u8, digits::values_int8, weights_int8_there>("int8", codes.net, files, has_gpu);
    return real && int8 ? 0 : 1;
}
