// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starting a kernel. The driver finds a kernel that is named by its symbol anew at each launch, and takes a microsecond longer for a
// name that spells a formula (bench/cuda/overhead.cu). So each kernel keeps its handles, one a device, from its first launch on: no
// lock, no allocation, and what can't be started so is started by its symbol. Handles outlive contexts but not cudaDeviceReset.
#pragma once

#include "../config.hpp"
#include "../diagnose.hpp"

namespace sinter::detail::device {

/// What a wrong launch left as the last error is taken along, so that it isn't somebody else's.
inline status status_of_launch(cudaError_t code) {
    if (code == cudaSuccess) return {};
    (void)cudaGetLastError();
    return status{error::backend_failure, -1, -1, 0, int(code)};
}

/// Handles of one kernel on the first devices; null: not asked for yet. A static of the function that launches it.
struct kernel_handles {
    static constexpr int devices = 16;
    void* of_device[devices];
};

#if !defined(SINTER_CUDA_EMULATED)
/// cuLaunchKernel, without linking the driver; null where it isn't to be had. (Not shared between files: which stream 0 is depends on
/// their flags.)
using driver_launch = int (*)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void**, void**);
static driver_launch find_driver_launch() {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    if (cudaGetDriverEntryPointByVersion("cuLaunchKernel", &found, 12000, cudaEnableDefault, &result) != cudaSuccess || result != cudaDriverEntryPointSuccess) {
        (void)cudaGetLastError();
        return nullptr;
    }
    return reinterpret_cast<driver_launch>(found);
}
[[maybe_unused]] static bool start_by_handle(kernel_handles& known, const void* kernel, dim3 grid, dim3 block, u64 shared, cudaStream_t stream, void** arguments) {
    static driver_launch launch;
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= kernel_handles::devices) return false;
    void* function = __atomic_load_n(&known.of_device[device], __ATOMIC_RELAXED);
    driver_launch by = __atomic_load_n(&launch, __ATOMIC_RELAXED);
    if (function == nullptr || by == nullptr) {
        cudaFunction_t found{};
        if (by == nullptr) by = find_driver_launch();
        if (by == nullptr) return false;
        if (cudaGetFuncBySymbol(&found, kernel) != cudaSuccess) return (void)cudaGetLastError(), false;
        function = found;
        __atomic_store_n(&launch, by, __ATOMIC_RELAXED);
        __atomic_store_n(&known.of_device[device], function, __ATOMIC_RELAXED);
    }
    // It refuses a thread without a context and a context that isn't the device's own: the runtime knows what to do.
    return by(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, unsigned(shared), stream, arguments, nullptr) == 0;
}
/// Starts a kernel.
template <class Parameters>
status start(kernel_handles& known, void (*kernel)(Parameters), dim3 grid, dim3 block, u64 shared, cudaStream_t stream, const Parameters& given) {
    void* arguments[] = {const_cast<Parameters*>(&given)};
    const void* const symbol = reinterpret_cast<const void*>(kernel);
    if (start_by_handle(known, symbol, grid, block, shared, stream, arguments)) return {};
    return status_of_launch(cudaLaunchKernel(symbol, grid, block, arguments, shared, stream));
}
#else  // tests/cuda/emulator.hpp
template <class Parameters>
status start(kernel_handles&, void (*kernel)(Parameters), dim3 grid, dim3 block, u64 shared, cudaStream_t stream, const Parameters& given) {
    void* arguments[] = {const_cast<Parameters*>(&given)};
    return status_of_launch(cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
}
#endif

}  // namespace sinter::detail::device
