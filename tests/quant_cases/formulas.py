# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C++ that each kind of case becomes: inputs as bits, Sinter's formulas, comparisons. For scripts/quant_cases."""


class Incomplete(Exception):
    """A case lacks what its operation needs."""


class NotSupported(Exception):
    pass


CODE = {'i8': 'si::i8', 'u8': 'si::u8', 'i16': 'si::i16', 'u16': 'si::u16'}
KIND = {'i8': 'si::q8', 'u8': 'si::qu8', 'i16': 'si::q16', 'u16': 'si::qu16'}
PAIR = {'i4': 'si::q4x2', 'u4': 'si::qu4x2'}
SMALL = {'e4m3fn': 'si::f8_e4m3fn', 'e5m2': 'si::f8_e5m2', 'e4m3fnuz': 'si::f8_e4m3fnuz', 'e5m2fnuz': 'si::f8_e5m2fnuz', 'e2m1': 'si::f4_e2m1'}
EMAX = {'e4m3fn': 8, 'e5m2': 15, 'e2m1': 2}


def f32(value):
    """The bits of f32 numbers, as C++ literals."""
    if 'f32' not in value:
        raise NotSupported(f'numbers of type {", ".join(value)}')
    return [bits + 'u' for bits in value['f32']]


def one(value):
    bits = f32(value)
    if len(bits) != 1:
        raise NotSupported('several scales where one is meant')
    return bits[0]


def listed(values):
    return '{' + ', '.join(str(value) for value in values) + '}'


def flat(values):
    return [item for value in values for item in flat(value)] if isinstance(values, list) else [values]


def code_type(name, table=CODE):
    if name not in table:
        raise NotSupported(f'codes of type {name}')
    return table[name]


def sizes(shape):
    return f'extents<{", ".join(map(str, shape))}>{{}}'


def quantize(case):
    given, want = case['params'], flat(case['want']['q'])
    code = code_type(given['dst'])
    if given.get('precision') == 'f16':
        x = [bits for bits in case['in']['x']['f16']]
        scale = given['scale']['f16'][0]
        return (f'    buffer<si::f16> x({listed(f"si::u16({bits})" for bits in x)});\n    buffer<{code}> q(x.count);\n'
                f'    launch(q.view() = si::quantize_rounding_quotient<{code}, si::f16>(x.view(), si::f16::from_bits({scale}), {given["zp"]}));\n'
                f'    same("q", q, {listed(want)});\n')
    x = f32(case['in']['x'])
    out = f'    reals x({listed(x)});\n    buffer<{code}> q(x.count);\n'
    zero = given.get('zp', 0)
    if given['granularity'] == 'tensor':
        scale = one(given['scale'])
        out += (f'    launch(q.view() = si::quantize<{code}>(x.view(), real({scale}), {zero}));\n    same("q, run-time parameters", q, {listed(want)});\n'
                f'    using element = {KIND[given["dst"]]}<si::qp_bits({scale}, {zero})>;\n    buffer<element> fixed(x.count);\n'
                f'    launch(fixed.view() = copy(x.view()));\n    same_bits("q, static parameters", fixed, {listed(w & (255 if code in ("si::i8", "si::u8") else 65535) for w in want)});\n'
                f'    for (i64 i = 0; i < x.count; ++i) same_number("one code", si::quantize_code(x.data[i], element::parameters), double(q.data[i]));\n')
        return out
    shape = given['shape']
    scales = f32(given['scale'])
    zeros = zero if isinstance(zero, list) else [zero] * len(scales)
    out += f'    reals scale({listed(scales)});\n    buffer<{code}> zero({listed(zeros)});\n    const auto all = {sizes(shape)};\n'
    if given['granularity'] == 'axis':
        where, table = f'axes<{given["axis"]}>', f'extents<{len(scales)}>{{}}'
    elif given['granularity'] == 'block':
        where, table = f'si::partial_block<{given["axis"]}, {given["block"]}>', sizes(given['scale_shape'])
    elif given['granularity'] == 'row':
        where, table = 'axes<0>', f'extents<{len(scales)}>{{}}'
    else:
        raise NotSupported(f'granularity {given["granularity"]}')
    held = f'si::quantized(q.view(all), {where}, scale.view({table}), zero.view({table}))'
    return out + f'    launch({held} = x.view(all));\n    same("q", q, {listed(want)});\n'


def quantize_pack(case):
    given = case['params']
    pair = code_type(given['dst'], PAIR)
    if given['granularity'] != 'tensor':
        raise NotSupported('packing per ' + given['granularity'])
    scale, x = one(given['scale']), f32(case['in']['x'])
    even, odd = len(x) // 2, len(x) % 2
    low = -8 if given['dst'] == 'i4' else 0
    narrow = f'si::with_range(si::stored_as(si::qp_bits({scale}, {given["zp"]}), si::code_kind::i8), {low}, {low + 15})'
    out = (f'    reals x({listed(x)});\n    using pair = {pair}<si::qp_bits({scale}, {given["zp"]})>;\n    buffer<pair> bytes({even + odd});\n'
           f'    buffer<si::i8> q(x.count);\n    launch(q.view() = si::quantize<{narrow}>(x.view()));\n    same("q", q, {listed(case["want"]["q"])});\n')
    if even:
        out += f'    launch(si::packed<space>(bytes.data, extents<{even}>{{}}) = x.view(extents<{2 * even}>{{}}));\n'
    if odd:  # the last number alone: its neighbour is code 0
        out += f'    bytes.data[{even}] = pair::from_codes(static_cast<si::u8>(q.data[{len(x) - 1}] & 15));\n'
    out += f'    same_bits("packed", bytes, {listed(case["want"]["packed"])});\n'
    return out


def dequantize(case):
    given = case['params']
    code, scale, zero = code_type(given['src']), one(given['scale']), given['zp']
    q, want = case['in']['q'], f32(case['want']['x'])
    return (f'    buffer<{code}> q({listed(q)});\n    buffer<float> x(q.count);\n'
            f'    launch(x.view() = si::dequantize(q.view(), real({scale}), {zero}));\n    same_reals("x, run-time parameters", x, {listed(want)});\n'
            f'    using element = {KIND[given["src"]]}<si::qp_bits({scale}, {zero})>;\n'
            f'    launch(x.view() = copy(q.as<element>(extents<dyn>(q.count))));\n    same_reals("x, static parameters", x, {listed(want)});\n')


def parameters(scale, zero):
    return f'si::qp_bits({scale}, {zero})'


def requantize(case):
    given = case['params']
    if given['mode'] not in ('float', 'f32'):
        raise NotSupported('mode ' + given['mode'])
    code, multiplier = code_type(given['dst']), one(given['multiplier'])
    out = f'    buffer<si::i32> sum({listed(case["in"]["acc"])});\n    buffer<{code}> q(sum.count);\n    buffer<float> as_real(sum.count);\n'
    with_type = f'si::stored_as(si::qp_bits(0x3f800000u, {given["zp"]}), si::code_kind::{given["dst"]})'
    out += f'    launch(q.view() = si::requantize<{with_type}>(sum.view(), real({multiplier})));\n    same("q", q, {listed(case["want"]["q"])});\n'
    if 'acc_as_f32' in case['want']:
        out += f'    launch(as_real.view() = si::cast<float>(sum.view()));\n    same_reals("acc", as_real, {listed(f32(case["want"]["acc_as_f32"]))});\n'
    return out


def fixed_multiply(case):
    mode = case['params']['mode']
    if mode not in ('tflite_single', 'tflite_double', 'rndnu'):
        raise NotSupported('mode ' + mode)
    rows = case['in']['x_m_shift']
    columns = [listed(row[i] for row in rows) for i in range(3)]
    return (f'    buffer<si::i32> x({columns[0]}), mantissa({columns[1]}), shift({columns[2]}), y(x.count);\n'
            f'    launch(y.view() = si::rescale<si::requantization::{mode}>(x.view(), mantissa.view(), shift.view()));\n    same("y", y, {listed(case["want"]["y"])});\n')


def divide_by_power(case):
    return (f'    buffer<si::i32> x({listed(case["in"]["x"])}), y(x.count);\n'
            f'    launch(y.view() = si::divide_by_power_of_two(x.view(), {case["params"]["exponent"]}));\n    same("y", y, {listed(case["want"]["y"])});\n')


def make_multiplier(case):
    out = ''
    for text, (mantissa, shift) in zip(case['in']['m'], case['want']['mantissa_shift']):
        out += f'    {{\n        const auto made = si::quantize_multiplier({float(text)!r});\n        same_number("mantissa", made.mantissa, {mantissa});\n        same_number("shift", made.shift, {shift});\n    }}\n'
    return out


def dot(case):
    a, out = case['in']['a_u8'], ''
    pairs = [('b_s8', 'dot')] + [(name, 'dot' + name[1:-3]) for name in case['in'] if name.startswith('b') and name != 'b_s8']
    for left, right in pairs:
        out += (f'    {{\n        buffer<si::u8> a({listed(a)});\n        buffer<si::i8> b({listed(case["in"][left])});\n        buffer<si::i32> y(1);\n'
                f'        launch(y.view(extents<1>{{}}) = si::dot_codes(a.view(extents<{len(a)}>{{}}), b.view(extents<{len(a)}>{{}}), axes<0>));\n'
                f'        same("{right}", y, {listed([case["want"][right]])});\n    }}\n')
    return out


RANGES = {'i8 full': '{-128, 127}', 'i8 [-127,127]': '{-127, 127}', 'u8': '{0, 255}', 'i8 minus any zp': '{-255, 255}', 'u8 minus any zp': '{-255, 255}'}


def bound(case):
    out = ''
    for (left, right, _, _), most in zip(case['in']['ranges'], case['want']['k_max']):
        if left not in RANGES or right not in RANGES:
            raise NotSupported(f'ranges {left}, {right}')
        out += f'    same_number("{left} by {right}", double(si::exact_dot_length({RANGES[left]}, {RANGES[right]})), {most});\n'
    return out


def matmul(case):
    a, b, want = case['in']['a'], case['in']['b'], case['want']['y']
    rows, inner, columns = len(a), len(b), len(b[0])
    unsigned = '0x3f800000u'
    return (f'    using left = si::qu8<si::qp_bits({unsigned}, {case["params"]["za"]})>;\n    using right = si::q8<si::qp_bits({unsigned}, {case["params"]["zb"]})>;\n'
            f'    buffer<si::u8> a({listed(flat(a))});\n    buffer<si::i8> b({listed(flat(b))});\n    buffer<si::i32> y({rows * columns});\n'
            f'    launch(y.view({sizes([rows, columns])}) = si::dot_codes(a.as<left>({sizes([rows, inner, 1])}), b.as<right>({sizes([1, inner, columns])}), axes<1>, si::drop));\n'
            f'    same("y", y, {listed(flat(want))});\n')


def of_two(case, operator):
    given = case['params']
    names = {part: f'si::q8<{parameters(one(given["s" + part]), given["z" + part])}>' for part in 'abc'}
    a, b = ([pair[i] for pair in case['in']['ab']] for i in (0, 1))
    return (f'    using first = {names["a"]};\n    using second = {names["b"]};\n    using result = {names["c"]};\n'
            f'    buffer<si::i8> a({listed(a)}), b({listed(b)}), q(a.count);\n    const extents<dyn> all(a.count);\n'
            f'    launch(q.as<result>(all) = a.as<first>(all) {operator} b.as<second>(all));\n    same("q", q, {listed(case["want"]["q"])});\n')


def unary(case, function):
    given, scale = case['params'], one(case['params']['scale'])
    zeros = given['zp'] if isinstance(given['zp'], list) else [given['zp']]
    out = f'    buffer<si::i8> x({listed(case["in"]["q"])}), q(x.count);\n    const extents<dyn> all(x.count);\n'
    for zero in zeros:
        want = case['want'][f'q_zp{zero}'] if isinstance(given['zp'], list) else case['want']['q']
        out += f'    {{\n        using element = si::q8<{parameters(scale, zero)}>;\n        launch(q.as<element>(all) = {function}(x.as<element>(all)));\n        same("q, zero point {zero}", q, {listed(want)});\n    }}\n'
    return out


def observe(case):
    given = case['params']
    maker = {'affine': 'affine_qp', 'symmetric': 'symmetric_qp'}.get(given['scheme'])
    if not maker:
        raise NotSupported('scheme ' + given['scheme'])
    low, high, least = one(case['in']['min']), one(case['in']['max']), one(given['eps'])
    return (f'    const si::qparams made = si::{maker}(real({low}), real({high}), {given["qmin"]}, {given["qmax"]}, real({least}));\n'
            f'    same_number("scale bits", made.scale_bits, {one(case["want"]["scale"])});\n    same_number("zero point", made.zero, {case["want"]["zp"]});\n')


def dynamic(case):
    given, want, x = case['params'], case['want'], f32(case['in']['x'])
    if given['dst'] == 'u8' and given.get('granularity', 'tensor') == 'tensor':
        return (f'    reals x({listed(x)});\n    buffer<si::u8> q(x.count), zero(1);\n    buffer<float> scale(1);\n'
                f'    launch(si::tie(q.view(), scale.view(extents<1>{{}}), zero.view(extents<1>{{}})) = dynamic_quantize_asymmetric(x.view(), axes<0>));\n'
                f'    same("q", q, {listed(want["q"])});\n    same_reals("scale", scale, {listed(f32(want["scale"]))});\n    same("zero point", zero, {listed([want["zp"]])});\n')
    if given['dst'] == 'i8' and given.get('granularity') == 'row':
        shape = given['shape']
        return (f'    reals x({listed(x)});\n    buffer<si::i8> q(x.count);\n    buffer<float> scale({shape[0]});\n'
                f'    launch(si::tie(q.view({sizes(shape)}), scale.view({sizes(shape[:-1] + [1])})) = dynamic_quantize(x.view({sizes(shape)})));\n'
                f'    same("q", q, {listed(flat(want["q"]))});\n    same_reals("scale", scale, {listed(f32(want["scale"]))});\n')
    raise NotSupported(f'dynamic {given}')


def block(x):
    if len(x) % 32:
        raise NotSupported('a block that is not of 32')
    return f'    reals x({listed(x)});\n    const auto rows = {sizes([len(x) // 32, 32])};\n    const auto heads = {sizes([len(x) // 32, 1])};\n'


def ggml_q8(case):
    want = case['want']
    return (block(f32(case['in']['x'])) + '    buffer<si::i8> q(x.count);\n    buffer<si::f16> d(x.count / 32), s(x.count / 32);\n'
            '    launch(si::tie(q.view(rows), d.view(heads), s.view(heads)) = ggml_q8_1(x.view(rows)));\n'
            f'    same_bits("d", d, {listed([want["d_f16"]])});\n    same_bits("s", s, {listed([want["s_f16"]])});\n'
            '    buffer<si::i64> total(x.count / 32);\n    launch(total.view(heads) = sum(q.view(rows), si::last_axis));\n'
            f'    same("sum", total, {listed([want["sum"]])});\n')


def ggml_q4(case):
    want = case['want']
    return (block(f32(case['in']['x'])) + '    buffer<si::u8> q(x.count), bytes(x.count / 2);\n    buffer<si::f16> d(x.count / 32);\n'
            '    launch(si::tie(q.view(rows), d.view(heads)) = ggml_q4_0(x.view(rows)));\n'
            f'    same("codes", q, {listed(want["codes"])});\n    same_bits("d", d, {listed([want["d_f16"]])});\n'
            f'    const auto half = extents<{len(want["codes"]) // 32}, 16>{{}};\n'
            '    launch(bytes.view(half) = si::slice<-1, 0, 16>(q.view(rows)) | (si::slice<-1, 16, 32>(q.view(rows)) << 4));\n'
            f'    same_bits("bytes", bytes, {listed(want["qs"])});\n')


def gptq(case):
    scale, given = one(case['params']['scale']), case['in']
    out = f'    buffer<si::u32> word({listed([given["qweight"] + "u"])});\n    buffer<float> x(8);\n    const auto all = extents<8>{{}};\n'
    for version, more in (('qzero_v1', 1), ('qzero_v2', 0)):
        out += (f'    launch(x.view(all) = si::dequantize(si::cast<si::i32>((word.view(extents<1>{{}}) >> si::cast<si::u32>(si::iota<0>(all) * 4)) & 15u), real({scale}), {given[version] + more}));\n'
                f'    same_reals("{version}", x, {listed(f32(case["want"]["x"]))});\n')
    return out


def mxfp4(case):
    want = case['want']
    return (block(f32(case['in']['x'])) + '    buffer<si::f4_e2m1> q(x.count);\n    buffer<si::f8_e8m0> scale(x.count / 32);\n    buffer<float> values(x.count);\n'
            '    const auto mx = si::fused([](auto v) {\n        const auto s = si::power_of_two<si::scale_rounding::down>(max(abs(v), si::last_axis) * 0.25f);\n'
            '        return si::outputs(si::cast<si::f4_e2m1>(v / s), s, si::cast<float>(si::cast<si::f4_e2m1>(v / s)) * s);\n    });\n'
            '    launch(si::tie(q.view(rows), scale.view(heads), values.view(rows)) = mx(x.view(rows)));\n'
            f'    same_bits("scale", scale, {listed([want["e8m0"]])});\n    same_bits("codes", q, {listed(want["codes"])});\n    same_reals("values", values, {listed(f32(want["values"]))});\n')


def mx_scale(case):
    x = f32(case['in']['amax'])
    return (f'    reals x({listed(x)});\n    buffer<si::f8_e8m0> scale(x.count);\n'
            f'    launch(scale.view() = si::power_of_two<si::scale_rounding::down>(x.view() * 0.00390625f));\n    same_bits("scale", scale, {listed(case["want"]["e8m0"])});\n')


def encode(case):
    small, x = code_type(case['params']['fmt'], SMALL), f32(case['in']['x'])
    out = f'    reals x({listed(x)});\n    buffer<{small}> q(x.count);\n'
    for name, function in (('saturate', 'cast'), ('no_saturate', 'cast_no_saturate')):
        if name in case['want']:
            out += f'    launch(q.view() = si::{function}<{small}>(x.view()));\n    same_bits("{name}", q, {listed(case["want"][name])});\n'
    return out


def crc_quantize(case):
    given = case['params']
    element = code_type(given['dst'], KIND)
    scale = one(given['scale'])
    return (f'    every_half x;\n    using element = {element}<{parameters(scale, given["zp"])}>;\n    buffer<element> q(x.count);\n'
            f'    launch(q.view() = copy(x.view()));\n    same_crc(q.data, x.count * i64(sizeof(element)), {case["want"]["crc32"]}u);\n'
            f'    buffer<{CODE[given["dst"]]}> again(x.count);\n    launch(again.view() = si::quantize<{CODE[given["dst"]]}>(x.view(), real({scale}), {given["zp"]}));\n'
            f'    same_crc(again.data, x.count * i64(sizeof(element)), {case["want"]["crc32"]}u);\n')


def crc_dequantize(case):
    given = case['params']
    if given['src'] not in ('i8', 'u8'):
        raise NotSupported('codes of type ' + given['src'])
    element, code = KIND[given['src']], CODE[given['src']]
    begin = -128 if given['src'] == 'i8' else 0
    return (f'    buffer<{code}> q(256);\n    for (int i = 0; i < 256; ++i) q.data[i] = static_cast<{code}>(i + {begin});\n    buffer<float> x(256);\n'
            f'    launch(x.view() = copy(q.as<{element}<{parameters(one(given["scale"]), given["zp"])}>>(extents<dyn>(256))));\n    same_crc(x.data, 1024, {case["want"]["crc32"]}u);\n')


def crc_small(case):
    given = case['params']
    small = code_type(given['fmt'], SMALL)
    function = 'cast' if given['saturate'] else 'cast_no_saturate'
    out = f'    every_half x;\n    buffer<{small}> q(x.count);\n    launch(q.view() = si::{function}<{small}>(x.view()));\n'
    if not given['fmt'].endswith('fnuz'):
        out += '    for (i64 i = 0; i < x.count; ++i)\n        if (x.nan(i)) q.data[i].bits = 0x7f;\n'
    return out + f'    same_crc(q.data, x.count, {case["want"]["crc32"]}u);\n'


OPERATIONS = {
    'quantize': quantize, 'quantize+pack': quantize_pack, 'dequantize': dequantize, 'requantize': requantize,
    'multiply_by_quantized_multiplier': fixed_multiply, 'rounding_divide_by_pot': divide_by_power, 'quantize_multiplier': make_multiplier,
    'dot_u8_s8': dot, 'acc_bound': bound, 'matmul_integer': matmul, 'qadd': lambda case: of_two(case, '+'), 'qmul': lambda case: of_two(case, '*'),
    'qneg': lambda case: unary(case, '-'), 'qrelu': lambda case: unary(case, 'relu'), 'qparams': observe, 'dynamic_quantize': dynamic,
    'ggml_q8_1': ggml_q8, 'ggml_q4_0': ggml_q4, 'gptq_unpack': gptq, 'mxfp4': mxfp4, 'mx_scale': mx_scale, 'fp8_encode': encode,
    'crc_quantize': crc_quantize, 'crc_dequantize': crc_dequantize, 'crc_fp8': crc_small,
}


def formula(case):
    """C++ statements; NotSupported with a reason where there is nothing to express it."""
    if case['op'] not in OPERATIONS:
        raise NotSupported(f'no operation "{case["op"]}" here: {", ".join(sorted(OPERATIONS))}')
    try:
        return OPERATIONS[case['op']](case)
    except KeyError as missing:
        raise Incomplete(f'a case of {case["op"]} without {missing}') from missing
