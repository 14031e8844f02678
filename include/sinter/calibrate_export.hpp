// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calibration results as files: a C++ header of constants, every scale by its bits, so that including it makes a converted operator
// fully static, and a JSON twin with the same numbers for other programs. Both are functions of the results alone: two runs over the
// same data write the same bytes.
#pragma once

#include "calibrate_observe.hpp"

#include <cstdio>

namespace sinter {
namespace detail {
inline namespace SINTER_ISA {  // see calibrate_observe.hpp

inline std::string hex(u64 value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
    return text;
}
inline std::string decimal(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", double(value));
    return text;
}
inline const char* storage_name(code_kind storage) {
    switch (storage) {
        case code_kind::i8: return "i8";
        case code_kind::u8: return "u8";
        case code_kind::i16: return "i16";
        case code_kind::u16: return "u16";
        case code_kind::i32: return "i32";
        case code_kind::i4: return "i4";
        case code_kind::u4: return "u4";
        default: return "unset";
    }
}
inline std::string number_text(i64 value) {
    std::string out;
    append_number(out, value);
    return out;
}
inline std::string integer(i32 value) { return value == lowest_code(code_kind::i32) ? "-2147483647 - 1" : number_text(value); }
inline void append_braces(std::string& to, const qparams& one) {
    append(to, "{", hex(one.scale_bits, 8), "u, ", number_text(one.zero), ", ", integer(one.low), ", ", integer(one.high), ", sinter::code_kind::",
           storage_name(one.storage), ", ", one.symmetric ? "true" : "false", "}");
}
inline std::string identifier(const node_name& value) {
    std::string out;
    append(out, value.name, "_", number_text(value.occurrence));
    return out;
}
/// Do the zero points differ along the axis?
inline bool has_zeros(const calibrated_result& one) {
    for (const qparams& each : one.parameters)
        if (each.zero != one.parameters[0].zero) return true;
    return false;
}
inline calibration_status write_text(const std::string& folder_and_name, const char* ending, const std::string& text) {
    std::string path;
    append(path, folder_and_name, ending);
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr) good = std::fclose(file) == 0 && good;
    if (good) return {};
    std::string why;
    append(why, "[SINTER-K015] '", path, "' can't be written.");
    return {calibration_code::cannot_write, why};
}
}  // namespace SINTER_ISA
}  // namespace detail
inline namespace SINTER_ISA {

/// The header's text: `struct NAME` in the given namespace, which `convert<NAME>(operator)` takes.
inline std::string calibration_header(const calibration_results& results, const std::string& name, const std::string& in_namespace = "calibrated") {
    using namespace detail;
    std::string out = "// Parameters of a quantized operator, written by a calibration.\n#pragma once\n\n#include <sinter/calibrate_graph.hpp>\n\n";
    append(out, "namespace ", in_namespace, " {\n\nstruct ", name, " {\n");
    append(out, "    static constexpr sinter::u64 operator_hash = ", hex(results.operator_hash, 16), "u;\n");
    for (const calibrated_result& one : results.values) {
        if (one.axis < 0) continue;
        const std::string label = identifier(one.value);
        const std::size_t count = one.parameters.size();
        append(out, "    static constexpr sinter::u32 bits_of_", label, "[] = {");
        for (std::size_t i = 0; i < count; ++i)
            append(out, i % 8 == 0 ? "\n        " : " ", hex(one.parameters[i].scale_bits, 8), i + 1 < count ? "u," : "u};\n");
        append(out, "    static constexpr sinter::array<float, ", number_text(i64(count)), "> scales_of_", label, " = sinter::floats_of_bits(bits_of_", label,
               ");\n");
        if (!has_zeros(one)) continue;
        append(out, "    static constexpr sinter::i32 zeros_of_", label, "[] = {");
        for (std::size_t i = 0; i < count; ++i) append(out, i > 0 ? ", " : "", number_text(one.parameters[i].zero));
        out += "};\n";
    }
    append(out, "    static constexpr sinter::calibrated_value values[] = {\n");
    for (const calibrated_result& one : results.values) {
        if (one.parameters.empty()) continue;
        append(out, "        {{\"", one.value.name, "\", ", number_text(one.value.occurrence), "}, ");
        append_braces(out, one.parameters[0]);
        if (one.axis >= 0) {
            append(out, ", ", number_text(one.axis), ", ", number_text(i64(one.parameters.size())), ", scales_of_", identifier(one.value), ".item");
            if (has_zeros(one)) append(out, ", zeros_of_", identifier(one.value));
            append(out, "},  // along axis ", number_text(one.axis), "\n");
        } else {
            append(out, "},  // ", decimal(one.parameters[0].scale()), "\n");
        }
    }
    append(out, "    };\n};\n\n}  // namespace ", in_namespace, "\n");
    return out;
}
/// The same as JSON: bits and text of every scale.
inline std::string calibration_json(const calibration_results& results, const std::string& name) {
    using namespace detail;
    std::string out = "{\n\"calibration\": \"";
    append(out, name, "\",\n\"operator_hash\": \"", hex(results.operator_hash, 16), "\",\n\"values\": [");
    for (std::size_t v = 0; v < results.values.size(); ++v) {
        const calibrated_result& one = results.values[v];
        append(out, v > 0 ? "," : "", "\n{\"name\": \"", one.value.name, "\", \"occurrence\": ", number_text(one.value.occurrence));
        if (!one.parameters.empty())
            append(out, ", \"storage\": \"", storage_name(one.parameters[0].storage), "\", \"low\": ", number_text(one.parameters[0].low),
                   ", \"high\": ", number_text(one.parameters[0].high));
        if (one.axis >= 0) append(out, ", \"axis\": ", number_text(one.axis));
        std::string bits, text, zeros;
        for (std::size_t i = 0; i < one.parameters.size(); ++i) {
            const char* const comma = i > 0 ? ", " : "";
            append(bits, comma, "\"", hex(one.parameters[i].scale_bits, 8), "\"");
            append(text, comma, "\"", decimal(one.parameters[i].scale()), "\"");
            append(zeros, comma, number_text(one.parameters[i].zero));
        }
        append(out, ",\n \"scale\": {\"f32\": [", bits, "],\n  \"text\": [", text, "]}, \"zp\": [", zeros, "]}");
    }
    append(out, "\n]\n}\n");
    return out;
}
/// Writes both files: PATH.hpp and PATH.json.
inline calibration_status export_calibration(const calibration_results& results, const std::string& path, const std::string& name,
                                             const std::string& in_namespace = "calibrated") {
    if (!results.ok()) return results.status;
    const calibration_status said = detail::write_text(path, ".hpp", calibration_header(results, name, in_namespace));
    if (!said.ok()) return said;
    return detail::write_text(path, ".json", calibration_json(results, name));
}

}  // namespace SINTER_ISA
}  // namespace sinter
