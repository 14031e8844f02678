// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views and the small owner: what they cost, what they hold, which containers they take, element access by strides.
#include <doctest/doctest.h>

#include <type_traits>

#include <sinter/tensor.hpp>

#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
/// What is asked for here can't be had, and the owner shall see a null pointer: the sanitizer else ends the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace si = sinter;
using si::dyn;
using si::i64;

namespace {

using flat = si::tensor_view<float, si::extents<dyn>>;
using fixed = si::tensor_view<float, si::extents<2, 3>>;
using steps = si::tensor_view<float, si::extents<2, 3>, si::strided>;

// What is known while compiling takes no storage.
static_assert(sizeof(fixed) == sizeof(float*));
static_assert(sizeof(flat) == sizeof(float*) + sizeof(i64));
static_assert(sizeof(steps) == sizeof(float*) + 2 * sizeof(i64));
static_assert(sizeof(si::tensor_view<float, si::extents<>>) == sizeof(float*));
static_assert(sizeof(si::tensor_view<float, si::extents<dyn, 4, dyn>, si::strided>) == sizeof(float*) + 5 * sizeof(i64));

template <class View>
constexpr bool is_a_plain_value = __is_trivially_copyable(View) && __is_trivially_constructible(View, const View&) &&
                                  std::is_trivially_destructible_v<View>;
static_assert(is_a_plain_value<flat> && is_a_plain_value<fixed> && is_a_plain_value<steps>);
// A silent rebind would be a trap, so views can't be copy-assigned.
static_assert(!__is_assignable(flat&, const flat&) && !__is_assignable(fixed&, const fixed&));
static_assert(__is_constructible(si::tensor_view<const float, si::extents<dyn>>, const flat&));
static_assert(!__is_constructible(flat, const si::tensor_view<const float, si::extents<dyn>>&));
// (Another number of run-time sizes is a message of its own: tests/fail/open_size_of_a_view.cpp.)
static_assert(__is_constructible(flat, float*, int) && __is_constructible(fixed, float*));
static_assert(!__is_constructible(flat, float*, double));

using owner = si::tensor<float, si::extents<dyn>>;
static_assert(!__is_constructible(owner, const owner&) && !__is_assignable(owner&, const owner&));
static_assert(__is_constructible(owner, owner&&) && __is_nothrow_constructible(owner, owner&&));

static_assert(flat::rank == 1 && flat::contiguous && !steps::contiguous && flat::alignment == 0);
static_assert(si::is_same<flat::space, si::host_memory>);

constexpr float constants[] = {1, 2, 3, 4, 5, 6};
constexpr si::tensor_view<const float, si::extents<2, 3>> in_constants(constants);
static_assert(in_constants(1, 2) == 6 && in_constants(0, 1) == 2 && in_constants.count() == 6);

}  // namespace

TEST_CASE("a view finds elements by row-major order, or by its strides") {
    float data[24];
    for (int i = 0; i < 24; ++i) data[i] = float(i);
    const si::tensor_view<float, si::extents<dyn, 4>> rows(data, 6);
    CHECK(rows.count() == 24);
    CHECK(rows(0, 0) == 0);
    CHECK(rows(5, 3) == 23);
    CHECK(rows(2, 1) == 9);
    const si::tensor_view<float, si::extents<4, dyn>, si::strided> columns(data, si::extents<4, dyn>(6), {{1, 4}});
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 6; ++j) CHECK(&columns(i, j) == &rows(j, i));
    const auto backwards = si::view(data + 23, si::extents<24>{}, si::array<i64, 1>{{-1}});
    CHECK(backwards(0) == 23);
    CHECK(backwards(23) == 0);
    const auto scalar = si::view(data + 5, si::extents<>{});
    CHECK(scalar() == 5);
    CHECK(scalar.count() == 1);
    rows(5, 3) = -1;
    CHECK(data[23] == -1);
}

TEST_CASE("a view's state gives its sizes and strides as numbers") {
    float data[6]{};
    const auto state = si::view(data, si::extents<2, dyn>(3)).state();
    CHECK(state.offset == 0);
    CHECK(state.sizes == si::shape{2, {2, 3}});
    CHECK(state.stride[0] == 3);
    CHECK(state.stride[1] == 1);
    const auto strided_state = si::view(data, si::extents<2, 3>{}, si::array<i64, 2>{{1, 2}}).state();
    CHECK(strided_state.stride[0] == 1);
    CHECK(strided_state.stride[1] == 2);
}

TEST_CASE("views come from anything with data and size") {
    std::vector<int> numbers{1, 2, 3};
    const auto from_vector = si::view(numbers);
    static_assert(si::is_same<decltype(from_vector)::element, int>);
    CHECK(from_vector.count() == 3);
    CHECK(from_vector.data() == numbers.data());
    const std::vector<int>& constant = numbers;
    static_assert(si::is_same<decltype(si::view(constant))::element, const int>);
    std::array<double, 4> four{{1, 2, 3, 4}};
    CHECK(si::view(four)(3) == 4);
    // A span borrows its memory, so a temporary one will do.
    CHECK(si::view(std::span<int>(numbers))(2) == 3);
    CHECK(si::view(std::span<const int>(numbers))(0) == 1);
    const auto square = si::view(four, si::extents<2, 2>{});
    CHECK(square(1, 0) == 3);
    CHECK(si::view(numbers, si::extents<dyn>(2)).count() == 2);
    // Too small a container gives a null view, which a run refuses.
    CHECK(si::view(four, si::extents<5>{}).data() == nullptr);
    std::vector<float> none;
    CHECK(si::view(none).count() == 0);
}

TEST_CASE("a built-in array has a shape of its own, of several axes too, or that of the extents") {
    float flat[6] = {1, 2, 3, 4, 5, 6};
    const float grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    static_assert(si::is_same<decltype(si::view(flat)), si::tensor_view<float, si::extents<6>>>);
    static_assert(si::is_same<decltype(si::view(grid)), si::tensor_view<const float, si::extents<2, 3>>>);
    CHECK(si::view(grid)(1, 0) == 4);
    CHECK(si::view(grid, si::extents<3, 2>{})(1, 0) == 3);
    CHECK(si::view(flat, si::extents<5>{}).data() == flat);
    // Sizes that are known when run: too many give a null view, which a run refuses.
    CHECK(si::view(flat, si::extents<dyn, 3>(2)).data() == flat);
    CHECK(si::view(flat, si::extents<dyn, 3>(3)).data() == nullptr);
    float* const pointer = flat;
    CHECK(si::view(pointer, si::extents<2, 3>{})(0, 2) == 3);
}

// Such classes ask whether a view can be assigned, and must get an answer instead of the message that `y = x` gets.
TEST_CASE("classes that hold other types hold views") {
    static_assert(!std::is_assignable_v<flat&, flat> && !std::is_assignable_v<flat&, flat&> && !std::is_assignable_v<const flat&, const flat&>);
    static_assert(!std::is_assignable_v<flat&, fixed> && !std::is_assignable_v<flat&, si::tensor<float, si::extents<dyn>>&>);
    static_assert(!std::is_swappable_v<flat>);
    float numbers[6]{1, 2, 3, 4, 5, 6};
    const flat front(numbers, 3);

    std::optional<flat> later;
    CHECK(!later);
    later.emplace(numbers, 6);
    CHECK(later->count() == 6);
    later.emplace(front);
    CHECK(later->count() == 3);
    const std::optional<flat> same = later;
    CHECK(same->data() == numbers);
    later.reset();
    CHECK(!later);

    std::variant<int, flat, fixed> either{front};
    CHECK(std::get<flat>(either).count() == 3);
    either.emplace<fixed>(numbers);
    CHECK(std::get<fixed>(either)(1, 2) == 6);

    std::pair<flat, int> named{front, 7};
    const auto twin = named;
    CHECK(twin.first.data() == numbers);
    std::tuple<flat, fixed> both{front, fixed(numbers)};
    CHECK(std::get<1>(both).count() == 6);

    std::vector<flat> list;
    for (int i = 1; i <= 6; ++i) list.emplace_back(numbers, i);
    list.push_back(front);
    list.pop_back();
    CHECK(list.back().count() == 6);
}

TEST_CASE("tensor owns zeroed, aligned memory; moving swaps") {
    si::tensor<float, si::extents<3, dyn>> one(5);
    CHECK(one.ok());
    CHECK(one.count() == 15);
    CHECK(reinterpret_cast<si::u64>(one.data()) % 64 == 0);
    for (const float& x : one) CHECK(x == 0);
    one[7] = 2;
    CHECK(one.view()(1, 2) == 2);
    si::tensor<float, si::extents<3, dyn>> other(static_cast<decltype(one)&&>(one));
    CHECK(other[7] == 2);
    CHECK(one.data() == nullptr);
    si::tensor<float, si::extents<3, dyn>> third(1);
    third = static_cast<decltype(one)&&>(other);
    CHECK(third.count() == 15);
    CHECK(third[7] == 2);
    CHECK(other.count() == 3);
    const si::tensor<float, si::extents<3, dyn>>& constant = third;
    si::tensor<int, si::extents<2, 3>> table;
    table(1, 2) = 7;
    const auto& fixed_table = table;
    CHECK(table[5] == 7);
    CHECK(&fixed_table(1, 0) == table.data() + 3);
    static_assert(std::is_same_v<decltype(fixed_table(0, 0)), const int&>);
    static_assert(si::is_same<decltype(constant.view())::element, const float>);
    CHECK(constant.view()(1, 2) == 2);
    const si::tensor<int, si::extents<2, 2>> fixed_sizes;
    CHECK(fixed_sizes.count() == 4);
    CHECK(fixed_sizes.sizes() == si::shape{2, {2, 2}});
    const si::tensor<int, si::extents<dyn>> nothing(0);
    CHECK(nothing.ok());
    // More elements than there are numbers, or a size that is none: no memory, whatever the product is modulo 2^64.
    const si::tensor<float, si::extents<dyn, dyn>> endless(3, 6148914691236517206);
    CHECK_FALSE(endless.ok());
    const si::tensor<si::u8, si::extents<dyn, dyn>> bytes(si::i64(1) << 32, si::i64(1) << 32);
    CHECK_FALSE(bytes.ok());
    const si::tensor<float, si::extents<dyn, dyn>> negative(-2, -3);
    CHECK_FALSE(negative.ok());
    float few[4]{};
    CHECK(si::view(few, si::extents<dyn, dyn>(3, 6148914691236517206)).data() == nullptr);
    const si::tensor<int, si::extents<>> single;
    CHECK(single.count() == 1);
}

TEST_CASE("other memory in the shape of a view or an owner") {
    float in[12]{}, out[12]{};
    std::vector<int> numbers(12), few(11);
    const si::tensor_view<const float, si::extents<dyn, 4>> x(in, 3);
    auto y = si::view(static_cast<float*>(out), x);
    static_assert(si::is_same<decltype(y), si::tensor_view<float, si::extents<dyn, 4>>>);
    CHECK(y.data() == out);
    CHECK(y.sizes() == si::shape{2, {3, 4}});
    static_assert(si::is_same<decltype(si::view(numbers, x)), si::tensor_view<int, si::extents<dyn, 4>>>);
    CHECK(si::view(numbers, x).count() == 12);
    CHECK(si::view(few, x).data() == nullptr);  // too small: run answers R004
    CHECK(si::view(out, x).count() == 12);
    // Of a view with strides the shape alone.
    const steps turned(in, {}, {1, 2});
    static_assert(si::is_same<decltype(si::view(out, turned)), fixed>);
    CHECK(&si::view(out, turned)(1, 0) == out + 3);

    si::tensor<i64, si::extents<dyn, 2>> owned(6);
    static_assert(si::is_same<decltype(si::view(out, owned)), si::tensor_view<float, si::extents<dyn, 2>>>);
    CHECK(si::view(out, owned).sizes() == owned.sizes());
    CHECK(si::view(static_cast<const float*>(in), owned).data() == in);
    CHECK(si::view(few, owned).data() == nullptr);
    CHECK(owned.get_extents().sizes() == owned.sizes());
}
