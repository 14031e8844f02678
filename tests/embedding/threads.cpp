// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads: a hook decides who runs what; eight threads that run different kernels at the same time share nothing (build it with
// -fsanitize=thread to prove that); a parallel run inside each of them.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace threads {
namespace si = sinter;
using si::dyn;
using matrix = si::tensor_view<float, si::extents<dyn, dyn>>;
using input = si::tensor_view<const float, si::extents<dyn, dyn>>;

/// A hook with threads of its own. It says how often it was called.
struct spawn {
    std::atomic<int>* calls;
    template <class Function>
    void operator()(int count, const Function& function) const {
        ++*calls;
        std::vector<std::thread> all;
        for (int i = 0; i < count; ++i) all.emplace_back([&function, i] { function(i); });
        for (std::thread& each : all) each.join();
    }
};

struct worker {
    std::vector<float> y;
    bool ok = false;
};
/// Kernel `which` of eight.
template <class Executor>
bool run_one(int which, const Executor& executor, input x, matrix y) {
    switch (which) {
        case 0: return si::try_run(executor, y = relu(x) * 0.5f).ok();
        case 1: return si::try_run(executor, y = softmax(x)).ok();
        case 2: return si::try_run(executor, y = si::layer_norm(x, 1e-5f)).ok();
        case 3: return si::try_run(executor, y = x + sum(x, si::axes<0>)).ok();
        case 4: return si::try_run(executor, y = x / max(abs(x), si::last_axis)).ok();
        case 5: return si::try_run(executor, y = si::cast<float>(argmax(x, si::last_axis)) + x).ok();
        case 6: return si::try_run(executor, y = si::flip<1>(x) - x).ok();
        default: return si::try_run(executor, y = tanh(x) + erf(x)).ok();
    }
}

TEST_CASE("Eight threads, eight kernels") {
    constexpr si::i64 rows = 9, columns = 1100;
    std::vector<float> numbers(std::size_t(rows * columns));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i % 53) * 0.125f - 3.0f;
    const input x(numbers.data(), rows, columns);
    std::vector<worker> workers(8);
    std::atomic<int> calls{0}, waiting{8};
    std::vector<std::thread> all;
    for (int which = 0; which < 8; ++which)
        all.emplace_back([&, which] {
            worker& mine = workers[std::size_t(which)];
            mine.y.resize(numbers.size());
            --waiting;
            while (waiting > 0) std::this_thread::yield();
            bool ok = true;
            for (int round = 0; round < 5; ++round) {
                const matrix y(mine.y.data(), rows, columns);
                ok = ok && (round & 1 ? run_one(which, si::cpu.parallel(spawn{&calls}, 3), x, y) : run_one(which, si::cpu, x, y));
            }
            mine.ok = ok;
        });
    for (std::thread& each : all) each.join();
    CHECK(calls >= 8);
    std::vector<float> truth(numbers.size());
    for (int which = 0; which < 8; ++which) {
        CAPTURE(which);
        CHECK(workers[std::size_t(which)].ok);
        CHECK(run_one(which, si::reference, x, matrix(truth.data(), rows, columns)));
        CHECK(std::memcmp(truth.data(), workers[std::size_t(which)].y.data(), truth.size() * sizeof(float)) == 0);
    }
}

TEST_CASE("A hook") {
    float x[4096], y[4096];
    for (int i = 0; i < 4096; ++i) x[i] = float(i);
    int calls = 0, parts = 0;
    const auto hook = [&](int count, const auto& function) {
        ++calls;
        for (int i = count - 1; i >= 0; --i) function(i), ++parts;  // any order
    };
    CHECK(si::try_run(si::cpu.parallel(hook, 4), view(y, si::extents<64, 64>{}) = view(x, si::extents<64, 64>{}) + 1.0f).ok());
    CHECK(calls == 1);
    CHECK(parts == 4);
    CHECK(y[4095] == 4096.0f);
    CHECK(si::try_run(si::cpu.parallel(hook, 4), view(y, si::extents<1>{}) = view(x, si::extents<1>{}) + 1.0f).ok());
    CHECK(calls == 1);  // too little for four: the calling thread does it
    CHECK(si::try_run(si::cpu.parallel(hook, 0), view(y, si::extents<64, 64>{}) = view(x, si::extents<64, 64>{}) + 1.0f).ok());
    CHECK(calls == 1);
}

}  // namespace threads
