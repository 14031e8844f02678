// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thread-block clusters (compute capability 9.0 and later): values go to every block's shared memory by asynchronous stores that an
// mbarrier there counts. A block waits for its own barrier only, so that none ever waits for another one's end; the one cluster-wide
// barrier, that the mbarriers exist, is hidden behind the loads of a row. PTX ISA: st.async, mbarrier, mapa, barrier.cluster.
#pragma once

#include "cuda_call.cuh"
#include "cuda_launch.cuh"

namespace sinter::detail::device {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SINTER_CLUSTER_ASM(...) asm volatile(__VA_ARGS__)
#else
#define SINTER_CLUSTER_ASM(...) (void)0
#endif

static __device__ __forceinline__ int cluster_rank() {
    unsigned out = 0;
    SINTER_CLUSTER_ASM("mov.u32 %0, %%cluster_ctarank;" : "=r"(out));
    return int(out);
}
static __device__ __forceinline__ int cluster_blocks() {
    unsigned out = 1;
    SINTER_CLUSTER_ASM("mov.u32 %0, %%cluster_nctarank;" : "=r"(out));
    return int(out);
}

#if !defined(SINTER_CUDA_EMULATED)
/// Whether the current device has clusters: asked once for each device.
inline bool clusters_here() {
    constexpr int devices = 64;
    static signed char known[devices];
    int device = 0, major = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device >= devices) return false;
    if (known[device] == 0) {
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) return false;
        known[device] = major >= 9 ? 1 : -1;
    }
    return known[device] > 0;
}
/// Starts a kernel whose blocks form clusters of `blocks`. More than 48 KB of shared memory are asked for once a kernel and device.
template <class Parameters>
status start_cluster(kernel_handles& known, void (*kernel)(Parameters), unsigned blocks, dim3 grid, dim3 block, u64 shared, cudaStream_t stream, const Parameters& given) {
    if (shared > 49152) {
        int device = 0;
        const cudaError_t code = cudaGetDevice(&device);
        if (code != cudaSuccess) return status_of_launch(code);
        const bool counts = device < kernel_handles::devices;
        if (!counts || reinterpret_cast<u64>(__atomic_load_n(&known.of_device[device], __ATOMIC_RELAXED)) < shared) {
            const cudaError_t set = cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
            if (set != cudaSuccess) return status_of_launch(set);
            if (counts) __atomic_store_n(&known.of_device[device], reinterpret_cast<void*>(shared), __ATOMIC_RELAXED);
        }
    }
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t how{};
    how.gridDim = grid;
    how.blockDim = block;
    how.dynamicSmemBytes = shared;
    how.stream = stream;
    how.attrs = &cluster;
    how.numAttrs = 1;
    void* arguments[] = {const_cast<Parameters*>(&given)};
    return status_of_launch(cudaLaunchKernelExC(&how, reinterpret_cast<const void*>(kernel), arguments));
}
#else  // tests/cuda/emulator.hpp
inline bool clusters_here() { return false; }
template <class Parameters>
status start_cluster(kernel_handles&, void (*)(Parameters), unsigned, dim3, dim3, u64, cudaStream_t, const Parameters&) {
    return status{error::backend_failure};
}
#endif

/// The exchange of a row's segments among the blocks of a cluster: per pass one mbarrier and one slot per segment, in each block. A
/// cluster that takes several rows one after the other has two sets of both and uses them by turns: a block sends for the next row but
/// one only when all have sent for the next, and so have read this one's. Shared memory: the mbarriers (8 bytes each, padded to 16),
/// then the slots.
struct segment_exchange {
    unsigned shared_begin = 0;  ///< address of the block's shared memory
    unsigned slots_begin = 0;   ///< offset of the slots of the first pass
    int blocks = 1;             ///< that have segments

    /// The same of a block that has begun one: made anew where a thread has no register to keep it.
    static __device__ __forceinline__ segment_exchange again(unsigned char* shared, int barriers, int blocks) {
        return {static_cast<unsigned>(__cvta_generic_to_shared(shared)), barrier_bytes(barriers), blocks};
    }
    static __host__ __device__ constexpr unsigned barrier_bytes(int barriers) { return unsigned(barriers + 1) / 2 * 16; }

    /// `Bytes`: of a slot, for each pass.
    template <int Sets, unsigned... Bytes>
    static __device__ __forceinline__ segment_exchange begin(unsigned char* shared, int segments, int blocks) {
        const segment_exchange out = again(shared, Sets * int(sizeof...(Bytes)), blocks);
        if (threadIdx.x == 0) {
            unsigned barrier = out.shared_begin;
            for (int set = 0; set < Sets; ++set) ((create(barrier), expect(barrier, unsigned(segments) * Bytes), barrier += 8), ...);
            SINTER_CLUSTER_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
        // (Relaxed: the fence releases the mbarriers, and there is nothing else to see. A release waits for all of the memory.)
        SINTER_CLUSTER_ASM("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
        return out;
    }
    static __device__ __forceinline__ void create([[maybe_unused]] unsigned barrier) {
        SINTER_CLUSTER_ASM("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    }
    static __device__ __forceinline__ void expect([[maybe_unused]] unsigned barrier, [[maybe_unused]] unsigned bytes) {
        SINTER_CLUSTER_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    }
    /// One thread of a block, after `wait`: the mbarrier serves the next row but one.
    __device__ __forceinline__ void expect_again(int number, unsigned bytes) const { expect(shared_begin + 8 * unsigned(number), bytes); }
    /// Before the first send: all blocks have their mbarriers.
    __device__ __forceinline__ void ready() const { SINTER_CLUSTER_ASM("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

    /// The threads of a group send a value, which all of them have, to one of the first `receivers` blocks each, or to every `group`th one;
    /// it counts on mbarrier `number` there.
    template <class Value>
    __device__ __forceinline__ void send(const Value& value, unsigned offset, int member, int group, bool exists, int number, int receivers) const {
        static_assert(sizeof(Value) % 4 == 0, "segments are sent in words of 4 bytes");
        if (!exists) return;
        for (int rank = member; rank < receivers; rank += group) {
            unsigned to = 0, barrier = 0;
            SINTER_CLUSTER_ASM("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_begin + offset), "r"(rank));
            SINTER_CLUSTER_ASM("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared_begin + 8 * unsigned(number)), "r"(rank));
#pragma unroll
            for (unsigned i = 0; i < sizeof(Value) / 4; ++i) {
                unsigned word;
                __builtin_memcpy(&word, reinterpret_cast<const char*>(&value) + 4 * i, 4);
                SINTER_CLUSTER_ASM("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to + 4 * i), "r"(word),
                                   "r"(barrier)
                                   : "memory");
                (void)word;
            }
            (void)to, (void)barrier;
        }
    }
    /// Until mbarrier `number` has counted all bytes for the `uses`th time (from 0).
    __device__ __forceinline__ void wait(int number, int uses) const {
        [[maybe_unused]] const unsigned barrier = shared_begin + 8 * unsigned(number), parity = unsigned(uses) & 1;
        unsigned done = 0;
        do {
            done = 1;
            SINTER_CLUSTER_ASM(
                "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                : "=r"(done)
                : "r"(barrier), "r"(parity)
                : "memory");
        } while (!done);
    }
};
#undef SINTER_CLUSTER_ASM

/// Asks the second-level cache for memory that will be read; multiples of 16 bytes.
static __device__ __forceinline__ void ask_cache([[maybe_unused]] const void* from, [[maybe_unused]] int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
#endif
}

}  // namespace sinter::detail::device
