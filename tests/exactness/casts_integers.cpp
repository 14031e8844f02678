// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions from integers and bool to every element type (T4).
#ifndef SINTER_TEST_BACKEND_HEADER
#include <sinter/backend/cpu.hpp>
#endif
#include "harness.hpp"

using namespace harness;

TEST_CASE("casts from bool to every type") {
    tally counted("casts from bool to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<bool>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from i8 to every type") {
    tally counted("casts from i8 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{}, types<i8>{},
                  si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from i16 to every type") {
    tally counted("casts from i16 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<i16>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from i32 to every type") {
    tally counted("casts from i32 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<i32>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from i64 to every type") {
    tally counted("casts from i64 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<i64>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from u8 to every type") {
    tally counted("casts from u8 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{}, types<u8>{},
                  si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from u16 to every type") {
    tally counted("casts from u16 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<u16>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from u32 to every type") {
    tally counted("casts from u32 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<u32>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}

TEST_CASE("casts from u64 to every type") {
    tally counted("casts from u64 to every type");
    strided_cases(counted, types<bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, float, double>{},
                  types<u64>{}, si::fused([](auto a) {
        return si::outputs(si::cast<bool>(a), si::cast<i8>(a), si::cast<i16>(a), si::cast<i32>(a), si::cast<i64>(a),
                           si::cast<u8>(a), si::cast<u16>(a), si::cast<u32>(a), si::cast<u64>(a), si::cast<f16>(a),
                           si::cast<bf16>(a), si::cast<float>(a), si::cast<double>(a));
    }));
}
