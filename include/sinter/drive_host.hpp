// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host driver as one call, for backends: an executor whose lanes live in a processor's registers hands its lane family and
// the assignment over, and gets every nest, layout and tail in the canonical order (docs/backend). It holds no loop itself.
#pragma once

#include "drive_columns.hpp"

namespace sinter {

/// The hook of a backend without threads.
struct calling_thread {
    template <class Function>
    SINTER_FORCE_INLINE void operator()(int count, const Function& function) const {
        for (int i = 0; i < count; ++i) function(i);
    }
};

/// Checks the operands of an assignment and runs it over a lane family; `hook(threads, f)` calls f(0) to f(threads - 1), on any
/// threads in any order, and waits for them. Nothing is written when the status isn't ok. Code for one instruction set must
/// not meet that of another in the linker: let the family be a type of that instruction set alone.
template <class Family, class Assignment, class Hook = calling_thread>
SINTER_FORCE_INLINE status launch_on_host(const Assignment& assigned, const Hook& hook = {}, int threads = 1) {
    return detail::host_launch<kernel<Assignment>, Family>::launch(assigned, hook, threads);
}

}  // namespace sinter
