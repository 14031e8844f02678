// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU lanes against the scalar lane: every primitive and every operator of lane.hpp, for every element type, on a table
// of special values crossed with itself and on random bits. Equal bits, where any NaN equals any NaN. Built once per
// instruction set; SINTER_TEST_WIDTH (default: one and two registers of f32) narrows it to one width.
#include <sinter/backend/cpu_lane.hpp>
#include <sinter/ops/cast.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>
#include <type_traits>

#include <sys/mman.h>
#include <unistd.h>

namespace {

namespace lane = sinter::lane;
namespace cpu = sinter::backend::SINTER_ISA;
// With an explicit template argument a call needs a template of that name in sight; the lane's own comes by its argument.
using lane::convert;
using lane::convert_wrap;
using lane::exchange;
using lane::from_bits;
using lane::mul_short;
using lane::shift_left;
using lane::shift_right;
using sinter::bf16;
using sinter::f16;
using sinter::i16;
using sinter::i32;
using sinter::i64;
using sinter::i8;
using sinter::u16;
using sinter::u32;
using sinter::u64;
using sinter::u8;

// ---- values ---------------------------------------------------------------------------------------------------------------------

u64 random_bits() {  // xorshift*
    static u64 state = 0x9e3779b97f4a7c15u;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

constexpr int table_size = 128;

template <class Type>
struct table {
    alignas(64) Type values[table_size];
    int used = 0;

    void put(Type value) { values[used++] = value; }
    void put_bits(u64 bits) {
        Type value;
        std::memcpy(&value, &bits, sizeof value);
        put(value);
    }
    table() {
        if constexpr (lane::is_float_element<Type>) {
            constexpr bool single = sizeof(Type) == 4;
            for (const double value : {0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 0.1, 100.7, 127.0, 127.5, 128.0, 255.0, 255.9,
                                       256.0, 32767.5, 32768.0, 65504.0, 65519.0, 65520.0, 65535.5, 65536.0, 0x1p-14, 0x1.ffcp-15,
                                       0x1p-24, 0x1p-25, 0x1.8p-25, 8388607.5, 0x1p23, 0x1p24, 2147483520.0, 0x1p31, 4294967040.0,
                                       0x1p32, 0x1p62, 0x1p63, 0x1p64, 1e30}) {
                put(static_cast<Type>(value));
                put(static_cast<Type>(-value));
            }
            for (const u64 sign : {u64{0}, u64{1}}) {
                const int top = 8 * int(sizeof(Type)) - 1;
                const u64 infinity = single ? 0x7f800000u : 0x7ff0000000000000u;
                for (const u64 bits : {infinity, infinity + 1, infinity + (infinity >> 9), infinity - 1, u64{1}, u64{2},
                                       single ? u64{0x007fffff} : u64{0x000fffffffffffff},
                                       single ? u64{0x00800000} : u64{0x0010000000000000},
                                       single ? u64{0x3f7fffff} : u64{0x41dfffffffc00000}}) {
                    put_bits(bits | sign << top);
                }
            }
        } else if constexpr (std::is_same_v<Type, bool>) {
            put(false), put(true), put(true), put(false), put(false);
        } else {
            for (const i64 value : {0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 200, 255, 256, 1000, 32767,
                                    32768, 65535, 65536, 0x7ffffffe, 0x7fffffff}) {
                put(static_cast<Type>(value));
                put(static_cast<Type>(-value));
            }
            for (const u64 value : {u64{0x80000000u}, u64{0xffffffffu}, u64{1} << 63, ~u64{0} >> 1, (u64{1} << 53) + 1,
                                    (u64{1} << 24) + 1, (u64{1} << 40) + (u64{1} << 16),
                                    0xffffff7fffffffffu, 0xffffff8000000001u}) {
                put(static_cast<Type>(value));
            }
        }
        while (used < table_size) {
            if constexpr (std::is_same_v<Type, bool>) {
                put((random_bits() & 1024) != 0);
            } else if (lane::is_float_element<Type> && used % 2 == 0) {
                put(static_cast<Type>(static_cast<double>(static_cast<i64>(random_bits())) * 0x1p-40));  // of ordinary size
            } else {
                put_bits(random_bits());
            }
        }
    }
};

template <class Type>
const table<Type>& values() {
    static const table<Type> all;
    return all;
}

template <class Type>
u64 bits_of(Type value) {
    u64 bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
/// By bits, since flags may say that there is no NaN.
template <class Type>
bool same(Type one, Type two) {
    const u64 left = bits_of(one), right = bits_of(two);
    if (std::is_same_v<Type, float> && (left & 0x7fffffff) > 0x7f800000 && (right & 0x7fffffff) > 0x7f800000) return true;
    if (std::is_same_v<Type, double> && left << 1 > u64{0x7ff} << 53 && right << 1 > u64{0x7ff} << 53) return true;
    if (std::is_same_v<Type, f16> && (left & 0x7fff) > 0x7c00 && (right & 0x7fff) > 0x7c00) return true;
    if (std::is_same_v<Type, bf16> && (left & 0x7fff) > 0x7f80 && (right & 0x7fff) > 0x7f80) return true;
    return left == right;
}

// ---- comparisons of one function ------------------------------------------------------------------------------------------------
// Each function is compiled twice, over a vec and over a scalar, as a small piece of code between memory and memory; the
// loops that call the pieces are compiled once. Functions take three operands and may ignore some.

using piece = void (*)(const void*, const void*, const void*, void*);

template <class Value, class Function>
void apply(const void* x, const void* y, const void* z, void* out) {
    using Type = typename Value::element;
    const auto load = [](const void* from) { return Value::load(static_cast<const Type*>(from)); };
    const auto result = Function{}(load(x), load(y), load(z));
    store(static_cast<typename decltype(result)::element*>(out), result);
}

struct operation {
    const char* name;
    piece vector, scalar;
    int size, result_size;
    bool (*same)(const void*, const void*);
};

template <class Type>
bool same_at(const void* one, const void* two) {
    return same(*static_cast<const Type*>(one), *static_cast<const Type*>(two));
}

template <class Type, int Width, class Function>
operation make(const char* name, Function) {
    using Result = typename decltype(Function{}(lane::scalar<Type>{}, lane::scalar<Type>{}, lane::scalar<Type>{}))::element;
    return {name, apply<cpu::vec<Type, Width>, Function>, apply<lane::scalar<Type>, Function>, int(sizeof(Type)),
            int(sizeof(Result)), same_at<Result>};
}

[[gnu::noinline]] void report(const char* name, int width, u64 x, u64 y, u64 z, u64 got, u64 expected) {
    MESSAGE(doctest::String(name) << " width " << width << ": of " << x << ", " << y << ", " << z << " is " << got << ", not " << expected);
    CHECK(got == expected);
}

u64 read(const void* from, int size) {
    u64 bits = 0;
    std::memcpy(&bits, from, std::size_t(size));
    return bits;
}

constexpr int largest = 64 * 8;  // bytes of operands or results

/// One step, compared with the scalar lane on each element.
bool step(const operation& one, int width, const char* x, const char* y, const char* z) {
    alignas(64) char got[largest], expected[8];
    one.vector(x, y, z, got);
    for (int at = 0; at < width; ++at) {
        const int place = at * one.size;
        one.scalar(x + place, y + place, z + place, expected);
        if (!one.same(got + at * one.result_size, expected)) {
            report(one.name, width, read(x + place, one.size), read(y + place, one.size), read(z + place, one.size),
                   read(got + at * one.result_size, one.result_size), read(expected, one.result_size));
            return false;
        }
    }
    return true;
}

/// Every element; with two operands every pair; with three, every pair with several third ones.
void sweep(const operation& one, int arity, int width, const void* table) {
    const char* all = static_cast<const char*>(table);
    alignas(64) char repeated[largest], third[largest];
    const auto fill = [&](char* to, int index) {
        for (int at = 0; at < width; ++at) std::memcpy(to + at * one.size, all + index * one.size, std::size_t(one.size));
    };
    int thirds = 0;
    for (int z = 0; z < (arity == 3 ? table_size : 1); z += 3) {
        fill(third, z);
        for (int x = 0; x < (arity > 1 ? table_size : 1); x += arity == 3 ? 1 + thirds % 5 : 1) {
            fill(repeated, x);
            for (int y = 0; y + width <= table_size; y += width) {
                const char* moving = all + y * one.size;
                // A unary function reads its first operand.
                if (!step(one, width, arity > 1 ? repeated : moving, moving, third)) return;
            }
        }
        ++thirds;
    }
    CHECK(true);
}

#define FUNCTION(...) [](auto x, [[maybe_unused]] auto y, [[maybe_unused]] auto z) { return __VA_ARGS__; }
#define UNARY(name, ...) sweep(make<Type, Width>(name, FUNCTION(__VA_ARGS__)), 1, Width, values<Type>().values)
#define BINARY(name, ...) sweep(make<Type, Width>(name, FUNCTION(__VA_ARGS__)), 2, Width, values<Type>().values)
#define TERNARY(name, ...) sweep(make<Type, Width>(name, FUNCTION(__VA_ARGS__)), 3, Width, values<Type>().values)

/// All lanes of `got` against the scalar lane's elements.
template <class Value, class Expected>
void compare(const char* name, Value got, const Expected& expected, u64 context) {
    using Type = typename Value::element;
    Type elements[Value::width];
    store(elements, got);
    for (int at = 0; at < Value::width; ++at) {
        const Type wanted = expected(at).value;
        if (!same(elements[at], wanted)) {
            report(name, Value::width, context + u64(at), 0, 0, bits_of(elements[at]), bits_of(wanted));
            return;
        }
    }
}

// ---- every element type ---------------------------------------------------------------------------------------------------------

template <class Type, int Width>
void check_memory() {
    using Value = cpu::vec<Type, Width>;
    const Type* all = values<Type>().values;
    static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_default_constructible_v<Value>);
    static_assert(std::is_same_v<typename Value::mask, typename Value::template rebind<bool>>);

    Type out[3 * Width + 2] = {};
    const auto clear = [&] { std::memset(out, 1, sizeof out); };
    Type untouched;
    std::memset(&untouched, 1, sizeof untouched);

    CHECK(bits_of(first(Value::load(all + 1))) == bits_of(all[1]));
    CHECK(bits_of(first(Value(all[1]))) == bits_of(all[1]));
    for (int offset = 0; offset < 3; ++offset) {
        clear();
        store(out + offset, lane::load<Value>(all + 1 + offset));
        for (int at = 0; at < Width; ++at) CHECK(bits_of(out[offset + at]) == bits_of(all[1 + offset + at]));
        CHECK(bits_of(out[offset + Width]) == bits_of(untouched));
    }
    for (const i64 stride : {i64{1}, i64{2}, i64{-1}, i64{0}, i64{3}}) {
        if (stride > 0 && (Width - 1) * stride + 1 > table_size) continue;
        const Type* base = stride < 0 ? all + Width : all;
        Type* target = stride < 0 ? out + Width : out;
        clear();
        store(out, lane::load_strided<Value>(base, stride));
        for (int at = 0; at < Width; ++at) CHECK(bits_of(out[at]) == bits_of(base[at * stride]));
        if (stride != 0) {
            clear();
            store_strided(target, Value::load(all), stride);
            for (int at = 0; at < Width; ++at) CHECK(bits_of(target[at * stride]) == bits_of(all[at]));
        }
        for (int count = 0; count <= Width; ++count) {
            clear();
            store(out, lane::load_first<Value>(base, count, stride));
            for (int at = 0; at < Width; ++at) CHECK(bits_of(out[at]) == (at < count ? bits_of(base[at * stride]) : 0));
            if (stride != 0) {
                clear();
                store_first(target, Value::load(all), count, stride);
                for (int at = 0; at < Width; ++at) CHECK(bits_of(target[at * stride]) == bits_of(at < count ? all[at] : untouched));
                if (stride == 1) CHECK(bits_of(out[Width]) == bits_of(untouched));
            }
        }
    }

    // A page that may not be touched follows.
    const long page = sysconf(_SC_PAGESIZE);
    char* pages = static_cast<char*>(
        mmap(nullptr, std::size_t(2 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(mprotect(pages + page, std::size_t(page), PROT_NONE) == 0);
    for (int count = 0; count <= Width; ++count) {
        Type* end = reinterpret_cast<Type*>(pages + page) - count;
        store_first(end, Value::load(all), count, 1);
        store(out, lane::load_first<Value>(end, count, 1));
        for (int at = 0; at < count; ++at) CHECK(bits_of(out[at]) == bits_of(all[at]));
        if (count == Width) store(end, Value::load(end));
    }
    munmap(pages, std::size_t(2 * page));
}

template <class Type, int Width, int Stride>
void check_exchange() {
    if constexpr (Stride < Width) {
        const Type* all = values<Type>().values;
        compare("exchange", exchange<Stride>(cpu::vec<Type, Width>::load(all)),
                [&](int at) { return lane::scalar<Type>(all[at ^ Stride]); }, 0);
        check_exchange<Type, Width, 2 * Stride>();
    }
}

template <class To, class Type, int Width>
void check_conversion() {
    UNARY("convert", convert<To>(x));
    UNARY("convert_wrap", convert_wrap<To>(x));
}

template <class Type, int Width>
void check_all_types() {
    check_memory<Type, Width>();
    check_exchange<Type, Width, 1>();
    BINARY("equal", x == y);
    BINARY("less", x < y);
    BINARY("less_equal", x <= y);
    BINARY("not equal", x != y);
    BINARY("min_raw", min_raw(x, y));
    BINARY("max_raw", max_raw(x, y));
    BINARY("minimum", minimum(x, y));
    BINARY("maximum", maximum(x, y));
    BINARY("select", select(x < y, y, x));
    BINARY("select by a mask", select(x < y, x == x, y < y));
    check_conversion<bool, Type, Width>();
    check_conversion<i8, Type, Width>();
    check_conversion<u8, Type, Width>();
    check_conversion<i16, Type, Width>();
    check_conversion<u16, Type, Width>();
    check_conversion<i32, Type, Width>();
    check_conversion<u32, Type, Width>();
    check_conversion<i64, Type, Width>();
    check_conversion<u64, Type, Width>();
    check_conversion<float, Type, Width>();
    check_conversion<double, Type, Width>();
}

template <class Type, int Width>
void check_numbers() {
    BINARY("+", x + y);
    BINARY("-", x - y);
    BINARY("*", x * y);
    BINARY("/", x / y);
    UNARY("neg", -x);
    UNARY("abs", abs(x));
    UNARY("sign", sign(x));
    UNARY("bits", from_bits<Type>(bits(x)));
    UNARY("bits", bits(x));
    compare("iota", lane::iota<cpu::vec<Type, Width>>(), [](int at) { return lane::scalar<Type>(sinter::convert<Type>(at)); }, 0);
}

// ---- integers, masks, floats ----------------------------------------------------------------------------------------------------

template <class Type, int Width>
void check_integer() {
    check_all_types<Type, Width>();
    check_numbers<Type, Width>();
    BINARY("%", x % y);
    BINARY("&", x & y);
    BINARY("|", x | y);
    BINARY("^", x ^ y);
    UNARY("~", ~x);
    BINARY("<<", x << y);
    BINARY(">>", x >> y);
    UNARY("shift_left", shift_left<3>(x));
    UNARY("shift_right", shift_right<5>(x));
    UNARY("shift_right", shift_right<8 * int(sizeof(Type)) - 1>(x));
    BINARY("chain", (x + y) * (x - y) + x / (y + y));  // wraps at each step
}

template <int Width>
void check_mask() {
    using Type = bool;
    using Mask = cpu::vec<bool, Width>;
    check_all_types<bool, Width>();
    BINARY("&", x & y);
    BINARY("|", x | y);
    BINARY("^", x ^ y);
    UNARY("!", !x);
    for (int at = 0; at < Width; ++at) {
        bool one[Width] = {}, others[Width];
        one[at] = true;
        for (int other = 0; other < Width; ++other) others[other] = other != at;
        CHECK(any(Mask::load(one)));
        CHECK(!all(Mask::load(one)));
        CHECK(any(Mask::load(others)));
        CHECK(!all(Mask::load(others)));
        CHECK(!any(!(Mask::load(one) | Mask::load(others))));
    }
    CHECK(all(Mask(true)));
    CHECK(any(Mask(true)));
    CHECK(!any(Mask(false)));
    CHECK(!all(Mask(false)));
    CHECK(all(!Mask(false)));
    // Any byte but 0 is true.
    unsigned char bytes[Width];
    for (int at = 0; at < Width; ++at) bytes[at] = static_cast<unsigned char>(at % 3 == 0 ? 0 : 255 - at);
    compare("mask bytes", Mask::load(reinterpret_cast<const bool*>(bytes)),
            [](int at) { return lane::scalar<bool>(at % 3 != 0); }, 0);
}

template <class Type, int Width>
void check_float() {
    check_all_types<Type, Width>();
    check_numbers<Type, Width>();
    UNARY("sqrt", sqrt(x));
    UNARY("round_even", round_even(x));
    UNARY("floor", floor(x));
    UNARY("ceil", ceil(x));
    UNARY("trunc", trunc(x));
    UNARY("is_nan", is_nan(x));
    UNARY("is_inf", is_inf(x));
    UNARY("is_finite", is_finite(x));
    UNARY("sign_bit", sign_bit(x));
    BINARY("copysign", copysign(x, y));
    BINARY("fmin", fmin(x, y));
    BINARY("fmax", fmax(x, y));
    BINARY("product and sum", x * y + x);  // two roundings
    BINARY("sum and difference", (x + y) - y);
    BINARY("constant", x * Type(0) + y * Type(1) - x * Type(0.1));
    BINARY("quotient", x / y * y);
    TERNARY("fma", fma(x, y, z));
    TERNARY("fma, cancelled", fma(x, y, -(x * y)));
    TERNARY("fms", fms(x, y, z));
    TERNARY("fms, what a product lost", fms(x, y, x * y));
    BINARY("fma, halfway", fma(x, y, x * y * decltype(x)(Type(0x1p24))));
    UNARY("fma by a constant", fma(x, decltype(x)(Type(1)), x));
    UNARY("fma of constants", fma(x, decltype(x)(Type(0)), decltype(x)(Type(-0.0))));
}

/// Every code, and every f32 that may round to it: the codes' values, what lies halfway, and its neighbours.
template <class Storage, int Width>
void check_half() {
    using Value = cpu::vec<float, Width>;
    Storage codes[Width], back[Width];
    float floats[Width], rounded[Width];
    for (u32 code = 0; code < 0x10000; code += Width) {
        for (int at = 0; at < Width; ++at) codes[at] = Storage::from_bits(static_cast<u16>(code + u32(at)));
        compare("load half", lane::load<Value>(codes),
                [&](int at) { return lane::scalar<float>(sinter::convert<float>(codes[at])); }, code);
        for (const u32 shift : {0u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) {
            for (int at = 0; at < Width; ++at) {
                const u32 bits = __builtin_bit_cast(u32, sinter::convert<float>(codes[at])) + shift;
                floats[at] = __builtin_bit_cast(float, bits);
            }
            store(back, Value::load(floats));
            store(rounded, lane::round_to_storage<Storage>(Value::load(floats)));
            for (int at = 0; at < Width; ++at) {
                const Storage wanted = sinter::convert<Storage>(floats[at]);
                const float kept = sinter::convert<float>(wanted);
                if (!same(back[at], wanted)) report("store half", Width, bits_of(floats[at]), 0, 0, back[at].bits, wanted.bits);
                if (!same(rounded[at], kept)) report("round to half", Width, bits_of(floats[at]), 0, 0, bits_of(rounded[at]), bits_of(kept));
            }
        }
    }
    const float* all = values<float>().values;
    for (int from = 0; from + Width <= table_size; from += Width) {
        store(back, Value::load(all + from));
        for (int at = 0; at < Width; ++at) {
            const Storage wanted = sinter::convert<Storage>(all[from + at]);
            if (!same(back[at], wanted)) report("store half", Width, bits_of(all[from + at]), 0, 0, back[at].bits, wanted.bits);
        }
    }
    for (int count = 0; count <= Width; ++count) {
        Storage few[Width + 1];
        for (Storage& one : few) one = Storage::from_bits(0x1234);
        store_first(few, Value::load(all), count, 1);
        for (int at = 0; at <= Width; ++at) {
            CHECK(same(few[at], at < count ? sinter::convert<Storage>(all[at]) : Storage::from_bits(0x1234)));
        }
        compare("load_first half", lane::load_first<Value>(few, count, 1),
                [&](int at) { return lane::scalar<float>(at < count ? sinter::convert<float>(few[at]) : 0.0f); }, u64(count));
    }
}

#if defined(SINTER_TEST_WIDTH)
constexpr int width = SINTER_TEST_WIDTH;
#else
constexpr int width = cpu::native_width;
TEST_CASE("cpu lane: f32, two registers") { check_float<float, 2 * width>(); }
TEST_CASE("cpu lane: u8, two registers") { check_integer<u8, 2 * width>(); }
TEST_CASE("cpu lane: masks, two registers") { check_mask<2 * width>(); }
#endif
template <bool LeftCounts, int Width>
void check_short_products() {
    using value = cpu::vec<i32, Width>;
    const i32 special[] = {0, 1, -1, 2, 127, -128, 255, -255, 256, 32767, -32768, 12345, -12345, 181, -181, 32766};
    for (int round = 0; round < 2000; ++round) {
        i32 left[Width], right[Width];
        for (int i = 0; i < Width; ++i) {
            const u64 bits = random_bits();
            left[i] = round < 256 ? special[round / 16] : i32(bits & 0xffff) - 32768;
            right[i] = round < 256 ? special[(round + i) % 16] : i32(bits >> 16 & 0xffff) - 32768;
            if (LeftCounts && left[i] < 0) left[i] = -(left[i] + 1);
        }
        i32 result[Width];
        const value product = mul_short<LeftCounts>(lane::load<value>(left), lane::load<value>(right));
        store(result, product);
        for (int i = 0; i < Width; ++i) {
            CHECK(result[i] == left[i] * right[i]);
            CHECK(mul_short<LeftCounts>(lane::scalar<i32>(left[i]), lane::scalar<i32>(right[i])).value == left[i] * right[i]);
        }
    }
}
TEST_CASE("cpu lane: products of 16-bit numbers") {
    check_short_products<false, width>();
    check_short_products<true, width>();
    check_short_products<false, 2 * width>();
    check_short_products<true, 2 * width>();
}
TEST_CASE("cpu lane: bool") { check_mask<width>(); }
TEST_CASE("cpu lane: i8") { check_integer<i8, width>(); }
TEST_CASE("cpu lane: u8") { check_integer<u8, width>(); }
TEST_CASE("cpu lane: i16") { check_integer<i16, width>(); }
TEST_CASE("cpu lane: u16") { check_integer<u16, width>(); }
TEST_CASE("cpu lane: i32") { check_integer<i32, width>(); }
TEST_CASE("cpu lane: u32") { check_integer<u32, width>(); }
TEST_CASE("cpu lane: i64") { check_integer<i64, width>(); }
TEST_CASE("cpu lane: u64") { check_integer<u64, width>(); }
TEST_CASE("cpu lane: f32") { check_float<float, width>(); }
TEST_CASE("cpu lane: f64") { check_float<double, width>(); }
TEST_CASE("cpu lane: f16") { check_half<f16, width>(); }
TEST_CASE("cpu lane: bf16") { check_half<bf16, width>(); }

}  // namespace
