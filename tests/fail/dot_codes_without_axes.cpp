// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum of products of codes without the axes to sum over.
// expect: SINTER-Q016
// expect: Hint:
#include <sinter/sinter.hpp>

namespace si = sinter;

void example(float* p) {
    // [given]
    const si::tensor_view<si::i8, si::extents<8>> x(reinterpret_cast<si::i8*>(p)), w(x);
    const si::tensor_view<si::i32, si::extents<1>> y(reinterpret_cast<si::i32*>(p + 8));
    // [/given]
#ifdef CONTROL
    // [repair]
    si::run(si::reference, y = dot_codes(x, w, si::axes<-1>));
    // [/repair]
#else
    // [mistake]
    si::run(si::reference, y = dot_codes(x, w));
    // [/mistake]
#endif
}
