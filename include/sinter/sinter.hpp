// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The umbrella: everything that any compiler may include, through the reference backend. Add <sinter/backend/cpu.hpp> for the SIMD
// CPU; io and interop headers are included one by one.
#pragma once

#include "diagnose.hpp"  // first: compilers print the chain of includes to a failed check
#include "shape.hpp"
#include "quantized.hpp"
#include "tensor.hpp"

#include "backend/reference.hpp"
#include "coded_assignment.hpp"
#include "ops/contract.hpp"
#include "ops/nn.hpp"
#include "ops/quantized_dot.hpp"
#include "ops/quantized_view.hpp"
#include "ops/view.hpp"

#include "explain.hpp"
#include "split.hpp"

// What `run(cpu, ...)` and `run(cuda(stream), ...)` find without those headers, so that compilers say which one it is. clang: a type, which the
// header's variable hides. g++ would only ask for a value in its place; it says which name in another namespace is alike instead. In CUDA files a
// function that any other is preferred to, whatever its arguments.
namespace sinter {
#if defined(__CUDACC__)
template <class = void>
detail::cuda_without_its_header cuda(...) noexcept {
    return {};
}
#endif
#if defined(__clang__)
struct __attribute__((unavailable("[SINTER-B006] the executor cpu has a header of its own. Hint: #include <sinter/backend/cpu.hpp>; in a single header: scripts/amalgamate backend/cpu.hpp."))) cpu;
#else
namespace include_sinter_backend_cpu_hpp {
struct cpu;  // [SINTER-B006] the executor cpu has a header of its own. Hint: #include <sinter/backend/cpu.hpp>; in a single header: scripts/amalgamate backend/cpu.hpp.
}
#endif
}  // namespace sinter
