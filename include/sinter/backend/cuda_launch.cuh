// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starting a kernel. The driver finds a kernel that is named by its symbol anew at each launch, and takes a microsecond longer for a
// name that spells a formula (bench/cuda/overhead.cu). So each kernel keeps its handles, one a device, from its first launch on: no
// lock, no allocation, and what can't be started so is started by its symbol. Handles outlive contexts but not cudaDeviceReset.
//
// From compute capability 9.0 on a kernel is put in place while the one before it in the stream ends, and waits there (programmatic
// dependent launch): of short kernels one after another a fifth is saved. So each kernel begins with await_stream().
#pragma once

#include "../config.hpp"
#include "../diagnose.hpp"

#if !defined(SINTER_CUDA_EMULATED)
#include <cuda.h>  // the types of the driver's launch
#endif

namespace sinter::detail::device {

/// What a wrong launch left as the last error is taken along, so that it isn't somebody else's.
inline status status_of_launch(cudaError_t code) {
    if (code == cudaSuccess) return {};
    (void)cudaGetLastError();
    return status{error::backend_failure, -1, -1, 0, int(code), -1, cudaGetErrorString(code)};
}

/// Handles of one kernel on the first devices; null: not asked for yet. A static of the function that launches it.
struct kernel_handles {
    static constexpr int devices = 16;
    void* of_device[devices];
    bool waits[devices];  ///< does its code wait for the kernel before it? Written before the handle
};

/// The first thing that a kernel does: what came before it in its stream has ended, and its stores are seen.
__device__ __forceinline__ void await_stream() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#if !defined(SINTER_CUDA_EMULATED)
/// cuLaunchKernelEx, without linking the driver; null where it isn't to be had. (Not shared between files: which stream 0 is depends on
/// their flags.)
using driver_launch = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);
static driver_launch find_driver_launch() {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    if (cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &found, 12000, cudaEnableDefault, &result) != cudaSuccess || result != cudaDriverEntryPointSuccess) {
        (void)cudaGetLastError();
        return nullptr;
    }
    return reinterpret_cast<driver_launch>(found);
}
/// Was the code that this device runs made for 9.0 or later? Then await_stream is in it.
static bool code_waits(const void* kernel) {
    cudaFuncAttributes facts{};
    if (cudaFuncGetAttributes(&facts, kernel) != cudaSuccess) return (void)cudaGetLastError(), false;
    return facts.ptxVersion >= 90;
}
[[maybe_unused]] static bool start_by_handle(kernel_handles& known, const void* kernel, dim3 grid, dim3 block, u64 shared, cudaStream_t stream, void** arguments) {
    static driver_launch launch;
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= kernel_handles::devices) return false;
    void* function = __atomic_load_n(&known.of_device[device], __ATOMIC_ACQUIRE);
    driver_launch by = __atomic_load_n(&launch, __ATOMIC_RELAXED);
    if (function == nullptr || by == nullptr) {
        cudaFunction_t found{};
        if (by == nullptr) by = find_driver_launch();
        if (by == nullptr) return false;
        if (cudaGetFuncBySymbol(&found, kernel) != cudaSuccess) return (void)cudaGetLastError(), false;
        function = found;
        __atomic_store_n(&launch, by, __ATOMIC_RELAXED);
        __atomic_store_n(&known.waits[device], code_waits(kernel), __ATOMIC_RELAXED);
        __atomic_store_n(&known.of_device[device], function, __ATOMIC_RELEASE);
    }
    CUlaunchAttribute early{};
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig how{};
    how.gridDimX = grid.x, how.gridDimY = grid.y, how.gridDimZ = grid.z;
    how.blockDimX = block.x, how.blockDimY = block.y, how.blockDimZ = block.z;
    how.sharedMemBytes = unsigned(shared);
    how.hStream = stream;
    how.attrs = &early;
    how.numAttrs = __atomic_load_n(&known.waits[device], __ATOMIC_RELAXED) ? 1 : 0;
    // It refuses a thread without a context and a context that isn't the device's own: the runtime knows what to do.
    return by(&how, static_cast<CUfunction>(function), arguments, nullptr) == CUDA_SUCCESS;
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
