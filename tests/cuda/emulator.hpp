// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device for machines without one: the source of the CUDA kernels, compiled by a host compiler and run one block after another,
// each thread of a block a fiber of its own. Barriers, shuffles, shared memory and atomics mean what they mean on a device; memory
// is the host's. It shows errors of logic and order, not of the compiler for the device or of memory between blocks. The threads of every second
// block go on evenly; in the others each warp runs as far ahead as barriers let it, in an order of chance, and copies to shared memory arrive
// as late as they may.
//     #include "emulator.hpp"          before any header of the CUDA backend; x86-64
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
using cudaStream_t = struct emulated_stream*;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorInvalidConfiguration = 9 };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t code) { return code == cudaSuccess ? "no error" : "an error"; }
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
    std::memset(to, value, bytes);
    return cudaSuccess;
}

namespace emulator {

inline constexpr int most_threads = 1024;
inline constexpr std::size_t stack_bytes = std::size_t(1) << 17;

struct thread_state {
    void* stack_pointer;
    unsigned long long barriers, exchanges;
    bool done;
    dim3 index;
    unsigned long long word[2];
    int copies;  ///< that are under way
    struct {
        void* to;
        const void* from;
        std::size_t bytes;
    } copy[256];
};
struct machine {
    thread_state thread[most_threads];
    void* scheduler;
    int current, threads;
    unsigned char* stacks;
    bool even;  ///< how this block's threads go on
    void (*body)(const void*);
    const void* argument;
};
inline machine device;

// Saves the callee's registers and the stack pointer in *from, continues at `to`.
extern "C" void emulator_switch(void** from, void* to);
__asm__(
    ".pushsection .text\n"
    ".weak emulator_switch\n"
    "emulator_switch:\n"
    "  pushq %rbx\n  pushq %rbp\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbp\n  popq %rbx\n"
    "  ret\n"
    ".popsection\n");

}  // namespace emulator

inline dim3 threadIdx, blockIdx, blockDim, gridDim;
namespace sinter::detail::device {
alignas(128) inline unsigned char shared_memory[std::size_t(1) << 18];
}

namespace emulator {

inline void yield() {
    thread_state& mine = device.thread[device.current];
    emulator_switch(&mine.stack_pointer, device.scheduler);
    threadIdx = mine.index;
}
inline void enter() {
    threadIdx = device.thread[device.current].index;
    device.body(device.argument);
    device.thread[device.current].done = true;
    yield();
    std::abort();
}
/// Waits until all threads [first, stop) that still run have made as many steps as this one.
template <unsigned long long thread_state::*Count>
void wait(int first, int stop) {
    const unsigned long long mine = ++(device.thread[device.current].*Count);
    for (;;) {
        bool all = true;
        for (int t = first; t < stop && all; ++t) all = device.thread[t].done || device.thread[t].*Count >= mine;
        if (all) return;
        yield();
    }
}
/// Barriers and exchanges that a warp's threads have come to.
inline unsigned long long steps_of_warp(int warp) {
    unsigned long long steps = 0;
    for (int t = warp * 32; t < (warp + 1) * 32 && t < device.threads; ++t) steps += device.thread[t].barriers + device.thread[t].exchanges;
    return steps;
}
/// Each thread of a warp to where it waits for others.
inline void run_warp(int warp, int& left) {
    for (int t = warp * 32; t < (warp + 1) * 32 && t < device.threads; ++t) {
        if (device.thread[t].done) continue;
        device.current = t;
        emulator_switch(&device.scheduler, device.thread[t].stack_pointer);
        if (device.thread[t].done) --left;
    }
}
inline void run_block() {
    if (!device.stacks) device.stacks = static_cast<unsigned char*>(std::malloc(stack_bytes * most_threads));
    for (int t = 0; t < device.threads; ++t) {
        thread_state& one = device.thread[t];
        one.barriers = one.exchanges = 0;
        one.copies = 0;
        one.done = false;
        one.index = dim3(unsigned(t) % blockDim.x, unsigned(t) / blockDim.x % blockDim.y, unsigned(t) / blockDim.x / blockDim.y);
        void** top = reinterpret_cast<void**>(device.stacks + stack_bytes * std::size_t(t + 1) - 64);
        *--top = nullptr;  // keeps the stack as the calling convention wants it
        *--top = reinterpret_cast<void*>(&enter);
        for (int r = 0; r < 6; ++r) *--top = nullptr;
        one.stack_pointer = top;
    }
    device.even = !device.even;
    int order[most_threads / 32];
    const int warps = (device.threads + 31) / 32;
    for (int w = 0; w < warps; ++w) order[w] = w;
    int left = device.threads;
    unsigned long long idle = 0;
    while (left > 0) {
        for (int w = warps - 1; w > 0 && !device.even; --w) {
            static unsigned state = 1;
            state = state * 1664525u + 1013904223u;
            const int other = int((state >> 8) % unsigned(w + 1)), here = order[w];
            order[w] = order[other];
            order[other] = here;
        }
        for (int w = 0; w < warps; ++w)
            do {
                const int before = left;
                const unsigned long long steps = steps_of_warp(order[w]);
                run_warp(order[w], left);
                if (left < before) idle = 0;
                if (left == before && steps == steps_of_warp(order[w])) break;
            } while (!device.even);
        if (++idle > 100000000) std::printf("emulator: a barrier that not all threads reach\n"), std::abort();
    }
}
template <class Parameters>
struct call {
    void (*kernel)(Parameters);
    const Parameters* given;
    static void run(const void* from) {
        const call& it = *static_cast<const call*>(from);
        it.kernel(*it.given);
    }
};

}  // namespace emulator

template <class Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters), dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t) {
    const unsigned threads = block.x * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || threads == 0 || threads > 1024 || shared > 49152) {
        std::printf("emulator: refused a launch: grid %u x %u, block %u x %u, %zu bytes shared\n", grid.x, grid.y, block.x, block.y, shared);
        return cudaErrorInvalidConfiguration;
    }
    const emulator::call<Parameters> given{kernel, static_cast<const Parameters*>(arguments[0])};
    emulator::device.body = emulator::call<Parameters>::run;
    emulator::device.argument = &given;
    emulator::device.threads = int(threads);
    gridDim = grid;
    blockDim = block;
    for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x) {
            blockIdx = dim3(x, y, 0);
            std::memset(sinter::detail::device::shared_memory, 0xa5, shared);
            emulator::run_block();
        }
    return cudaSuccess;
}

inline void __syncthreads() { emulator::wait<&emulator::thread_state::barriers>(0, emulator::device.threads); }
inline void __threadfence() {}
inline unsigned atomicAdd(unsigned* at, unsigned value) {
    const unsigned before = *at;
    *at = before + value;
    return before;
}
/// Which lane a thread reads: a lane of its group, one further on, or its partner.
enum class shuffle_kind { from_lane, from_below, from_partner };
template <class Word>
Word __shfl_from(Word value, int offset, shuffle_kind kind, int width) {
    static_assert(static_cast<Word>(0.5f) == 0, "the words of the exchange are integers: floats go by their bits, as from_partner sends them");
    using namespace emulator;
    const int mine = device.current, warp = mine / 32 * 32, lane = mine % 32, base = lane / width * width;
    const int stop = warp + 32 < device.threads ? warp + 32 : device.threads;
    const int side = int(device.thread[mine].exchanges & 1);  // the next exchange must not overwrite what others still read
    device.thread[mine].word[side] = static_cast<unsigned long long>(value);
    wait<&thread_state::exchanges>(warp, stop);
    int from = kind == shuffle_kind::from_below ? lane + offset : kind == shuffle_kind::from_partner ? lane ^ offset : base + offset;
    if (kind == shuffle_kind::from_below && from >= base + width) from = lane;
    return static_cast<Word>(device.thread[warp + from].word[side]);
}
template <class Word>
Word __shfl_sync(unsigned, Word value, int lane, int width = 32) {
    return __shfl_from(value, lane, shuffle_kind::from_lane, width);
}
template <class Word>
Word __shfl_down_sync(unsigned, Word value, unsigned distance, int width = 32) {
    return __shfl_from(value, int(distance), shuffle_kind::from_below, width);
}
inline void __syncwarp() { (void)__shfl_sync(~0u, 0u, 0); }
/// Of the warp's threads that still run.
inline int __all_sync(unsigned, int holds) {
    const int warp = emulator::device.current / 32 * 32;
    int all = 1;
    for (int lane = 0; lane < 32; ++lane) {
        const int other = __shfl_sync(~0u, holds, lane);
        if (warp + lane < emulator::device.threads && !emulator::device.thread[warp + lane].done) all = all && other;
    }
    return all;
}
template <class Word>
Word __shfl_xor_sync(unsigned, Word value, int distance, int width = 32) {
    return __shfl_from(value, distance, shuffle_kind::from_partner, width);
}

/// A copy to shared memory that its thread doesn't wait for until it asks for all of them.
inline void emulated_copy(void* to, const void* from, std::size_t bytes) {
    emulator::thread_state& mine = emulator::device.thread[emulator::device.current];
    if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0 || mine.copies == 256)
        std::printf("emulator: a copy that isn't aligned, or too many\n"), std::abort();
    if (emulator::device.even)
        std::memcpy(to, from, bytes);
    else
        mine.copy[mine.copies++] = {to, from, bytes};
}
inline void emulated_copies_arrive() {
    emulator::thread_state& mine = emulator::device.thread[emulator::device.current];
    for (int i = 0; i < mine.copies; ++i) std::memcpy(mine.copy[i].to, mine.copy[i].from, mine.copy[i].bytes);
    mine.copies = 0;
}

// There are no clusters: rows that would need one go to the general kernel.
#define SINTER_CUDA_EMULATED 1
inline std::size_t __cvta_generic_to_shared(const void*) { return 0; }
