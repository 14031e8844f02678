// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of the GPU benchmark's workloads, without a word of Sinter.
#pragma once

#include <cuda_runtime.h>

namespace bench {

struct call {
    void* const* at;  ///< operands on the device: inputs, then outputs
    cudaStream_t stream;
    void* workspace;
    long long workspace_bytes;
};
enum class kind { f32, bf16, i8, u8, i16, i64 };
struct operand {
    kind type;
    long long count;
};
/// `launch` gives nullptr, or what went wrong.
struct workload {
    const char* name;
    int inputs, outputs;
    operand at[12];
    const char* (*launch)(const call&);
};
struct list {
    const workload* first;
    int count;
};

extern const list pointwise_portable, norms_portable, softmax_portable, folds_portable, layouts_portable;
extern const list pointwise_fast, norms_fast, softmax_fast, folds_fast, layouts_fast;

}  // namespace bench
