// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads are the caller's: `parallel` takes anything that can run f(i) for each i in [0, n). The bits don't depend on n.
#include <sinter/sinter.hpp>
#include <sinter/backend/cpu.hpp>

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace si = sinter;

// The simplest hook; a program with a thread pool hands its own to Sinter.
constexpr auto spawn = [](int count, auto&& task) {
    std::vector<std::thread> workers;
    for (int i = 1; i < count; ++i) workers.emplace_back([&task, i] { task(i); });
    task(0);
    for (auto& worker : workers) worker.join();
};

int main() {
    constexpr int rows = 512, columns = 1000;
    std::vector<float> x(rows * columns), one(x.size()), three(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 1013) * 0.01f - 5.0f;
    const si::extents<rows, columns> sizes{};
    auto in = si::view(x, sizes);
    auto first = si::view(one, sizes);
    auto second = si::view(three, sizes);

    si::run(si::cpu, first = softmax(in));
    si::run(si::cpu.parallel(spawn, 3), second = softmax(in));
    bool equal = std::memcmp(one.data(), three.data(), one.size() * sizeof(float)) == 0;
    std::printf("one thread and three: %s\n", equal ? "equal bits" : "different");
    return equal ? 0 : 1;
}
