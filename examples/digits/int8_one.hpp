// Parameters of a quantized operator, written by a calibration.
#pragma once

#include <sinter/calibrate_graph.hpp>

namespace digits {

struct layer_one {
    static constexpr sinter::u64 operator_hash = 0x621f7ae3222144acu;
    static constexpr sinter::u32 bits_of_input_1[] = {
        0x3ba70b95u, 0x3b960d98u, 0x3ba579c6u, 0x3bc2853du, 0x3bdf05eeu, 0x3b672acbu, 0x3b990850u, 0x3b8a4042u,
        0x3ba1e79au, 0x3baebfadu, 0x3ba3401eu, 0x3b80485cu, 0x3b9ae6ebu, 0x3ba3558eu, 0x3baa362bu, 0x3b9b4a52u,
        0x3b9243d5u, 0x3b9672d7u, 0x3bbabbc7u, 0x3bfc192eu, 0x3b8d8ef7u, 0x3ba3662eu, 0x3b945adbu, 0x3bc9fde8u,
        0x3b91e7deu, 0x3bc8f7c1u, 0x3bc4219au, 0x3b919535u, 0x3be89e2eu, 0x3bb7bbf0u, 0x3b6d56deu, 0x3b9e1964u,
        0x3b974ea6u, 0x3bb612c5u, 0x3b897eb6u, 0x3bab79b0u, 0x3b8ede4eu, 0x3b8550fau, 0x3b9446e8u, 0x3bcfb974u,
        0x3b994f32u, 0x3c3b5e20u, 0x3b8bd478u, 0x3bacf1f5u, 0x3b9301a2u, 0x3badf200u, 0x3b9e09cbu, 0x3b944469u,
        0x3b9a193du, 0x3bc3cb98u, 0x3b873f8eu, 0x3b7e228au, 0x3bc0f09du, 0x3b9f7ed6u, 0x3bb77229u, 0x3bad8927u,
        0x3b9a5530u, 0x3ba0370au, 0x3bb78d74u, 0x3ba3f71cu, 0x3b9191deu, 0x3b9d85cau, 0x3b5faaf6u, 0x3be754ebu};
    static constexpr sinter::array<float, 64> scales_of_input_1 = sinter::floats_of_bits(bits_of_input_1);
    static constexpr sinter::u32 bits_of_input_2[] = {
        0x39a70b95u, 0x39960d98u, 0x39a579c6u, 0x39c2853du, 0x39df05eeu, 0x39672acbu, 0x39990850u, 0x398a4042u,
        0x39a1e79au, 0x39aebfadu, 0x39a3401eu, 0x3980485cu, 0x399ae6ebu, 0x39a3558eu, 0x39aa362bu, 0x399b4a52u,
        0x399243d5u, 0x399672d7u, 0x39babbc7u, 0x39fc192eu, 0x398d8ef7u, 0x39a3662eu, 0x39945adbu, 0x39c9fde8u,
        0x3991e7deu, 0x39c8f7c1u, 0x39c4219au, 0x39919535u, 0x39e89e2eu, 0x39b7bbf0u, 0x396d56deu, 0x399e1964u,
        0x39974ea6u, 0x39b612c5u, 0x39897eb6u, 0x39ab79b0u, 0x398ede4eu, 0x398550fau, 0x399446e8u, 0x39cfb974u,
        0x39994f32u, 0x3a3b5e20u, 0x398bd478u, 0x39acf1f5u, 0x399301a2u, 0x39adf200u, 0x399e09cbu, 0x39944469u,
        0x399a193du, 0x39c3cb98u, 0x39873f8eu, 0x397e228au, 0x39c0f09du, 0x399f7ed6u, 0x39b77229u, 0x39ad8927u,
        0x399a5530u, 0x39a0370au, 0x39b78d74u, 0x39a3f71cu, 0x399191deu, 0x399d85cau, 0x395faaf6u, 0x39e754ebu};
    static constexpr sinter::array<float, 64> scales_of_input_2 = sinter::floats_of_bits(bits_of_input_2);
    static constexpr sinter::calibrated_value values[] = {
        {{"input", 0}, {0x3d800000u, 0, 0, 255, sinter::code_kind::u8, false}},  // 0.0625
        {{"input", 1}, {0x3ba70b95u, 0, -127, 127, sinter::code_kind::i8, true}, 1, 64, scales_of_input_1.item},  // along axis 1
        {{"input", 2}, {0x39a70b95u, 0, -2147483647 - 1, 2147483647, sinter::code_kind::i32, false}, 0, 64, scales_of_input_2.item},  // along axis 0
        {{"relu", 0}, {0x3c9495bau, 0, 0, 255, sinter::code_kind::u8, false}},  // 0.0181378014
    };
};

}  // namespace digits
