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
    using kernel_type = kernel<Assignment>;
    constexpr int slot_count = detail::slots<kernel_type>::count;
    detail::binding_of<kernel_type> bound;
    const status checked = detail::bind<kernel_type, Family>(assigned, bound);
    if (!checked.ok() || bound.empty_output) return checked;
    detail::loops<slot_count> along;
    detail::loop_maker<Family, slot_count>::make(detail::loop_facts_of<kernel_type>::value, bound, along);
    detail::host_launch<kernel_type, Family>::run(assigned, bound, along, hook, threads);
    return {};
}

}  // namespace sinter
