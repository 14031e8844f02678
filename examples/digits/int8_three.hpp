// Parameters of a quantized operator, written by a calibration.
#pragma once

#include <sinter/calibrate_graph.hpp>

namespace digits {

struct layer_three {
    static constexpr sinter::u64 operator_hash = 0xddba7b6d1eb467deu;
    static constexpr sinter::u32 bits_of_input_1[] = {
        0x3c0da8f8u, 0x3c0b8078u, 0x3c17be98u, 0x3c1212a8u, 0x3c089705u, 0x3c012347u, 0x3bccf982u, 0x3be6642bu,
        0x3bcf1500u, 0x3c1dd80eu};
    static constexpr sinter::array<float, 10> scales_of_input_1 = sinter::floats_of_bits(bits_of_input_1);
    static constexpr sinter::u32 bits_of_input_2[] = {
        0x39bba74au, 0x39b8cb68u, 0x39c9031au, 0x39c17fc2u, 0x39b4efedu, 0x39ab10cau, 0x3987c32au, 0x399898c5u,
        0x3989287eu, 0x39d11787u};
    static constexpr sinter::array<float, 10> scales_of_input_2 = sinter::floats_of_bits(bits_of_input_2);
    static constexpr sinter::calibrated_value values[] = {
        {{"input", 0}, {0x3d298ef1u, 0, 0, 255, sinter::code_kind::u8, false}},  // 0.0413960852
        {{"input", 1}, {0x3c0da8f8u, 0, -127, 127, sinter::code_kind::i8, true}, 1, 10, scales_of_input_1.item},  // along axis 1
        {{"input", 2}, {0x39bba74au, 0, -2147483647 - 1, 2147483647, sinter::code_kind::i32, false}, 0, 10, scales_of_input_2.item},  // along axis 0
    };
};

}  // namespace digits
