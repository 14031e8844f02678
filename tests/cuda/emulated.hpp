// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA backend on the emulated device, as a backend of the exactness harness.
#pragma once

#include "emulator.hpp"

#include <sinter/backend/cuda.cuh>

namespace emulated {

/// Guarded memory of the device, which is the host's here.
struct storage {
    using space = sinter::device_memory;
    template <class Type>
    static Type* allocate(sinter::i64 count) {
        return static_cast<Type*>(std::aligned_alloc(256, (std::size_t(count) * sizeof(Type) + 256) / 256 * 256));
    }
    template <class Type>
    static void upload(Type* to, const Type* from, sinter::i64 count) {
        if (count > 0) std::memcpy(static_cast<void*>(to), from, std::size_t(count) * sizeof(Type));
    }
    template <class Type>
    static void download(Type* to, const Type* from, sinter::i64 count) {
        upload(to, from, count);
    }
    template <class Type>
    static void release(Type* from) {
        std::free(from);
    }
};
/// Gives every call exactly the workspace that it asks for, filled with rubbish.
struct executor {
    using memory_space = sinter::device_memory;
    template <class Assignment>
    sinter::status launch(const Assignment& assigned) const {
        const sinter::i64 bytes = sinter::cuda_workspace_size(assigned);
        void* const memory = bytes > 0 ? std::aligned_alloc(16, std::size_t(bytes + 15) / 16 * 16) : nullptr;
        if (memory) std::memset(memory, 0x5a, std::size_t(bytes));
        const sinter::status result = sinter::cuda(nullptr, {memory, bytes}).launch(assigned);
        std::free(memory);
        return result;
    }
};

}  // namespace emulated
