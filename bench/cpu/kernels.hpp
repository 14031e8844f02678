// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The workloads of the CPU benchmark, once per way of writing them. All matrices are row-major f32, `columns` a multiple of 1024.
#pragma once

struct sizes {
    long rows, columns;
};
/// What a workload may read and write: x and y are matrices, the others rows, `small` has a place for every row or column.
struct memory {
    const float* x;
    const float* bias;
    const float* weight;
    float* y;
    float* small;
};

/// A null pointer where a way doesn't have the workload.
struct ways {
    void (*bias_gelu)(sizes, const memory&);
    void (*softmax)(sizes, const memory&);
    void (*rms_norm)(sizes, const memory&);
    void (*layer_norm)(sizes, const memory&);
    void (*sum_square_rows)(sizes, const memory&);
    void (*sum_square_whole)(sizes, const memory&);
    void (*column_sum)(sizes, const memory&);
    void (*chain)(sizes, const memory&);
};

extern const ways sinter_ways;         ///< the library
extern const ways sinter_fast_ways;    ///< the same formulas under the policy `fast`
extern const ways same_rules;          ///< intrinsics, Sinter's order and roundings: equal bits
extern const ways same_rules_streams;  ///< the same, with non-temporal stores
extern const ways free_order;          ///< intrinsics, any order, contracted, cheaper functions
extern const ways free_order_streams;
extern const ways eigen_ways;

/// y = x, as many bytes; with non-temporal stores.
void copy_streams(float* to, const float* from, long count);
