// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digits of 12_digits.cpp on a GPU: the same formulas, equal bits.
//     nvcc -std=c++20 -O2 -arch=native -Iinclude examples/13_digits_cuda.cu && ./a.out [FOLDER]
#include "digits/network.hpp"

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

int main(int count, char** arguments) {
    digits::files files;
    const std::string wrong = files.read(count > 1 ? arguments[1] : "examples/digits");
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;
    const si::i64 tests = files.count - digits::training;
    const si::u8* const x = files.images + digits::training * digits::pixels;
    std::vector<float> one(std::size_t(tests * digits::wide)), two(std::size_t(tests * digits::narrow)), scores(std::size_t(tests * digits::classes)),
        scores_gpu(scores.size());
    std::vector<si::i64> answers(std::size_t(tests), 0), answers_gpu(answers);
    si::status said = digits::run(si::reference, files.net, x, tests, {one.data(), two.data(), scores.data(), answers.data()});
    if (!said.ok()) return std::puts(said.message()), 1;

    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("no GPU here: the reference ran on this processor");
        return 0;
    }
    const digits::weights& net = files.net;
    using floats = on_device<float>;
    floats w1(net.w1, digits::pixels * digits::wide), b1(net.b1, digits::wide), w2(net.w2, digits::wide * digits::narrow), b2(net.b2, digits::narrow),
        w3(net.w3, digits::narrow * digits::classes), b3(net.b3, digits::classes);
    floats one_on(nullptr, tests * digits::wide), two_on(nullptr, tests * digits::narrow), scores_on(nullptr, tests * digits::classes);
    on_device<si::u8> x_on(x, tests * digits::pixels);
    on_device<si::i64> answers_on(nullptr, tests);
    const digits::weights there{w1.data(), b1.data(), w2.data(), b2.data(), w3.data(), b3.data()};
    const digits::values values{one_on.data(), two_on.data(), scores_on.data(), answers_on.data()};
    said = digits::run(si::cuda(), there, x_on.data(), tests, values);
    if (said.ok()) said = scores_on.memory.copy_to(scores_gpu.data());
    if (said.ok()) said = answers_on.memory.copy_to(answers_gpu.data());
    if (!said.ok()) return std::printf("%s\n", si::cuda_message(said)), 1;

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
    std::printf("f32: %d of %d right, GPU and reference %s, %.1f us for all\n", right,
                int(tests), equal ? "equal to the bit" : "NOT equal", double(best) * 1000);
    return equal ? 0 : 1;
}
