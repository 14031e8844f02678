// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula as scripts/tune takes it.
// [formula]
#include <sinter/sinter.hpp>
namespace si = sinter;

template <class Memory>
auto call(Memory& memory) {
    const si::extents<si::dyn, 4096> sizes(16384);
    auto x = memory.template view<si::bf16>(sizes), y = memory.template view<si::bf16>(sizes);
    return y = si::softmax(x);
}
// [/formula]
