// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables on the emulated device, whose memory is the host's: what may not be read ends the program here, too.
#include "emulated.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include "lookup_cases.hpp"

int main() {
    lookups::run_cases(emulated::executor{}, [](const char* name, long long size, bool holds) { check(name, size, holds); });
    return tally();
}
