// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads an array that NumPy wrote, normalises its rows, and writes one that NumPy reads.
//   example_10_numpy_file in.npy out.npy       without arguments it makes an input of its own
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>
#include <sinter/io/npy.hpp>

#include <cstdio>
#include <vector>

namespace si = sinter;

int main(int count, char** arguments) {
    const char* input = count == 3 ? arguments[1] : "example_in.npy";
    const char* output = count == 3 ? arguments[2] : "example_out.npy";
    if (count != 3) {
        const std::vector<float> sample = {1, 2, 3, 4, 5, 60};
        if (auto made = si::write_npy(input, sample.data(), {2, 3}); !made.ok()) return std::puts(made.message().c_str()), 1;
    }

    si::npy_result file = si::read_npy(input);
    if (!file.ok()) return std::puts(file.status.message().c_str()), 1;
    auto values = si::npy_as<float, 2>(file.array);  // says so if it isn't a matrix of float32
    if (!values.ok()) return std::puts(values.status.message().c_str()), 1;

    si::tensor_view<float, si::extents<si::dyn, si::dyn>> x(values.pointer, values.sizes[0], values.sizes[1]);
    si::run(si::cpu, x = softmax(x));  // in place

    auto written = si::write_npy(output, values.pointer, file.array.shape);
    if (!written.ok()) return std::puts(written.message().c_str()), 1;
    std::printf("%s: %d x %d, rows sum to 1\n", output, int(values.sizes[0]), int(values.sizes[1]));
}
