// Parameters of a quantized operator, written by a calibration.
#pragma once

#include <sinter/calibrate_graph.hpp>

namespace digits {

struct layer_two {
    static constexpr sinter::u64 operator_hash = 0x621f7ae3222144acu;
    static constexpr sinter::u32 bits_of_input_1[] = {
        0x3bd916deu, 0x3bf0905fu, 0x3ba2b366u, 0x3be52e59u, 0x3be8e8eau, 0x3bc0b688u, 0x3b9ba4acu, 0x3bca0e0bu,
        0x3becf132u, 0x3bdb8291u, 0x3bd7da65u, 0x3b9a42c4u, 0x3b50320au, 0x3bd7189eu, 0x3b9d1705u, 0x3c0398c8u,
        0x3bcf3019u, 0x3bbec502u, 0x3bdf4d0du, 0x3bcd9112u, 0x3bbac04bu, 0x3b4c8fd8u, 0x3ba14dbdu, 0x3baef77eu,
        0x3b67e8ffu, 0x3bd7b22fu, 0x3bdc2a60u, 0x3bdb401au, 0x3ba5fa2eu, 0x3bb1ba4au, 0x3c119c0cu, 0x3bf3bd33u};
    static constexpr sinter::array<float, 32> scales_of_input_1 = sinter::floats_of_bits(bits_of_input_1);
    static constexpr sinter::u32 bits_of_input_2[] = {
        0x38fc0061u, 0x390ba02au, 0x38bcddbfu, 0x390504d6u, 0x39072ee0u, 0x38dfb47au, 0x38b4ac77u, 0x38ea8c97u,
        0x39098605u, 0x38fecfbdu, 0x38fa9103u, 0x38b311a5u, 0x3871ad64u, 0x38f9b012u, 0x38b65a5fu, 0x3918c296u,
        0x38f081f8u, 0x38dd72f1u, 0x39019b26u, 0x38eea032u, 0x38d8c8cau, 0x386d759au, 0x38bb3e91u, 0x38cb1ad4u,
        0x38869a57u, 0x38fa6255u, 0x38ff9288u, 0x38fe8295u, 0x38c0ab6cu, 0x38ce4f4bu, 0x392906c1u, 0x390d77f0u};
    static constexpr sinter::array<float, 32> scales_of_input_2 = sinter::floats_of_bits(bits_of_input_2);
    static constexpr sinter::calibrated_value values[] = {
        {{"input", 0}, {0x3c9495bau, 0, 0, 255, sinter::code_kind::u8, false}},  // 0.0181378014
        {{"input", 1}, {0x3bd916deu, 0, -127, 127, sinter::code_kind::i8, true}, 1, 32, scales_of_input_1.item},  // along axis 1
        {{"input", 2}, {0x38fc0061u, 0, -2147483647 - 1, 2147483647, sinter::code_kind::i32, false}, 0, 32, scales_of_input_2.item},  // along axis 0
        {{"relu", 0}, {0x3d298ef1u, 0, 0, 255, sinter::code_kind::u8, false}},  // 0.0413960852
    };
};

}  // namespace digits
