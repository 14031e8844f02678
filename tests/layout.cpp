// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps: shapes as laws in constant evaluation, strides against plain index arithmetic at run time. Every map is applied
// to a view of a buffer that holds its own offsets, so that each element tells where it came from.
#include <doctest/doctest.h>

#include <sinter/layout.hpp>

namespace si = sinter;
using si::dyn;
using si::end;
using si::i64;
using si::index_map_spec;
using si::map_kind;
using si::shape;
using si::violation;
using si::view_state;
using si::operator""_d;

namespace {

constexpr i64 seq = "seq"_d;

template <class... Numbers>
constexpr index_map_spec make(map_kind kind, Numbers... numbers) {
    return {kind, int(sizeof...(Numbers)), {i64(numbers)...}};
}
constexpr shape mapped(const shape& from, const index_map_spec& map) {
    const si::shape_result result = si::mapped_shape(map, from);
    return result.ok() ? result.value : shape{si::max_rank, {-99}};
}
constexpr violation refused(const shape& from, const index_map_spec& map) { return si::mapped_shape(map, from).why; }

constexpr shape flat{1, {24}}, cube{3, {2, 3, 4}}, open{3, {dyn, 3, seq}};

// ---- permute ----
static_assert(mapped(cube, make(map_kind::permute, 2, 0, 1)) == shape{3, {4, 2, 3}});
static_assert(mapped(cube, make(map_kind::permute, -1, 0, -2)) == shape{3, {4, 2, 3}});
static_assert(mapped(open, make(map_kind::permute, 2, 1, 0)) == shape{3, {seq, 3, dyn}});
static_assert(mapped(shape{}, make(map_kind::permute)) == shape{});
static_assert(refused(cube, make(map_kind::permute, 0, 1)) == violation::not_a_permutation);
static_assert(refused(cube, make(map_kind::permute, 0, 1, 1)) == violation::not_a_permutation);
static_assert(refused(cube, make(map_kind::permute, 0, 1, 3)) == violation::not_a_permutation);

/// Every permutation of three axes, then its inverse, is the identity.
constexpr bool permutations_invert() {
    const shape shapes[] = {cube, open, {3, {1, dyn, 5}}};
    for (const shape& from : shapes)
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                for (int c = 0; c < 3; ++c) {
                    if (a == b || b == c || a == c) continue;
                    index_map_spec inverse = make(map_kind::permute, 0, 0, 0);
                    inverse.number[a] = 0;
                    inverse.number[b] = 1;
                    inverse.number[c] = 2;
                    if (!(mapped(mapped(from, make(map_kind::permute, a, b, c)), inverse) == from)) return false;
                }
    return true;
}
static_assert(permutations_invert());

// ---- slice: against counting ----
static_assert(mapped(cube, make(map_kind::slice, 2, 1, 3, 1)) == shape{3, {2, 3, 2}});
static_assert(mapped(cube, make(map_kind::slice, -1, end, end, 1)) == cube);
static_assert(mapped(cube, make(map_kind::slice, 2, end, end, -1)) == cube);
static_assert(mapped(cube, make(map_kind::slice, 2, 0, end, 3)) == shape{3, {2, 3, 2}});
static_assert(mapped(cube, make(map_kind::slice, 2, -1, end, -2)) == shape{3, {2, 3, 2}});
static_assert(mapped(cube, make(map_kind::slice, 2, 2, 2, 1)) == shape{3, {2, 3, 0}});
static_assert(mapped(cube, make(map_kind::slice, 2, -2, end, 1)) == shape{3, {2, 3, 2}});
static_assert(mapped(open, make(map_kind::slice, 0, 1, 4, 1)) == shape{3, {3, 3, seq}});
static_assert(mapped(open, make(map_kind::slice, 2, end, end, 1)) == open);
static_assert(mapped(open, make(map_kind::slice, 2, 1, end, 1)) == shape{3, {dyn, 3, dyn}});
static_assert(refused(cube, make(map_kind::slice, 2, 0, 5, 1)) == violation::slice_out_of_range);
static_assert(refused(cube, make(map_kind::slice, 2, 3, 1, 1)) == violation::slice_out_of_range);
static_assert(refused(cube, make(map_kind::slice, 3, 0, 1, 1)) == violation::axis_out_of_range);
static_assert(refused(cube, make(map_kind::slice, 0, 0, 1, 0)) == violation::step_is_zero);

constexpr bool slices_count() {
    for (i64 size = 0; size <= 7; ++size)
        for (i64 start = 0; start <= size; ++start)
            for (i64 stop = 0; stop <= size; ++stop)
                for (i64 step = -3; step <= 3; ++step) {
                    if (step == 0) continue;
                    const si::slice_range range = si::resolve_slice(size, start, stop, step);
                    i64 count = 0;
                    bool inside = true;
                    for (i64 i = start; step > 0 ? i < stop : i > stop; i += step) {
                        ++count;
                        inside = inside && i >= 0 && i < size;
                    }
                    const bool backwards = step > 0 ? stop < start : stop > start;
                    if (range.length >= 0 && (range.length != count || (count > 0 && range.start != start) || !inside)) return false;
                    if (range.length < 0 && count > 0 && inside) return false;
                    if (backwards && range.length > 0) return false;
                }
    return true;
}
static_assert(slices_count());
constexpr i64 largest = i64(~si::u64(0) >> 1), least = -largest - 1;
/// A step that leaves every axis takes the first element alone, of known sizes and of unknown ones; no number on the way overflows, or this
/// would be no constant.
constexpr bool long_steps_take_one() {
    const i64 steps[] = {largest, largest - 1, i64(1) << 62, 5, -5, -largest, least + 1, least};
    for (i64 size = 0; size <= 5; ++size)
        for (i64 start = 0; start < size; ++start)
            for (const i64 step : steps) {
                const i64 stop = step > 0 ? size : end;
                if (si::resolve_slice(size, start, stop, step).length != 1 || si::resolve_slice(size, start, start, step).length != 0) return false;
                if (!(mapped(shape{1, {size}}, make(map_kind::slice, 0, start, stop, step)) == shape{1, {1}})) return false;
                if (step > 0 && !(mapped(shape{1, {dyn}}, make(map_kind::slice, 0, start, stop, step)) == shape{1, {1}})) return false;
                view_state view{0, {1, {size}}, {1000}};
                const bool stretched[si::max_rank]{};
                if (!si::apply_map(make(map_kind::slice, 0, start, stop, step), view, stretched) || view.offset != 1000 * start) return false;
            }
    return true;
}
static_assert(long_steps_take_one());
static_assert(mapped(shape{1, {dyn}}, make(map_kind::slice, 0, largest, 0, least)) == shape{1, {1}});
// More elements than 64 bits count: a shape like any other until it is run.
constexpr shape endless{2, {i64(1) << 32, i64(1) << 32}};
static_assert(mapped(endless, make(map_kind::reshape, i64(1) << 33, i64(1) << 31)) == shape{2, {i64(1) << 33, i64(1) << 31}});
static_assert(mapped(endless, make(map_kind::flatten, 0, 1)) == shape{1, {si::uncountable}});
static_assert(refused(endless, make(map_kind::reshape, 1, 1)) == violation::count_differs);
static_assert(refused(flat, make(map_kind::reshape, i64(1) << 33, i64(1) << 31)) == violation::count_differs);
constexpr bool endless_views_regroup() {
    view_state view{0, endless, {}};
    si::set_row_major_strides(view);
    const bool stretched[si::max_rank]{};
    return si::apply_map(make(map_kind::reshape, i64(1) << 33, i64(1) << 31), view, stretched) && view.sizes.size[0] == i64(1) << 33;
}
static_assert(endless_views_regroup());
/// Slices of slices with positive steps: start and step compose as functions do.
constexpr bool slices_compose() {
    for (i64 start = 0; start < 6; ++start)
        for (i64 step = 1; step <= 3; ++step)
            for (i64 inner = 0; inner < 3; ++inner)
                for (i64 inner_step = 1; inner_step <= 2; ++inner_step) {
                    const shape from{1, {20}};
                    const shape once = mapped(from, make(map_kind::slice, 0, start, end, step));
                    const shape twice = mapped(once, make(map_kind::slice, 0, inner, end, inner_step));
                    if (!(twice == mapped(from, make(map_kind::slice, 0, start + inner * step, end, step * inner_step)))) return false;
                }
    return true;
}
static_assert(slices_compose());

// ---- reshape, unflatten, flatten ----
static_assert(mapped(cube, make(map_kind::reshape, 24)) == flat && mapped(flat, make(map_kind::reshape, 2, 3, 4)) == cube);
static_assert(mapped(cube, make(map_kind::reshape, 6, dyn)) == shape{2, {6, 4}});
static_assert(mapped(cube, make(map_kind::reshape, dyn, 1, 8)) == shape{3, {3, 1, 8}});
static_assert(mapped(shape{}, make(map_kind::reshape, 1, 1)) == shape{2, {1, 1}});
static_assert(mapped(shape{2, {0, 5}}, make(map_kind::reshape, 0)) == shape{1, {0}});
static_assert(refused(cube, make(map_kind::reshape, 25)) == violation::count_differs);
static_assert(refused(cube, make(map_kind::reshape, 7, dyn)) == violation::count_differs);
static_assert(refused(cube, make(map_kind::reshape, dyn, dyn)) == violation::count_differs);
static_assert(mapped(flat, make(map_kind::unflatten, 0, 6)) == shape{2, {6, 4}});
static_assert(mapped(open, make(map_kind::unflatten, 0, 2)) == shape{4, {2, dyn, 3, seq}});
static_assert(mapped(mapped(flat, make(map_kind::unflatten, 0, 6)), make(map_kind::flatten, 0, 1)) == flat);
static_assert(refused(flat, make(map_kind::unflatten, 0, 7)) == violation::not_divisible);
static_assert(refused(flat, make(map_kind::unflatten, 0, 0)) == violation::not_divisible);
static_assert(mapped(cube, make(map_kind::flatten, 0, 1)) == shape{2, {6, 4}});
static_assert(mapped(cube, make(map_kind::flatten, 0, -1)) == flat);
static_assert(mapped(open, make(map_kind::flatten, 0, 1)) == shape{2, {dyn, seq}});
static_assert(mapped(open, make(map_kind::flatten, 2, 2)) == open);
static_assert(refused(cube, make(map_kind::flatten, 2, 1)) == violation::axis_out_of_range);

// ---- expand, squeeze, unsqueeze, flip ----
static_assert(mapped(shape{2, {3, 1}}, make(map_kind::expand, 2, 3, 4)) == cube);
static_assert(mapped(shape{1, {dyn}}, make(map_kind::expand, 2, dyn)) == shape{2, {2, dyn}});
static_assert(refused(cube, make(map_kind::expand, 3, 4)) == violation::not_expandable);
static_assert(refused(cube, make(map_kind::expand, 2, 3, 5)) == violation::not_expandable);
static_assert(mapped(shape{3, {2, 1, 3}}, make(map_kind::squeeze, 1)) == shape{2, {2, 3}});
static_assert(refused(cube, make(map_kind::squeeze, 1)) == violation::axis_isnt_one);
static_assert(refused(open, make(map_kind::squeeze, 0)) == violation::axis_isnt_one);
static_assert(mapped(shape{2, {2, 3}}, make(map_kind::unsqueeze, 1)) == shape{3, {2, 1, 3}});
static_assert(mapped(shape{2, {2, 3}}, make(map_kind::unsqueeze, -1)) == shape{3, {2, 3, 1}});
static_assert(mapped(shape{2, {2, 3}}, make(map_kind::unsqueeze, 0)) == shape{3, {1, 2, 3}});
static_assert(refused(shape{8, {1, 1, 1, 1, 1, 1, 1, 1}}, make(map_kind::unsqueeze, 0)) == violation::rank_too_large);
static_assert(mapped(open, make(map_kind::flip, -1)) == open);
constexpr bool unsqueeze_inverts() {
    for (int axis = 0; axis <= 3; ++axis)
        if (!(mapped(mapped(open, make(map_kind::unsqueeze, axis)), make(map_kind::squeeze, axis)) == open)) return false;
    return true;
}
static_assert(unsqueeze_inverts());

// ---- row-major strides ----
constexpr bool row_major_law() {
    view_state state{0, {4, {2, 3, 1, 5}}, {}};
    si::set_row_major_strides(state);
    return state.stride[3] == 1 && state.stride[2] == 5 && state.stride[1] == 5 && state.stride[0] == 15;
}
static_assert(row_major_law());

// ------------------------------------------------------------------------------------- strides equal index arithmetic

/// Where the element with this row-major number lies.
i64 offset_of(const view_state& view, i64 linear) {
    i64 offset = view.offset;
    for (int i = view.sizes.rank - 1; i >= 0; --i) {
        offset += linear % view.sizes.size[i] * view.stride[i];
        linear /= view.sizes.size[i];
    }
    return offset;
}
view_state row_major(const shape& sizes) {
    view_state out{0, sizes, {}};
    si::set_row_major_strides(out);
    return out;
}
constexpr bool nothing_stretched[si::max_rank]{};
bool apply(view_state& view, const index_map_spec& map) { return si::apply_map(map, view, nothing_stretched); }

void split(i64 linear, const shape& sizes, i64 (&index)[si::max_rank]) {
    for (int i = sizes.rank - 1; i >= 0; --i) {
        index[i] = linear % sizes.size[i];
        linear /= sizes.size[i];
    }
}

/// The source index of one result index, straight from each map's meaning.
void source_index(const index_map_spec& map, const shape& from, const shape& to, const i64 (&at)[si::max_rank],
                  i64 (&out)[si::max_rank]) {
    switch (map.kind) {
        case map_kind::permute:
            for (int i = 0; i < to.rank; ++i) out[si::normal_axis(map.number[i], from.rank)] = at[i];
            return;
        case map_kind::slice: {
            const int axis = si::normal_axis(map.number[0], from.rank);
            const i64 step = map.number[3];
            i64 start = map.number[1];
            if (start == end) start = step > 0 ? 0 : from.size[axis] - 1;
            if (start < 0) start += from.size[axis];
            for (int i = 0; i < from.rank; ++i) out[i] = i == axis ? start + at[i] * step : at[i];
            return;
        }
        case map_kind::flip: {
            const int axis = si::normal_axis(map.number[0], from.rank);
            for (int i = 0; i < from.rank; ++i) out[i] = i == axis ? from.size[i] - 1 - at[i] : at[i];
            return;
        }
        case map_kind::expand:
            for (int i = 0; i < from.rank; ++i) out[i] = from.size[i] == 1 ? 0 : at[to.rank - from.rank + i];
            return;
        default: {
            // The others keep the row-major order of elements.
            i64 linear = 0;
            for (int i = 0; i < to.rank; ++i) linear = linear * to.size[i] + at[i];
            split(linear, from, out);
        }
    }
}

/// Faults of `map` on `view`: elements that aren't where index arithmetic puts them.
int misplaced(view_state view, const index_map_spec& map) {
    const view_state before = view;
    if (!apply(view, map)) return -1;
    const si::shape_result rule = si::mapped_shape(map, before.sizes);
    if (!rule.ok() || !(rule.value == view.sizes)) return -2;
    int faults = 0;
    for (i64 i = 0; i < view.sizes.count(); ++i) {
        i64 at[si::max_rank]{}, source[si::max_rank]{};
        split(i, view.sizes, at);
        source_index(map, before.sizes, view.sizes, at, source);
        i64 wanted = before.offset;
        for (int a = 0; a < before.sizes.rank; ++a) wanted += source[a] * before.stride[a];
        faults += offset_of(view, i) != wanted;
    }
    return faults;
}

}  // namespace

TEST_CASE("every map moves elements as its index arithmetic says") {
    const view_state views[] = {
        row_major({3, {4, 1, 6}}),
        {100, {3, {4, 1, 6}}, {-13, 7, 2}},
        {0, {3, {4, 1, 6}}, {0, 0, 1}},
        {50, {3, {4, 1, 6}}, {6, 99, -1}},
    };
    const index_map_spec maps[] = {
        make(map_kind::permute, 0, 1, 2),
        make(map_kind::permute, 2, 0, 1),
        make(map_kind::permute, -1, 1, 0),
        make(map_kind::slice, 0, 1, 3, 1),
        make(map_kind::slice, 2, end, end, -1),
        make(map_kind::slice, 2, -1, end, -2),
        make(map_kind::slice, 2, 5, 0, -2),
        make(map_kind::slice, 2, 1, -1, 3),
        make(map_kind::slice, 2, 3, 3, 1),
        make(map_kind::flip, 0),
        make(map_kind::flip, -1),
        make(map_kind::expand, 4, 5, 6),
        make(map_kind::expand, 2, 4, 1, 6),
        make(map_kind::squeeze, 1),
        make(map_kind::unsqueeze, 0),
        make(map_kind::unsqueeze, -1),
        make(map_kind::unflatten, 2, 2),
        make(map_kind::unflatten, 0, 4),
        make(map_kind::flatten, 1, 2),
        make(map_kind::flatten, 0, 1),
        make(map_kind::reshape, 2, 2, 3, 2),
        make(map_kind::reshape, 4, 6),
        make(map_kind::reshape, 4, 1, 2, 3, 1),
    };
    for (const view_state& view : views)
        for (const index_map_spec& map : maps) {
            CAPTURE(int(map.kind));
            CAPTURE(view.stride[0]);
            CHECK(misplaced(view, map) == 0);
        }
}

TEST_CASE("maps compose: every pair in sequence") {
    const index_map_spec maps[] = {
        make(map_kind::permute, 1, 0),  make(map_kind::slice, 0, 1, end, 2),  make(map_kind::slice, 1, end, end, -1),
        make(map_kind::flip, 0),        make(map_kind::slice, 0, end, end, -2),
    };
    for (const index_map_spec& first : maps)
        for (const index_map_spec& second : maps)
            for (const index_map_spec& third : maps) {
                view_state view = row_major({2, {7, 5}});
                REQUIRE(apply(view, first));
                CHECK(misplaced(view, second) == 0);
                REQUIRE(apply(view, second));
                CHECK(misplaced(view, third) == 0);
            }
}

TEST_CASE("a flip twice and a transpose twice are the identity") {
    view_state view = row_major({2, {3, 5}});
    const view_state before = view;
    for (int i = 0; i < 2; ++i) REQUIRE(apply(view, make(map_kind::flip, 1)));
    for (int i = 0; i < 2; ++i) REQUIRE(apply(view, make(map_kind::permute, 1, 0)));
    for (i64 i = 0; i < 15; ++i) CHECK(offset_of(view, i) == offset_of(before, i));
}

TEST_CASE("a reshape that strides don't allow is refused and changes nothing") {
    view_state transposed = row_major({2, {3, 4}});
    REQUIRE(apply(transposed, make(map_kind::permute, 1, 0)));
    const view_state before = transposed;
    CHECK_FALSE(apply(transposed, make(map_kind::reshape, 12)));
    CHECK(transposed.sizes == before.sizes);
    CHECK(transposed.stride[0] == before.stride[0]);
    view_state gaps{0, {2, {3, 4}}, {5, 1}};
    CHECK_FALSE(apply(gaps, make(map_kind::flatten, 0, 1)));
    CHECK(misplaced(gaps, make(map_kind::reshape, 3, 2, 2)) == 0);
    // A row of equal steps may be regrouped, whatever its sign.
    CHECK(misplaced(view_state{23, {2, {4, 6}}, {-6, -1}}, make(map_kind::reshape, 8, 3)) == 0);
    CHECK(misplaced(view_state{0, {2, {4, 6}}, {0, 0}}, make(map_kind::reshape, 24)) == 0);
}

TEST_CASE("empty views map to empty views") {
    CHECK(misplaced(row_major({2, {0, 4}}), make(map_kind::permute, 1, 0)) == 0);
    CHECK(misplaced(row_major({2, {0, 4}}), make(map_kind::flip, 0)) == 0);
    CHECK(misplaced(row_major({2, {0, 4}}), make(map_kind::reshape, 2, 0, 3)) == 0);
    CHECK(misplaced(row_major({2, {0, 4}}), make(map_kind::slice, 0, end, end, -1)) == 0);
    CHECK(misplaced(row_major({2, {0, 4}}), make(map_kind::flatten, 0, 1)) == 0);
}

TEST_CASE("slices that leave the axis are refused when run") {
    view_state view = row_major({1, {5}});
    CHECK_FALSE(apply(view, make(map_kind::slice, 0, 0, 6, 1)));
    CHECK_FALSE(apply(view, make(map_kind::slice, 0, -6, 2, 1)));
    CHECK_FALSE(apply(view, make(map_kind::slice, 1, 0, 2, 1)));
    CHECK_FALSE(apply(view, make(map_kind::slice, 0, 1, 4, -1)));
    CHECK(view.sizes.size[0] == 5);
}

TEST_CASE("the bytes a view touches, against the elements one by one") {
    const view_state views[] = {
        row_major({2, {3, 4}}), {7, {2, {3, 4}}, {-5, 2}}, {0, {1, {1}}, {1000}}, {3, {3, {2, 3, 2}}, {0, -1, 9}}, {4, {}, {}},
    };
    for (const view_state& view : views) {
        i64 first = offset_of(view, 0), last = first;
        for (i64 i = 0; i < view.sizes.count(); ++i) {
            const i64 at = offset_of(view, i);
            first = at < first ? at : first;
            last = at > last ? at : last;
        }
        const si::byte_range range = si::touched_bytes(view, 4);
        CHECK(range.first == first * 4);
        CHECK(range.last == last * 4 + 3);
    }
    const si::byte_range none = si::touched_bytes(row_major({2, {3, 0}}), 4);
    CHECK(none.first > none.last);
}
