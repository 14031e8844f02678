// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digits example on the emulated device, in f32 and int8: equal scores and answers.
#include "emulated.hpp"

#include "../../examples/digits/network.hpp"
#include "../../examples/digits/network_int8.hpp"

#include <cstdio>
#include <cstring>
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

int main(int count, char** arguments) {
    digits::files files;
    const std::string wrong = files.read(count > 1 ? arguments[1] : "examples/digits");
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;
    digits::files_int8 codes;
    codes.make(files.net);
    const si::u8* const x = files.images + digits::training * digits::pixels;
    const bool real = same<float, digits::values>(files.net, x), int8 = same<si::u8, digits::values_int8>(codes.net, x);
    std::printf("%d passed, %d failed\n", int(real) + int(int8), int(!real) + int(!int8));
    return real && int8 ? 0 : 1;
}
