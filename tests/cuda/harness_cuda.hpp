// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend on a GPU, as a backend of the exactness harness: nvcc -x cu compiles the files of tests/exactness with this header.
#pragma once

#include <sinter/backend/cuda.cuh>

#include <cstdio>
#include <cstdlib>

namespace cuda_test {

inline void must(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::printf("%s: %s\n", what, cudaGetErrorString(code));
    std::fflush(stdout);
    std::_Exit(2);
}
/// Device memory that is given back is kept for the next one of its size: a test makes thousands of operands.
struct pool {
    struct freed {
        freed* next;
        void* memory;
    };
    freed* list[48] = {};
    static int size_class(std::size_t bytes) {
        int power = 8;
        while ((std::size_t(1) << power) < bytes) ++power;
        return power;
    }
    void* take(std::size_t bytes) {
        const int power = size_class(bytes);
        if (freed* const first = list[power]) {
            void* const memory = first->memory;
            list[power] = first->next;
            delete first;
            return memory;
        }
        void* memory = nullptr;
        must(cudaMalloc(&memory, std::size_t(1) << power), "cudaMalloc");
        return memory;
    }
    void give(void* memory, std::size_t bytes) {
        const int power = size_class(bytes);
        list[power] = new freed{list[power], memory};
    }
};
inline pool memory;

struct storage {
    using space = sinter::device_memory;
    static constexpr std::size_t header = 256;  ///< the size stands before the elements
    template <class Type>
    static Type* allocate(sinter::i64 count) {
        const std::size_t bytes = std::size_t(count) * sizeof(Type) + header;
        char* const all = static_cast<char*>(memory.take(bytes));
        must(cudaMemcpy(all, &bytes, sizeof bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        return reinterpret_cast<Type*>(all + header);
    }
    template <class Type>
    static void upload(Type* to, const Type* from, sinter::i64 count) {
        if (count > 0) must(cudaMemcpy(to, from, std::size_t(count) * sizeof(Type), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    template <class Type>
    static void download(Type* to, const Type* from, sinter::i64 count) {
        if (count > 0) must(cudaMemcpy(to, from, std::size_t(count) * sizeof(Type), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    template <class Type>
    static void release(Type* from) {
        std::size_t bytes = 0;
        char* const all = reinterpret_cast<char*>(from) - header;
        must(cudaMemcpy(&bytes, all, sizeof bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        memory.give(all, bytes);
    }
};

/// Runs a call with exactly the workspace that it asks for, full of rubbish, and waits for it.
struct executor {
    using memory_space = sinter::device_memory;
    template <class Assignment>
    sinter::status launch(const Assignment& assigned) const {
        const sinter::i64 bytes = sinter::cuda_workspace_size(assigned);
        void* scratch = nullptr;
        if (bytes > 0) {
            scratch = memory.take(std::size_t(bytes));
            must(cudaMemset(scratch, 0x5a, std::size_t(bytes)), "cudaMemset");
        }
        const sinter::status result = sinter::cuda(nullptr, {scratch, bytes}).launch(assigned);
        must(cudaDeviceSynchronize(), "the kernel");
        if (scratch) memory.give(scratch, std::size_t(bytes));
        if (result.code() == sinter::error::backend_failure) std::printf("CUDA: %s\n", sinter::describe(result).c_str());
        return result;
    }
};

}  // namespace cuda_test
