// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mistakes that only a run can see: each gives its status, and nothing is written. Prints what differs; silent when all is well.
// [SINTER-R007] comes from devices: here only its text is asked for.
#include <sinter/sinter.hpp>

#include <cstdio>
#include <cstring>

namespace si = sinter;

namespace {
int wrong = 0;

void expect(const char* code, const si::status& got) {
    if (std::strncmp(got.message() + 1, code, std::strlen(code)) == 0 && !got.ok()) return;
    std::printf("expected %s, got %s\n", code, got.message());
    ++wrong;
}
/// What the sentence ends with.
void expect_words(const char* words, const si::status& got) {
    const auto sentence = si::describe(got);
    const int length = int(std::strlen(words));
    if (sentence.length() >= length && std::strcmp(sentence.c_str() + sentence.length() - length, words) == 0) return;
    std::printf("expected '... %s', got '%s'\n", words, sentence.c_str());
    ++wrong;
}
}  // namespace

int main() {
    using vector = si::tensor_view<float, si::extents<si::dyn>>;
    float memory[8] = {1, 2, 3, 4, 5, 6, 7, 8}, result[8] = {};
    {
        // [size_mismatch]
        const vector x(memory, 3), b(memory, 4), y(result, 3);
        const si::status said = si::try_run(si::reference, y = x + b);
        // [/size_mismatch]
        expect("SINTER-R001", said);
        // Operands count on through the outputs: the sentence says when it is one of those.
        const vector small(result, 2);
        const si::status second = si::try_run(si::reference, y = x * 2.0f, small = x + 1.0f);
        if (second.operand < 0 || std::strstr(si::describe(second).c_str(), "(output 1)") == nullptr || std::strstr(si::describe(said).c_str(), "(output") != nullptr) {
            std::printf("R001 doesn't say that it is the output: %s\n", si::describe(second).c_str());
            ++wrong;
        }
    }
    {
        int numbers[1] = {}, largest[1] = {};
        // [empty_reduction]
        const si::tensor_view<int, si::extents<si::dyn>> n(numbers, 0);
        const si::tensor_view<int, si::extents<>> top(largest);
        const si::status said = si::try_run(si::reference, top = max(n));
        // [/empty_reduction]
        expect("SINTER-R002", said);
    }
    {
        // [overlap]
        const vector x(memory, 7), y(memory + 1, 7);
        const si::status said = si::try_run(si::reference, y = x * 2.0f);
        // [/overlap]
        expect("SINTER-R003", said);
    }
    {
        // [null_pointer]
        const vector x(nullptr, 3), y(result, 3);
        const si::status said = si::try_run(si::reference, y = x * 2.0f);
        // [/null_pointer]
        expect("SINTER-R004", said);
    }
    {
        // [bad_view]
        const vector x(memory, 8), y(result, 4);
        const si::status said = si::try_run(si::reference, y = si::slice<0>(x, 6, 10) * 2.0f);
        // [/bad_view]
        expect("SINTER-R005", said);
        // A slice says which bound of how many elements, also through other maps of it; which of them is an operand.
        const auto expect_bound = [](const si::status& got, int operand, int axis, si::i64 elements, si::i64 bound, const char* text) {
            expect("SINTER-R005", got);
            if (got.operand == operand && got.axis == axis && got.expected == elements && got.found == bound && std::strstr(si::describe(got).c_str(), text)) return;
            std::printf("R005 doesn't say which slice: %s\n", si::describe(got).c_str());
            ++wrong;
        };
        expect_bound(said, 0, 0, 8, 10, "Operand 0, axis 0 of 8 elements: the slice's bound 10 lies outside");
        expect_bound(si::try_run(si::reference, y = vector(memory, 4) + si::slice<0>(x, -9, 3)), 1, 0, 8, -9, "bound -9");
        expect_bound(si::try_run(si::reference, y = si::slice<0>(x, 6, 2) * 2.0f), 0, 0, 8, 2, "its stop before its start");
        expect_bound(si::try_run(si::reference, y = si::slice<0>(x, 2, 6, -1) * 2.0f), 0, 0, 8, 6, "bound 6");
        expect_bound(si::try_run(si::reference, y = si::slice<0>(x, 8, si::end, -1) * 2.0f), 0, 0, 8, 8, "bound 8");
        expect_bound(si::try_run(si::reference, si::slice<0>(x, 5, 9) = y * 2.0f), 2, 0, 8, 9, "(output 0), axis 0 of 8 elements");
        const si::tensor_view<float, si::extents<si::dyn, 4>> m(memory, 2);
        const auto z = si::view(result, si::extents<si::dyn, si::dyn>(2, 2));
        expect_bound(si::try_run(si::reference, z = si::slice<1>(si::slice<0>(m, 1, 3), 0, 2) * 2.0f), 0, 0, 2, 3, "bound 3");
        expect_bound(si::try_run(si::reference, z = si::slice<0>(si::slice<1>(m, 3, 5), 0, 2) * 2.0f), 0, 1, 4, 5, "bound 5");
        expect_bound(si::try_run(si::reference, z = si::flip<1>(si::transpose(si::slice<1>(m, 3, 5))) * 2.0f), 0, 0, 4, 5, "bound 5");
        expect("SINTER-R005", si::try_run(si::reference, y = si::slice<0, 0, 4>(si::slice<0>(x, 6, 10)) * 2.0f));
        expect("SINTER-R005", si::try_run(si::reference, y = si::slice<0>(si::slice<0>(x, 6, 10), 0, 0) * 2.0f));
        expect("SINTER-R005", si::try_run(si::reference, y = si::slice<0>(x, 0, 4, 0) * 2.0f));
        const si::status negative = si::try_run(si::reference, vector(result, -3) = x * 2.0f);
        if (std::strstr(si::describe(negative).c_str(), "(output 0), axis 0: its size is -3.") == nullptr) expect("a negative size", negative);
        const si::status no_step = si::try_run(si::reference, y = si::slice<0>(x, 0, 4, 0) * 2.0f);  // no numbers that stand for something else
        if (std::strstr(si::describe(no_step).c_str(), "first). Operand 0.") == nullptr) expect("a step of 0", no_step);
        expect("SINTER-R005", si::try_run(si::reference, si::view(result, si::extents<4>{}) = si::reshape<4>(si::slice<0>(x, 6, 10)) * 2.0f));
        try {
            const auto all = eval(si::reference, si::slice<0>(x, 6, 10) * 2.0f);
            expect("SINTER-R005", si::status{});
        } catch (const si::run_error& error) {
            expect_bound(error.get_status(), 0, 0, 8, 10, "bound 10");
        }
        // All sizes in the type: the view has no size to remember it by. Gaps that a reshape can't cross; a count that isn't the one.
        const auto gaps = si::view(memory, si::extents<2, 2>{}, {4, 1});
        const auto four = si::view(result, si::extents<4>{});
        expect("SINTER-R005", si::try_run(si::reference, four = si::reshape(gaps, si::extents<4>{}) * 2.0f));
        expect("SINTER-R005", si::try_run(si::reference, si::reshape(gaps, si::extents<4>{}) = four * 2.0f));
        expect("SINTER-R005", si::try_run(si::reference, four = si::reshape<4>(vector(memory, 5)) * 2.0f));
        expect("SINTER-R005", si::try_run(si::reference, four = si::flip<0>(si::reshape(gaps, si::extents<4>{})) * 2.0f));
    }
    {
        const si::tensor_view<float, si::extents<1>> x(memory);
        try {
            // [out_of_memory]
            const auto all = eval(si::reference, si::expand<si::i64(1) << 50>(x) * 2.0f);
            // [/out_of_memory]
            expect("SINTER-R008", si::status{});
        } catch (const si::run_error& error) {
            expect("SINTER-R008", error.get_status());
        }
        // The reference stores coordinates, whose bytes may fit no 64 bits.
        using huge = si::extents<(si::i64(1) << 61)>;
        const auto one = si::view(memory, si::extents<1>{});
        expect("SINTER-R008", si::try_run(si::reference, one = si::cast<float>(si::slice<0, 5, 6>(si::iota<0>(huge{})))));
    }
    {
        signed char codes[4]{};
        const si::tensor_view<signed char, si::extents<4>> q(codes);
        const si::tensor_view<const float, si::extents<4>> x(memory);
        float scales[4] = {0.5f, 0.25f, 0.0f, 1.0f};
        // [bad_scale]
        const auto y = si::quantized(q, si::axes<0>, si::tensor_view<float, si::extents<4>>(scales));  // one of them is 0
        const si::status said = si::try_run(si::reference, y = x * 2.0f);
        // [/bad_scale]
        expect("SINTER-R010", said);
        expect_words("Operand 2, a scale: element 2.", said);  // x, 2.0f, the scales
        expect("SINTER-R010", si::try_run(si::reference, q = si::quantize<si::i8>(x, -1.0f)));
        expect("SINTER-R010", si::try_run(si::reference, q = si::quantize<si::i8>(x, 1.0f / (memory[1] - 2.0f))));
        expect("SINTER-R010", si::try_run(si::reference, q = si::quantize<si::i8>(x, 1.0f, 128)));
        expect("SINTER-R010", si::try_run(si::reference, q = si::quantize<si::i8>(x, 1.0f, si::i64(1) << 32)));
        unsigned char zeros[4] = {0, 1, 2, 200};  // bytes, and the last one no code of i8
        expect("SINTER-R010", si::try_run(si::reference, q = si::quantize<si::i8>(x, 1.0f, si::view(zeros))));
        expect_words("Operand 2, a zero point: element 3.", si::try_run(si::reference, q = si::quantize<si::i8>(x, 1.0f, si::view(zeros))));
        si::u64 far[4] = {0, 1, 2, ~si::u64(0)};
        expect("SINTER-R010", si::try_run(si::reference, si::view(result, si::extents<4>{}) = si::dequantize(q, 1.0f, si::view(far))));
        expect("SINTER-R010", si::try_run(si::reference, q = si::let(x, [](auto v) { return si::quantize<si::i8>(v, 0.0f); })));
        expect_words("written. It is a scale.", si::try_run(si::reference, q = si::let(x, [](auto v) { return si::quantize<si::i8>(v, 0.0f); })));
        if (!si::try_run(si::reference, q = si::quantize<si::i8>(x * 0.0f, 1.0f, -128)).ok()) {
            std::printf("sound parameters were refused\n");
            ++wrong;
        }
    }
    {
        signed char few[3] = {1, 2, 3};
        bool large[3] = {true, true, true};
        const auto x = si::view(few);
        const auto y = si::view(large);
        // [number_out_of_range]
        const si::status said = si::try_run(si::reference, y = x > 200);
        // [/number_out_of_range]
        expect("SINTER-R012", said);
        if (!large[0] || said.operand != 1 || said.expected != 127 || said.found != 200) {
            std::printf("R012 doesn't say which number, or something was written\n");
            ++wrong;
        }
        expect("SINTER-R012", si::try_run(si::reference, x = x + 300));
        expect("SINTER-R012", si::try_run(si::reference, x = x * -129));
        expect("SINTER-R012", si::try_run(si::reference, x = where(y, x, 128u)));
        expect("SINTER-R012", si::try_run(si::reference, x = ~si::u64(0)));
        unsigned char bytes[3] = {1, 2, 3};
        const auto u = si::view(bytes);
        expect("SINTER-R012", si::try_run(si::reference, u = u + -1));
        bool good = si::try_run(si::reference, y = x > 127, x = x + -128).ok() && si::try_run(si::reference, u = u + 255).ok();
        // [number_that_fits]
        good = good && si::try_run(si::reference, y = si::cast<int>(x) > 200).ok();
        good = good && si::try_run(si::reference, x = x & static_cast<signed char>(0xf0)).ok();
        // [/number_that_fits]
        if (!good || large[0] || bytes[2] != 2 || few[2] != static_cast<signed char>(0x80)) {
            std::printf("numbers that fit were refused\n");
            ++wrong;
        }
    }
    {
        const si::tensor_view<const float, si::extents<si::dyn, 4>> x(memory, si::extents<si::dyn, 4>(0));
        const auto y = si::view(memory, si::extents<1, 4>{});
        float one[4] = {7, 7, 7, 7};
        // [partly_empty]
        const auto sums = si::view(result, si::extents<si::dyn, 4>(0));  // no rows
        const auto doubled = si::view(one, si::extents<1, 4>{});
        const si::status said = si::try_run(si::reference, sums = x + y, doubled = y * 2.0f);
        // [/partly_empty]
        expect("SINTER-R011", said);
        if (one[0] != 7) {
            std::printf("an output was written though the status isn't ok\n");
            ++wrong;
        }
        // A fold of no elements has a value.
        const auto total = si::view(one, si::extents<1, 4>{});
        if (!si::try_run(si::reference, sums = x + y, total = sum(x, si::axes<0>)).ok() || one[0] != 0) {
            std::printf("a sum of nothing beside an empty output wasn't written\n");
            ++wrong;
        }
    }
    // A device's answer (tests/cuda/limits.cu asks for it there): the message has the code.
    expect("SINTER-R009", si::status{si::error::workspace_too_small, -1, -1, 4096, 0});
    {
        // [size_overflow]
        const si::tensor_view<float, si::extents<si::dyn, si::dyn>> x(memory, si::i64(1) << 40, si::i64(1) << 40);
        const si::status said = si::try_run(si::reference, x = x * 2.0f);
        // [/size_overflow]
        expect("SINTER-R006", said);
        const si::tensor_view<float, si::extents<si::dyn>> bytes(memory, si::i64(1) << 62);
        expect("SINTER-R006", si::try_run(si::reference, bytes = bytes * 2.0f));
        const auto steps = si::view(result, si::extents<2, 2>{}, {si::i64(-1) << 62, 1});
        expect("SINTER-R006", si::try_run(si::reference, steps = steps * 2.0f));
        const si::tensor_view<float, si::extents<si::dyn, si::dyn>> none(memory, si::i64(1) << 62, 0);
        if (!si::try_run(si::reference, none = none * 2.0f).ok()) {
            std::printf("nothing of huge sizes was refused\n");
            ++wrong;
        }
        if (si::tensor<double, si::extents<si::dyn>>(si::i64(1) << 61).ok()) {
            std::printf("an owner of 2^64 bytes is ok\n");
            ++wrong;
        }
    }
    {
        // Elements of one output that share a place: windows, a stretched axis. Steps that only look like it from one side don't.
        const auto x = si::view(memory, si::extents<2, 3>{});
        expect("SINTER-R003", si::try_run(si::reference, si::view(result, si::extents<2, 3>{}, {1, 1}) = x * 2.0f));
        expect("SINTER-R003", si::try_run(si::reference, si::view(result + 2, si::extents<2, 3>{}, {-2, 1}) = x * 2.0f));
        expect("SINTER-R003", si::try_run(si::reference, si::view(result, si::extents<2, 3>{}, {0, 1}) = x * 2.0f));
        float apart[6];
        if (!si::try_run(si::reference, si::view(apart + 3, si::extents<2, 3>{}, {-3, 1}) = x * 2.0f).ok() ||
            !si::try_run(si::reference, si::view(apart, si::extents<2, 3>{}, {1, 2}) = x * 2.0f).ok()) {
            std::printf("an output of separate elements was refused\n");
            ++wrong;
        }
    }
    expect("SINTER-R007", si::status{si::error::backend_failure, -1, -1, 0, 0});
    for (const float value : result)
        if (value != 0.0f) {
            std::printf("something was written\n");
            ++wrong;
        }
    if (memory[1] != 2.0f) {
        std::printf("an operand was overwritten\n");
        ++wrong;
    }
    return wrong;
}
