// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The harness itself: executors that are wrong on purpose must be caught, whatever the fault. They are built on the reference.
#undef SINTER_TEST_BACKEND_HEADER
#undef SINTER_TEST_EXECUTOR
#undef SINTER_TEST_STORAGE
#define SINTER_TEST_BACKEND_HEADER <sinter/backend/reference.hpp>
#define SINTER_TEST_EXECUTOR ::faulty::chosen
#include <sinter/backend/reference.hpp>

namespace faulty {
enum class fault { none, last_bit, sign_of_zero, unwritten, past_the_end, input_changed, wrong_status };
inline fault wanted = fault::none;

struct executor {
    using memory_space = sinter::host_memory;
    template <class Assignment>
    sinter::status launch(const Assignment& assigned) const {
        using sinter::get;
        const auto& out = get<0>(assigned.targets);
        const auto& in = get<0>(assigned.operands);
        const float before = out.count() > 0 ? *out.data() : 0.0f;
        const sinter::status result = sinter::reference.launch(assigned);
        if (out.count() == 0) return result;
        float& element = *out.data();
        switch (wanted) {
            case fault::none: break;
            case fault::last_bit:
                if (element > 0 && element < 1e30f) element = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, element) + 1);
                break;
            case fault::sign_of_zero:
                // As integers: -ffast-math takes a zero of either sign for the other.
                if ((__builtin_bit_cast(unsigned, element) << 1) == 0)
                    element = __builtin_bit_cast(float, __builtin_bit_cast(unsigned, element) ^ 0x80000000u);
                break;
            case fault::unwritten: element = before; break;
            case fault::past_the_end: out.data()[-1] += 1; break;
            case fault::input_changed: const_cast<float&>(*in.data()) = 3; break;
            case fault::wrong_status: return sinter::status{sinter::error::overlap, 0, 0, 0, 0};
        }
        return result;
    }
};
inline constexpr executor chosen{};
}  // namespace faulty

#include "harness.hpp"

using namespace harness;

namespace {
i64 faults_found(faulty::fault wanted) {
    faulty::wanted = wanted;
    tally all("self test");
    all.quiet = true;
    contiguous_cases(all, types<float>{}, types<float, float>{}, si::fused([](auto a, auto b) { return a * b; }));
    const i64 found = all.faults;
    all.faults = 0;
    return found;
}
}  // namespace

TEST_CASE("a right executor has no faults, each wrong one has many") {
    CHECK(faults_found(faulty::fault::none) == 0);
    CHECK(faults_found(faulty::fault::last_bit) > 20);
    CHECK(faults_found(faulty::fault::sign_of_zero) > 3);
    CHECK(faults_found(faulty::fault::unwritten) > 50);
    CHECK(faults_found(faulty::fault::past_the_end) > 20);
    CHECK(faults_found(faulty::fault::input_changed) > 20);
    CHECK(faults_found(faulty::fault::wrong_status) > 50);
}

TEST_CASE("values come in every kind") {
    generator random;
    int nans = 0, infinities = 0, negative_zeros = 0, subnormals = 0, ordinary = 0;
    for (int i = 0; i < 4000; ++i) {
        const float value = value_of<float>(random, mix::special);
        const u64 magnitude = to_bits(value) & 0x7fffffff;
        nans += is_nan(value);
        infinities += magnitude == 0x7f800000;
        negative_zeros += to_bits(value) == 0x80000000;
        subnormals += magnitude > 0 && magnitude < 0x800000;
        ordinary += magnitude > 0x3c000000 && magnitude < 0x44000000;
    }
    CHECK(nans > 50);
    CHECK(infinities > 50);
    CHECK(negative_zeros > 20);
    CHECK(subnormals > 50);
    CHECK(ordinary > 2000);
}

TEST_CASE("placements stay inside their buffers and don't overlap themselves") {
    const shape sizes[] = {{2, {3, 7}}, {1, {9}}, {3, {2, 1, 5}}, {2, {1, 0}}, {3, {4, 3, 2}}, {0, {}}};
    for (const shape& each : sizes)
        for (int how = 0; how < input_layouts; ++how) {
            const placement at = place(each, layout(how));
            const si::byte_range range = si::touched_bytes(si::view_state{at.offset, at.sizes, {at.stride[0], at.stride[1], at.stride[2]}}, 1);
            CHECK(range.last < at.span - guard);
            if (each.count() > 0) CHECK(range.first >= guard);
            if (how >= output_layouts) continue;
            bool seen[200]{};
            for (i64 i = 0; i < each.count(); ++i) {
                i64 rest = i, offset = at.offset;
                for (int a = each.rank - 1; a >= 0; --a) {
                    offset += rest % each.size[a] * at.stride[a];
                    rest /= each.size[a];
                }
                CHECK_FALSE(seen[offset]);
                seen[offset] = true;
            }
        }
}
