// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scripts/quickstart's second half, where a GPU is: the same formula and numbers there, timed beside a copy, its codes compared with
// the reference's.
//     nvcc -std=c++20 -O2 -arch=native -Iinclude examples/quickstart.cu && ./a.out [rows columns]
#include "quickstart_formula.hpp"

#include <sinter/backend/cuda.cuh>
#include <sinter/backend/cuda_tensor.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;

namespace {

int fail(const char* what, const char* why) {
    std::fprintf(stderr, "quickstart on the GPU: %s: %s\n", what, why);
    return 1;
}
/// Median of the milliseconds that a call takes on the GPU.
template <class Call>
float milliseconds(const Call& call) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    std::vector<float> times;
    for (int i = 0; i < 23; ++i) {
        float time = 0;
        cudaEventRecord(begin);
        call();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&time, begin, end);
        if (i >= 3) times.push_back(time);
    }
    cudaEventDestroy(begin), cudaEventDestroy(end);
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
    const i64 rows = count > 1 ? std::atoll(arguments[1]) : 4096, columns = count > 2 ? std::atoll(arguments[2]) : 4096;
    if (rows < 1 || columns < 1) return fail("the size", "rows and columns are numbers from 1 on");
    int devices = 0;
    cudaDeviceProp card{};
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 || cudaGetDeviceProperties(&card, 0) != cudaSuccess) {
        std::puts("no GPU here: the processor alone ran it");
        return 0;
    }
    using matrix = si::extents<dyn, dyn>;
    using row = si::extents<dyn>;
    std::vector<float> x(std::size_t(rows * columns)), residual(x.size()), weight(std::size_t(columns), 0.0f);
    random_numbers{}.fill(x.data(), residual.data(), weight.data(), rows, columns);

    const matrix sizes(rows, columns);
    si::device_tensor<float, matrix> on_x(sizes), on_residual(sizes), on_copy(sizes);
    si::device_tensor<float, row> on_weight{row(columns)};
    si::device_tensor<si::i8, matrix> on_codes(sizes);
    if (!on_x.ok() || !on_residual.ok() || !on_copy.ok() || !on_weight.ok() || !on_codes.ok()) return fail("memory", "not enough: fewer rows");
    if (!on_x.copy_from(x.data()).ok() || !on_residual.copy_from(residual.data()).ok() || !on_weight.copy_from(weight.data()).ok())
        return fail("a copy", "to the device");

    const auto formula = residual_norm_int8(on_x.view(), on_residual.view(), on_weight.view());
    static_assert(si::plan_of<decltype(formula)>.kernels == 1);
    const si::status said = si::try_run(si::cuda(), on_codes.view() = formula);
    if (!said.ok()) return fail("the kernel", si::describe(said).c_str());
    const float fused = milliseconds([&] { (void)si::try_run(si::cuda(), on_codes.view() = formula); });
    const float copy = milliseconds([&] { (void)cudaMemcpyAsync(on_copy.data(), on_x.data(), x.size() * sizeof(float), cudaMemcpyDeviceToDevice); });

    std::vector<si::i8> codes(x.size());
    if (!on_codes.copy_to(codes.data()).ok()) return fail("a copy", "from the device");
    // The reference is slow by design: as many rows as it does in about a second.
    const i64 compared = (std::min)(rows, (std::max)(i64(1), i64(1 << 20) / columns));
    std::vector<si::i8> expected(std::size_t(compared * columns));
    const matrix some(compared, columns);
    si::run(si::reference, si::view(expected.data(), some) = residual_norm_int8(si::view(x.data(), some), si::view(residual.data(), some),
                                                                                 si::view(weight.data(), row(columns))));
    const bool equal = std::memcmp(codes.data(), expected.data(), expected.size()) == 0;

    const double moved = double(si::plan_of<decltype(formula)>.bytes(rows, columns)), copied = 8.0 * double(x.size());
    std::printf("\nthe same on the GPU       %s\n", card.name);
    std::printf("fused, 1 kernel           %8.4f ms   %.1f MB moved\n", double(fused), moved * 1e-6);
    std::printf("copy speed of the GPU     %8.1f GB/s; the fused kernel moves %.1f GB/s: %.2f of it\n", copied / double(copy) * 1e-6,
                moved / double(fused) * 1e-6, moved / double(fused) / (copied / double(copy)));
    std::printf("GPU and reference         %s (%lld rows)\n", equal ? "equal on every bit" : "DIFFERENT", static_cast<long long>(compared));
    return equal ? 0 : 1;
}
