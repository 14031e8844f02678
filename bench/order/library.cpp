// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One variant of the library: -Dsinter=<a namespace of its own> -DORDER_VARIANT=<name>, with its copy of the headers.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include "library.hpp"

namespace si = sinter;

namespace {
using input = si::tensor_view<const float, si::extents<si::dyn, si::dyn>>;
using matrix = si::tensor_view<float, si::extents<si::dyn, si::dyn>>;
using column = si::tensor_view<float, si::extents<si::dyn, 1>>;
using totals = si::tensor_view<float, si::extents<1, si::dyn>>;
void sum_square(const float* x, float* y, order_long rows, order_long columns) {
    (void)si::try_run(si::cpu, column(y, rows) = si::let(input(x, rows, columns), [](auto v) { return sum(v * v, si::last_axis); }));
}
void softmax(const float* x, float* y, order_long rows, order_long columns) {
    (void)si::try_run(si::cpu, matrix(y, rows, columns) = si::softmax(input(x, rows, columns)));
}
void column_sum(const float* x, float* y, order_long rows, order_long columns) {
    (void)si::try_run(si::cpu, totals(y, columns) = sum(input(x, rows, columns), si::axes<0>));
}
#define ORDER_TEXT_OF(name) #name
#define ORDER_TEXT(name) ORDER_TEXT_OF(name)
}  // namespace

extern const library_variant ORDER_VARIANT;
const library_variant ORDER_VARIANT{ORDER_TEXT(ORDER_VARIANT), sum_square, softmax, column_sum};
