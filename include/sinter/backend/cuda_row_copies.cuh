// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's next row on its way to shared memory while this one is computed (cp.async, compute capability 8.0 and later): copies that no
// register waits for, for rows whose own values fill them (row_facts::copies_ahead). Each thread copies what it will read itself, so that
// it waits for its own copies and for no other thread.
#pragma once

#include "cuda_row_facts.cuh"

namespace sinter::detail::device {

template <class Kernel>
struct row_copies {
    using work = row_facts<Kernel>;
    template <int Leaf>
    using element = typename work::rows::template storage_of<Leaf>;
    /// Bytes of one copy: of a thread's pack, or of a part of it.
    template <int Leaf>
    static constexpr int chunk = work::pack * int(sizeof(element<Leaf>)) < 16 ? work::pack * int(sizeof(element<Leaf>)) : 16;
    template <int Leaf>
    static constexpr int chunks = work::pack * int(sizeof(element<Leaf>)) / chunk<Leaf>;
    static constexpr unsigned bytes_before(int leaf) {
        unsigned bytes = 0;
        for (int i = 0; i < leaf; ++i) bytes += work::copied_bytes_of(i);
        return bytes;
    }
    template <int Leaf>
    static constexpr unsigned first_byte = bytes_before(Leaf);
    /// A thread's first chunk of an operand: a warp's chunks lie side by side.
    template <int Leaf>
    static __device__ __forceinline__ unsigned char* place(unsigned char* area) {
        const unsigned warp = threadIdx.x / 32, thread = threadIdx.x % 32;
        return area + warp * 32 * work::copied_bytes_of_thread + 32 * first_byte<Leaf> + thread * unsigned(chunk<Leaf>);
    }
    template <int Bytes>
    static __device__ __forceinline__ void copy(unsigned char* to, const char* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        const unsigned target = unsigned(__cvta_generic_to_shared(to));
        if constexpr (Bytes == 16)  // past the first-level cache
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(from) : "memory");
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(from), "n"(Bytes) : "memory");
#elif defined(SINTER_CUDA_EMULATED)
        emulated_copy(to, from, Bytes);
#else
        __builtin_memcpy(to, from, Bytes);
#endif
    }
    /// Starts copies of an operand's elements from `from` on, the thread's first one, in place of the row that this thread has read: the assembler
    /// lets no copy overtake its thread's earlier loads from there.
    template <int Leaf>
    static __device__ __forceinline__ void send(unsigned char* area, const element<Leaf>* from) {
        unsigned char* const to = place<Leaf>(area);
#pragma unroll
        for (int q = 0; q < work::long_rounds; ++q)
#pragma unroll
            for (int c = 0; c < chunks<Leaf>; ++c)
                copy<chunk<Leaf>>(to + (q * chunks<Leaf> + c) * 32 * chunk<Leaf>, reinterpret_cast<const char*>(from + q * order::lanes) + c * chunk<Leaf>);
    }
    /// Until all copies of this thread have arrived.
    static __device__ __forceinline__ void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_all;" ::: "memory");
#elif defined(SINTER_CUDA_EMULATED)
        emulated_copies_arrive();
#endif
    }
    /// A round of what has arrived: for all of it `wait` before.
    template <int Leaf, class Pack>
    static __device__ __forceinline__ void take(Pack& to, const unsigned char* area, int round) {
        using word = conditional<chunk<Leaf> == 16, uint4, conditional<chunk<Leaf> == 8, u64, u32>>;
        const unsigned char* const from = place<Leaf>(const_cast<unsigned char*>(area));
#pragma unroll
        for (int c = 0; c < chunks<Leaf>; ++c) {
            const word arrived = *reinterpret_cast<const word*>(from + (round * chunks<Leaf> + c) * 32 * chunk<Leaf>);
            __builtin_memcpy(reinterpret_cast<char*>(&to) + c * chunk<Leaf>, &arrived, chunk<Leaf>);
        }
    }
};

}  // namespace sinter::detail::device
