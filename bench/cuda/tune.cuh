// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What scripts/tune compiles around a formula: memory for its views, candidates of a tuning table, their times in turns with a cold
// second-level cache, and a comparison of what they write, which must be the same bits.
#pragma once

#include <sinter/sinter.hpp>
#include <sinter/backend/cuda.cuh>
#include <sinter/backend/cuda_view.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace tune {

namespace si = sinter;
using si::i64;
using si::u64;

static void expect(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

static __host__ __device__ unsigned hash(u64 at) {
    unsigned bits = unsigned(at) * 2654435761u ^ unsigned(at >> 32);
    bits ^= bits >> 15, bits *= 2246822519u, bits ^= bits >> 13;
    return bits;
}
/// Floats in [-2, 2), integers in [0, 7), bool both, codes of quantized types any.
template <class Type>
__global__ void fill(Type* to, i64 count) {
    for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += i64(gridDim.x) * blockDim.x) {
        const unsigned bits = hash(u64(i));
        if constexpr (si::is_float(si::dtype_of<Type>))
            to[i] = si::convert<Type>(float(int(bits >> 8)) * 0x1p-22f - 2.0f);
        else if constexpr (si::is_quantized_type(si::dtype_of<Type>))
            reinterpret_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(bits >> 8);
        else
            to[i] = Type((bits >> 8) % (si::dtype_of<Type> == si::dtype::boolean ? 2 : 7));
    }
}
static __global__ void checksum(const unsigned* from, i64 words, unsigned long long* sum) {
    unsigned long long mine = 0;
    for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += i64(gridDim.x) * blockDim.x) mine += hash(u64(from[i]) << 32 ^ u64(i));
    atomicAdd(sum, mine);
}
/// Reads what no candidate uses, so that the second-level cache holds nothing of theirs.
static __global__ void forget(const uint4* from, i64 count, unsigned* to) {
    unsigned all = 0;
    for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += i64(gridDim.x) * blockDim.x) all ^= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
    if (all == 1) *to = all;
}

/// The memory of the views that a file's `call` asks for.
class memory {
public:
    template <class Type, i64... Sizes>
    auto view(const si::extents<Sizes...>& sizes) {
        using element = typename si::detail::element_for<Type>::type;
        const i64 count = sizes.sizes().count();
        block one{nullptr, (u64(count) * sizeof(element) + 19) / 16 * 16, count, [](void* at, i64 elements) {
                      fill<<<1024, 256>>>(static_cast<element*>(at), elements);
                  }};
        expect(cudaMalloc(&one.at, one.bytes), "memory for a view");
        blocks_.push_back(one);
        refill(blocks_.back());
        return si::device_view(static_cast<element*>(one.at), sizes);
    }
    void refill() {
        for (block& one : blocks_) refill(one);
    }
    unsigned long long sum() {
        unsigned long long* at = nullptr;
        unsigned long long out = 0;
        expect(cudaMalloc(&at, 8), "memory");
        expect(cudaMemset(at, 0, 8), "memory");
        for (const block& one : blocks_) checksum<<<1024, 256>>>(static_cast<const unsigned*>(one.at), i64(one.bytes / 4), at);
        expect(cudaMemcpy(&out, at, 8, cudaMemcpyDeviceToHost), "a candidate");
        cudaFree(at);
        return out;
    }

private:
    struct block {
        void* at;
        u64 bytes;
        i64 count;
        void (*fill_with)(void*, i64);
    };
    static void refill(block& one) {
        expect(cudaMemset(one.at, 0, one.bytes), "memory");
        one.fill_with(one.at, one.count);
    }
    std::vector<block> blocks_;
};

/// A group of the table, and whether an assignment's kernels read it.
enum class group { streams, pointwise, tiles, rows, any_rows, long_rows, columns, packed_columns };
template <class Assignment>
constexpr bool reads(group which) {
    using kernel = si::detail::device::cuda_kernel<Assignment>;
    constexpr si::nest_kind nest = kernel::nest;
    switch (which) {
        case group::streams: return nest == si::nest_kind::pointwise || si::detail::device::row_facts_of<kernel>::possible;
        case group::pointwise: return nest == si::nest_kind::pointwise;
        case group::tiles: return si::detail::device::tile_choice<kernel>::possible;
        case group::rows: return si::detail::device::row_facts_of<kernel>::possible;
        case group::long_rows:
        case group::any_rows: return nest != si::nest_kind::pointwise && nest != si::nest_kind::columns;
        case group::columns: return nest == si::nest_kind::columns;
        default:
            if constexpr (nest == si::nest_kind::columns)
                return si::detail::device::packed_columns_facts<kernel>::possible;
            else
                return false;
    }
}

struct candidate {
    const char* name;
    si::status (*run)(const void* assigned, cudaStream_t stream, const si::cuda_workspace& workspace, bool launches, i64& bytes);
    std::vector<float> times;
};
/// Candidate number `Arch` of an assignment; none where its formula doesn't read that group.
template <class Assignment, int Arch, bool Fast>
void add(std::vector<candidate>& to, const char* name) {
    using tuned = si::detail::device::tuned_kernel<si::kernel<Assignment>, Arch>;
    using kernel = si::conditional<Fast, si::detail::device::fast_kernel<tuned>, tuned>;
    to.push_back({name, [](const void* assigned, cudaStream_t stream, const si::cuda_workspace& workspace, bool launches, i64& bytes) {
                      return si::detail::device::device_call<kernel>::run(*static_cast<const Assignment*>(assigned), stream, workspace, launches, bytes);
                  }, {}});
}

/// Prints a line `name microseconds` for each candidate, the table's own first; `differs` or `fails` instead of a time.
template <class Assignment>
int measure(memory& all, const Assignment& assigned, std::vector<candidate>& candidates, int turns, bool compares) {
    cudaStream_t stream = nullptr;
    expect(cudaStreamCreate(&stream), "a stream");
    i64 most = 16;
    for (candidate& one : candidates) {
        i64 bytes = 0;
        (void)one.run(&assigned, stream, {}, false, bytes);
        most = std::max(most, bytes);
    }
    si::cuda_workspace workspace{nullptr, most};
    expect(cudaMalloc(&workspace.pointer, u64(most)), "a workspace");
    const i64 cold = i64(256) << 20;
    void* unused = nullptr;
    expect(cudaMalloc(&unused, u64(cold)), "memory to forget by");
    expect(cudaMemset(unused, 0, u64(cold)), "memory to forget by");
    cudaEvent_t begin, end;
    expect(cudaEventCreate(&begin), "an event"), expect(cudaEventCreate(&end), "an event");

    unsigned long long wanted = 0;
    std::vector<const char*> wrong(candidates.size(), nullptr);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        i64 bytes = 0;
        all.refill();
        expect(cudaDeviceSynchronize(), "filling");
        const si::status said = candidates[c].run(&assigned, stream, workspace, true, bytes);
        if (!said.ok()) {
            if (c == 0) return std::fprintf(stderr, "%s\n", si::describe(said).c_str()), 1;
            wrong[c] = "fails";
            continue;
        }
        expect(cudaStreamSynchronize(stream), candidates[c].name);
        const unsigned long long found = all.sum();
        if (c == 0) wanted = found;
        if (found != wanted && compares) wrong[c] = "differs";
    }
    for (int turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::size_t c = (i + std::size_t(turn)) % candidates.size();
            if (wrong[c]) continue;
            i64 bytes = 0;
            forget<<<1024, 512, 0, stream>>>(static_cast<const uint4*>(unused), cold / 16, static_cast<unsigned*>(unused));
            expect(cudaEventRecord(begin, stream), "an event");
            (void)candidates[c].run(&assigned, stream, workspace, true, bytes);
            expect(cudaEventRecord(end, stream), "an event");
            expect(cudaEventSynchronize(end), candidates[c].name);
            float milliseconds = 0;
            expect(cudaEventElapsedTime(&milliseconds, begin, end), "an event");
            candidates[c].times.push_back(milliseconds * 1000);
        }
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (wrong[c]) {
            std::printf("%s %s\n", candidates[c].name, wrong[c]);
            continue;
        }
        std::vector<float>& times = candidates[c].times;
        std::sort(times.begin(), times.end());
        std::printf("%s %.3f\n", candidates[c].name, double(times[times.size() / 2]));
    }
    return 0;
}

}  // namespace tune
