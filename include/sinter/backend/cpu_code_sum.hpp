// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of two operands of 8-bit codes to a third scale on a CPU (code_sum.hpp), four registers a step: each operand is extended,
// converted and multiplied and added once, then rounded; the zero point is added to words and all that is left is done by packing, which
// saturates, and one maximum of bytes. Nine instructions a register, where the rules written out take twice as many.
#pragma once

#include "../code_sum.hpp"
#include "cpu_lane_memory.hpp"

#if SINTER_CPU_X86 && SINTER_CPU_BYTES >= 32 && SINTER_CPU_FMA
namespace sinter::backend::SINTER_ISA {
inline namespace SINTER_CPU_FEATURES {

struct cpu_code_sum {
    static constexpr int step = 4 * native_width;  ///< elements

    /// `count` elements, a multiple of `step`; no result is below `least`. `to` may be an operand; it is aligned to the register where
    /// `streams`.
    template <class Left, class Right, class Result>
    static SINTER_NOINLINE void add(const sinter::detail::code_sum_form& form, const Left* left, const Right* right, Result* to, i64 count, int zero, int least,
                                    bool streams) {
        using real = vec<float, step>;
        const real left_scale(form.left), right_scale(form.right), offset(form.offset);
        const auto zeros = spread<simd<u16, SINTER_CPU_BYTES>>(static_cast<u16>(zero));
        const auto bound = spread<simd<u8, SINTER_CPU_BYTES>>(static_cast<u8>(least));
        for (i64 i = 0; i < count; i += step) {
            const real one = convert<float>(vec<Left, step>::load(left + i)), two = convert<float>(vec<Right, step>::load(right + i));
            const auto all = round_to_i32(fma(one, left_scale, fma(two, right_scale, offset)));
            const auto codes = packed<Result>(all.data.low.data.low.data, all.data.low.data.high.data, all.data.high.data.low.data,
                                              all.data.high.data.high.data, zeros, bound);
            if (streams)
                detail::write_streaming(to + i, codes);
            else
                detail::write(to + i, codes);
        }
    }

private:
    template <class Register, class Value>
    static SINTER_FORCE_INLINE Register spread(Value value) {
        Register result{};
        return result + value;
    }
    template <class Result, class Register, class Words, class Bytes>
    static SINTER_FORCE_INLINE Bytes packed(Register first, Register second, Register third, Register fourth, Words zeros, Bytes bound) {
        Words lower, upper;
        SINTER_CPU_X86_BINARY("packssdw", lower, first, second);
        SINTER_CPU_X86_BINARY("packssdw", upper, third, fourth);
        SINTER_CPU_X86_BINARY("paddsw", lower, lower, zeros);
        SINTER_CPU_X86_BINARY("paddsw", upper, upper, zeros);
        const auto codes = as<u8>(detail::packed_words<Result>(lower, upper));
        Bytes result;
        if constexpr (has_sign<Result>)
            SINTER_CPU_X86_BINARY("pmaxsb", result, codes, bound);
        else
            SINTER_CPU_X86_BINARY("pmaxub", result, codes, bound);
        return result;
    }
};

}  // namespace SINTER_CPU_FEATURES
}  // namespace sinter::backend::SINTER_ISA
#endif
