// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exactness harness: the same assignment runs on the reference and on a tested executor, and every byte of every
// operand's memory must be equal afterwards (any NaN equals any NaN): results, guard elements around them, gaps between strided
// elements, and inputs, which stay as they were.
//
// The tested backend is chosen by macros, so that the same sources serve every backend:
//     -DSINTER_TEST_BACKEND_HEADER='<my/backend.hpp>'   default: <sinter/backend/cpu.hpp>
//     -DSINTER_TEST_EXECUTOR='my::executor{}'           default: sinter::cpu over 1, 2 and 3 threads
//     -DSINTER_TEST_STORAGE='my::storage'               default: harness::host_storage; see there what it must offer
//
// An operator's layouts all run through one kernel over dynamic strides, and operators share kernels as outputs: compile
// time is the cost of this harness.
#pragma once

#include <sinter/backend/reference.hpp>
#include <sinter/ops/nn.hpp>

#ifdef SINTER_TEST_BACKEND_HEADER
#include SINTER_TEST_BACKEND_HEADER
#else
#include <sinter/backend/cpu.hpp>
#endif

#include <doctest/doctest.h>

#include "../numbers.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace harness {

namespace si = sinter;
using si::bf16;
using si::dyn;
using si::f16;
using si::i16;
using si::i32;
using si::i64;
using si::i8;
using si::shape;
using si::u16;
using si::u32;
using si::u64;
using si::u8;

// ---------------------------------------------------------------------------------------------------------------- numbers

using test_numbers::generator;

enum class mix {
    plain,      ///< finite numbers of several magnitudes
    tiny,       ///< with zeros of both signs and subnormals
    sprinkled,  ///< with a NaN or infinity now and then, so that most short rows have none
    special,    ///< every third one a NaN, infinity, zero, subnormal or extreme
    anything,   ///< random bits beside the special ones
};

template <class Type>
Type from_bits(u64 bits) {
    Type out;
    std::memcpy(&out, &bits, sizeof(Type));
    return out;
}
template <class Type>
u64 to_bits(const Type& value) {
    u64 out = 0;
    std::memcpy(&out, &value, sizeof(Type));
    return out;
}
template <class Type>
inline constexpr bool is_any_float = si::is_float(si::dtype_of<Type>);
/// Bits of infinity; below it are the finite magnitudes, above it the NaNs.
template <class Type>
constexpr u64 infinity_bits() {
    return si::is_same<Type, f16>    ? 0x7c00u
           : si::is_same<Type, bf16> ? 0x7f80u
           : sizeof(Type) == 4       ? 0x7f800000u
                                     : 0x7ff0000000000000u;
}
template <class Type>
constexpr u64 sign_bit() {
    return u64(1) << (8 * sizeof(Type) - 1);
}
template <class Type>
bool is_nan(const Type& value) {
    return is_any_float<Type> && (to_bits(value) & (sign_bit<Type>() - 1)) > infinity_bits<Type>();
}

template <class Type>
Type special_value(generator& random) {
    const u64 pick = random();
    if constexpr (is_any_float<Type>) {
        const u64 infinity = infinity_bits<Type>();
        const u64 one = si::is_same<Type, f16> ? 0x3c00u : si::is_same<Type, bf16> ? 0x3f80u : sizeof(Type) == 4 ? 0x3f800000u : 0x3ff0000000000000u;
        const u64 lowest_normal = infinity & (~infinity + 1);  // the exponent's last bit
        const u64 magnitudes[] = {0, 0, infinity, infinity, infinity + 1, infinity | (infinity >> 1) | 1, infinity - 1, 1, 2,
                                  lowest_normal - 1, lowest_normal, lowest_normal + 1, one, one + 1, one - 1, lowest_normal >> 1};
        return from_bits<Type>(magnitudes[pick % 16] | ((pick >> 8 & 1) ? sign_bit<Type>() : 0));
    } else if constexpr (si::is_same<Type, bool>) {
        return (pick & 1) != 0;
    } else {
        const u64 values[] = {0, 0, 1, 2, ~u64(0), ~u64(1), sign_bit<Type>(), sign_bit<Type>() - 1, sign_bit<Type>() + 1, 7};
        return from_bits<Type>(values[pick % 10]);
    }
}
template <class Type>
Type plain_value(generator& random) {
    const u64 pick = random();
    if constexpr (is_any_float<Type>) {
        const double unit = double(i64(random() >> 11)) * 0x1p-53 * 2 - 1;  // [-1, 1)
        double scale = 1;
        switch (pick % 8) {
            case 0: scale = 0x1p-9; break;
            case 1: scale = 128; break;
            case 2: scale = 0x1p-3; break;
            case 3: return si::convert<Type>(double(i64(pick >> 8 & 31) - 16));      // small integers
            case 4: return si::convert<Type>(double(i64(pick >> 8 & 31) - 16) / 2);  // and halves: ties
            default: scale = 4;
        }
        return si::convert<Type>(unit * scale);
    } else if constexpr (si::is_same<Type, bool>) {
        return (pick & 1) != 0;
    } else {
        return pick % 3 ? from_bits<Type>(random()) : from_bits<Type>(u64(i64(pick >> 8 & 31) - 16));
    }
}
template <class Type>
Type value_of(generator& random, mix how) {
    const u64 pick = random();
    switch (how) {
        case mix::plain: break;
        case mix::tiny:
            if constexpr (is_any_float<Type>)
                if (pick % 2) {
                    const u64 lowest_normal = infinity_bits<Type>() & (~infinity_bits<Type>() + 1);
                    return from_bits<Type>((pick % 4 == 1 ? 0 : random() % (2 * lowest_normal)) | (pick >> 8 & 1 ? sign_bit<Type>() : 0));
                }
            break;
        case mix::sprinkled:
            if (pick % 97 == 0) return special_value<Type>(random);
            break;
        case mix::special:
            if (pick % 3 == 0) return special_value<Type>(random);
            break;
        case mix::anything:
            if (pick % 4 == 0) return special_value<Type>(random);
            if constexpr (!si::is_same<Type, bool>) return from_bits<Type>(random());
            break;
    }
    return plain_value<Type>(random);
}

// ----------------------------------------------------------------------------------------------------------------- memory

/// Where the tested executor's operands live. Another backend supplies one with the same four functions.
struct host_storage {
    using space = si::host_memory;
    template <class Type>
    static Type* allocate(i64 count) {
        return static_cast<Type*>(std::malloc(std::size_t(count) * sizeof(Type) + 1));
    }
    template <class Type>
    static void upload(Type* to, const Type* from, i64 count) {
        if (count > 0) std::memcpy(static_cast<void*>(to), from, std::size_t(count) * sizeof(Type));
    }
    template <class Type>
    static void download(Type* to, const Type* from, i64 count) {
        if (count > 0) std::memcpy(static_cast<void*>(to), from, std::size_t(count) * sizeof(Type));
    }
    template <class Type>
    static void release(Type* from) {
        std::free(from);
    }
};
#ifndef SINTER_TEST_STORAGE
#define SINTER_TEST_STORAGE ::harness::host_storage
#endif
using storage = SINTER_TEST_STORAGE;

/// How an operand lies in its buffer.
enum class layout {
    contiguous,
    offset,         ///< contiguous, but not aligned
    step_2,
    step_3,
    reversed,       ///< every axis backwards
    padded,         ///< gaps between rows
    transposed,     ///< the last two axes exchanged
    broadcast_row,  ///< from here on for inputs only: stride 0 on the first axis,
    broadcast_last, ///< on the last one,
    broadcast_all,  ///< on all
};
inline constexpr int output_layouts = 7, input_layouts = 10;

struct placement {
    shape sizes{};
    i64 stride[si::max_rank]{};
    i64 offset = 0;
    i64 span = 0;  ///< elements of the buffer, guards included
};
inline constexpr i64 guard = 19;

inline placement place(const shape& sizes, layout how) {
    placement out;
    out.sizes = sizes;
    const int rank = sizes.rank;
    i64 step = how == layout::step_2 ? 2 : how == layout::step_3 ? 3 : 1;
    i64 next = step;
    for (int i = rank - 1; i >= 0; --i) {
        out.stride[i] = next;
        next *= sizes.size[i] > 0 ? sizes.size[i] : 1;
        if (how == layout::padded && i == rank - 1) next += 5;
    }
    if (how == layout::transposed && rank >= 2) {
        out.stride[rank - 2] = 1;
        out.stride[rank - 1] = sizes.size[rank - 2] > 0 ? sizes.size[rank - 2] : 1;
    }
    if (how == layout::broadcast_row && rank > 0) out.stride[0] = 0;
    if (how == layout::broadcast_last && rank > 0) out.stride[rank - 1] = 0;
    if (how == layout::broadcast_all)
        for (int i = 0; i < rank; ++i) out.stride[i] = 0;
    i64 reach = 0;
    for (int i = 0; i < rank; ++i) reach += (sizes.size[i] > 0 ? sizes.size[i] - 1 : 0) * out.stride[i];
    out.offset = guard + (how == layout::offset ? 1 : how == layout::padded ? 3 : 0);
    if (how == layout::reversed) {
        for (int i = 0; i < rank; ++i) out.stride[i] = -out.stride[i];
        out.offset += reach;
    }
    out.span = reach + 2 * guard + 4;
    return out;
}

/// One operand: its values on the host, as the reference leaves them, and as the tested executor does.
template <class Type, class Extents, class Layout = si::strided>
class memory {
public:
    memory(const placement& at, mix how, u64 seed) : at_(at) {
        generator random{seed * 2 + 1};
        for (int i = 0; i < 4; ++i) (void)random();
        original_ = host_storage::allocate<Type>(at.span);
        expected_ = host_storage::allocate<Type>(at.span);
        found_ = host_storage::allocate<Type>(at.span);
        tested_ = storage::allocate<Type>(at.span);
        for (i64 i = 0; i < at.span; ++i) original_[i] = value_of<Type>(random, how);
        host_storage::upload(expected_, original_, at.span);
    }
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
        host_storage::release(original_);
        host_storage::release(expected_);
        host_storage::release(found_);
        storage::release(tested_);
    }
    auto reference_view() { return make<si::host_memory>(expected_); }
    auto tested_view() { return make<storage::space>(tested_); }
    void restore() { storage::upload(tested_, original_, at_.span); }
    /// Elements that differ; the first one is described in `first`.
    i64 differences(i64& first, u64& expected, u64& found) {
        storage::download(found_, tested_, at_.span);
        i64 count = 0;
        for (i64 i = 0; i < at_.span; ++i) {
            if (to_bits(expected_[i]) == to_bits(found_[i])) continue;
            if (is_nan(expected_[i]) && is_nan(found_[i])) continue;
            if (count++ == 0) {
                first = i - at_.offset;
                expected = to_bits(expected_[i]);
                found = to_bits(found_[i]);
            }
        }
        return count;
    }
    const placement& where() const { return at_; }

private:
    template <class Space>
    auto make(Type* base) {
        using view = si::tensor_view<Type, Extents, Layout, Space>;
        const Extents sizes = si::extents_with<Extents>(at_.sizes);
        if constexpr (si::is_same<Layout, si::strided>) {
            si::array<i64, Extents::rank> strides{};
            for (int i = 0; i < Extents::rank; ++i) strides[i] = at_.stride[i];
            return view(base + at_.offset, sizes, strides);
        } else {
            return view(base + at_.offset, sizes);
        }
    }
    placement at_;
    Type* original_;
    Type* expected_;
    Type* found_;
    Type* tested_;
};

// -------------------------------------------------------------------------------------------------------------- executors

#if !defined(SINTER_TEST_BACKEND_HEADER)
/// Runs the parts of a parallel call one after another, last one first: their order must not matter. Real threads have a
/// file of their own.
struct backwards_hook {
    template <class Function>
    void operator()(int count, const Function& function) const {
        for (int i = count - 1; i >= 0; --i) function(i);
    }
};
#endif
template <class Attempt>
void each_executor(const Attempt& attempt) {
#if defined(SINTER_TEST_EXECUTOR)
    attempt(SINTER_TEST_EXECUTOR, "tested executor");
#else
    // One thread takes the same path as sinter::cpu, whose own instantiation would double compile time.
    const char* const names[] = {"", "cpu, 1 thread", "cpu, 2 threads", "cpu, 3 threads"};
    for (int threads = 1; threads <= 3; ++threads) attempt(si::cpu.parallel(backwards_hook{}, threads), names[threads]);
#endif
}

// ------------------------------------------------------------------------------------------------------------- comparison

/// Counts cases and faults of one test case; the first few faults are printed.
class tally {
public:
    explicit tally(const char* name) : name_(name) {}
    tally(const tally&) = delete;
    tally& operator=(const tally&) = delete;
    ~tally() {
        CAPTURE(name_);
        CAPTURE(cases);
        CHECK(cases > 0);
        CHECK(faults == 0);
    }
    /// `build` makes an assignment of views of the memories; all are compared afterwards.
    template <class Build, class... Memory>
    void same(const Build& build, Memory&&... memories) {
        const si::status wanted = si::try_run(si::reference, build(memories.reference_view()...));
        each_executor([&](const auto& executor, const char* executor_name) {
            ++cases;
            (memories.restore(), ...);
            const si::status got = si::try_run(executor, build(memories.tested_view()...));
            if (got.code() != wanted.code()) {
                complain(executor_name, "status", 0, int(wanted.code()), int(got.code()));
                return;
            }
            int operand = 0;
            (compare(executor_name, operand++, memories), ...);
        });
    }
    i64 cases = 0;
    i64 faults = 0;
    bool quiet = false;  ///< for the harness's own test, which makes faults on purpose

private:
    template <class Memory>
    void compare(const char* executor_name, int operand, Memory& memory) {
        i64 first = 0;
        u64 expected = 0, found = 0;
        if (memory.differences(first, expected, found) == 0) return;
        char what[200];
        const placement& at = memory.where();
        std::snprintf(what, sizeof what, "operand %d, sizes (%lld, %lld, %lld), strides (%lld, %lld, %lld), at element offset", operand,
                      size(at, 0), size(at, 1), size(at, 2), stride(at, 0), stride(at, 1), stride(at, 2));
        complain(executor_name, what, first, expected, found);
    }
    static long long size(const placement& at, int axis) { return axis < at.sizes.rank ? at.sizes.size[axis] : 1; }
    static long long stride(const placement& at, int axis) { return axis < at.sizes.rank ? at.stride[axis] : 0; }
    void complain(const char* executor_name, const char* what, i64 where, u64 expected, u64 found) {
        if (++faults <= 6 && !quiet)
            std::printf("%s: %s: %s %lld: expected %#llx, found %#llx\n", name_, executor_name, what, static_cast<long long>(where),
                        static_cast<unsigned long long>(expected), static_cast<unsigned long long>(found));
    }
    void complain(const char* executor_name, const char* what, i64 where, int expected, int found) {
        complain(executor_name, what, where, u64(expected), u64(found));
    }
    const char* name_;
};

// ------------------------------------------------------------------------------------------------------------------ grids

/// 0 to 65, 255 to 257 and 1000.
inline constexpr int length_count = 70;
constexpr i64 length(int index) { return index < 66 ? index : index < 69 ? 255 + index - 66 : 1000; }

template <class... Types>
struct types {};

/// From an operator (`fused`, or any callable on views) to the assignment of its values to the first `Outputs` views.
template <int Outputs, class Formula>
struct assigning {
    Formula formula;
    template <class... Views>
    auto operator()(Views... views) const {
        const si::pack<Views...> all{{{views}...}};
        return make(all, si::make_indices<Outputs>{}, si::make_indices<int(sizeof...(Views)) - Outputs>{});
    }
    template <class All, int... Out, int... In>
    auto make(const All& all, si::indices<Out...>, si::indices<In...>) const {
        if constexpr (Outputs == 1)
            return si::get<0>(all) = formula(si::get<In + Outputs>(all)...);
        else
            return si::tie(si::get<Out>(all)...) = formula(si::get<In + Outputs>(all)...);
    }
};
template <int Outputs, class Formula>
assigning<Outputs, Formula> assign_all(const Formula& formula) {
    return {formula};
}

using plane = si::extents<dyn, dyn>;
using line = si::extents<dyn>;

/// Layout of operand `k` in configuration `c`: the first ones give every operand the same, later ones mix them.
inline layout input_layout(int c, int k, int salt) {
    if (c < input_layouts) return layout(c);
    return layout((c * 3 + k * 7 + salt) % input_layouts);
}
inline layout output_layout(int c, int k, int salt) {
    if (c < input_layouts) return layout(c % output_layouts);
    return layout((c * 5 + k * 3 + salt) % output_layouts);
}
inline constexpr int configurations = 14;

/// The mix of values of a case: every kind comes by.
inline mix mix_of(int index) {
    const mix kinds[] = {mix::special, mix::anything, mix::plain, mix::tiny, mix::special};
    return kinds[index % 5];
}

namespace detail {
template <class... Out, class... In, int... OutIndex, int... InIndex, class Build>
void strided_cases(tally& all, types<Out...>, types<In...>, si::indices<OutIndex...>, si::indices<InIndex...>, const Build& build) {
    for (int l = 0; l < length_count; ++l)
        for (int c = 0; c < configurations; ++c) {
            const i64 n = length(l);
            if (n > 65 && c % 3 != l % 3) continue;
            const int form = (c / 2 + l) % 4;
            const shape sizes = form == 0   ? shape{2, {1, n}}
                                : form == 1 ? shape{2, {3, n}}
                                : form == 2 ? shape{2, {2, n}}
                                            : shape{2, {n, 2}};
            const u64 seed = u64(l * 100 + c);
            const mix how = mix_of(l + c);
            all.same(build,
                     memory<Out, plane>(place(sizes, output_layout(c, OutIndex, l)), mix::anything, seed + 10000 * (OutIndex + 1))...,
                     memory<In, plane>(place(sizes, input_layout(c, InIndex, l)), how, seed + 777 * (InIndex + 1))...);
        }
}
template <class... Out, class... In, int... OutIndex, int... InIndex, class Build>
void contiguous_cases(tally& all, types<Out...>, types<In...>, si::indices<OutIndex...>, si::indices<InIndex...>,
                      const Build& build) {
    for (int l = 0; l < length_count; ++l)
        for (int c = 0; c < 3; ++c) {
            const shape sizes{1, {length(l)}};
            const u64 seed = u64(l * 10 + c + 31337);
            // c = 0: all aligned; 1: none; 2: mixed.
            all.same(build,
                     memory<Out, line, si::row_major>(place(sizes, (c + (c == 2) * (OutIndex + l)) % 2 ? layout::offset : layout::contiguous),
                                                      mix::anything, seed + 10000 * (OutIndex + 1))...,
                     memory<In, line, si::row_major>(place(sizes, (c + (c == 2) * (InIndex + l)) % 2 ? layout::offset : layout::contiguous),
                                                     mix_of(l + c), seed + 777 * (InIndex + 1))...);
        }
}
}  // namespace detail

/// One kernel over dynamic strides in rank 2: every length, every layout. `formula(inputs...)` gives the values of all outputs.
template <class... Out, class... In, class Formula>
void strided_cases(tally& all, types<Out...> out, types<In...> in, const Formula& formula) {
    detail::strided_cases(all, out, in, si::make_indices<int(sizeof...(Out))>{}, si::make_indices<int(sizeof...(In))>{},
                          assign_all<int(sizeof...(Out))>(formula));
}
/// One kernel over contiguous views: every length, aligned or not.
template <class... Out, class... In, class Formula>
void contiguous_cases(tally& all, types<Out...> out, types<In...> in, const Formula& formula) {
    detail::contiguous_cases(all, out, in, si::make_indices<int(sizeof...(Out))>{}, si::make_indices<int(sizeof...(In))>{},
                             assign_all<int(sizeof...(Out))>(formula));
}
template <class... Out, class... In, class Formula>
void pointwise_cases(tally& all, types<Out...> out, types<In...> in, const Formula& formula) {
    strided_cases(all, out, in, formula);
    contiguous_cases(all, out, in, formula);
}

// ------------------------------------------------------------------------------------------------------------- reductions

inline constexpr int fold_length_count = 79;
constexpr i64 fold_length(int index) {
    const i64 longer[] = {1023, 1024, 1025, 2047, 2048, 3000, 4097, 9000, 130000};
    return index < length_count ? length(index) : longer[index - length_count];
}
/// Axes of a rank-3 input that are folded, as bits: 1 first, 2 middle, 4 last.
constexpr shape fold_shape(int folded, i64 n, int variant) {
    const i64 kept_sizes[] = {3, 1, 2, 17, 5, 33, 1, 8, 64, 2, 65, 4};
    shape out{3, {1, 1, 1}};
    const bool large = n > 2100;
    int kept = variant;
    // The long axis is the last folded one, in every third variant the first folded one.
    const int last = folded & 4 ? 2 : folded & 2 ? 1 : 0, first = folded & 1 ? 0 : folded & 2 ? 1 : 2;
    const int long_axis = variant % 3 == 2 ? first : last;
    for (int i = 0; i < 3; ++i) {
        if (folded >> i & 1)
            out.size[i] = i == long_axis ? n : large ? 1 + variant % 2 : 1 + (variant + i) % 3;
        else
            out.size[i] = large ? 1 + (kept++ % 3) : i == 2 ? kept_sizes[kept++ % 12] : kept_sizes[kept++ % 3];
    }
    return out;
}
template <int Folded>
using kept_extents = si::extents<(Folded & 1) != 0 ? 1 : dyn, (Folded & 2) != 0 ? 1 : dyn, (Folded & 4) != 0 ? 1 : dyn>;
template <int Folded>
struct axes_of_mask;
// clang-format off
template <> struct axes_of_mask<1> { using type = si::axes_t<0>; using dropped = si::extents<dyn, dyn>; };
template <> struct axes_of_mask<2> { using type = si::axes_t<1>; using dropped = si::extents<dyn, dyn>; };
template <> struct axes_of_mask<3> { using type = si::axes_t<0, 1>; using dropped = si::extents<dyn>; };
template <> struct axes_of_mask<4> { using type = si::axes_t<-1>; using dropped = si::extents<dyn, dyn>; };
template <> struct axes_of_mask<5> { using type = si::axes_t<0, -1>; using dropped = si::extents<dyn>; };
template <> struct axes_of_mask<6> { using type = si::axes_t<1, 2>; using dropped = si::extents<dyn>; };
template <> struct axes_of_mask<7> { using type = si::axes_t<0, 1, 2>; using dropped = si::extents<>; };
// clang-format on

enum class result { kept, dropped, whole };
inline shape result_shape(const shape& from, int folded, result form) {
    if (form == result::whole) return from;
    bool reduced[si::max_rank]{};
    for (int i = 0; i < 3; ++i) reduced[i] = (folded >> i & 1) != 0;
    return si::reduce_axes(from, reduced, form == result::kept);
}
template <int Folded, result Form>
struct result_extents {
    using type = kept_extents<Folded>;
};
template <int Folded>
struct result_extents<Folded, result::dropped> {
    using type = typename axes_of_mask<Folded>::dropped;
};
template <int Folded>
struct result_extents<Folded, result::whole> {
    using type = si::extents<dyn, dyn, dyn>;
};
/// An output of a reduction grid: its element type and whether it has the folded shape or the whole one.
template <class Type, result Form>
struct output {};
template <class Type>
using kept = output<Type, result::kept>;
template <class Type>
using dropped = output<Type, result::dropped>;
template <class Type>
using whole = output<Type, result::whole>;

namespace detail {
template <int Folded, class... Out, result... Form, class... In, int... OutIndex, int... InIndex, class Build>
void fold_cases(tally& all, types<output<Out, Form>...>, types<In...>, si::indices<OutIndex...>, si::indices<InIndex...>,
                const Build& build, i64 longest) {
    using cube = si::extents<dyn, dyn, dyn>;
    for (int l = 0; l < fold_length_count; ++l) {
        const i64 n = fold_length(l);
        if (n > longest) continue;
        for (int c = 0; c < configurations; ++c) {
            if (n > 65 && c % 3 != l % 3) continue;
            if (n > 2100 && c > 8) continue;
            const shape sizes = fold_shape(Folded, n, c + l);
            const u64 seed = u64(l * 100 + c);
            const mix kinds[] = {mix::plain, mix::sprinkled, mix::tiny, mix::plain, mix::special};
            const mix how = kinds[(c + l) % 5];
            all.same(build,
                     memory<Out, typename result_extents<Folded, Form>::type>(
                         place(result_shape(sizes, Folded, Form), output_layout(c, OutIndex, l)), mix::anything,
                         seed + 10000 * (OutIndex + 1))...,
                     memory<In, cube>(place(sizes, input_layout(c, InIndex, l)), how, seed + 777 * (InIndex + 1))...);
        }
    }
}
}  // namespace detail
/// One kernel over dynamic strides in rank 3 that folds the axes of the mask `Folded`.
template <int Folded, class... Out, result... Form, class... In, class Formula>
void fold_cases(tally& all, types<output<Out, Form>...> out, types<In...> in, const Formula& formula, i64 longest = 130000) {
    detail::fold_cases<Folded>(all, out, in, si::make_indices<int(sizeof...(Out))>{}, si::make_indices<int(sizeof...(In))>{},
                               assign_all<int(sizeof...(Out))>(formula), longest);
}

}  // namespace harness
