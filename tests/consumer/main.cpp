// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user's project holds: one formula, run by the backend that its target carries. Built by the projects beside this
// file, each of which gets Sinter in another way.
#include <sinter/sinter.hpp>
#if defined(CONSUMER_CPU)
#include <sinter/backend/cpu.hpp>
#endif

#include <cstdio>

namespace si = sinter;

// Names of a user's own that parameters of the library have, too: g++'s -Wshadow tells of them in templates, where the headers aren't a
// system folder. Every consumer is compiled with warnings as errors.
int a = 0, axis = 0, number = 0, pointer = 0, size = 0, step = 0, strides = 0, value = 0;

int main() {
  float x[4] = {-1.0f, 2.0f, -3.0f, 4.0f}, y[4] = {};
  auto input = si::view(x, si::extents<4>{});
  auto output = si::view(y, si::extents<4>{});
#if defined(CONSUMER_CPU)
  si::run(si::cpu, output = relu(input) * 0.5f);
#else
  si::run(si::reference, output = relu(input) * 0.5f);
#endif
  for (int i = 0; i < 4; ++i) {
    if (y[i] != (x[i] > 0 ? x[i] * 0.5f : 0.0f)) return 1;
  }
  std::printf("sinter %d.%d.%d\n", SINTER_VERSION_MAJOR, SINTER_VERSION_MINOR, SINTER_VERSION_PATCH);
}
