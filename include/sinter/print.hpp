// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small tensors as text, in nested brackets as NumPy writes them. A number is the shortest decimal that reads back as the same
// value of its type. Beyond 1000 elements every axis shows its first and last three. For tests and tools; host memory only.
//
//     print(y);                     // to stdout;  print(y, stderr);
//     char text[256];
//     to_text(y, text);             // as snprintf: always terminated, returns the length that the whole text takes
#pragma once

#include "tensor.hpp"
#include "text.hpp"

#include <cstdio>  // floating-point numbers and files

// (An inline namespace for each instruction set: the linker keeps one copy of a function, which may hold another file's instructions.)
namespace sinter {
namespace detail {
inline namespace SINTER_ISA {

inline constexpr int shown_elements = 1000;  ///< more are summarised
inline constexpr int shown_at_edge = 3;

/// The shortest decimal that reads back as the same value of `Type`.
template <class Sink, class Type>
void add_float(Sink& to, Type value) {
    const double exact = convert<double>(value);
    char digits[32] = "";
    // Below ten million all digits before the point are written: 65504 and not 6.55e+04.
    int precision = 1;
    const double magnitude = exact < 0 ? -exact : exact;
    if (magnitude < 1e7)
        for (double power = 10; magnitude >= power; power *= 10) ++precision;
    for (; precision <= 17; ++precision) {
        std::snprintf(digits, sizeof digits, "%.*g", precision, exact);
        if (digits[digits[0] == '-'] == 'n') return static_cast<void>(to.add("nan"));  // without the sign that processors give it
        double back = 0;
        if (std::sscanf(digits, "%lf", &back) == 1 && convert<double>(convert<Type>(back)) == exact) break;
    }
    to.add(static_cast<const char*>(digits));
}
template <class Type>
void add_element(text_writer& to, Type value) {
    if constexpr (is_same<Type, bool>) {
        to.add(value ? "true" : "false");
    } else if constexpr (is_float(dtype_of<Type>)) {
        add_float(to, value);
    } else {
        if (value < Type(0))
            to.add(static_cast<i64>(value));
        else
            to.add(static_cast<u64>(value));
    }
}

struct file_sink {
    std::FILE* file;
    void add(char letter) { std::fputc(letter, file); }
    void add(const char* letters) { std::fputs(letters, file); }
};

/// One tensor on its way to text. A view that a run would refuse, since it has no memory or no sizes, says so.
template <class Type>
struct tensor_text {
    const Type* data;
    view_state view;
    const char* refused = nullptr;
    bool summarised = false;
    int width = 0;  ///< of the widest element that is shown

    tensor_text(const Type* pointer, const view_state& state) : data(pointer), view(state) {
        bool empty = false;
        for (int i = 0; i < view.sizes.rank; ++i) {
            if (view.sizes.size[i] < 0) refused = "[SINTER-R005] this view can't be formed";
            if (view.sizes.size[i] == 0) empty = true;
        }
        if (!refused && !empty && data == nullptr) refused = "[SINTER-R004] this view has no memory";
        if (refused) return;
        summarised = view.sizes.count() > shown_elements;
        char unused[1];
        each(0, 0, [&](i64 offset) {
            text_writer measure(unused, 0);
            add_element(measure, data[offset]);
            if (measure.length > width) width = measure.length;
        });
    }
    bool skips(int axis, i64 index) const {
        const i64 size = view.sizes.size[axis];
        return summarised && size > 2 * shown_at_edge && index == shown_at_edge;
    }
    i64 after(int axis, i64 index) const { return skips(axis, index) ? view.sizes.size[axis] - shown_at_edge : index; }

    template <class Function>
    void each(int axis, i64 offset, const Function& function) const {
        if (axis == view.sizes.rank) return function(offset);
        for (i64 i = 0; i < view.sizes.size[axis]; ++i) {
            i = after(axis, i);
            each(axis + 1, offset + i * view.stride[axis], function);
        }
    }
    /// A sink takes characters and texts.
    template <class Sink>
    void write(Sink& to, int axis, i64 offset) const {
        if (refused) return static_cast<void>(to.add(refused));
        if (axis == view.sizes.rank) {
            char digits[32];
            text_writer element(digits, int(sizeof digits));
            add_element(element, data[offset]);
            for (int blank = element.length; blank < width; ++blank) to.add(' ');
            to.add(static_cast<const char*>(digits));
            return;
        }
        to.add('[');
        const i64 size = view.sizes.size[axis];
        for (i64 i = 0; i < size; ++i) {
            if (i > 0) separate(to, axis);
            if (skips(axis, i)) {
                to.add("...");
                separate(to, axis);
                i = after(axis, i);
            }
            write(to, axis + 1, offset + i * view.stride[axis]);
        }
        to.add(']');
    }
    /// Between elements a blank; between rows a new line, between matrices an empty one more.
    template <class Sink>
    void separate(Sink& to, int axis) const {
        to.add(',');
        const int inner = view.sizes.rank - 1 - axis;
        if (inner == 0) {
            to.add(' ');
            return;
        }
        for (int line = 0; line < inner; ++line) to.add('\n');
        for (int blank = 0; blank <= axis; ++blank) to.add(' ');
    }
};
}  // namespace SINTER_ISA
}  // namespace detail

inline namespace SINTER_ISA {

/// Writes a view's elements to memory of the caller. Returns the length of the whole text; it was cut if that isn't below `capacity`.
template <class Type, class Extents, class Layout, class Space, int Alignment>
    requires is_same<Space, host_memory>
int to_text(const tensor_view<Type, Extents, Layout, Space, Alignment>& view, char* text, int capacity) {
    const detail::tensor_text<remove_cvref<Type>> from(view.data(), view.state());
    text_writer to(text, capacity);
    from.write(to, 0, 0);
    return to.length;
}
template <class Type, class Extents, class Layout, class Space, int Alignment, std::size_t Capacity>
    requires is_same<Space, host_memory>
int to_text(const tensor_view<Type, Extents, Layout, Space, Alignment>& view, char (&text)[Capacity]) {
    return to_text(view, text, int(Capacity));
}
/// Prints a view and a new line.
template <class Type, class Extents, class Layout, class Space, int Alignment>
    requires is_same<Space, host_memory>
void print(const tensor_view<Type, Extents, Layout, Space, Alignment>& view, std::FILE* file = stdout) {
    const detail::tensor_text<remove_cvref<Type>> from(view.data(), view.state());
    detail::file_sink to{file};
    from.write(to, 0, 0);
    to.add('\n');
}
/// Of a mistake that was said where it was made.
inline void print(poison, std::FILE* = stdout) {}
template <class Type, class Extents>
void print(const tensor<Type, Extents>& owner, std::FILE* file = stdout) {
    print(owner.view(), file);
}

}  // namespace SINTER_ISA
}  // namespace sinter
