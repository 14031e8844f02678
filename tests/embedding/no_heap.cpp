// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between entering a run and leaving it nothing is allocated: malloc and operator new are replaced by ones
// that count. Static and dynamic sizes, every nest, threads through a hook.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

namespace no_heap {

long long allocations = 0;

}  // namespace no_heap

// malloc itself can be replaced in a program; the C library's own stays under its other name. Sanitizers replace it themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NO_HEAP_COUNTS_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NO_HEAP_COUNTS_MALLOC 0
#endif
#endif
#if !defined(NO_HEAP_COUNTS_MALLOC) && defined(__GLIBC__)
#define NO_HEAP_COUNTS_MALLOC 1
#endif
#if !defined(NO_HEAP_COUNTS_MALLOC)
#define NO_HEAP_COUNTS_MALLOC 0
#endif

#if NO_HEAP_COUNTS_MALLOC
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t size) {
    ++no_heap::allocations;
    return __libc_malloc(size);
}
#else
void* operator new(std::size_t size) {
    ++no_heap::allocations;
    return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace no_heap {
namespace si = sinter;
using si::dyn;

struct fixed {
    si::tensor_view<float, si::extents<8, 300>> x, y;
    si::tensor_view<float, si::extents<300>> weight;
    si::tensor_view<float, si::extents<8, 1>> per_row;
    si::tensor_view<float, si::extents<1, 300>> per_column;
    si::tensor_view<float, si::extents<>> whole;
};
struct dynamic {
    si::tensor_view<float, si::extents<dyn, dyn>> x, y;
    si::tensor_view<float, si::extents<dyn>> weight;
    si::tensor_view<float, si::extents<dyn, 1>> per_row;
    si::tensor_view<float, si::extents<1, dyn>> per_column;
    si::tensor_view<float, si::extents<>> whole;
};

template <class Executor, class Views>
bool run_all(const Executor& executor, const Views& v) noexcept {
    return si::try_run(executor, v.y = gelu(v.x) * 0.5f + v.weight).ok() && si::try_run(executor, v.y = softmax(v.x)).ok() &&
           si::try_run(executor, si::tie(v.y, v.per_row) = si::let(v.x, v.weight, [](auto x, auto w) {
                           const auto y = x * rsqrt(mean(x * x, si::last_axis) + 1e-5f) * w;
                           return si::outputs(y, max(abs(y), si::last_axis));
                       })).ok() &&
           si::try_run(executor, v.per_column = sum(v.x, si::axes<0>)).ok() && si::try_run(executor, v.whole = sum(v.x)).ok() &&
           si::try_run(executor, v.per_row = variance(v.x, si::last_axis)).ok() &&
           si::try_run(executor, v.y = si::flip<1>(v.x) + 1.0f).ok();
}
struct hook {
    template <class Function>
    void operator()(int count, const Function& function) const {
        for (int i = count - 1; i >= 0; --i) function(i);
    }
};

float x[8 * 300], y[8 * 300], weight[300], per_row[8], per_column[300], whole[1];

TEST_CASE("A run allocates nothing") {
    for (int i = 0; i < 8 * 300; ++i) x[i] = float(i % 37) - 15.0f;
    const fixed a{view(x, si::extents<8, 300>{}),     view(y, si::extents<8, 300>{}),          view(weight, si::extents<300>{}),
                  view(per_row, si::extents<8, 1>{}), view(per_column, si::extents<1, 300>{}), view(whole, si::extents<>{})};
    const dynamic b{view(x, si::extents<dyn, dyn>(7, 290)), view(y, si::extents<dyn, dyn>(7, 290)), view(weight, si::extents<dyn>(290)),
                    view(per_row, si::extents<dyn, 1>(7)),  view(per_column, si::extents<1, dyn>(290)), view(whole, si::extents<>{})};
    const long long before = allocations;
    void* const probe = std::malloc(1);
    const long long counted = allocations - before;
    std::free(probe);
#if NO_HEAP_COUNTS_MALLOC
    CHECK(counted == 1);  // the count works
#else
    (void)counted;
#endif
    const long long start = allocations;
    const bool ok = run_all(si::cpu, a) && run_all(si::cpu, b) && run_all(si::cpu.parallel(hook{}, 3), a) && run_all(si::cpu.parallel(hook{}, 3), b);
    const bool wrong = si::try_run(si::cpu, b.y = relu(view(x, si::extents<dyn, dyn>(3, 290)))).ok();
    const long long during = allocations - start;
    CHECK(ok);
    CHECK(!wrong);
    CHECK(during == 0);
}

TEST_CASE("What is noexcept") {
    const fixed a{view(x, si::extents<8, 300>{}),     view(y, si::extents<8, 300>{}),          view(weight, si::extents<300>{}),
                  view(per_row, si::extents<8, 1>{}), view(per_column, si::extents<1, 300>{}), view(whole, si::extents<>{})};
    const auto assigned = (a.y = softmax(a.x));
    static_assert(noexcept(si::try_run(si::cpu, assigned)));
#if !defined(__cpp_exceptions)
    static_assert(noexcept(si::run(si::cpu, assigned)));
#endif
    static_assert(noexcept(si::try_run(si::reference, assigned)));
    const auto threads = si::cpu.parallel(hook{}, 3);
    static_assert(noexcept(si::try_run(threads, assigned)));
    using made = si::remove_cvref<decltype(assigned)>;
    static_assert(__is_trivially_constructible(made, const made&) && __is_trivially_copyable(decltype(fixed::x)));
    static_assert(__is_trivially_copyable(decltype(si::cpu)) && __is_trivially_copyable(si::status));
    CHECK(si::try_run(threads, assigned).ok());
}

}  // namespace no_heap
