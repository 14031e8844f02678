// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one source of the version: CMake, the docs and the amalgamated header read it from here.
#pragma once

#define SINTER_VERSION_MAJOR 0
#define SINTER_VERSION_MINOR 1
#define SINTER_VERSION_PATCH 0
