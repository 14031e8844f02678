// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text in memory of a fixed size, in constant evaluation and at run time: names of plans, explanations, printed tensors. It
// knows characters, integers, names of sizes and statuses; floating-point numbers are print.hpp's.
#pragma once

#include "shape.hpp"

namespace sinter {

/// Appends to memory of the caller, never past it. As with snprintf, `length` is what the whole text takes, so that the text
/// was cut when it is not below `capacity`; the text is always terminated.
template <class InstructionSet>
struct basic_text_writer {
    char* out = nullptr;
    int capacity = 0;  ///< bytes at `out`, the terminator's included
    int length = 0;
    int line_start = 0;  ///< `length` when the current line began

    constexpr basic_text_writer(char* memory, int bytes) : out(memory), capacity(bytes) {
        if (bytes > 0) out[0] = '\0';
    }
    constexpr basic_text_writer& add(char letter) {
        if (static_cast<unsigned>(length) < static_cast<unsigned>(capacity > 0 ? capacity - 1 : 0)) {
            out[length] = letter;
            out[length + 1] = '\0';
        }
        ++length;
        if (letter == '\n') line_start = length;
        return *this;
    }
    constexpr basic_text_writer& add(const char* letters) {
        for (; *letters; ++letters) add(*letters);
        return *this;
    }
    constexpr basic_text_writer& add(u64 number) {
        if (number > 9) add(number / 10);
        return add(static_cast<char>('0' + number % 10));
    }
    constexpr basic_text_writer& add(i64 number) {
        if (number >= 0) return add(static_cast<u64>(number));
        return add('-').add(u64(0) - static_cast<u64>(number));
    }
    constexpr basic_text_writer& add(int number) { return add(i64(number)); }
    /// A size: a number, its name, or dyn.
    constexpr basic_text_writer& add_size(i64 size) {
        if (size >= 0) return add(size);
        if (size == dyn) return add("dyn");
        const u64 letters = static_cast<u64>(size) & ~(u64(1) << 63);
        for (int shift = 56; shift >= 0; shift -= 8)
            if (const char letter = static_cast<char>(letters >> shift & 127)) add(letter);
        return *this;
    }
    /// Blanks up to a column of the current line; at least one.
    constexpr basic_text_writer& pad_to(int column) {
        do add(' ');
        while (length - line_start < column);
        return *this;
    }
};

using text_writer = basic_text_writer<backend::SINTER_ISA::instruction_set>;

/// A text of at most `Capacity` characters, as a value.
template <int Capacity>
struct fixed_text {
    char letters[unsigned(Capacity + 1)]{};
    static constexpr int capacity = Capacity;

    SINTER_FORCE_INLINE constexpr const char* c_str() const { return letters; }
    SINTER_FORCE_INLINE constexpr operator const char*() const { return letters; }
    SINTER_FORCE_INLINE constexpr int length() const {
        int count = 0;
        while (letters[count]) ++count;
        return count;
    }
    SINTER_FORCE_INLINE constexpr bool operator==(const char* other) const {
        int i = 0;
        while (letters[i] && letters[i] == other[i]) ++i;
        return letters[i] == other[i];
    }
};

/// A status as a sentence with its numbers: the message, then which operand (inputs first, then outputs, which are named as such), its axis and both sizes;
/// of a device's error its number and the words that the device's library has for it.
template <class InstructionSet = backend::SINTER_ISA::instruction_set>
SINTER_SMALL constexpr fixed_text<400> describe(const status& said) {
    fixed_text<400> out;
    text_writer text(out.letters, out.capacity + 1);
    text.add(said.message());
    if (said.ok()) return out;
    if (said.operand >= 0) text.add(" Operand ").add(said.operand);
    if (said.output >= 0) text.add(" (output ").add(said.output).add(")");
    if (said.operand >= 0 && said.axis >= 0) text.add(", axis ").add(said.axis);
    if (said.code() == error::bad_view && said.expected < 0)
        text.add(": its size is ").add(said.found);
    else if (said.code() == error::bad_view && (said.expected > 0 || said.found > 0))
        text.add(" of ").add(said.expected).add(" elements: the slice's bound ").add(said.found).add(" lies outside, or its stop before its start");
    else if (said.code() == error::bad_scale) {
        if (said.operand < 0)
            text.add(said.expected == 0 ? " It is a scale" : " It is a zero point");
        else
            text.add(said.expected == 0 ? ", a scale: element " : ", a zero point: element ").add(said.found);
    } else if (said.code() == error::backend_failure)
        text.add(" Its code is ").add(said.found).add(said.device_text ? ": " : "").add(said.device_text ? said.device_text : "");
    else if (said.expected != 0 || said.found != 0)
        text.add(said.operand >= 0 ? ": " : " ").add(said.expected).add(" expected, ").add(said.found).add(" found");
    if (said.operand >= 0 || said.expected != 0 || said.found != 0 || said.code() == error::bad_scale || said.code() == error::backend_failure) text.add('.');
    return out;
}

}  // namespace sinter
