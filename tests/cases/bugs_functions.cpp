// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Subnormals, accuracy of elementary functions, their edges; constants that are infinite; user code in awkward places.
#include <sinter/backend/cpu.hpp>

#include "bugs.hpp"

#include <thread>

using namespace bugs;

namespace {
/// A function's values on a few points, at every length: no lane may differ from another.
template <class Executor, class Function>
bool at_every_length(const Executor& executor, numbers points, numbers expected, double relative, const Function& function) {
    const auto p = row<float>(points);
    const i64 count = static_cast<i64>(points.size());
    bool good = true;
    for_lengths([&](i64 n) {
        const auto found = si::eval(executor, function(generated<float>(n, [&](i64 i) { return p(i % count); })));
        for (i64 i = 0; i < n; ++i) {
            const double wanted = (expected.begin() + i % count)->as<double>();
            if (!close(double(found[i]), wanted, relative)) {
                complain(i, double(found[i]), wanted);
                good = false;
                return;
            }
        }
    });
    return good;
}
}  // namespace

TEST_CASE("B138 jax#37762, B140 jax#26658: subnormals are treated as zero") {
    on_each([](const auto& executor) {
        const numbers x = {1.17549421e-38f, 1e-40f, 1.4e-45f};
        CHECK(at_every_length(executor, x, {-87.33654, -92.10340, -103.27893}, 1e-6, [](const auto& v) { return log(v); }));
        CHECK(at_every_length(executor, x, {1.0842021e-19, 9.9999733e-21, 3.7433921e-23}, 1e-6, [](const auto& v) { return sqrt(v); }));
        CHECK(at_every_length(executor, x, {9.2233726e18, 1.0000027e20, 2.6713739e22}, 1e-6, [](const auto& v) { return rsqrt(v); }));
        for_lengths([&](i64 n) {
            CHECK(same(si::eval(executor, repeated<float>(n, 1e-40f) + 0), [](i64) { return 1e-40f; }));
            CHECK(same(si::eval(executor, repeated<float>(n, 1e-40f) == 0), [](i64) { return false; }));
            CHECK(same(si::eval(executor, repeated<double>(n, 2.2e-313) + 0), [](i64) { return 2.2e-313; }));
        });
    });
}
TEST_CASE("B142 xsimd#936: erfc is off when lanes differ") {
    on_each([](const auto& executor) {
        CHECK(at_every_length(executor, {.5f, .6f, .7f, .8f}, {0.47950012, 0.39614391, 0.32219881, 0.25789904}, 1.5e-7,
                              [](const auto& v) { return erfc(v); }));
        for (const float x : {.5f, .6f, .7f, .8f}) {
            const auto splat = si::eval(executor, erfc(repeated<float>(9, x)));
            CHECK(same(splat, [&](i64) { return splat[0]; }));
        }
    });
}
TEST_CASE("B144 xsimd#547, B150 pytorch#172406: tanh in [0.63, 0.8) and past 44") {
    on_each([](const auto& executor) {
        CHECK(close(si::eval(executor, tanh(row<double>({.63, .69, .8}))), {0.55805222, 0.59798200, 0.66403677}, 1e-8));
        CHECK(at_every_length(executor, {.63f, .69f, .8f}, {0.55805222, 0.59798200, 0.66403677}, 2e-7, [](const auto& v) { return tanh(v); }));
        CHECK(at_every_length(executor, {44, 45, 88.8f, 100, -100, 1e30f, infinity}, {1, 1, 1, 1, -1, 1, 1}, 0,
                              [](const auto& v) { return tanh(v); }));
    });
}
TEST_CASE("B146 ncnn#1284: sigmoid below -88; B148 pytorch#185770: gelu of infinity") {
    on_each([](const auto& executor) {
        CHECK(at_every_length(executor, {0, 10, -90, -104, 88, 200}, {.5, .9999546, 8.19401e-40, 0, 1, 1}, 1e-5,
                              [](const auto& v) { return sigmoid(v); }));
        const numbers x = {infinity, -infinity, nan, 1e30f, -1e30f}, expected = {infinity, 0, nan, 1e30f, 0};
        CHECK(at_every_length(executor, x, expected, 0, [](const auto& v) { return gelu(v); }));
        CHECK(at_every_length(executor, x, expected, 0, [](const auto& v) { return gelu_tanh(v); }));
    });
}
TEST_CASE("B152 ispc#1586, B154 libsimdpp#133, B156 xsimd#995: edges of rsqrt, sqrt and pow") {
    on_each([](const auto& executor) {
        for_types<float, double>([&](auto type) {
            using element = decltype(type);
            CHECK(same(si::eval(executor, rsqrt(row<element>({0.0f, -0.0f, infinity, 4, nan, -1}))), {infinity, -infinity, 0.0f, 0.5f, nan, nan}));
            CHECK(same(si::eval(executor, sqrt(row<element>({0.0f, -0.0f, infinity, 4, -1}))), {0.0f, -0.0f, infinity, 2, nan}));
        });
        const auto base = row<float>({0, -0.0f, -0.0f, -2, -8, 0, nan, 1, -1});
        const auto exponent = row<float>({-1, -1, -2, 3, 1.0f / 3, 0, 0, nan, infinity});
        CHECK(same(si::eval(executor, pow(base, exponent)), {infinity, -infinity, infinity, -8, nan, 1, 1, 1, 1}));
    });
}
TEST_CASE("B168 pytorch#101695: an infinity as a constant bound") {
    on_each([](const auto& executor) {
        const auto x = row<float>({-1, 0, 1});
        CHECK(same(si::eval(executor, clamp(x, -0.5f, infinity)), {-.5, 0, 1}));
        CHECK(same(si::eval(executor, clamp(x, -infinity, 0.5f)), {-1, 0, .5}));
        CHECK(same(si::eval(executor, si::let(x, [](auto a) { return clamp(a, -__builtin_huge_valf(), 0.5f); })), {-1, 0, .5}));
    });
}
TEST_CASE("B189 Fastor#30: 1 / (1 + exp(-x)) in f64, (10, 1)") {
    on_each([](const auto& executor) {
        si::tensor<double, si::extents<10, 1>> x;
        for (i64 i = 0; i < 10; ++i) x[i] = double(i - 5);
        const auto y = si::eval(executor, 1 / (1 + exp(-x)));
        CHECK(close(y[5], 0.5, 1e-15));
        CHECK(close(y[9], 0.98201379003790845, 1e-14));
        CHECK(close(y[0], 0.0066928509242848554, 1e-14));
    });
}
namespace {
class with_protected_method {
public:
    template <class Executor>
    double go(const Executor& executor) const {
        return work(executor);
    }

protected:
    template <class Executor>
    double work(const Executor& executor) const {
        const auto x = generated<float>(10, [](i64 i) { return i + 1; });
        return double(si::eval(executor, si::let(x, [](auto v) { return sum(v * v); })));
    }
};
}  // namespace
TEST_CASE("B195 thrust#1259, B197 thrust#726: lambdas in awkward places") {
    on_each([](const auto& executor) { CHECK(with_protected_method{}.go(executor) == 385); });
}
TEST_CASE("B184 mlx#3620, B186 pytorch#162795: one compiled reduction called from 8 threads") {
    bool good[8]{};
    std::thread started[8];
    for (int t = 0; t < 8; ++t)
        started[t] = std::thread([t, &good] {
            float data[300];
            bool all = true;
            for (int repeat = 0; repeat < 200; ++repeat) {
                for (int i = 0; i < 300; ++i) data[i] = float((i * (t + 1) + repeat) % 17);
                float expected = 0;
                for (const float value : data) expected += value * value;  // small integers: exact in any order
                const si::tensor_view<float, si::extents<300>> x(data);
                float found = 0;
                all = all && si::try_run(si::cpu, si::view(&found, si::extents<>{}) = sum(x * x)).ok() && found == expected;
            }
            good[t] = all;
        });
    for (std::thread& each : started) each.join();
    for (const bool each : good) CHECK(each);
}
