// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an element lies: strides, and the index maps (permute, slice, flip, reshape, expand, squeeze, unsqueeze, unflatten,
// flatten) as values. One rule gives the shape of a map's result, for static, named and run-time sizes alike; another applies
// the map to the strides of a view. No memory is touched here.
#pragma once

#include "shape.hpp"

namespace sinter {

/// Elements in row-major order without gaps: no stride is stored, and the last axis has stride 1 in the type.
struct row_major {};
/// Every stride is known when run: any sign, zero included.
struct strided {};

/// A view as numbers: element offset from the view's pointer, sizes and element strides.
struct view_state {
    i64 offset = 0;
    shape sizes{};
    i64 stride[max_rank]{};
};

/// Row-major strides. Law: stride[last] = 1 and stride[i] = stride[i + 1] * size[i + 1].
SINTER_INLINE void set_row_major_strides(view_state& view) {
    i64 next = 1;
    for (int i = view.sizes.rank - 1; i >= 0; --i) {
        view.stride[i] = next;
        next = i64(u64(next) * u64(view.sizes.size[i]));  // what doesn't fit is refused when it is run
    }
}

enum class map_kind : u8 { permute, slice, flip, reshape, expand, squeeze, unsqueeze, unflatten, flatten };

/// "To the end in the direction of the step": the default stop of a slice.
inline constexpr i64 end = -(i64(1) << 62);

/// An index map: its kind and up to eight numbers.
///   permute: the old axis of each new one      slice: axis, start, stop, step      flip: axis      reshape, expand: sizes
///   squeeze, unsqueeze: axis                   unflatten: axis, outer size         flatten: first axis, last axis
struct index_map_spec {
    map_kind kind{};
    int count = 0;
    i64 number[max_rank]{};
    SINTER_INLINE bool operator==(const index_map_spec& other) const {
        if (kind != other.kind || count != other.count) return false;
        for (int i = 0; i < count; ++i)
            if (number[i] != other.number[i]) return false;
        return true;
    }
};

/// Start and length of a slice over `size` elements; length -1 when it leaves the axis. Negative bounds count from the end.
struct slice_range {
    i64 start;
    i64 length;
};
/// How many steps of any size and sign begin within `span` elements.
SINTER_INLINE i64 count_steps(i64 span, i64 step) {
    const u64 stride = step > 0 ? u64(step) : u64(0) - u64(step);  // the least number has no positive one of its size
    return span == 0 ? 0 : i64(u64(span - 1) / stride) + 1;
}
SINTER_INLINE slice_range resolve_slice(i64 size, i64 start, i64 stop, i64 step) {
    if (step == 0) return {0, -1};
    const bool open_stop = stop == end;
    if (start == end)
        start = step > 0 ? 0 : size - 1;
    else if (start < 0)
        start += size;
    if (open_stop)
        stop = step > 0 ? size : -1;
    else if (stop < 0)
        stop += size;
    if (step > 0) {
        if (start < 0 || start > size || stop < start || stop > size) return {0, -1};
        return {start, count_steps(stop - start, step)};
    }
    if (start < -1 || start >= size || stop > start || stop < -1) return {0, -1};
    return {start, count_steps(start - stop, step)};
}

/// The shape of a map's result. Sizes may be `dyn` or names; with numbers only, the result is numbers only.
SINTER_INLINE shape_result mapped_shape(const index_map_spec& map, const shape& from) {
    shape_result out;
    switch (map.kind) {
        case map_kind::permute: {
            if (map.count != from.rank) return refuse(violation::not_a_permutation);
            bool seen[max_rank]{};
            out.value.rank = from.rank;
            for (int i = 0; i < from.rank; ++i) {
                const int axis = normal_axis(map.number[i], from.rank);
                if (axis < 0 || seen[axis]) return refuse(violation::not_a_permutation, i);
                seen[axis] = true;
                out.value.size[i] = from.size[axis];
            }
            return out;
        }
        case map_kind::slice: {
            const int axis = normal_axis(map.number[0], from.rank);
            if (axis < 0) return refuse(violation::axis_out_of_range, int(map.number[0]));
            const i64 size = from.size[axis], start = map.number[1], stop = map.number[2], step = map.number[3];
            if (step == 0) return refuse(violation::step_is_zero, axis);
            out.value = from;
            if (size >= 0) {
                const slice_range range = resolve_slice(size, start, stop, step);
                if (range.length < 0) return refuse(violation::slice_out_of_range, axis);
                out.value.size[axis] = range.length;
            } else if (start == end && stop == end && (step == 1 || step == -1)) {
                out.value.size[axis] = size;
            } else if (start >= 0 && stop >= 0) {
                const i64 span = step > 0 ? stop - start : start - stop;
                if (span < 0) return refuse(violation::slice_out_of_range, axis);
                out.value.size[axis] = count_steps(span, step);
            } else {
                out.value.size[axis] = dyn;
            }
            return out;
        }
        case map_kind::flip: {
            const int axis = normal_axis(map.number[0], from.rank);
            if (axis < 0) return refuse(violation::axis_out_of_range, int(map.number[0]));
            out.value = from;
            return out;
        }
        case map_kind::reshape: {
            // At most one size of the target may be dyn: it is inferred when everything else is known.
            out.value.rank = map.count;
            i64 known = 1;
            int open_axis = -1, open_count = 0;
            for (int i = 0; i < map.count; ++i) {
                out.value.size[i] = map.number[i];
                if (map.number[i] < 0) {
                    open_axis = i;
                    ++open_count;
                } else {
                    known = count_of_pairs(known, map.number[i]);
                }
            }
            if (from.is_static()) {
                const i64 total = from.count();
                if (open_count == 0 && known != total) return refuse(violation::count_differs);
                if (open_count == 1) {
                    if (known == 0 ? total != 0 : total % known != 0) return refuse(violation::count_differs);
                    out.value.size[open_axis] = known == 0 ? 0 : total / known;
                }
                if (open_count > 1) return refuse(violation::count_differs);
            }
            return out;
        }
        case map_kind::expand: {
            if (map.count < from.rank) return refuse(violation::not_expandable);
            out.value.rank = map.count;
            for (int i = 0; i < map.count; ++i) {
                const int distance = map.count - 1 - i;
                const i64 source = from.from_right(distance), target = map.number[i];
                if (source != 1 && source != target && source != dyn && target != dyn)
                    return refuse(violation::not_expandable, i);
                out.value.size[i] = target == dyn && source != 1 ? source : target;
            }
            return out;
        }
        case map_kind::squeeze: {
            const int axis = normal_axis(map.number[0], from.rank);
            if (axis < 0) return refuse(violation::axis_out_of_range, int(map.number[0]));
            if (from.size[axis] != 1) return refuse(violation::axis_isnt_one, axis);
            for (int i = 0; i < from.rank; ++i)
                if (i != axis) out.value.size[out.value.rank++] = from.size[i];
            return out;
        }
        case map_kind::unsqueeze: {
            const int axis = normal_axis(map.number[0], from.rank + 1);
            if (axis < 0) return refuse(violation::axis_out_of_range, int(map.number[0]));
            if (from.rank + 1 > max_rank) return refuse(violation::rank_too_large);
            for (int i = 0; i <= from.rank; ++i)
                out.value.size[out.value.rank++] = i < axis ? from.size[i] : i == axis ? 1 : from.size[i - 1];
            return out;
        }
        case map_kind::unflatten: {
            const int axis = normal_axis(map.number[0], from.rank);
            if (axis < 0) return refuse(violation::axis_out_of_range, int(map.number[0]));
            if (from.rank + 1 > max_rank) return refuse(violation::rank_too_large);
            const i64 outer = map.number[1], size = from.size[axis];
            if (outer <= 0 || (size >= 0 && size % outer != 0)) return refuse(violation::not_divisible, axis);
            for (int i = 0; i < from.rank; ++i) {
                if (i == axis) out.value.size[out.value.rank++] = outer;
                out.value.size[out.value.rank++] = i == axis ? (size >= 0 ? size / outer : dyn) : from.size[i];
            }
            return out;
        }
        case map_kind::flatten: {
            const int first = normal_axis(map.number[0], from.rank), last = normal_axis(map.number[1], from.rank);
            if (first < 0) return refuse(violation::axis_out_of_range, int(map.number[0]));
            if (last < first) return refuse(violation::axis_out_of_range, int(map.number[1]));
            i64 product = 1;
            for (int i = first; i <= last; ++i) product = product < 0 || from.size[i] < 0 ? dyn : count_of_pairs(product, from.size[i]);
            for (int i = 0; i < from.rank; ++i) {
                if (i == first) out.value.size[out.value.rank++] = first == last ? from.size[first] : product;
                if (i < first || i > last) out.value.size[out.value.rank++] = from.size[i];
            }
            return out;
        }
    }
    return out;
}

namespace detail {
/// Regroups a view's elements into the sizes `to` when its strides allow it. Both shapes hold numbers with equal products.
SINTER_INLINE bool regroup(view_state& view, const shape& to) {
    view_state out;
    out.offset = view.offset;
    out.sizes = to;
    if (to.count() == 0 || to.count() == uncountable) {  // the latter is refused when it is run
        set_row_major_strides(out);
        view = out;
        return true;
    }
    int source = view.sizes.rank - 1, target = to.rank - 1;
    while (source >= 0 || target >= 0) {
        while (source >= 0 && view.sizes.size[source] == 1) --source;
        if (source < 0) {
            for (; target >= 0; --target) out.stride[target] = 1;
            break;
        }
        // Take source axes that form one run of equal steps until the products meet.
        i64 have = view.sizes.size[source], want = 1, step = view.stride[source];
        const i64 run_step = step;
        i64 target_step = run_step;
        while (true) {
            if (want < have) {
                if (target < 0) return false;
                out.stride[target] = target_step;
                target_step *= to.size[target];
                want *= to.size[target];
                --target;
            } else if (have < want) {
                --source;
                while (source >= 0 && view.sizes.size[source] == 1) --source;
                if (source < 0 || view.stride[source] != run_step * have) return false;
                have *= view.sizes.size[source];
            } else {
                break;
            }
        }
        --source;
    }
    view = out;
    return true;
}
}  // namespace detail

/// Applies a map to a view of numbers. `stretched[i]` says that axis i has size 1 only because the operand is broadcast
/// along it: there a slice or a flip changes nothing. Returns false when the sizes or strides don't allow the map.
SINTER_INLINE bool apply_map(const index_map_spec& map, view_state& view, const bool (&stretched)[max_rank]) {
    view_state out = view;
    switch (map.kind) {
        case map_kind::permute: {
            const shape_result result = mapped_shape(map, view.sizes);
            if (!result.ok()) return false;
            out.sizes = result.value;
            for (int i = 0; i < out.sizes.rank; ++i) out.stride[i] = view.stride[normal_axis(map.number[i], view.sizes.rank)];
            break;
        }
        case map_kind::slice: {
            const int axis = normal_axis(map.number[0], view.sizes.rank);
            if (axis < 0) return false;
            if (stretched[axis]) return true;
            const slice_range range = resolve_slice(view.sizes.size[axis], map.number[1], map.number[2], map.number[3]);
            if (range.length < 0) return false;
            if (range.length > 0) out.offset += range.start * view.stride[axis];
            out.stride[axis] = i64(u64(out.stride[axis]) * u64(map.number[3]));  // leaves the axis only where nothing is behind the first
            out.sizes.size[axis] = range.length;
            break;
        }
        case map_kind::flip: {
            const int axis = normal_axis(map.number[0], view.sizes.rank);
            if (axis < 0) return false;
            if (stretched[axis]) return true;
            if (view.sizes.size[axis] > 0) out.offset += (view.sizes.size[axis] - 1) * view.stride[axis];
            out.stride[axis] = -view.stride[axis];
            break;
        }
        case map_kind::expand: {
            const shape_result result = mapped_shape(map, view.sizes);
            if (!result.ok()) return false;
            out.sizes = result.value;
            for (int i = 0; i < out.sizes.rank; ++i) {
                const int source = view.sizes.rank - out.sizes.rank + i;
                const bool stays = source >= 0 && view.sizes.size[source] == out.sizes.size[i];
                out.stride[i] = stays ? view.stride[source] : 0;
            }
            break;
        }
        case map_kind::squeeze: {
            const int axis = normal_axis(map.number[0], view.sizes.rank);
            if (axis < 0 || view.sizes.size[axis] != 1) return false;
            for (int i = axis; i + 1 < view.sizes.rank; ++i) {
                out.sizes.size[i] = view.sizes.size[i + 1];
                out.stride[i] = view.stride[i + 1];
            }
            --out.sizes.rank;
            break;
        }
        case map_kind::unsqueeze: {
            const int axis = normal_axis(map.number[0], view.sizes.rank + 1);
            if (axis < 0 || view.sizes.rank + 1 > max_rank) return false;
            for (int i = view.sizes.rank; i > axis; --i) {
                out.sizes.size[i] = view.sizes.size[i - 1];
                out.stride[i] = view.stride[i - 1];
            }
            out.sizes.size[axis] = 1;
            out.stride[axis] = 0;
            ++out.sizes.rank;
            break;
        }
        case map_kind::reshape:
        case map_kind::unflatten:
        case map_kind::flatten: {
            const shape_result result = mapped_shape(map, view.sizes);
            if (!result.ok() || !detail::regroup(out, result.value)) return false;
            break;
        }
    }
    view = out;
    return true;
}

/// Byte range that a view touches, relative to its pointer: of one whose bytes 64 bits count. Empty views touch nothing (first > last).
struct byte_range {
    i64 first = 0;
    i64 last = -1;
};
SINTER_INLINE byte_range touched_bytes(const view_state& view, i64 element_size) {
    i64 low = view.offset, high = view.offset;
    for (int i = 0; i < view.sizes.rank; ++i) {
        if (view.sizes.size[i] == 0) return {};
        const i64 span = (view.sizes.size[i] - 1) * view.stride[i];
        if (span < 0)
            low += span;
        else
            high += span;
    }
    return {low * element_size, (high + 1) * element_size - 1};
}

}  // namespace sinter
