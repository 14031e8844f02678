// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that are split over blocks, on the emulated device: bits as the reference, the workspace as asked for.
#include "emulated.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;
template <class Extents>
using on_device = si::tensor_view<float, Extents, si::row_major, si::device_memory>;
template <class Extents>
using on_host = si::tensor_view<float, Extents>;

/// A reduction of numbers of these sizes: split, equal to the reference, refused without a workspace, never above the bound.
template <class Result, class Sizes, class Formula>
void same(const char* name, std::vector<float>& numbers, const Sizes& sizes, const Result& result, const Formula& formula) {
    const std::size_t count = std::size_t(result.sizes().count());
    std::vector<float> found(count), wanted(count);
    const on_device<Sizes> x(numbers.data(), sizes);
    const on_device<Result> y(found.data(), result);
    const auto call = y = formula(x);
    const i64 bytes = si::cuda_workspace_size(call);
    check(name, bytes > 0);
    // Sizes suffice to ask with: there is no memory yet, or the same for all.
    check(name, si::cuda_workspace_size(on_device<Result>(nullptr, result) = formula(on_device<Sizes>(nullptr, sizes))) == bytes);
    check(name, si::cuda_workspace_size(on_device<Result>(numbers.data(), result) = formula(x)) == bytes);
    constexpr i64 bound = si::cuda_workspace_bound<si::remove_cvref<decltype(call)>>;
    check(name, bound < 0 || bytes <= bound);
    const si::status without = si::try_run(si::cuda(), call);
    check(name, without.code() == si::error::workspace_too_small && without.expected == bytes);
    check(name, si::try_run(emulated::executor{}, call).ok());
    check(name, si::try_run(si::reference, on_host<Result>(wanted.data(), result) = formula(on_host<Sizes>(numbers.data(), sizes))).ok());
    check(name, std::memcmp(found.data(), wanted.data(), count * sizeof(float)) == 0);
    // A workspace of any content, used again as it was left.
    std::vector<unsigned long long> memory(std::size_t(bytes + 15) / 8, 0);
    const si::status askew = si::try_run(si::cuda(nullptr, {reinterpret_cast<char*>(memory.data()) + 8, bytes}), call);
    check(name, askew.code() == si::error::workspace_too_small && askew.found == 0);
    // The last one: a count of 1 behind 40 bits of a number that programs hold, the digits of e (the constant of RC5).
    for (const unsigned long long content : {0ull, ~0ull, 0x8080808080808080ull, 0xb7e151628a000001ull}) {
        for (unsigned long long& word : memory) word = content;
        for (int again = 0; again < 2; ++again) {
            std::memset(found.data(), 0, count * sizeof(float));
            check(name, si::try_run(si::cuda(nullptr, {memory.data(), bytes}), call).ok());
            check(name, std::memcmp(found.data(), wanted.data(), count * sizeof(float)) == 0);
        }
    }
}

int main() {
    std::vector<float> numbers(std::size_t(1500007));
    unsigned state = 1;
    for (float& value : numbers) {
        state = state * 1664525u + 1013904223u;
        value = float(int(state)) * 0x1p-28f;
    }
    const i64 all = i64(numbers.size());
    same("sum of all", numbers, si::extents<dyn>(all), si::extents<>(), [](auto x) { return sum(x); });
    same("variance of all", numbers, si::extents<dyn>(all), si::extents<>(), [](auto x) { return variance(x); });
    same("three long rows", numbers, si::extents<dyn, dyn>(3, 500000), si::extents<dyn, 1>(3), [](auto x) { return mean(x, si::last_axis); });
    same("columns", numbers, si::extents<dyn, dyn>(5000, 300), si::extents<1, dyn>(300), [](auto x) { return sum(x, si::axes<0>); });
    same("variance of columns", numbers, si::extents<dyn, dyn>(5000, 300), si::extents<1, dyn>(300), [](auto x) { return variance(x, si::axes<0>); });
    same("planes of several images", numbers, si::extents<dyn, 3, dyn>(1000, 500), si::extents<1, 3, 1>(), [](auto x) { return variance(x, si::axes<0, 2>); });
    same("mean of row values", numbers, si::extents<dyn, dyn>(3000, 500), si::extents<>(), [](auto x) { return mean(logsumexp(x, si::last_axis, si::drop)); });
    // A ticket of any content counts from 0, also where no block gave it its name before, and is left as 0: also beside names whose next or
    // last one is the ticket's.
    const si::detail::device::ticket_word word{si::detail::device::name_of_process()};
    check("one name a process", word.name == si::detail::device::name_of_process());
    check("a drawn name", word.name != si::detail::device::draw_name() && (word.name & word.count) == 0);
    for (const si::u64 content : {si::u64(0), ~si::u64(0), si::u64(0x5a5a5a5a5a5a5a5a), si::u64(0xffffff), si::u64(1) << 63, word.name - 1, word.name - 2,
                                  word.name + word.count + 1}) {
        si::u64 ticket = content;
        for (int again = 0; again < 2; ++again)
            for (int block = 1; block <= 3; ++block) check("a ticket", word.is_last(&ticket, 3) == (block == 3));
        check("a ticket that was used", ticket == 0);
    }
    return tally();
}
