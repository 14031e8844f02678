// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generated conformance programs share: inputs from .npy
// files, comparison with the tolerance of ONNX's own node tests, and a main that runs the tests one by one and writes a
// line for each. The program's arguments are the data folder and the number of the test to begin with (after a crash
// the driver goes on behind it).
#pragma once

#include <sinter/io/npy.hpp>
#include <sinter/sinter.hpp>
#include <sinter/split.hpp>
#if defined(SINTER_CONFORMANCE_CPU)
#include <sinter/backend/cpu.hpp>
#elif defined(SINTER_CONFORMANCE_CUDA)
#include <sinter/backend/cuda.cuh>
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace si = sinter;

#if defined(SINTER_CONFORMANCE_CPU)
inline constexpr auto& executor = si::cpu;
#elif defined(SINTER_CONFORMANCE_CUDA)
// The tests' tensors lie in memory that host and device share: what the owner of them asks for comes from there.
inline void* managed(std::size_t bytes) {
  void* memory = nullptr;
  return cudaMallocManaged(&memory, bytes + 64) == cudaSuccess ? memory : nullptr;
}
void* operator new(std::size_t bytes, std::align_val_t, const std::nothrow_t&) noexcept { return managed(bytes); }
void operator delete(void* memory, std::align_val_t) noexcept { cudaFree(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { cudaFree(memory); }

/// The CUDA backend on that memory: each call has the workspace that it asks for and has ended when it returns.
struct managed_executor {
  using memory_space = si::host_memory;
  template <class Assignment>
  si::status launch(const Assignment& assigned) const {
    si::i64 bytes = 0;  // (cuda_workspace_size would refuse views of the host's memory)
    (void)si::detail::device::device_call<si::detail::device::cuda_kernel<Assignment>>::run(assigned, nullptr, {}, false, bytes);
    void* const scratch = bytes > 0 ? managed(static_cast<std::size_t>(bytes)) : nullptr;
    si::status result = si::cuda(nullptr, {scratch, bytes}).launch(assigned);
    const cudaError_t code = cudaDeviceSynchronize();
    if (result.ok() && code != cudaSuccess) result = si::status{si::error::backend_failure, -1, -1, 0, int(code)};
    if (scratch) cudaFree(scratch);
    return result;
  }
  /// What lies between the stages of a split; one at a time.
  void* workspace(si::i64 bytes) const {
    static void* last = nullptr;
    cudaFree(last);
    return last = managed(static_cast<std::size_t>(bytes));
  }
};
inline constexpr managed_executor executor{};
/// A constant of the program, where the device reads it too.
template <class Type, std::size_t Count>
const Type* reachable(const Type (&data)[Count]) {
  void* const memory = managed(sizeof(data));
  if (memory) std::memcpy(memory, data, sizeof(data));
  return static_cast<const Type*>(memory);
}
#else
inline constexpr auto& executor = si::reference;
#endif

#if !defined(SINTER_CONFORMANCE_CUDA)
template <class Type, std::size_t Count>
const Type* reachable(const Type (&data)[Count]) {
  return data;
}
#endif

class harness {
 public:
  explicit harness(const char* data) : data_(data) {}

  void start() { failure_.clear(); }
  const std::string& failure() const { return failure_; }
  bool ready() const { return failure_.empty(); }

  /// The elements of a file. bfloat16 is stored as its bits in u2, the small floats in u1.
  template <class Type, class Extents>
  si::tensor<Type, Extents> input(const char* file) {
    si::tensor<Type, Extents> result;
    si::npy_result read = si::read_npy(data_ + "/" + file);
    constexpr si::dtype stored = si::dtype_of<Type> == si::dtype::bf16 ? si::dtype::u16 : si::is_small_float(si::dtype_of<Type>) ? si::dtype::u8 : si::dtype_of<Type>;
    if (!read.ok())
      fail(read.status.message());
    else if (read.array.type != stored ||
             read.array.bytes.size() != static_cast<std::size_t>(result.count()) * sizeof(Type))
      fail(std::string(file) + " isn't what test.json says");
    else if (result.count() > 0)
      std::memcpy(static_cast<void*>(result.data()), read.array.bytes.data(), read.array.bytes.size());
    return result;
  }

  /// An output, filled with a pattern, so that an element that isn't written shows.
  template <class Type, class Extents>
  si::tensor<Type, Extents> output() {
    si::tensor<Type, Extents> result;
    for (auto& element : result)
      std::memset(static_cast<void*>(&element), std::is_same_v<Type, bool> ? 1 : 0x5a, sizeof element);
    return result;
  }

  void ran(const si::status& status) {
    if (!status.ok()) fail(std::string("not run: ") + status.message());
  }

  /// |got - want| <= 1e-7 + 1e-3 |want| and NaN in the same places for floats, equality for integers and bool.
  template <class Type, class Extents>
  void compare(const si::tensor<Type, Extents>& got, int number, const char* file) {
    const si::tensor<Type, Extents> want = input<Type, Extents>(file);
    if (!ready()) return;
    for (si::i64 index = 0; index < want.count(); ++index) {
      if (agree(got[index], want[index])) continue;
      fail("output " + std::to_string(number) + place(index, want.sizes()) + ": got " + text(got[index]) + ", want " +
           text(want[index]));
      return;
    }
  }

 private:
  void fail(const std::string& why) {
    if (failure_.empty()) failure_ = why;
  }

  template <class Type>
  static bool agree(const Type& got, const Type& want) {
    if constexpr (si::is_float(si::dtype_of<Type>)) {
      const double left = static_cast<double>(got), right = static_cast<double>(want);
      if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right);
      return left == right || std::fabs(left - right) <= 1e-7 + 1e-3 * std::fabs(right);
    } else {
      return got == want;
    }
  }

  template <class Type>
  static std::string text(const Type& value) {
    char out[64];
    if constexpr (si::is_float(si::dtype_of<Type>))
      std::snprintf(out, sizeof out, "%.9g", static_cast<double>(value));
    else if constexpr (si::is_signed(si::dtype_of<Type>))
      std::snprintf(out, sizeof out, "%lld", static_cast<long long>(value));
    else
      std::snprintf(out, sizeof out, "%llu", static_cast<unsigned long long>(value));
    return out;
  }

  static std::string place(si::i64 index, const si::shape& sizes) {
    std::string out;
    for (int axis = sizes.rank - 1; axis >= 0; --axis) {
      out = std::to_string(index % sizes.size[axis]) + (out.empty() ? "" : ", ") + out;
      index /= sizes.size[axis];
    }
    return "[" + out + "]";
  }

  std::string data_;
  std::string failure_;
};

struct test_entry {
  int number;
  void (*function)(harness&);
};

template <std::size_t Count>
int run_tests(const test_entry (&tests)[Count], int argc, char** argv) {
  if (argc < 2) {
    std::puts("usage: PROGRAM DATA [FIRST]");
    return 2;
  }
  const int first = argc > 2 ? std::atoi(argv[2]) : 0;
  harness test(argv[1]);
  for (const test_entry& entry : tests) {
    if (entry.number < first) continue;
    std::printf("begin %d\n", entry.number);
    std::fflush(stdout);
    test.start();
    entry.function(test);
    std::printf(test.ready() ? "pass %d\n" : "fail %d %s\n", entry.number, test.failure().c_str());
    std::fflush(stdout);
  }
  return 0;
}
