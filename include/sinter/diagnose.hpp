// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How Sinter says that something is wrong: the poison value of a failed compile-time check, and the status of a failed call.
//
// A compile-time rule is a plain static_assert in a small struct whose template arguments are what the reader needs (both
// shapes, the axis, a violation tag), with a literal text that opens with a stable code. The struct's `ok` is then false and
// the operator returns `poison`, which every operator and `run` accept in silence: one mistake, one message.
// Every code has a page under docs/errors.
#pragma once

#include "meta.hpp"

namespace sinter {

/// What an operator returns after a failed check. Converts to nothing, holds nothing, and swallows what is done to it.
struct poison {};

/// Run-time errors. The numbers are stable; a page under docs/errors describes each.
enum class error : int {
    none = 0,
    size_mismatch = 1,      ///< [SINTER-R001] two sizes that must be equal differ
    empty_reduction = 2,    ///< [SINTER-R002] max, min or argmax of integers over nothing
    overlap = 3,            ///< [SINTER-R003] an output overlaps an input other than element for element
    null_pointer = 4,       ///< [SINTER-R004] a tensor with elements has no memory
    bad_view = 5,           ///< [SINTER-R005] a view can't be reshaped or sliced so at run time
    size_overflow = 6,      ///< [SINTER-R006] the number of elements or an offset exceeds 64 bits
    backend_failure = 7,    ///< [SINTER-R007] the device or operating system reported an error
    out_of_memory = 8,      ///< [SINTER-R008] eval or the reference could not allocate
};

/// Result of `try_run`. Trivially copyable, no allocation: the message is a literal, the numbers stand beside it.
struct status {
    error code_value = error::none;
    int operand = -1;     ///< index of the operand (inputs first, then outputs), -1 if none
    int axis = -1;        ///< axis of that operand, -1 if none
    i64 expected = 0;     ///< the size that the other operands agree on
    i64 found = 0;        ///< the size that this operand has

    SINTER_INLINE bool ok() const { return code_value == error::none; }
    SINTER_INLINE error code() const { return code_value; }
    /// A literal that opens with the stable code and says what to do; never null.
    SINTER_INLINE const char* message() const {
        switch (code_value) {
            case error::none: return "ok";
            case error::size_mismatch:
                return "[SINTER-R001] sizes differ: an operand's size along an axis isn't the size that the others have there. "
                       "Check the shapes that you pass; only an axis of static size 1 is broadcast over a reduced axis.";
            case error::empty_reduction:
                return "[SINTER-R002] this reduction has no value over nothing: an integer max or min, argmax or argmin needs at "
                       "least one element. Guard the call.";
            case error::overlap:
                return "[SINTER-R003] an output overlaps another operand in memory other than element for element. Nothing was "
                       "written. Write to a separate buffer, or use the same view as input and output.";
            case error::null_pointer:
                return "[SINTER-R004] a view with at least one element has a null pointer. Nothing was written.";
            case error::bad_view:
                return "[SINTER-R005] this view can't be formed: the sizes don't divide, or its strides don't allow the reshape. "
                       "Copy it to contiguous memory first.";
            case error::size_overflow:
                return "[SINTER-R006] the number of elements or a byte offset doesn't fit 64 bits.";
            case error::backend_failure: return "[SINTER-R007] the device or operating system reported an error.";
            case error::out_of_memory: return "[SINTER-R008] not enough memory for a result or a scratch buffer.";
        }
        return "unknown";
    }
};

}  // namespace sinter
