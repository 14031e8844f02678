// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions from floats to every element type (T4), saturating and wrapping.
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("casts from f16 to every type") {
    tally counted("casts from f16 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<f16>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from bf16 to every type") {
    tally counted("casts from bf16 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<bf16>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from float to every type") {
    tally counted("casts from float to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<float>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from double to every type") {
    tally counted("casts from double to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<double>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("wrapping casts from float") {
    tally counted("wrapping casts from float");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64>{}, types<float>{}, si::fused([](auto a) {
        return si::outputs(si::cast_wrap<bool>(a), si::cast_wrap<i8>(a), si::cast_wrap<i16>(a),
                           si::cast_wrap<i32>(a), si::cast_wrap<i64>(a), si::cast_wrap<u8>(a), si::cast_wrap<u16>(a),
                           si::cast_wrap<u32>(a), si::cast_wrap<u64>(a));
    }));
}

TEST_CASE("wrapping casts from double") {
    tally counted("wrapping casts from double");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64>{}, types<double>{},
                  si::fused([](auto a) {
        return si::outputs(si::cast_wrap<bool>(a), si::cast_wrap<i8>(a), si::cast_wrap<i16>(a),
                           si::cast_wrap<i32>(a), si::cast_wrap<i64>(a), si::cast_wrap<u8>(a), si::cast_wrap<u16>(a),
                           si::cast_wrap<u32>(a), si::cast_wrap<u64>(a));
    }));
}

TEST_CASE("wrapping casts from f16") {
    tally counted("wrapping casts from f16");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64>{}, types<f16>{}, si::fused([](auto a) {
        return si::outputs(si::cast_wrap<bool>(a), si::cast_wrap<i8>(a), si::cast_wrap<i16>(a),
                           si::cast_wrap<i32>(a), si::cast_wrap<i64>(a), si::cast_wrap<u8>(a), si::cast_wrap<u16>(a),
                           si::cast_wrap<u32>(a), si::cast_wrap<u64>(a));
    }));
}
