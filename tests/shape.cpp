// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape algebra: extents as types, and the laws of broadcast and reduce over every pair and triple of a table of shapes, in
// constant evaluation. A table of NumPy's answers keeps the laws honest.
#include <doctest/doctest.h>

#include <sinter/shape.hpp>

namespace si = sinter;
using si::dyn;
using si::i64;
using si::shape;
using si::violation;
namespace by_literals {
using namespace si::literals;
static_assert(si::is_named_size("seq"_d));
}  // namespace by_literals
using si::operator""_d;

namespace {

constexpr i64 seq = "seq"_d;
constexpr i64 heads = "heads"_d;

// ---- names ----
static_assert(seq < dyn && heads < dyn && seq != heads);
static_assert("seq"_d == seq && "a"_d != "b"_d && "ab"_d != "ba"_d && "a"_d != "aa"_d);
static_assert(si::is_named_size("abcdefg"_d) && si::is_named_size("z"_d) && !si::is_named_size(dyn) && !si::is_named_size(0));
static_assert(si::is_static_size(0) && si::is_static_size(5) && !si::is_static_size(dyn) && !si::is_static_size(seq));

// ---- extents ----
using all_static = si::extents<2, 3, 4>;
using mixed = si::extents<2, dyn, seq, 768>;
static_assert(all_static::rank == 3 && all_static::is_static && all_static::dynamic_count == 0 && __is_empty(all_static));
static_assert(mixed::rank == 4 && !mixed::is_static && mixed::dynamic_count == 2 && sizeof(mixed) == 2 * sizeof(i64));
static_assert(__is_trivially_copyable(mixed) && __is_trivially_copyable(all_static));
static_assert(si::extents<>::rank == 0 && __is_empty(si::extents<>) && si::extents<>{}.sizes().count() == 1);
static_assert(all_static{}.sizes() == shape{3, {2, 3, 4}} && all_static{}.sizes().count() == 24);
// What 64 bits don't hold is no count, and no constant would overflow: 3 times this size is 2 modulo 2^64.
static_assert(shape{2, {3, 6148914691236517206}}.count() == si::uncountable && shape{2, {6148914691236517206, 3}}.count() == si::uncountable);
static_assert(shape{3, {si::i64(1) << 40, si::i64(1) << 40, 0}}.count() == 0 && shape{3, {0, si::i64(1) << 40, si::i64(1) << 40}}.count() == 0);
static_assert(shape{2, {si::i64(1) << 31, si::i64(1) << 31}}.count() == si::i64(1) << 62 && shape{1, {si::uncountable}}.count() == si::uncountable);
static_assert(shape{2, {-2, -3}}.count() == -1 && shape{2, {-2, 0}}.count() == -1);
constexpr mixed given(5, 7L);
static_assert(given.sizes() == shape{4, {2, 5, 7, 768}});
static_assert(given.size<0>() == 2 && given.size<1>() == 5 && given.size<2>() == 7 && given.size<3>() == 768);
static_assert(si::extents_with<mixed>(given.sizes()).sizes() == given.sizes());
static_assert(si::extents<1, 2, 3, 4, 5, 6, 7, 8>::rank == si::max_rank);
struct holder {
    static constexpr shape value{3, {2, dyn, seq}};
};
static_assert(si::is_same<si::extents_from<holder>, si::extents<2, dyn, seq>>);

// ---- how shapes print in messages ----
static_assert(si::is_same<si::printed<si::extents<2, 3>>, si::sizes<2, 3>>);
static_assert(si::is_same<si::printed<si::extents<2, dyn, "seq"_d>>,
                          si::mixed_sizes<si::size<2>, si::run_time, si::name<'s', 'e', 'q'>>>);
static_assert(si::is_same<si::printed<si::extents<"abcdefg"_d>>, si::mixed_sizes<si::name<'a', 'b', 'c', 'd', 'e', 'f', 'g'>>>);

// ---- axes ----
static_assert(si::normal_axis(0, 3) == 0 && si::normal_axis(-1, 3) == 2 && si::normal_axis(-3, 3) == 0);
static_assert(si::normal_axis(3, 3) == -1 && si::normal_axis(-4, 3) == -1 && si::normal_axis(0, 0) == -1);

// ---- broadcast: NumPy's answers ----
struct expected_broadcast {
    shape left, right;
    shape result;
    violation why = violation::none;
    int axis = 0;
};
constexpr expected_broadcast broadcasts[] = {
    {{0, {}}, {0, {}}, {0, {}}},
    {{0, {}}, {2, {3, 4}}, {2, {3, 4}}},
    {{1, {4}}, {2, {3, 4}}, {2, {3, 4}}},
    {{1, {1}}, {2, {3, 4}}, {2, {3, 4}}},
    {{2, {3, 1}}, {1, {4}}, {2, {3, 4}}},
    {{2, {3, 1}}, {2, {1, 4}}, {2, {3, 4}}},
    {{4, {8, 1, 6, 1}}, {3, {7, 1, 5}}, {4, {8, 7, 6, 5}}},
    {{1, {0}}, {1, {1}}, {1, {0}}},
    {{2, {1, 0}}, {2, {5, 1}}, {2, {5, 0}}},
    {{2, {2, 0}}, {1, {1}}, {2, {2, 0}}},
    {{1, {dyn}}, {1, {5}}, {1, {5}}},
    {{1, {dyn}}, {1, {1}}, {1, {dyn}}},
    {{1, {dyn}}, {1, {dyn}}, {1, {dyn}}},
    {{1, {seq}}, {1, {seq}}, {1, {seq}}},
    {{1, {seq}}, {1, {1}}, {1, {seq}}},
    {{1, {seq}}, {1, {dyn}}, {1, {seq}}},
    {{2, {2, seq}}, {1, {seq}}, {2, {2, seq}}},
    {{1, {3}}, {1, {4}}, {}, violation::sizes_differ, 0},
    {{1, {0}}, {1, {2}}, {}, violation::sizes_differ, 0},
    {{2, {3, 4}}, {2, {4, 3}}, {}, violation::sizes_differ, 1},
    {{2, {2, 4}}, {2, {3, 4}}, {}, violation::sizes_differ, 0},
    {{1, {seq}}, {1, {4}}, {}, violation::number_meets_name, 0},
    {{2, {seq, 4}}, {2, {7, 4}}, {}, violation::number_meets_name, 0},
    {{1, {seq}}, {1, {heads}}, {}, violation::names_differ, 0},
    {{3, {2, seq, 1}}, {2, {heads, 5}}, {}, violation::names_differ, 1},
};
constexpr bool broadcasts_as_expected() {
    for (const expected_broadcast& row : broadcasts) {
        const si::shape_result one = si::broadcast(row.left, row.right), other = si::broadcast(row.right, row.left);
        if (one.why != row.why || other.why != row.why) return false;
        if (one.ok() && !(one.value == row.result && other.value == row.result)) return false;
        if (!one.ok() && (one.axis != row.axis || other.axis != row.axis)) return false;
    }
    return true;
}
static_assert(broadcasts_as_expected());

// ---- broadcast: laws over all pairs and triples ----
constexpr shape table[] = {
    {0, {}},           {1, {0}},       {1, {1}},         {1, {2}},           {1, {3}},           {1, {dyn}},
    {1, {seq}},        {1, {heads}},   {2, {1, 1}},      {2, {1, 3}},        {2, {2, 1}},        {2, {2, 3}},
    {2, {dyn, 3}},     {2, {2, dyn}},  {2, {dyn, dyn}},  {2, {seq, 3}},      {2, {seq, heads}},  {2, {1, seq}},
    {3, {2, 2, 3}},    {3, {2, 1, 3}}, {3, {1, 2, 1}},   {3, {dyn, 1, dyn}}, {3, {1, dyn, seq}}, {3, {0, 1, 3}},
    {4, {5, 2, 2, 3}}, {4, {1, 1, 1, 1}},
};
constexpr int table_size = sizeof(table) / sizeof(table[0]);

constexpr bool same(const si::shape_result& left, const si::shape_result& right) {
    return left.ok() == right.ok() && (!left.ok() || left.value == right.value);
}
constexpr bool commutes() {
    for (const shape& a : table)
        for (const shape& b : table)
            if (!same(si::broadcast(a, b), si::broadcast(b, a))) return false;
    return true;
}
constexpr si::shape_result then(const si::shape_result& left, const shape& right) {
    return left.ok() ? si::broadcast(left.value, right) : left;
}
constexpr si::shape_result then(const shape& left, const si::shape_result& right) {
    return right.ok() ? si::broadcast(left, right.value) : right;
}
constexpr bool associates(int first, int last) {
    for (int i = first; i < last; ++i)
        for (const shape& b : table)
            for (const shape& c : table)
                if (!same(then(si::broadcast(table[i], b), c), then(table[i], si::broadcast(b, c)))) return false;
    return true;
}
constexpr bool has_neutral_elements() {
    const shape ones[] = {{0, {}}, {1, {1}}, {2, {1, 1}}};
    for (const shape& a : table)
        for (const shape& one : ones) {
            const si::shape_result both = si::broadcast(a, one);
            if (!both.ok()) return false;
            if (a.rank >= one.rank && !(both.value == a)) return false;
        }
    return true;
}
constexpr bool is_idempotent() {
    for (const shape& a : table)
        if (!same(si::broadcast(a, a), {a})) return false;
    return true;
}
/// What two shapes give absorbs each of them: broadcasting again changes nothing.
constexpr bool absorbs() {
    for (const shape& a : table)
        for (const shape& b : table) {
            const si::shape_result both = si::broadcast(a, b);
            if (both.ok() && (!same(si::broadcast(both.value, a), both) || !same(si::broadcast(both.value, b), both))) return false;
        }
    return true;
}
static_assert(commutes() && has_neutral_elements() && is_idempotent() && absorbs());
// All triples are checked when run; the constant evaluator takes those that start with a run-time or named size.
static_assert(associates(5, 8));

// ---- reduce ----
constexpr bool reduces_lawfully() {
    for (const shape& from : table)
        for (unsigned mask = 0; mask < (1u << from.rank); ++mask) {
            bool reduced[si::max_rank]{};
            int count = 0;
            for (int i = 0; i < from.rank; ++i) count += reduced[i] = (mask >> i & 1) != 0;
            const shape kept = si::reduce_axes(from, reduced, true), dropped = si::reduce_axes(from, reduced, false);
            if (kept.rank != from.rank || dropped.rank != from.rank - count) return false;
            // Kept axes are 1, so the result broadcasts back to the argument's shape; twice is once.
            for (int i = 0; i < from.rank; ++i)
                if (kept.size[i] != (reduced[i] ? 1 : from.size[i])) return false;
            if (!same(si::broadcast(kept, from), {from})) return false;
            if (!(si::reduce_axes(kept, reduced, true) == kept)) return false;
            if (!(si::reduce_axes(kept, reduced, false) == dropped)) return false;
        }
    return true;
}
static_assert(reduces_lawfully());

}  // namespace

TEST_CASE("extents take sizes in any integer type, left to right") {
    const si::extents<dyn, 3, dyn> sizes(static_cast<short>(2), 4u);
    CHECK(sizes.sizes() == shape{3, {2, 3, 4}});
    CHECK(sizes.sizes().count() == 24);
    CHECK(sizes.size<2>() == 4);
}

TEST_CASE("the laws hold at run time too") {
    CHECK(broadcasts_as_expected());
    CHECK(commutes());
    CHECK(associates(0, table_size));
    CHECK(absorbs());
    CHECK(reduces_lawfully());
}
