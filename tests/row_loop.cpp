// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements a fold over several axes takes together, and what of them is packed: of long runs along the last axis nothing is. Which
// vectors a row is stored in; from where to where rows step.
#include <sinter/row_loop.hpp>

#include <vector>

#include <doctest/doctest.h>

namespace si = sinter;
using si::i64;

namespace {

struct eight_lanes {
    static constexpr int width = 8;
};
constexpr int slots = 4;  ///< an image, the places of its rows and of its columns, a result
using loop = si::detail::row_loop<eight_lanes, slots>;

/// A fold over an image of f32 with `apart` elements from one row to the next, `step` from one column to the next.
struct fold {
    std::vector<float> image;
    si::binding<slots> sizes{};
    const void* pointer[slots]{};
    si::detail::loops<slots> along{};
    si::detail::row_body<slots> body{};
    si::detail::bound_call<slots> bound{sizes, pointer, true};
    si::detail::call_state<slots> call{bound, along, nullptr, nullptr};
    loop::position_type row{};
    loop::packed_block block{};

    fold(i64 rows, i64 columns, i64 apart, i64 step = 1) {
        for (i64 i = 0; i < rows * apart; ++i) image.push_back(float(i));
        row.pointer[0] = image.data();
        along.lane.count = 2;
        along.lane.size[0] = rows;
        along.lane.size[1] = columns;
        along.lane.stride[0][0] = apart;
        along.lane.stride[1][0] = step;
        along.lane.stride[0][1] = 1;
        along.lane.stride[1][2] = 1;
        body.operands = body.packed_operands = body.packed_slots = 3;
        body.element_size[0] = 4;
        for (si::u8 s = 0; s < 3; ++s) body.packed[s] = s;
    }
    int next(i64 position, i64 left) const { return loop::next_block(body, call, position, left); }
    void pack(i64 position, int count) { loop::pack(body, call, block, row, position, count, -1); }
    float value(int i) const { return static_cast<const float*>(block.at.pointer[0])[i]; }
    i64 place(int slot, int i) const {
        const i64* const packed = static_cast<const i64*>(block.at.pointer[slot]);
        return packed ? packed[i] : block.at.base[slot] + i * along.lane.stride[1][slot];
    }
};

}  // namespace

TEST_CASE("long runs are taken whole, and nothing of them is packed") {
    for (const i64 apart : {640, 700}) {
        fold f(480, 640, apart);
        CHECK(f.next(0, 1024) == 640);
        CHECK(f.next(640, 384) == 384);
        CHECK(f.next(1024, 1000) == 256);
        for (const i64 position : {0, 640, 1024, 1280 + 16}) {
            f.pack(position, f.next(position, 1024));
            CHECK(f.block.at.pointer[0] == f.image.data() + position / 640 * apart + position % 640);
            CHECK(f.block.at.pointer[1] == nullptr);
            CHECK(f.block.at.pointer[2] == nullptr);
            CHECK(f.place(1, 7) == position / 640);
            CHECK(f.place(2, 7) == position % 640 + 7);
        }
    }
}
TEST_CASE("of runs that are no whole vectors one vector is packed") {
    fold f(480, 643, 643);
    i64 position = 0;
    for (const int count : {640, 8, 376}) {
        const i64 left = 1024 - position;
        CHECK(f.next(position, left) == count);
        f.pack(position, f.next(position, left));
        CHECK((f.block.at.pointer[1] == nullptr) == (count != 8));
        for (int i = 0; i < f.next(position, left); ++i) {
            CHECK(f.value(i) == float(position + i));
            CHECK(f.place(1, i) == (position + i) / 643);
            CHECK(f.place(2, i) == (position + i) % 643);
        }
        position += count;
    }
    CHECK(position == 1024);
}
TEST_CASE("short runs, and elements that are apart, are packed as many as a block holds") {
    fold few(480, 100, 100), apart(480, 640, 1280, 2);
    CHECK(few.next(0, 1024) == loop::block);
    CHECK(apart.next(0, 1024) == loop::block);
    CHECK(apart.next(512, 512) == 128);
    apart.pack(640, 8);
    for (int i = 0; i < 8; ++i) CHECK(apart.value(i) == float(1280 + 2 * i));
}
TEST_CASE("what is left of a segment") {
    fold f(480, 640, 640);
    CHECK(f.next(0, 5) == 5);
    CHECK(f.next(0, 100) == 96);
    CHECK(f.next(96, 4) == 4);
    CHECK(f.next(632, 100) == 8);
}

namespace {

/// Calls of a kernel that stores vectors of eight elements to one output, as they came.
struct stored {
    using loops = si::detail::row_loop<eight_lanes, 2>;
    alignas(64) char memory[8192]{};
    si::binding<2> sizes{};
    const void* pointer[2]{};
    si::detail::loops<2> along{};
    si::detail::row_body<2> body{};
    si::detail::bound_call<2> bound{sizes, pointer, false};
    si::detail::call_state<2> call{bound, along, nullptr, nullptr};
    loops::position_type at{};
    static inline std::vector<i64> begins, counts;

    stored(int element_size, int offset) {
        begins.clear();
        counts.clear();
        pointer[0] = at.pointer[0] = nullptr;
        pointer[1] = at.pointer[1] = memory + offset;
        body.operands = body.packed_operands = 1;
        body.packed_slots = 2;
        body.packed[1] = 1;
        body.element_size[1] = si::u8(element_size);
        body.vectors = [](const si::detail::call_state<2>&, const loops::position_type&, i64 position, i64 from, i64 count, si::u32) {
            CHECK(position == from);
            begins.push_back(position);
            counts.push_back(count);
        };
    }
    void run(i64 begin, i64 stop) { loops::store_run(body, call, at, begin, stop, loops::may_repeat(body, call)); }
};

}  // namespace

TEST_CASE("a long row's stores are aligned after the first; rows cover each element and no other") {
    for (const int size : {1, 2, 4, 8})
        for (int offset = 0; offset < 64; offset += size)
            for (const i64 begin : {0, 3})
                for (const i64 length : {8, 15, 63, 64, 65, 200, 511, 512, 513, 519, 520, 700}) {
                    INFO("element of ", size, " bytes, offset ", offset, ", begin ", begin, ", length ", length);
                    stored s(size, offset);
                    s.run(begin, begin + length);
                    std::vector<int> seen(std::size_t(begin + length), 0);
                    i64 split = 0, vectors = 0;
                    for (std::size_t c = 0; c < s.begins.size(); ++c) {
                        CHECK(s.begins[c] >= begin);
                        CHECK(s.begins[c] + 8 * s.counts[c] <= begin + length);
                        for (i64 i = 0; i < 8 * s.counts[c]; ++i) seen[std::size_t(s.begins[c] + i)] = 1;
                        for (i64 v = 0; v < s.counts[c]; ++v, ++vectors) split += (offset + (s.begins[c] + 8 * v) * size) % (8 * size) != 0;
                    }
                    for (i64 i = begin; i < begin + length; ++i) CHECK(seen[std::size_t(i)] == 1);
                    CHECK(vectors <= length / 8 + 2);
                    if (size >= 4 && length >= stored::loops::aligned_vectors * 8) CHECK(split <= 2);
                    if (length < stored::loops::aligned_vectors * 8) CHECK(s.begins.size() <= 2);
                }
}

TEST_CASE("from any place an axis that begins anew is where single steps come to") {
    si::detail::axis_loops<2> along{};
    along.count = 3;
    for (int i = 0; i < 3; ++i) {
        along.size[i] = 2 + i;
        along.stride[i][0] = 100 - 37 * i;
        along.stride[i][1] = i == 1 ? 0 : 5 + i;
    }
    for (i64 from = 0; from < 24; ++from) {
        si::detail::odometer<2> leapt, walked;
        leapt.set(along, from);
        walked.set(along, from);
        CHECK(leapt.left(along) == 4 - from % 4);
        for (i64 steps = leapt.left(along); steps > 0; --steps) walked.next(along);
        leapt.wrap(along);
        for (int i = 0; i < 3; ++i) CHECK(leapt.index[i] == walked.index[i]);
        for (int s = 0; s < 2; ++s) CHECK(leapt.offset[s] == walked.offset[s]);
    }
    si::detail::axis_loops<2> one_row{};
    si::detail::odometer<2> still;
    still.set(one_row, 0);
    still.wrap(one_row);
    CHECK(still.left(one_row) == 1);
    CHECK(still.offset[0] == 0);
}
