// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digits example on the emulated device: equal scores and answers.
#include "emulated.hpp"

#include "../../examples/digits/network.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

namespace si = sinter;

int main(int count, char** arguments) {
    digits::files files;
    const std::string wrong = files.read(count > 1 ? arguments[1] : "examples/digits");
    if (!wrong.empty()) return std::puts(wrong.c_str()), 1;
    constexpr si::i64 images = 37;
    const si::u8* const x = files.images + digits::training * digits::pixels;
    std::vector<float> one(images * digits::wide), two(images * digits::narrow), scores[2];
    std::vector<si::i64> answers[2];
    for (int i = 0; i < 2; ++i) scores[i].resize(images * digits::classes), answers[i].resize(images);
    const si::status wanted = digits::run(si::reference, files.net, x, images, {one.data(), two.data(), scores[0].data(), answers[0].data()});
    const si::status found = digits::run(emulated::executor{}, files.net, x, images, {one.data(), two.data(), scores[1].data(), answers[1].data()});
    const bool equal = wanted.ok() && found.ok() && answers[0] == answers[1] &&
                       std::memcmp(scores[0].data(), scores[1].data(), scores[0].size() * sizeof(float)) == 0;
    std::printf("%d passed, %d failed\n", equal ? 1 : 0, equal ? 0 : 1);
    return equal ? 0 : 1;
}
