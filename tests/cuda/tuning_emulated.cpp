// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A specialised tuning table on the emulated device: its constants are obeyed - blocks have the threads that it says - and the bits stay.
#include "emulated.hpp"
#include "tally.hpp"

#include <sinter/sinter.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace si = sinter;
using si::dyn;
using si::i64;

// [types]
using plane = si::extents<dyn, dyn>;
template <class Type>
using matrix = si::tensor_view<Type, plane, si::row_major, si::device_memory>;
/// Of `target = formula(matrix)`.
template <class Target, class Formula>
using assignment = si::assignment_of<decltype(std::declval<Target&>() = std::declval<const Formula&>()(std::declval<matrix<float>&>()))>;
// [/types]
using row = si::tensor_view<float, si::extents<dyn>, si::row_major, si::device_memory>;
using column = si::tensor_view<float, si::extents<dyn, 1>, si::row_major, si::device_memory>;

// The tuned formulas differ from the others by a type in their views alone: f32 on both sides, inputs const or not, is one program.
inline constexpr auto chain = si::fused([](auto x) { return relu(x * 0.75f + 1.0f) * x; });
inline constexpr auto tuned_chain = si::fused([](auto x) { return relu(x * 0.75f + 1.25f) * x; });
inline constexpr auto norm = si::fused([](auto x) { return si::rms_norm(x, 1e-5f); });
inline constexpr auto tuned_norm = si::fused([](auto x) { return si::rms_norm(x, 2e-5f); });
inline constexpr auto total = si::fused([](auto x) { return sum(x * 1.5f, si::last_axis); });
inline constexpr auto down = si::fused([](auto x) { return sum(x * 1.5f, si::axes<0>, si::drop); });
template <int Arch>
struct sinter::cuda_tuning<assignment<matrix<float>, decltype(tuned_chain)>, Arch> : sinter::cuda_table<Arch> {
    struct pointwise : sinter::cuda_table<Arch>::pointwise {
        static constexpr int threads = 128, packs = 4;
        static constexpr int small_threads = 32;
        static constexpr i64 small_packs = 600;
    };
};
// [table]
/// RMSNorm of f32 rows, on any card: smaller blocks than the table's.
template <int Arch>
struct sinter::cuda_tuning<assignment<matrix<float>, decltype(tuned_norm)>, Arch> : sinter::cuda_table<Arch> {
    struct rows : sinter::cuda_table<Arch>::rows {
        static constexpr int short_threads = 64, block_threads = 128;
    };
};
// [/table]
template <int Arch>
struct sinter::cuda_tuning<assignment<column, decltype(total)>, Arch> : sinter::cuda_table<Arch> {
    struct any_rows : sinter::cuda_table<Arch>::any_rows {
        static constexpr int threads = 64, blocks = 5;
        static constexpr i64 split_from = 2;
    };
};
template <int Arch>
struct sinter::cuda_tuning<assignment<row, decltype(down)>, Arch> : sinter::cuda_table<Arch> {
    struct columns : sinter::cuda_table<Arch>::columns {
        static constexpr int threads = 128, across = 16, blocks = 3;
        static constexpr i64 split_from = 2;
    };
    struct packed_columns : sinter::cuda_table<Arch>::packed_columns {
        static constexpr int threads = 128, across = 16;
    };
};

// A vector is held by blocks that have whole rows, whatever a table says of clusters.
template <int Columns>
using codes = si::tensor_view<const si::i8, si::extents<dyn, Columns>, si::row_major, si::device_memory>;
template <int Columns>
using weights = si::tensor_view<const si::bf16, si::extents<Columns>, si::row_major, si::device_memory>;
inline constexpr auto product = si::fused([](auto w, auto x) { return sum(si::cast<float>(w) * si::cast<float>(x), si::last_axis); });
template <int Columns>
using product_of = si::assignment_of<decltype(std::declval<column&>() = product(std::declval<weights<Columns>&>(), std::declval<codes<Columns>&>()))>;
template <int Arch>
struct sinter::cuda_tuning<product_of<8192>, Arch> : sinter::cuda_table<Arch> {
    struct rows : sinter::cuda_table<Arch>::rows {
        static constexpr int many_registers = 12, cluster_threads = 32;
    };
};
template <int Columns>
using product_facts = si::detail::device::row_facts<si::detail::device::cuda_kernel<product_of<Columns>>>;
static_assert(product_facts<4096>::holds_weights && product_facts<4096>::rows_at_once == 2 && product_facts<32768>::holds_weights);
static_assert(product_facts<8192>::holds_weights && product_facts<8192>::sharing == si::detail::device::row_sharing::block);

// What a call moves, per element: weights and a channel's numbers stay in caches. Where a mask spares reads no load asks for a policy.
using half_matrix = si::tensor_view<si::bf16, si::extents<dyn, 2048>, si::row_major, si::device_memory>;
using half_row = si::tensor_view<si::bf16, si::extents<2048>, si::row_major, si::device_memory>;
inline constexpr auto biased = si::fused([](auto x, auto b) { return relu(x + b); });
inline constexpr auto weighted = si::fused([](auto x, auto weight) { return si::rms_norm(x + x * x, weight, 1e-5f); });
inline constexpr auto softmax_of = si::fused([](auto x, auto) { return si::softmax(x); });
inline constexpr auto masked = si::fused([](auto x, auto) { return si::softmax(si::cast<float>(x), si::iota<-1>(x) <= si::iota<-2>(x)); });
template <class Formula, class X = half_matrix>
using of_half = si::assignment_of<decltype(std::declval<half_matrix&>() = std::declval<const Formula&>()(std::declval<X&>(), std::declval<half_row&>()))>;
template <class Formula, class X = half_matrix>
constexpr int moved_of(const Formula&) {
    return si::detail::device::operand_facts<si::detail::device::cuda_kernel<of_half<Formula, X>>>::streamed_bytes;
}
template <class Formula>
constexpr bool may_last(const Formula&) {
    return si::detail::device::row_facts<si::detail::device::fast_kernel<si::detail::device::tuned_kernel<si::kernel<of_half<Formula>>, 900>>>::may_last;
}
static_assert(moved_of(biased) == 4 && moved_of(weighted) == 4 && moved_of(softmax_of) == 4);
static_assert(moved_of<decltype(biased), half_row>(biased) == 2);
// Results that repeat along an axis beside one that doesn't; a limit that is none.
using plane_of_three = si::tensor_view<si::bf16, si::extents<dyn, dyn, 64>, si::row_major, si::device_memory>;
using plane_of_two = si::tensor_view<float, si::extents<dyn, 1, 64>, si::row_major, si::device_memory>;
using mixed = si::assignment_of<decltype(si::detail::join_assignments(std::declval<plane_of_three&>() = std::declval<plane_of_three&>() * 2.0f,
                                                                      std::declval<plane_of_two&>() = std::declval<plane_of_two&>() + 1.0f))>;
static_assert(si::detail::device::operand_facts<si::detail::device::cuda_kernel<mixed>>::streamed_bytes == 4);
inline constexpr auto limited_by_nothing = si::fused([](auto x, auto b) { return relu(x + b * 3.0f); });
template <>
struct sinter::cuda_tuning<of_half<decltype(limited_by_nothing)>, 900> : sinter::cuda_table<900> {
    struct streams : sinter::cuda_table<900>::streams {
        static constexpr int lasting_cost = 1'000'000'000;
    };
};
static_assert(si::detail::device::operand_facts<si::detail::device::tuned_kernel<si::kernel<of_half<decltype(limited_by_nothing)>>, 900>>::may_last);
static_assert(may_last(weighted) && may_last(softmax_of) && !may_last(masked));
/// Do loads of so many bytes ask, all streams together?
inline constexpr auto added = si::fused([](auto x, auto b) { return si::rms_norm(x + b * x, 1e-5f); });
template <class Formula, class X = half_matrix>
bool asks(const Formula&, i64 bytes) {
    using kernel = si::detail::device::tuned_kernel<si::kernel<of_half<Formula, X>>, 900>;
    using facts = si::detail::device::row_facts<kernel>;
    return facts::lasts(bytes / facts::streamed_bytes);
}
using int8_matrix = si::tensor_view<const si::i8, si::extents<dyn, 2048>, si::row_major, si::device_memory>;
using float_matrix = si::tensor_view<const float, si::extents<dyn, 2048>, si::row_major, si::device_memory>;

std::vector<float> numbers(i64 count) {
    std::vector<float> out;
    unsigned state = 11;
    for (i64 i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        out.push_back(float(int(state)) * 0x1p-29f);
    }
    return out;
}
/// Runs a formula; the reference's bits, and what the last launch's blocks were.
template <class Formula, class OnDevice, class OnHost>
unsigned run(const char* name, const Formula& formula, i64 rows, i64 length, i64 results, const OnDevice& device_target, const OnHost& host_target) {
    const plane sizes(rows, length);
    std::vector<float> x = numbers(rows * length), found(std::size_t(results), 0.0f), wanted(std::size_t(results), 0.0f);
    blockDim = dim3(0, 0, 0);
    check(name, emulated::executor{}.launch(device_target(found.data()) = formula(si::device_view(x.data(), sizes))).ok());
    check(name, si::try_run(si::reference, host_target(wanted.data()) = formula(si::view(x.data(), sizes))).ok());
    check(name, std::memcmp(found.data(), wanted.data(), std::size_t(results) * sizeof(float)) == 0);
    return blockDim.x * blockDim.y;
}
template <class Formula>
unsigned whole(const char* name, const Formula& formula, i64 rows, i64 length) {
    const plane sizes(rows, length);
    return run(name, formula, rows, length, rows * length, [=](float* at) { return si::device_view(at, sizes); },
               [=](float* at) { return si::view(at, sizes); });
}

/// Products of i8 rows and a bf16 vector that blocks hold, by the table: the reference's bits, and how many blocks there are.
unsigned blocks_that_hold(i64 rows) {
    constexpr i64 length = 2048;
    std::vector<si::i8> codes_of_rows(std::size_t(rows * length));
    std::vector<si::bf16> x(std::size_t(length), si::convert<si::bf16>(0.0f));
    for (std::size_t i = 0; i < codes_of_rows.size(); ++i) codes_of_rows[i] = si::i8(int(i * 2654435761u >> 24) - 128);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = si::convert<si::bf16>(float(int(i % 37) - 18) * 0.125f);
    std::vector<float> found(std::size_t(rows), 7.0f), wanted = found;
    const si::extents<dyn, length> sizes(rows);
    const si::extents<length> of_x;
    const si::extents<dyn, 1> one_each(rows);
    const std::vector<si::i8>& w = codes_of_rows;
    const auto& vector = x;
    check("weights: run", emulated::executor{}.launch(si::device_view(found.data(), one_each) = product(si::device_view(vector.data(), of_x), si::device_view(w.data(), sizes))).ok());
    check("weights: reference", si::try_run(si::reference, si::view(wanted.data(), one_each) = product(si::view(vector.data(), of_x), si::view(w.data(), sizes))).ok());
    check("weights: bits", std::memcmp(found.data(), wanted.data(), found.size() * sizeof(float)) == 0);
    return gridDim.x;
}

/// Sums of exponentials of rows of 33 segments, under `fast`: the logarithms, and how many threads a block has.
unsigned threads_that_walk(i64 rows) {
    constexpr i64 length = 33 * 1024;
    std::vector<si::bf16> x(std::size_t(rows * length));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = si::convert<si::bf16>(float(int(unsigned(i % length) * 2654435761u >> 24) - 128) * 0.03125f);
    std::vector<float> found(std::size_t(rows), 7.0f);
    double sum = 0.0;  // of any row: all are the same
    for (i64 i = 0; i < length; ++i) sum += std::exp(double(si::convert<float>(x[std::size_t(i)])));
    const si::extents<dyn, length> sizes(rows);
    const si::extents<dyn, 1> one_each(rows);
    check("walks: run", si::try_run(si::fast(si::cuda()), si::device_view(found.data(), one_each) =
                                                              logsumexp(si::cast<float>(si::device_view(static_cast<const si::bf16*>(x.data()), sizes)), si::last_axis)).ok());
    bool right = true;
    for (const float one : found) right = right && std::fabs(double(one) - std::log(sum)) < 1e-3;
    check("walks: numbers", right);
    return blockDim.x;
}

int main() {
    using si::cuda_table;
    constexpr int arch = si::detail::device::compiled_arch;
    check("pointwise: the table", whole("pointwise: bits", chain, 3, 1030) == unsigned(cuda_table<arch>::pointwise::small_threads));
    check("pointwise: tuned, small", whole("pointwise: tuned bits, small", tuned_chain, 2, 1030) == 32);
    check("pointwise: tuned", whole("pointwise: tuned bits", tuned_chain, 3, 4099) == 128);
    check("rows: the table, short", whole("rows: bits, short", norm, 600, 128) == unsigned(cuda_table<arch>::rows::short_threads));
    check("rows: so few that blocks of those would leave multiprocessors idle", whole("rows: bits, few", norm, 5, 128) == 32);
    check("rows: tuned, short", whole("rows: tuned bits, short", tuned_norm, 600, 128) == 64);
    check("rows: the table, long", whole("rows: bits, long", norm, 2, 8192) == 256);
    check("rows: tuned, long", whole("rows: tuned bits, long", tuned_norm, 2, 4096) == 128);
    check("rows: tuned, a row that needs more than a block of those is for the general kernel",
          whole("rows: tuned bits, longer", tuned_norm, 2, 8192) == unsigned(cuda_table<arch>::any_rows::threads));
    // Rows of held weights: blocks fill the card a whole number of times, once while each has few enough rows.
    blocks_that_hold(1);
    const unsigned together = unsigned(cuda_table<arch>::card.multiprocessors * cuda_table<arch>::rows::held_weights_threads) / blockDim.x;
    check("weights: a block each", blocks_that_hold(i64(together) - 1) == together - 1);
    check("weights: two rows a block, or one", blocks_that_hold(i64(together) * 2 - 3) == together - 1);
    check("weights: three rows a block, or two", blocks_that_hold(i64(together) * 2 + 1) == (together * 2 + 3) / 3);
    // Rows that blocks walk along: 18 groups of 16 threads (17 would do: whole warps), in two steps, for so many rows that three quarters of the card are taken.
    const i64 at_once = cuda_table<arch>::card.multiprocessors * (cuda_table<arch>::rows::walking_threads / 288);
    const unsigned in_general = unsigned(cuda_table<arch>::any_rows::threads);
    check("walks: the card filled once", threads_that_walk(at_once) == 288);
    check("walks: not filled, by a row", threads_that_walk(at_once - 1) == in_general);
    check("walks: half of it idle in the end", threads_that_walk(at_once * 5 / 4) == in_general);
    check("walks: a quarter of it idle in the end", threads_that_walk((at_once * 3 + 1) / 2) == 288);
    // Which calls ask the second-level cache to keep what they read: from so many bytes on, three times as many where less is stored than read.
    constexpr i64 limit = cuda_table<900>::streams::lasting_bytes, a_row = 2048 * 8;
    check("streams: as much stored as read", asks(added, limit + a_row) && !asks(added, limit - a_row));
    check("streams: more stored than read", asks<decltype(added), int8_matrix>(added, limit + a_row) && !asks<decltype(added), int8_matrix>(added, limit - a_row));
    check("streams: less stored than read", asks<decltype(added), float_matrix>(added, 3 * limit + a_row) && !asks<decltype(added), float_matrix>(added, 3 * limit - a_row));
    const auto one_each = [](i64 rows) { return si::extents<dyn, 1>(rows); };
    check("any rows: tuned", run("any rows: tuned bits", total, 2, 9001, 2, [&](float* at) { return si::device_view(at, one_each(2)); },
                                 [&](float* at) { return si::view(at, one_each(2)); }) == 64);
    check("any rows: tuned, blocks", gridDim.x <= 5 && gridDim.x > 2);
    check("columns: tuned", run("columns: tuned bits", down, 700, 96, 96, [](float* at) { return si::device_view(at, si::extents<dyn>(96)); },
                                [](float* at) { return si::view(at, si::extents<dyn>(96)); }) <= 128);
    check("columns: tuned, blocks", gridDim.x * gridDim.y <= 6);
    return tally();
}
