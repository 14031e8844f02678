// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of their own kind give the reference's bits on a GPU: activations whose division has no branch, tiles of turned operands,
// interleaved outputs, channels computed once, codes of 8 bits, columns and whole rows in registers, indices; and `fast` keeps its bounds.
//     kernels [step]       every step-th of all f32 numbers for the activations; default 257, 1 for all
#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

#include "programs.cuh"

using plane = si::extents<dyn, dyn>;

/// One operand of f32, one output, over numbers given by their bits.
template <class Out = float, class Formula>
void sweep(const char* name, u64 step, const Formula& formula) {
    result all;
    constexpr i64 chunk = i64(1) << 24;
    for (u64 begin = 0; begin <= 0xffffffffu; begin += u64(chunk) * step) {
        std::vector<float> x;
        for (u64 bits = begin; bits <= 0xffffffffu && i64(x.size()) < chunk; bits += step) x.push_back(__builtin_bit_cast(float, unsigned(bits)));
        for (const float odd : {0.0f, -0.0f, 1e-40f, -1e-40f, 1.0f, __builtin_huge_valf(), -__builtin_huge_valf(), __builtin_nanf("")}) x.push_back(odd);
        const si::extents<dyn> sizes(i64(x.size()));
        operand<float, si::extents<dyn>> from(x, sizes);
        operand<Out, si::extents<dyn>> to(std::vector<Out>(x.size()), sizes);
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
/// Folds that read whole packs of columns, of which the threads of a block have several segments each.
template <class Type>
void packed(const char* name) {
    result all;
    const auto formula = si::fused([](auto v) { return si::outputs(sum(si::cast<float>(v) * 0.5f, si::axes<0>), max(si::cast<float>(v), si::axes<0>)); });
    char* workspace = nullptr;
    MUST(cudaMalloc(&workspace, 1 << 24));
    for (const auto& [rows, length] : {std::pair<i64, i64>{1, 40}, {63, 8}, {700, 264}, {100001, 64}, {6000, 2048}, {33000, 16}}) {
        const si::extents<1, dyn> line(length);
        operand<Type, plane> x(numbers<Type>(rows * length, 17, 0), plane(rows, length));
        operand<float, si::extents<1, dyn>> a(numbers<float>(length, 18, 0), line), b(numbers<float>(length, 19, 0), line);
        launched(si::try_run(si::reference, si::tie(a.on_host(), b.on_host()) = formula(x.on_host())));
        launched(si::try_run(si::cuda(nullptr, {workspace, 1 << 24}), si::tie(a.on_device(), b.on_device()) = formula(x.on_device())));
        compare(a, all), compare(b, all);
    }
    MUST(cudaFree(workspace));
    report(name, all);
}
/// Comparisons of the place in a row with numbers of the row, within it and beyond 32 bits.
template <i64 Length>
void places() {
    result all;
    const i64 rows = 41;
    const auto formula = si::fused([](auto x, auto t) {
        const auto at = si::iota<-1>(x);
        const auto one = sum(where(at == t, x, 0.0f), si::last_axis), two = sum(where(t < at, x, 1.0f), si::last_axis);
        return si::outputs(x * one + two, where(at >= t, x, 0.0f), where(si::iota<-2>(x) * 100 != at, x, 2.0f));
    });
    std::vector<i64> targets(rows);
    for (i64 r = 0; r < rows; ++r) targets[std::size_t(r)] = r * 977 % (Length + 40) - 20;
    targets[1] = -1, targets[2] = Length, targets[3] = (i64(1) << 32) + 3, targets[4] = -(i64(1) << 62), targets[5] = INT64_MAX, targets[6] = INT64_MIN, targets[7] = 0x7fffffff;
    const si::extents<dyn, Length> sizes(rows);
    const si::extents<dyn, 1> each(rows);
    operand<float, si::extents<dyn, Length>> x(numbers<float>(rows * Length, 20, 0), sizes), a(x.host, sizes), b(x.host, sizes), c(x.host, sizes);
    operand<i64, si::extents<dyn, 1>> t(targets, each);
    launched(si::try_run(si::reference, si::tie(a.on_host(), b.on_host(), c.on_host()) = formula(x.on_host(), t.on_host())));
    launched(si::try_run(si::cuda(), si::tie(a.on_device(), b.on_device(), c.on_device()) = formula(x.on_device(), t.on_device())));
    compare(a, all), compare(b, all), compare(c, all);
    report("places", all);
}
/// Channels that lie innermost to planes, and rows too short for a block with several loops around them.
void short_steps() {
    result all;
    const auto planes = si::fused([](auto x, auto m) { return si::cast<float>(si::permute<0, 3, 1, 2>(x)) * 0.25f - m; });
    for (const auto& [height, width] : {std::pair<i64, i64>{40, 100}, {16, 16}, {7, 300}, {129, 333}}) {
        const si::extents<dyn, 3, dyn, dyn> to_sizes(2, height, width);
        operand<si::u8, si::extents<dyn, dyn, dyn, 3>> x(numbers<si::u8>(2 * height * width * 3, 21, 0), si::extents<dyn, dyn, dyn, 3>(2, height, width));
        operand<float, si::extents<3, 1, 1>> m(numbers<float>(3, 22, 0), si::extents<3, 1, 1>{});
        operand<float, si::extents<dyn, 3, dyn, dyn>> to(std::vector<float>(std::size_t(2 * height * width * 3)), to_sizes);
        launched(si::try_run(si::reference, to.on_host() = planes(x.on_host(), m.on_host())));
        launched(si::try_run(si::cuda(), to.on_device() = planes(x.on_device(), m.on_device())));
        compare(to, all);
    }
    const auto rotate = si::fused([](auto x, auto c) { return x * c + si::cast<float>(si::iota<1>(x)); });
    for (const i64 length : {8, 64, 72}) {
        const si::extents<dyn, dyn, dyn, dyn> sizes(3, 5, 7, length);
        operand<si::bf16, si::extents<dyn, dyn, dyn, dyn>> x(numbers<si::bf16>(105 * length, 23, 29), sizes), to(x.host, sizes);
        operand<float, si::extents<dyn, 1, dyn>> c(numbers<float>(5 * length, 24, 29), si::extents<dyn, 1, dyn>(5, length));
        launched(si::try_run(si::reference, to.on_host() = rotate(x.on_host(), c.on_host())));
        launched(si::try_run(si::cuda(), to.on_device() = rotate(x.on_device(), c.on_device())));
        compare(to, all);
    }
    report("short steps and rows", all);
}
/// Approximations that a rounding test decides by keep their bound, in units of f32's last place.
template <class Op>
__global__ void largest_difference(unsigned* worst, u64 step) {
    using tested = si::detail::device::tested_approximation<Op>;
    unsigned most = 0;
    for (u64 bits = (u64(blockIdx.x) * blockDim.x + threadIdx.x) * step; bits <= 0xffffffffu; bits += u64(gridDim.x) * blockDim.x * step) {
        const float x = __uint_as_float(unsigned(bits));
        if (!tested::holds(x)) continue;
        const unsigned exact = __float_as_uint(Op::apply(si::lane::scalar<float>(x)).value), rough = __float_as_uint(tested::value(x));
        const bool must_be_equal = fabsf(x) < 0x1p-100f || (exact ^ rough) >> 31;
        const unsigned apart = exact == rough ? 0 : must_be_equal ? ~0u : exact > rough ? exact - rough : rough - exact;
        most = apart > most ? apart : most;
    }
    atomicMax(worst, most);
}
template <class Op>
void tested(const char* name, u64 step) {
    unsigned *worst = nullptr, found = 0;
    MUST(cudaMalloc(&worst, sizeof *worst));
    MUST(cudaMemset(worst, 0, sizeof *worst));
    largest_difference<Op><<<1056, 256>>>(worst, step > 257 ? step : 1);  // all, unless a quick run is asked for
    MUST(cudaMemcpy(&found, worst, sizeof found, cudaMemcpyDeviceToHost));
    MUST(cudaFree(worst));
    const unsigned allowed = si::detail::device::tested_approximation<Op>::error;
    ++total.compared;
    if (found > allowed) ++total.different;
    std::printf("tested %-18s off by %u in the last place, allowed %u%s\n", name, found, allowed, found <= allowed ? "" : "  EXCEEDED");
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
    sweep<si::bf16>("gelu_tanh to bf16", step, si::fused([](auto x) { return gelu_tanh(x); }));
    sweep<si::bf16>("silu times to bf16", step, si::fused([](auto x) { return silu(x) * x * 1e30f; }));
    sweep<si::bf16>("sigmoid to bf16", step, si::fused([](auto x) { return sigmoid(x); }));
    tested<si::gelu_tanh_op>("gelu_tanh", step), tested<si::silu_op>("silu", step), tested<si::sigmoid_op>("sigmoid", step);
    packed<float>("columns of f32, packs"), packed<si::bf16>("columns of bf16, packs");
    places<100>(), places<512>(), places<3000>(), places<4096>(), places<20480>();
    short_steps();
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
