// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs on a GPU share (seam.cu, rows.cu): memory on both sides, comparison by bits, and the formulas that run on an executor
// and on the reference.
#pragma once

#include <sinter/sinter.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace si = sinter;
using si::dyn;
using si::f16;
using si::i64;
using si::u64;

#define MUST(call)                                                                                                  \
    do {                                                                                                            \
        const cudaError_t code = call;                                                                              \
        if (code != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorString(code)), std::fflush(stdout), std::_Exit(2); \
    } while (0)

/// Random numbers of several magnitudes; about one in `rarity` a zero, subnormal, infinity, NaN or extreme (0: none).
template <class Type>
std::vector<Type> numbers(i64 count, u64 seed, i64 rarity) {
    std::vector<Type> out(static_cast<std::size_t>(count));
    u64 state = seed * 0x9e3779b97f4a7c15u + 1;
    const float odd[] = {0.0f, -0.0f, 1e-40f, -3e-44f, 1e-7f, -3e38f, 65520.0f, __builtin_huge_valf(), -__builtin_huge_valf(), __builtin_nanf("")};
    for (Type& value : out) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const float unit = float(double(i64(state)) * 0x1p-63), scale = state % 7 == 0 ? 40.0f : state % 7 == 1 ? 1e-3f : 3.0f;
        value = si::convert<Type>(rarity > 0 && state % u64(rarity) == 0 ? odd[state / u64(rarity) % 10] : unit * scale);
    }
    return out;
}

/// A row-major operand: on the host, and its copy on the device.
template <class Type, class Extents>
struct operand {
    std::vector<Type> host;
    Type* device = nullptr;
    Extents sizes;
    operand(const std::vector<Type>& values, Extents given) : host(values), sizes(given) {
        MUST(cudaMalloc(&device, (host.size() + 1) * sizeof(Type)));
        MUST(cudaMemcpy(device, host.data(), host.size() * sizeof(Type), cudaMemcpyHostToDevice));
    }
    operand(const operand&) = delete;
    ~operand() { MUST(cudaFree(device)); }
    auto on_host() { return si::tensor_view<Type, Extents>(host.data(), sizes); }
    auto on_device() { return si::tensor_view<Type, Extents, si::row_major, si::device_memory>(device, sizes); }
};

template <class Type>
bool is_nan(const Type& value) {
    return si::is_float(si::dtype_of<Type>) && (value != value);
}
bool is_nan(const si::bf16& value) { return (value.bits & 0x7fff) > 0x7f80; }
bool is_nan(const f16& value) { return (value.bits & 0x7fff) > 0x7c00; }
struct result {
    i64 compared = 0, different = 0, nans = 0;
};
result total;
/// Equal bits, any NaN equal to any NaN.
template <class Type, class Extents>
void compare(operand<Type, Extents>& output, result& to) {
    std::vector<Type> found(output.host.size());
    MUST(cudaMemcpy(found.data(), output.device, found.size() * sizeof(Type), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < found.size(); ++i) {
        ++to.compared;
        if (is_nan(found[i]) && is_nan(output.host[i])) ++to.nans;
        else if (std::memcmp(&found[i], &output.host[i], sizeof(Type)) != 0 && to.different++ < 5)
            std::printf("  element %zu: device %.9g, host %.9g\n", i, double(si::convert<double>(found[i])), double(si::convert<double>(output.host[i])));
    }
}
void report(const char* name, const result& of) {
    std::printf("%-64s %10lld compared, %8lld NaN, %lld different\n", name, static_cast<long long>(of.compared),
                static_cast<long long>(of.nans), static_cast<long long>(of.different));
    total.compared += of.compared, total.different += of.different;
}
void launched(const si::status& status) {
    if (!status.ok()) std::printf("status %d: %s (%s)\n", int(status.code()), status.message(), cudaGetErrorString(cudaGetLastError())), std::_Exit(2);
    MUST(cudaDeviceSynchronize());
}

/// 24 operations on f16, f32 and a broadcast row of f32; an f16 and an f32 output.
inline constexpr auto formula = si::fused([](auto h, auto x, auto row) {
    const auto blended = fma(x, row, si::cast<float>(h));
    const auto wave = exp(-abs(blended)) * tanh(x) + log1p(abs(row)) / (1.5f + sigmoid(x));
    const auto chosen = where(h < row, wave, sqrt(abs(blended)) - maximum(x, row));
    const auto rounded = si::cast<f16>(chosen * 0.75f);
    return si::outputs(rounded, where(rounded != rounded, si::cast<float>(si::cast<si::i32>(x * 100.0f)), fma(rounded, x, erf(row))));
});

template <class Executor>
void pointwise(const Executor& executor) {
    using plane = si::extents<dyn, dyn>;
    result all;
    for (const i64 width : {1, 2, 3, 31, 32, 33, 127, 128, 129, 1000, 4099}) {
        const i64 height = width < 1000 ? 37 : 301;
        const plane sizes(height, width);
        operand<f16, plane> h(numbers<f16>(height * width, 1 + width, 29), sizes), first(numbers<f16>(height * width, 4, 29), sizes);
        operand<float, plane> x(numbers<float>(height * width, 2 + width, 29), sizes), second(numbers<float>(height * width, 5, 29), sizes);
        operand<float, si::extents<dyn>> row(numbers<float>(width, 3 + width, 29), si::extents<dyn>(width));
        launched(si::try_run(si::reference, si::tie(first.on_host(), second.on_host()) = formula(h.on_host(), x.on_host(), row.on_host())));
        launched(si::try_run(executor, si::tie(first.on_device(), second.on_device()) = formula(h.on_device(), x.on_device(), row.on_device())));
        compare(first, all), compare(second, all);
    }
    report("pointwise, f16 and f32, 24 operations", all);
}

/// One row of each length, packed one after another; the reference works on all processors.
template <class Executor>
void softmax_of_every_length(const Executor& executor, i64 longest) {
    using plane = si::extents<1, dyn>;
    const i64 count = longest * (longest + 1) / 2;
    operand<float, si::extents<dyn>> x(numbers<float>(count, 11, 0), si::extents<dyn>(count)), y(numbers<float>(count, 12, 0), si::extents<dyn>(count));
    for (i64 n = 1; n <= longest; ++n)
        launched(si::try_run(executor, si::tensor_view<float, plane, si::row_major, si::device_memory>(y.device + n * (n - 1) / 2, n) =
                                                   softmax(si::tensor_view<float, plane, si::row_major, si::device_memory>(x.device + n * (n - 1) / 2, n))));
    std::atomic<i64> next{longest};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::thread::hardware_concurrency(); ++t)
        threads.emplace_back([&] {
            for (i64 n; (n = next--) > 0;)
                launched(si::try_run(si::reference, si::tensor_view<float, plane>(y.host.data() + n * (n - 1) / 2, n) =
                                                        softmax(si::tensor_view<float, plane>(x.host.data() + n * (n - 1) / 2, n))));
        });
    for (std::thread& thread : threads) thread.join();
    result all;
    compare(y, all);
    char name[80];
    std::snprintf(name, sizeof name, "softmax, f32, every row length from 1 to %lld", static_cast<long long>(longest));
    report(name, all);
}

/// Several rows, f16 storage, NaN and infinities, a second output; then a two-phase reduction and an index.
template <class Formula, class Type, class Out, class Executor>
void rows(const Executor& executor, const std::vector<i64>& lengths, const char* name, const Formula& formula) {
    using plane = si::extents<dyn, dyn>;
    result all;
    for (const i64 length : lengths)
        for (const i64 rarity : {i64(0), 4 * length, length / 2 + 29}) {  // a NaN makes all of its row NaN: one row in four has one
            const plane sizes(19, length);
            operand<Type, plane> x(numbers<Type>(19 * length, 21 + length, rarity), sizes), y(numbers<Type>(19 * length, 22, 29), sizes);
            operand<Out, si::extents<dyn, 1>> z(numbers<Out>(19, 23, 29), si::extents<dyn, 1>(19));
            launched(si::try_run(si::reference, si::tie(y.on_host(), z.on_host()) = formula(x.on_host())));
            launched(si::try_run(executor, si::tie(y.on_device(), z.on_device()) = formula(x.on_device())));
            compare(y, all), compare(z, all);
        }
    report(name, all);
}

/// Prints the card, runs everything, ends with one line; `more` is what a program has besides.
template <class Executor, class More>
int run_all(const Executor& executor, const std::vector<i64>& lengths, i64 longest, const More& more) {
    cudaDeviceProp card{};
    MUST(cudaGetDeviceProperties(&card, 0));
    std::printf("%s, compute capability %d.%d, %d multiprocessors\n", card.name, card.major, card.minor, card.multiProcessorCount);
    pointwise(executor);
    softmax_of_every_length(executor, longest);
    rows<decltype(si::fused([](auto x) { return si::outputs(softmax(x), logsumexp(x, si::last_axis)); })), f16, float>(
        executor, lengths, "softmax and logsumexp, f16", {});
    rows<decltype(si::fused([](auto x) { return si::outputs(si::layer_norm(x, 1e-5f), variance(x, si::last_axis)); })), float, float>(
        executor, lengths, "layer norm and variance, f32", {});
    rows<decltype(si::fused([](auto x) { return si::outputs(x / max(abs(x), si::last_axis), argmax(x, si::last_axis)); })), float, i64>(
        executor, lengths, "division by the largest, argmax, f32", {});
    more();
    std::printf(total.different == 0 ? "equal bits: %lld numbers\n" : "NOT equal: %lld numbers, %lld different\n", static_cast<long long>(total.compared),
                static_cast<long long>(total.different));
    return total.different == 0 ? 0 : 1;
}
