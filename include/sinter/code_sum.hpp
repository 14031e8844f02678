// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of two quantized operands, as a kernel: x + y or x - y, relu of it or not, of 8-bit codes whose parameters are static, to a third
// such scale: the residual of a quantized network. The result is a function of two codes,
//
//     result = saturate(round((a - za) sa / sr + (b - zb) sb / sr) + zr)
//
// with roundings between. Two fused multiplications and additions do what the six steps of the rules do, wherever both round to the same
// integer for each of the 65536 pairs of codes. That is proved here, while compiling; where no proof is found the kernel is computed as
// it is written. drive_code_sum.hpp runs it.
#pragma once

#include "evaluate.hpp"
#include "ops/quantize.hpp"

namespace sinter::detail {

/// round(a left + b right + offset) for raw codes a and b, saturated after `zero` is added.
struct code_sum_form {
    float left = 0, right = 0, offset = 0;
    bool proved = false;
};

/// The parameters of a sum: of both operands, of the result.
struct code_sum_scales {
    qparams left{}, right{}, result{};
    bool subtracts = false;
};

/// Finds the form of a sum, and proves it. Both the rules' quotient and the form's value lie within `reach` of the real one, u: they can
/// round apart only where u is so near to a half. These pairs are found by the fractions of both terms, each sorted into buckets, and
/// tried one by one with the very roundings. A form that fails for a few of them is moved by some last places.
struct code_sum_proof {
    static constexpr int buckets = 256;

    struct pair_of_codes {
        i32 left, right, wanted;  ///< wanted: the rules' code less the zero point, not yet saturated
    };
    static constexpr int most_pairs = 256;

    static constexpr i64 floor_of(double x) {
        const i64 whole = static_cast<i64>(x);
        return double(whole) > x ? whole - 1 : whole;
    }
    /// Half to even, |x| < 2^22.
    static constexpr i32 rounded(float x) {
        const i32 whole = static_cast<i32>(x);
        const float rest = x - float(whole);
        const bool odd = (whole & 1) != 0;
        if (rest > 0.5f || (rest == 0.5f && odd)) return whole + 1;
        if (rest < -0.5f || (rest == -0.5f && odd)) return whole - 1;
        return whole;
    }
    // The roundings: as constants the language's own operators, at run time steps that no flag touches (quantized.hpp says why).
    static constexpr i32 by_rules(i32 left, i32 right, const code_sum_scales& of) {
        const float one = float(left - of.left.zero), two = float(of.subtracts ? of.right.zero - right : right - of.right.zero);
        if (SINTER_CONSTANT_EVALUATED) return rounded((one * of.left.scale() + two * of.right.scale()) / of.result.scale());
        return rounded(step::div(step::add(step::mul(one, of.left.scale()), step::mul(two, of.right.scale())), of.result.scale()));
    }
    static constexpr float value_of(const code_sum_form& form, i32 left, i32 right, bool& sure) {
        if (SINTER_CONSTANT_EVALUATED) return multiply_add(float(left), form.left, multiply_add(float(right), form.right, form.offset, sure), sure);
        return step::fma(float(left), form.left, step::fma(float(right), form.right, form.offset));
    }
    static constexpr bool agrees(const code_sum_form& form, const pair_of_codes* pairs, int count) {
        bool sure = true;
        for (int i = 0; i < count; ++i)
            if (rounded(value_of(form, pairs[i].left, pairs[i].right, sure)) != pairs[i].wanted || !sure) return false;
        return true;
    }
    static constexpr bool is_provable(const qparams& given) {
        const u32 exponent = given.scale_bits >> 23;
        return given.high - given.low <= 255 && exponent >= 64 && exponent <= 190;  // all steps stay among the normal numbers
    }
    /// A multiple of 2^-12: times a code it and the sums, below 2^11, are floats.
    static constexpr bool is_short(double x) { return x * 4096.0 == double(floor_of(x * 4096.0)); }
    static constexpr float moved(float x, int places) { return x == 0.0f ? x : __builtin_bit_cast(float, u32(i64(__builtin_bit_cast(u32, x)) + places)); }

    static constexpr code_sum_form find(const code_sum_scales& of) {
        code_sum_form form;
        if (!is_provable(of.left) || !is_provable(of.right) || !is_provable(of.result)) return form;
        const double left = double(of.left.scale()) / double(of.result.scale());
        const double right = (of.subtracts ? -1.0 : 1.0) * double(of.right.scale()) / double(of.result.scale());
        const double magnitude = right < 0 ? -right : right;
        if (left < 0x1p-20 || magnitude < 0x1p-20) return form;
        // Terms are at most 255 steps each. The rules round by at most 3 places of the largest sum, the form by 13, its constants moved: both
        // are given 16. (The sums stay below 2^11, far from where packing saturates.)
        const double reach = 256.0 * (left + magnitude) * 0x1p-20;
        if (reach > 0.0015) return form;
        form.left = static_cast<float>(left);
        form.right = static_cast<float>(right);
        form.offset = static_cast<float>(-(double(of.left.zero) * left + double(of.right.zero) * right));

        if (is_short(left) && is_short(right) && (of.result.scale_bits & 0x7fffffu) == 0) {  // no step rounds; and halves abound
            form.proved = true;
            return form;
        }

        const i32 left_low = lowest_code(of.left.storage), right_low = lowest_code(of.right.storage);
        double fraction[256]{};
        short first[buckets + 1]{}, sorted[256]{};
        for (int i = 0; i < 256; ++i) {
            const double term = double(left_low + i - of.left.zero) * left;
            fraction[i] = term - double(floor_of(term));
            ++first[static_cast<int>(fraction[i] * buckets) + 1];
        }
        for (int i = 0; i < buckets; ++i) first[i + 1] = static_cast<short>(first[i + 1] + first[i]);
        short filled[buckets]{};
        for (int i = 0; i < 256; ++i) {
            const int bucket = static_cast<int>(fraction[i] * buckets);
            sorted[first[bucket] + filled[bucket]++] = static_cast<short>(i);
        }
        pair_of_codes pairs[most_pairs]{};
        int count = 0;
        for (int j = 0; j < 256; ++j) {
            const double term = 0.5 - double(right_low + j - of.right.zero) * right;
            const double wanted = term - double(floor_of(term));  // the fraction that makes a half of it
            const int below = static_cast<int>((wanted - reach + 1.0) * buckets), above = static_cast<int>((wanted + reach + 1.0) * buckets);
            for (int bucket = below; bucket <= above; ++bucket)
                for (int k = first[bucket % buckets]; k < first[bucket % buckets + 1]; ++k) {
                    const double apart = fraction[sorted[k]] - wanted;
                    const double distance = apart < 0 ? -apart : apart;
                    if (distance > reach && distance < 1.0 - reach) continue;
                    const i32 a = left_low + sorted[k], b = right_low + j, code = by_rules(a, b, of);
                    if (code < -400 || code > 400) continue;  // saturates, whichever way it is rounded
                    if (count == most_pairs) return form;
                    pairs[count++] = {a, b, code};
                }
        }
        const code_sum_form exact = form;
        constexpr int steps[] = {0, 1, -1, 2, -2};
        for (int offset : steps)
            for (int one : steps)
                for (int two : steps) {
                    form = {moved(exact.left, one), moved(exact.right, two), moved(exact.offset, offset), false};
                    if (agrees(form, pairs, count)) {
                        form.proved = true;
                        return form;
                    }
                }
        return form;
    }
};

template <class Storage>
inline constexpr bool is_byte_code = false;
template <qparams Parameters>
inline constexpr bool is_byte_code<quantized_element<Parameters>> = Parameters.storage == code_kind::i8 || Parameters.storage == code_kind::u8;

/// Where the sum stands in a kernel; `possible` false: it isn't one, or none that is proved.
template <class Kernel>
struct code_sum_facts {
    template <int Instance>
    using op_at = typename evaluator<Kernel, scalar_family>::template op_of_instance<Instance>;
    template <int Instance>
    using storage_at = remove_cvref<typename nth_of_leaves<typename Kernel::assignment_type, int(Kernel::node[Kernel::table.at[Instance].node].bits)>::element>;
    using result_type = typename nth_of_outputs<typename Kernel::assignment_type, 0>::element;

    static constexpr bool is_map(int i, int arity) { return i >= 0 && Kernel::table.at[i].kind == node_kind::map && Kernel::table.at[i].arity == arity; }
    static constexpr bool is_operand(int i) {
        if (i < 0 || Kernel::table.at[i].kind != node_kind::leaf || Kernel::table.at[i].free != Kernel::table.output_free[0]) return false;
        const dtype type = Kernel::leaf_type[Kernel::node[Kernel::table.at[i].node].bits].type;
        return type == dtype::q8 || type == dtype::qu8;
    }
    static constexpr int last = Kernel::nest == nest_kind::pointwise && Kernel::outputs == 1 ? Kernel::table.output[0] : -1;
    static constexpr bool find_relu() {
        if constexpr (is_map(last, 1)) return is_same<op_at<last>, relu_op>;
        return false;
    }
    static constexpr bool has_relu = find_relu();
    static constexpr int find_sum() {
        constexpr int at = has_relu ? Kernel::table.at[last < 0 ? 0 : last].argument[0] : last;
        if constexpr (is_map(at, 2) && is_byte_code<result_type>) {
            constexpr bool sums = is_same<op_at<at>, add_op> || is_same<op_at<at>, sub_op>;
            if (sums && is_operand(Kernel::table.at[at].argument[0]) && is_operand(Kernel::table.at[at].argument[1])) return at;
        }
        return -1;
    }
    static constexpr int sum = find_sum();
    static constexpr int left = sum < 0 ? -1 : Kernel::table.at[sum < 0 ? 0 : sum].argument[0];
    static constexpr int right = sum < 0 ? -1 : Kernel::table.at[sum < 0 ? 0 : sum].argument[1];

    static constexpr code_sum_form find_form() {
        if constexpr (sum >= 0) {
            constexpr qparams result = result_type::parameters;
            // All codes of the storage, so that packing saturates where the rules clamp; with relu the code of 0 is the least.
            if (result.low == lowest_code(result.storage) && result.high == highest_code(result.storage))
                return code_sum_proof::find({storage_at<left>::parameters, storage_at<right>::parameters, result, is_same<op_at<sum>, sub_op>});
        }
        return {};
    }
    static constexpr code_sum_form form = find_form();
    static constexpr bool possible = form.proved;
};

}  // namespace sinter::detail
