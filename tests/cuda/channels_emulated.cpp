// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interleaved channels on the emulated device (channel_cases.hpp).
#include "emulated.hpp"
#include "channel_cases.hpp"

int main() { return channels_of_device::check_all<emulated::storage>(emulated::executor{}); }
