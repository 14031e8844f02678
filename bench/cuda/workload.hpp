// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the GPU benchmark share: a workload is a name, its operands in the order in which compare.py hands them over
// (inputs, then outputs), and a launch. Each workloads_*.cu is compiled once for every policy (SINTER_BENCH_POLICY).
#pragma once

#include <sinter/sinter.hpp>

#include <sinter/backend/cuda.cuh>

#include "workload_table.hpp"

namespace bench {

namespace si = sinter;
using si::bf16;
using si::dyn;
using si::f16;
using si::i16;
using si::i64;
using si::i8;
using si::u8;

#define SINTER_BENCH_JOIN_(left, right) left##_##right
#define SINTER_BENCH_JOIN(left, right) SINTER_BENCH_JOIN_(left, right)

inline si::cuda_executor executor_portable(const call& with) { return si::cuda(with.stream, {with.workspace, with.workspace_bytes}); }
inline auto executor_fast(const call& with) { return executor_portable(with).fast(); }
#define executor_of SINTER_BENCH_JOIN(executor, SINTER_BENCH_POLICY)
#define SINTER_BENCH_LIST(name) const list SINTER_BENCH_JOIN(name, SINTER_BENCH_POLICY) = {workloads, int(sizeof workloads / sizeof *workloads)}

/// What went wrong, until the next call says so; null if nothing did.
inline const char* said(const si::status& status) {
    if (status.ok()) return nullptr;
    static si::fixed_text<400> text;
    text = si::describe(status);
    return text.c_str();
}

template <class Type, i64 Count>
auto row(void* at) {
    return si::device_view(static_cast<Type*>(at), si::extents<Count>{});
}
template <class Type>
auto line(void* at, i64 count) {
    return si::device_view(static_cast<Type*>(at), si::extents<dyn>(count));
}
/// The length of a row is a constant, as it is to PyTorch's compiler.
template <class Type, i64 Columns>
auto matrix(void* at, i64 rows) {
    return si::device_view(static_cast<Type*>(at), si::extents<dyn, Columns>(rows));
}
template <class Type>
auto column(void* at, i64 rows) {
    return si::device_view(static_cast<Type*>(at), si::extents<dyn, 1>(rows));
}
template <class Type>
auto single(void* at) {
    return si::device_view(static_cast<Type*>(at), si::extents<>{});
}

}  // namespace bench
