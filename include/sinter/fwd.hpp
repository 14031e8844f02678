// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forward declarations, for headers that only name Sinter's types.
#pragma once

#include "config.hpp"

namespace sinter {

template <i64... Sizes>
struct extents;
struct row_major;
struct strided;
struct host_memory;
struct device_memory;
struct status;
struct f16;
struct bf16;
template <class Type, class Extents, class Layout, class Space, int Alignment>
class tensor_view;
template <class Type, class Extents>
class tensor;
template <class... Nodes>
struct program;

}  // namespace sinter
