// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPU seam proof: programs run by the driver beside this file give the bits that the reference gives on the host.
//     seam [longest row]       default 9000
#include <sinter/sinter.hpp>

#include "driver.cuh"

#include "programs.cuh"

int main(int count, char** argument) {
    return run_all(seam::executor{}, {1, 2, 127, 128, 129, 640, 1023, 1024, 1025, 2048, 3000, 5121, 9000}, count > 1 ? std::atoll(argument[1]) : 9000, [] {});
}
