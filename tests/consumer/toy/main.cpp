// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The toy backend as its user sees it: an executor like any other.
#include "toy.hpp"

#include <sinter/sinter.hpp>

#include <cstdio>

namespace si = sinter;

int main() {
    float x[2][5] = {{1, 2, 3, 4, 5}, {-1, 0, 1, 1000, 0.5f}}, toy_result[2][5], reference_result[2][5];
    const si::extents<2, 5> sizes;
    // [use]
    si::run(toy::executor{}, si::view(&toy_result[0][0], sizes) = softmax(si::view(&x[0][0], sizes), si::last_axis));
    // [/use]
    si::run(si::reference, si::view(&reference_result[0][0], sizes) = softmax(si::view(&x[0][0], sizes), si::last_axis));
    bool same = true;
    for (int row = 0; row < 2; ++row)
        for (int i = 0; i < 5; ++i)
            same = same && __builtin_bit_cast(si::u32, toy_result[row][i]) == __builtin_bit_cast(si::u32, reference_result[row][i]);
    std::printf("softmax of 1 2 3 4 5: %.6f %.6f %.6f %.6f %.6f, %s\n", toy_result[0][0], toy_result[0][1], toy_result[0][2], toy_result[0][3],
                toy_result[0][4], same ? "equal bits" : "NOT equal");
    return same ? 0 : 1;
}
