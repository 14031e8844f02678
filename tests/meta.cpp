// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small building blocks: type selection, index sequences, arrays and packs. Facts of types are static_asserts.
#include <doctest/doctest.h>

#include <sinter/meta.hpp>

namespace si = sinter;

namespace {

template <class Sequence>
struct sum_of_indices;
template <int... Index>
struct sum_of_indices<si::indices<Index...>> {
    static constexpr int count = int(sizeof...(Index));
    static constexpr int value = [] {  // no fold: clang nests at most 256
        const int all[] = {0, Index...};
        int sum = 0;
        for (const int index : all) sum += index;
        return sum;
    }();
};

static_assert(si::is_same<si::conditional<true, int, char>, int>);
static_assert(si::is_same<si::conditional<false, int, char>, char>);
static_assert(!si::is_same<int, unsigned> && si::is_same<si::remove_cvref<const int&>, int>);
static_assert(si::is_same<si::remove_cvref<int&&>, int> && si::is_same<si::remove_cvref<const char* const&>, const char*>);
static_assert(si::is_const<const int> && !si::is_const<int> && !si::is_const<const int*>);
static_assert(si::is_lvalue<int&> && !si::is_lvalue<int> && !si::is_lvalue<int&&>);
static_assert(si::is_index<int> && si::is_index<unsigned long long> && si::is_index<short>);
static_assert(!si::is_index<float> && !si::is_index<bool> && !si::is_index<char>);

static_assert(si::is_same<si::make_indices<0>, si::indices<>>);
static_assert(si::is_same<si::make_indices<4>, si::indices<0, 1, 2, 3>>);
static_assert(sum_of_indices<si::make_indices<300>>::value == 299 * 150);
static_assert(sum_of_indices<si::make_indices<300>>::count == 300);

static_assert(si::is_same<si::nth_type<0, int, char, float>, int>);
static_assert(si::is_same<si::nth_type<2, int, char, float>, float>);
static_assert(si::is_same<si::nth_type<1, int, int, int>, int>);

// The same type twice in a pack: slots are told apart by index.
constexpr si::pack<int, char, int> three{{{1}, {'x'}, {3}}};
static_assert(si::get<0>(three) == 1 && si::get<1>(three) == 'x' && si::get<2>(three) == 3);
constexpr si::pack<> none{};
constexpr auto joined = si::join(three, si::pack<double>{{{0.5}}});
static_assert(si::is_same<si::remove_cvref<decltype(joined)>, si::pack<int, char, int, double>>);
static_assert(si::get<0>(joined) == 1 && si::get<3>(joined) == 0.5);
static_assert(si::is_same<si::remove_cvref<decltype(si::join(none, three))>, si::pack<int, char, int>>);
static_assert(si::get<2>(si::join(none, three)) == 3 && si::get<2>(si::join(three, none)) == 3);
static_assert(__is_trivially_copyable(si::pack<int, double*>));
static_assert(sizeof(si::pack<double, double>) == 16);
static_assert(__is_empty(si::pack<>));

constexpr si::array<int, 3> numbers{{4, 5, 6}};
static_assert(numbers[0] + numbers[2] == 10 && si::array<int, 3>::size == 3);
constexpr si::array<int, 0> nothing{};
static_assert(nothing.size == 0);

}  // namespace

TEST_CASE("an array's elements can be written, a pack's slots too") {
    si::array<int, 3> values{{1, 2, 3}};
    values[1] = 7;
    CHECK(values[1] == 7);
    si::pack<int, float> both{{{1}, {2.5f}}};
    si::get<0>(both) = 9;
    CHECK(si::get<0>(both) == 9);
    CHECK(si::get<1>(both) == 2.5f);
}
