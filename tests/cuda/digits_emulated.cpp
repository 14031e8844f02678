// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digits example on the emulated device, in f32 and int8: equal scores and answers. An operator with observers there: equal ranges.
#include "emulated.hpp"
#include "tally.hpp"

#include "../../examples/digits/network.hpp"
#include "../../examples/digits/network_int8.hpp"

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

namespace si = sinter;

template <class Value, class Places, class Weights>
bool same(const Weights& net, const si::u8* x) {
    constexpr si::i64 images = 37;
    std::vector<Value> one(images * digits::wide), two(images * digits::narrow);
    std::vector<float> scores[2];
    std::vector<si::i64> answers[2];
    for (int i = 0; i < 2; ++i) scores[i].resize(images * digits::classes), answers[i].resize(images);
    const si::status wanted = digits::run(si::reference, net, x, images, Places{one.data(), two.data(), scores[0].data(), answers[0].data()});
    const si::status found = digits::run(emulated::executor{}, net, x, images, Places{one.data(), two.data(), scores[1].data(), answers[1].data()});
    return wanted.ok() && found.ok() && answers[0] == answers[1] &&
           std::memcmp(scores[0].data(), scores[1].data(), scores[0].size() * sizeof(float)) == 0;
}

inline constexpr auto by_rows = si::fused([](auto x, auto w, auto b) { return relu(sum(si::unsqueeze<1>(x) * w, si::last_axis, si::drop) + b); });
inline constexpr auto watched = si::prepare(by_rows, si::quantizer([](si::node_facts value) {
    return value.output == 0 ? si::choose::own(si::observer::min_max, si::code_kind::u8) : si::choose::nothing();
}));
bool same_ranges(const digits::weights& net) {
    constexpr si::i64 rows = 37;
    std::vector<float> y[2];
    float low[2] = {-1, -1}, high[2] = {-1, -1};
    const auto run = [&](const auto& executor, int i) {
        using space = typename std::remove_cvref_t<decltype(executor)>::memory_space;
        y[i].resize(rows * digits::wide);
        const si::tensor_view<const float, si::extents<rows, digits::pixels>, si::row_major, space> x(net.w1);  // numbers of both signs
        const si::tensor_view<const float, si::extents<digits::wide, digits::pixels>, si::row_major, space> w(net.w1);
        const si::tensor_view<const float, si::extents<digits::wide>, si::row_major, space> b(net.b1);
        const si::tensor_view<float, si::extents<rows, digits::wide>, si::row_major, space> out(y[i].data());
        const si::tensor_view<float, si::extents<>, si::row_major, space> least(low + i), greatest(high + i);
        static_assert(si::plan_of<decltype(si::tie(out, least, greatest) = watched(x, w, b))>.kernels == 1);
        return si::try_run(executor, si::tie(out, least, greatest) = watched(x, w, b)).ok();
    };
    return run(si::reference, 0) && run(emulated::executor{}, 1) && y[0] == y[1] && low[0] == low[1] && high[0] == high[1] && high[0] > 0;
}

int main(int count, char** arguments) {
    digits::files files;
    const std::string wrong = files.read(count > 1 ? arguments[1] : "examples/digits");
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;
    digits::files_int8 codes;
    codes.make(files.net);
    const si::u8* const x = files.images + digits::training * digits::pixels;
    check("f32", same<float, digits::values>(files.net, x));
    check("int8", same<si::u8, digits::values_int8>(codes.net, x));
    check("observed ranges", same_ranges(files.net));
    return tally();
}
