// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of their own kind give the reference's bits on a GPU: activations whose division has no branch, tiles of turned operands,
// interleaved outputs, channels computed once, codes of 8 bits, columns and whole rows in registers, indices; and `fast` keeps its bounds.
//     kernels [step]       every step-th of all f32 numbers for the activations; default 257, 1 for all
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

#include "programs.cuh"

using plane = si::extents<dyn, dyn>;

/// One operand, one output, of f32, over numbers given by their bits.
template <class Formula>
void sweep(const char* name, u64 step, const Formula& formula) {
    result all;
    constexpr i64 chunk = i64(1) << 24;
    for (u64 begin = 0; begin <= 0xffffffffu; begin += u64(chunk) * step) {
        std::vector<float> x;
        for (u64 bits = begin; bits <= 0xffffffffu && i64(x.size()) < chunk; bits += step) x.push_back(__builtin_bit_cast(float, unsigned(bits)));
        const si::extents<dyn> sizes(i64(x.size()));
        operand<float, si::extents<dyn>> from(x, sizes), to(x, sizes);
        std::atomic<i64> next{0};
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < std::thread::hardware_concurrency(); ++t)
            threads.emplace_back([&] {
                constexpr i64 part = 1 << 16;
                for (i64 at; (at = next.fetch_add(part)) < i64(x.size());) {
                    const si::extents<dyn> some(at + part < i64(x.size()) ? part : i64(x.size()) - at);
                    (void)(si::try_run(si::reference, si::view(to.host.data() + at, some) = formula(si::view(from.host.data() + at, some))));
                }
            });
        launched(si::try_run(si::cuda(), to.on_device() = formula(from.on_device())));
        for (std::thread& thread : threads) thread.join();
        compare(to, all);
    }
    report(name, all);
}
template <class Type, class Formula>
void turned(const char* name, const Formula& formula) {
    result all;
    for (const auto& [rows, length] : {std::pair<i64, i64>{64, 64}, {70, 130}, {1000, 777}, {15, 400}, {2048, 4096}}) {
        operand<Type, plane> x(numbers<Type>(rows * length, 1, 29), plane(rows, length)), y(numbers<Type>(rows * length, 2, 29), plane(length, rows));
        operand<Type, plane> to(numbers<Type>(rows * length, 3, 29), plane(rows, length));
        launched(si::try_run(si::reference, to.on_host() = formula(x.on_host(), y.on_host())));
        launched(si::try_run(si::cuda(), to.on_device() = formula(x.on_device(), y.on_device())));
        compare(to, all);
    }
    report(name, all);
}
void interleaved() {
    result all;
    const auto formula = si::fused([](auto d) {
        const auto z = si::cast<float>(d) * 0.001f;
        return si::outputs((si::cast<float>(si::iota<-1>(d)) - 960.0f) * z, (si::cast<float>(si::iota<-2>(d)) - 540.0f) * z, z);
    });
    for (const auto& [rows, length] : {std::pair<i64, i64>{3, 40}, {37, 1920}, {5, 4099}, {301, 2048}}) {
        const plane sizes(rows, length);
        operand<si::i16, plane> d(numbers<si::i16>(rows * length, 4, 0), sizes);
        operand<float, plane> to(numbers<float>(rows * length * 3, 5, 0), plane(rows, length * 3));
        const si::array<i64, 2> steps{{length * 3, 3}};
        const auto part = [&](float* at, auto make) { return si::tie(make(at, sizes, steps), make(at + 1, sizes, steps), make(at + 2, sizes, steps)); };
        launched(si::try_run(si::reference, part(to.host.data(), [](auto... of) { return si::view(of...); }) = formula(d.on_host())));
        launched(si::try_run(si::cuda(), part(to.device, [](auto... of) { return si::device_view(of...); }) = formula(d.on_device())));
        compare(to, all);
    }
    report("points, interleaved", all);
}
void channels() {
    result all;
    const auto formula = si::fused([](auto x, auto mean, auto variance, auto weight) {
        return relu((si::cast<float>(x) - mean) * (rsqrt(abs(variance) + 1e-5f) * weight));
    });
    for (const auto& [rows, length] : {std::pair<i64, i64>{70, 40}, {1000, 256}, {20000, 33}, {5000, 300}}) {
        const plane sizes(rows, length);
        const si::extents<dyn> line(length);
        operand<si::bf16, plane> x(numbers<si::bf16>(rows * length, 6, 29), sizes), to(numbers<si::bf16>(rows * length, 7, 29), sizes);
        operand<float, si::extents<dyn>> m(numbers<float>(length, 8, 29), line), v(numbers<float>(length, 9, 29), line), w(numbers<float>(length, 10, 29), line);
        launched(si::try_run(si::reference, to.on_host() = formula(x.on_host(), m.on_host(), v.on_host(), w.on_host())));
        launched(si::try_run(si::cuda(), to.on_device() = formula(x.on_device(), m.on_device(), v.on_device(), w.on_device())));
        compare(to, all);
    }
    report("channels", all);
}
void codes() {
    result all;
    const auto formula = si::fused([](auto v) {
        return si::outputs(si::cast<si::i8>(v * 30.0f), si::cast<si::u8>(round(v) + 7.0f), si::cast<float>(si::cast<si::i8>(v)) * si::cast<float>(si::cast<si::u8>(v)));
    });
    for (const i64 length : {31, 1000, 4096, 300001}) {
        const si::extents<dyn> line(length);
        operand<float, si::extents<dyn>> x(numbers<float>(length, 11, 29), line), z(x.host, line);
        operand<si::i8, si::extents<dyn>> a(std::vector<si::i8>(std::size_t(length)), line);
        operand<si::u8, si::extents<dyn>> b(std::vector<si::u8>(std::size_t(length)), line);
        launched(si::try_run(si::reference, si::tie(a.on_host(), b.on_host(), z.on_host()) = formula(x.on_host())));
        launched(si::try_run(si::cuda(), si::tie(a.on_device(), b.on_device(), z.on_device()) = formula(x.on_device())));
        compare(a, all), compare(b, all), compare(z, all);
    }
    report("codes", all);
}
template <i64 Length, class Type, class Formula>
void whole(const char* name, const Formula& formula) {
    result all;
    for (const i64 rarity : {i64(0), 4 * Length}) {
        const si::extents<dyn, Length> sizes(19);
        operand<Type, si::extents<dyn, Length>> x(numbers<Type>(19 * Length, 12, rarity), sizes), to(numbers<Type>(19 * Length, 13, 29), sizes);
        launched(si::try_run(si::reference, to.on_host() = formula(x.on_host())));
        launched(si::try_run(si::cuda(), to.on_device() = formula(x.on_device())));
        compare(to, all);
    }
    report(name, all);
}
void columns() {
    result all;
    const auto formula = si::fused([](auto v) { return si::outputs(variance(v, si::axes<0>), mean(v, si::axes<0>)); });
    char* workspace = nullptr;
    MUST(cudaMalloc(&workspace, 1 << 24));
    for (const auto& [rows, length] : {std::pair<i64, i64>{1, 40}, {64, 128}, {1000, 33}, {70000, 64}, {5000, 1000}}) {
        const si::extents<1, dyn> line(length);
        operand<float, plane> x(numbers<float>(rows * length, 14, 0), plane(rows, length));
        operand<float, si::extents<1, dyn>> a(numbers<float>(length, 15, 0), line), b(numbers<float>(length, 16, 0), line);
        launched(si::try_run(si::reference, si::tie(a.on_host(), b.on_host()) = formula(x.on_host())));
        launched(si::try_run(si::cuda(nullptr, {workspace, 1 << 24}), si::tie(a.on_device(), b.on_device()) = formula(x.on_device())));
        compare(a, all), compare(b, all);
    }
    report("variance and mean of columns", all);
}
/// The largest error of `fast` in units of 2^-24, relative where |result| is above `least`.
template <class Formula>
void bounded(const char* name, double bound, double least, float low, float high, const Formula& formula) {
    const i64 count = 1 << 22;
    const si::extents<dyn> sizes(count);
    std::vector<float> x(static_cast<std::size_t>(count));
    for (i64 i = 0; i < count; ++i) x[std::size_t(i)] = low + (high - low) * float(i) / float(count);
    operand<float, si::extents<dyn>> from(x, sizes), to(x, sizes);
    launched(si::try_run(si::reference, to.on_host() = formula(from.on_host())));
    launched(si::try_run(si::fast(si::cuda()), to.on_device() = formula(from.on_device())));
    std::vector<float> found(x.size());
    MUST(cudaMemcpy(found.data(), to.device, found.size() * 4, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double size = __builtin_fabs(to.host[i]), off = __builtin_fabs(double(found[i]) - to.host[i]) / (size > least ? size : least);
        if (!(off <= worst)) worst = off;
    }
    ++total.compared;
    if (!(worst <= bound)) ++total.different;
    std::printf("fast %-20s largest error 2^%.1f, allowed 2^%.1f%s\n", name, __builtin_log2(worst), __builtin_log2(bound), worst <= bound ? "" : "  EXCEEDED");
}

int main(int count, char** argument) {
    const u64 step = count > 1 ? u64(std::atoll(argument[1])) : 257;
    sweep("gelu_tanh", step, si::fused([](auto x) { return gelu_tanh(x); }));
    sweep("silu", step, si::fused([](auto x) { return silu(x); }));
    sweep("sigmoid", step, si::fused([](auto x) { return sigmoid(x); }));
    sweep("tanh", step, si::fused([](auto x) { return tanh(x); }));
    sweep("relu", step * 16, si::fused([](auto x) { return relu(x); }));
    turned<float>("x + y.T, f32", si::fused([](auto x, auto y) { return x * 2.0f + transpose(y); }));
    turned<si::bf16>("x + y.T, bf16", si::fused([](auto x, auto y) { return x * 2.0f + transpose(y); }));
    interleaved(), channels(), codes(), columns();
    whole<128, float>("softmax, f32, 128", si::fused([](auto x) { return softmax(x); }));
    whole<3072, si::bf16>("layer norm, bf16, 3072", si::fused([](auto x) { return si::layer_norm(x, 1e-5f); }));
    whole<4096, si::bf16>("softmax, bf16, 4096", si::fused([](auto x) { return softmax(x); }));
    whole<131072, si::bf16>("softmax, bf16, 131072", si::fused([](auto x) { return softmax(x); }));
    bounded("x / y", 0x1p-21, 0, 0.5f, 50.0f, si::fused([](auto x) { return 3.0f / x; }));
    bounded("sqrt, rsqrt", 0x1p-21, 0, 0.5f, 50.0f, si::fused([](auto x) { return sqrt(x) * rsqrt(x + 1.0f); }));
    bounded("exp", 0x1p-17, 0, -80.0f, 80.0f, si::fused([](auto x) { return exp(x); }));
    bounded("exp near 0", 0x1p-21, 0, -1.0f, 1.0f, si::fused([](auto x) { return exp(x); }));
    bounded("log", 0x1p-21, 0.5, 0.01f, 100.0f, si::fused([](auto x) { return log(x); }));
    bounded("tanh", 0x1p-10, 1e-6, -9.0f, 9.0f, si::fused([](auto x) { return tanh(x); }));
    bounded("sigmoid", 0x1p-19, 0, -30.0f, 30.0f, si::fused([](auto x) { return sigmoid(x); }));
    bounded("silu", 0x1p-19, 1e-30, -10.0f, 10.0f, si::fused([](auto x) { return silu(x); }));
    bounded("gelu_tanh", 0x1p-16, 1e-30, -5.0f, 10.0f, si::fused([](auto x) { return gelu_tanh(x); }));
    std::printf(total.different == 0 ? "equal bits: %lld numbers\n" : "NOT equal: %lld numbers, %lld different\n", static_cast<long long>(total.compared),
                static_cast<long long>(total.different));
    return total.different == 0 ? 0 : 1;
}
