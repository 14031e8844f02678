# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX operators as Sinter formulas. One function per operator (or a line in a table), written from ONNX's operator list with
its defaults by opset: f is the formula, n the node (attributes, opset, number of outputs), then the inputs, None when absent.
"""
import math

import arrays
from arrays import Array, DATA_TYPES, count
from formula import CPP, NotExpressible, Value, axes

OPERATORS = {}


def operator(*names):
    def add(function):
        for name in names:
            OPERATORS[name] = function
        return function
    return add


def table(entries, make):
    for name, entry in entries.items():
        OPERATORS[name] = make(name, entry)


def ints(f, n, attribute, value, what):
    """A list of integers that is an attribute in one opset and an input in another; None when neither is given."""
    if attribute in n.attributes:
        given = n.attributes[attribute]
        return list(given) if isinstance(given, list) else [given]
    return None if value is None else [int(number) for number in f.known(value, what).data]


# ------------------------------------------------------------------------------------------------------------- elementwise

def unary(name, template):
    return lambda f, n, x: f.map(template, x)


table({
    'Abs': 'si::abs({})', 'Neg': '-{}', 'Sign': 'si::sign({})', 'Reciprocal': '1.0f / {}', 'Ceil': 'si::ceil({})',
    'Floor': 'si::floor({})', 'Round': 'si::round({})', 'Sqrt': 'si::sqrt({})', 'Exp': 'si::exp({})', 'Log': 'si::log({})',
    'Sin': 'si::sin({})', 'Cos': 'si::cos({})', 'Tan': 'si::tan({})', 'Asin': 'si::asin({})', 'Acos': 'si::acos({})',
    'Atan': 'si::atan({})', 'Sinh': 'si::sinh({})', 'Cosh': 'si::cosh({})', 'Tanh': 'si::tanh({})', 'Asinh': 'si::asinh({})',
    'Acosh': 'si::acosh({})', 'Atanh': 'si::atanh({})', 'Erf': 'si::erf({})', 'Sigmoid': 'si::sigmoid({})', 'Relu': 'si::relu({})',
    'Softplus': 'si::softplus({})', 'HardSwish': 'si::hard_swish({})', 'Mish': 'si::mish({})', 'BitwiseNot': '~{}', 'Not': '!{}',
    'Identity': '{}',
}, unary)
OPERATORS['Identity'] = lambda f, n, x: x


def binary(name, entry):
    template, dtype = entry if isinstance(entry, tuple) else (entry, None)
    return lambda f, n, x, y: f.map(template, *legacy_broadcast(f, n, x, y), dtype=dtype)


def legacy_broadcast(f, n, x, y):
    """Before opset 7 broadcasting was an attribute, with the axis of the left operand where the right one begins."""
    if n.attributes.get('broadcast') and 'axis' in n.attributes:
        y = f.unsqueeze(y, range(y.rank, x.rank - n.attributes['axis']))
    return x, y


table({
    'Add': '{} + {}', 'Sub': '{} - {}', 'Mul': '{} * {}', 'Div': '{} / {}', 'BitwiseAnd': '{} & {}', 'BitwiseOr': '{} | {}',
    'BitwiseXor': '{} ^ {}', 'And': ('{} && {}', 'bool'), 'Or': ('{} || {}', 'bool'), 'Xor': ('{} ^ {}', 'bool'),
    'Equal': ('{} == {}', 'bool'), 'Less': ('{} < {}', 'bool'), 'LessOrEqual': ('{} <= {}', 'bool'),
    'Greater': ('{} > {}', 'bool'), 'GreaterOrEqual': ('{} >= {}', 'bool'), 'PRelu': 'si::where({0} < 0, {1} * {0}, {0})',
}, binary)


def variadic(name, template):
    def emit(f, n, *inputs):
        result = inputs[0]
        for value in inputs[1:]:
            result = f.map(template, result, value)
        return result
    return emit


table({'Sum': '{} + {}', 'Max': 'si::maximum({}, {})', 'Min': 'si::minimum({}, {})'}, variadic)


@operator('Mean')
def mean_of_inputs(f, n, *inputs):
    return f.map('{} / {}', OPERATORS['Sum'](f, n, *inputs), len(inputs))


@operator('Mod')
def mod(f, n, x, y):
    if arrays.is_float(x.dtype):
        return f.map('si::fmod({}, {})' if n.attributes.get('fmod', 0) else 'si::remainder({}, {})', x, y)
    return f.map('{} % {}' if n.attributes.get('fmod', 0) else 'si::remainder({}, {})', x, y)


@operator('Pow')
def power(f, n, x, y):
    if x.dtype == y.dtype:
        return f.map('si::pow({}, {})', x, y)
    if arrays.is_float(x.dtype) or not arrays.is_float(y.dtype):
        return f.map('si::pow({}, {})', x, f.cast(y, x.dtype))
    return f.cast(f.map('si::pow({}, {})', f.cast(x, y.dtype), y), x.dtype)


@operator('BitShift')
def bit_shift(f, n, x, y):
    return f.map('{} << {}' if n.attributes['direction'] == 'LEFT' else '{} >> {}', x, y)


@operator('IsNaN')
def is_nan(f, n, x):
    return f.map('si::is_nan({})', x, dtype='bool')


@operator('IsInf')
def is_inf(f, n, x):
    wanted = [sign for sign, name in ((1, 'detect_positive'), (-1, 'detect_negative')) if n.attributes.get(name, 1)]
    if len(wanted) == 2:
        return f.map('si::is_inf({})', x, dtype='bool')
    return f.map('{} == {}' if wanted else '{0} != {0}', x, wanted[0] * math.inf if wanted else 0.0, dtype='bool')


@operator('Where')
def where(f, n, condition, x, y):
    if condition.array is not None and condition.array.uniform():
        chosen = x if condition.array.data[0] else y
        return f.broadcast_to(chosen, arrays.broadcast(condition.shape, x.shape, y.shape))
    return f.map('si::where({}, {}, {})', condition, x, y, dtype=x.dtype)


@operator('Clip')
def clip(f, n, x, low=None, high=None):
    if n.opset < 11:
        low, high = (f.scalar(x, n.attributes[key]) if key in n.attributes else None for key in ('min', 'max'))
    if low and high:
        return f.map('si::clamp({}, {}, {})', x, low, high)
    return f.map('si::maximum({}, {})', x, low) if low else f.map('si::minimum({}, {})', x, high) if high else x


# The codes of types that are smaller than a byte.
RANGES = {'int4': (-8, 7), 'uint4': (0, 15), 'int2': (-2, 1), 'uint2': (0, 3)}


def cast_to(f, n, x, dtype):
    if dtype in RANGES:
        raise NotExpressible(f'numbers of type {dtype}: there are 4-bit codes with a scale, and no plain numbers of less than a byte')
    if dtype == 'float8e8m0':
        return f.map('si::power_of_two<si::scale_rounding::%s>({})' % n.attributes.get('round_mode', 'up'), x, dtype=dtype)
    if dtype.startswith('float8') and not n.attributes.get('saturate', 1):
        return f.map('si::cast_no_saturate<%s>({})' % CPP[dtype], x, dtype=dtype)
    return f.cast(x, dtype)


@operator('Cast')
def cast(f, n, x):
    return cast_to(f, n, x, DATA_TYPES[n.attributes['to']])


@operator('CastLike')
def cast_like(f, n, x, like):
    return cast_to(f, n, x, like.dtype)


# ------------------------------------------------------------------------------------------------------------ quantization

def along(f, n, value, x):
    """A scale or zero point as something that broadcasts against x: for all, along an axis, or repeated over blocks."""
    if value is None:
        return None
    if count(value.shape) == 1:
        if value.dtype.startswith('float8') or value.dtype.startswith('float4'):
            return None  # the zero point of such codes is 0
        try:
            known = f.known(value, 'a parameter')
        except NotExpressible:
            return f.reshape(value, ())  # the formula computes it
        return f.constant(Array(known.dtype, (), known.data))
    axis = x.axis(n.attributes.get('axis', 1))
    block = n.attributes.get('block_size', 0)
    if block:
        known = f.known(value, 'the scales of blocks')
        return f.constant(arrays.take(known, x.shape, lambda at: at[:axis] + (at[axis] // block,) + at[axis + 1:]))
    return f.reshape(value, [size if position == axis else 1 for position, size in enumerate(x.shape)])


def with_parameters(f, template, x, scale, zero, dtype):
    """`template` of x, a scale and a zero point, which may be absent."""
    return f.map(template, x, scale, zero, dtype=dtype) if zero is not None else f.map(template.replace('{2}', '0'), x, scale, dtype=dtype)


def quantized_to(f, x, scale, zero, dtype):
    if dtype.startswith('float'):
        return f.cast(f.map('{} / {}', x, scale), dtype)
    limits = ', %d, %d' % RANGES[dtype] if dtype in RANGES else ''
    return with_parameters(f, 'si::quantize<%s%s>({0}, {1}, {2})' % (CPP[dtype], limits), x, scale, zero, dtype)


@operator('QuantizeLinear')
def quantize_linear(f, n, x, scale, zero=None):
    dtype = zero.dtype if zero is not None else DATA_TYPES[n.attributes.get('output_dtype', 0) or 2]
    scale = along(f, n, scale, x)
    return quantized_to(f, x, scale, along(f, n, zero, x), dtype)


@operator('DequantizeLinear')
def dequantize_linear(f, n, x, scale, zero=None):
    dtype = scale.dtype
    scale = along(f, n, scale, x)
    if x.dtype.startswith('float'):
        return f.map('si::cast<float>({}) * {}', x, scale, dtype=dtype)
    return with_parameters(f, 'si::dequantize({0}, {1}, {2})', x, scale, along(f, n, zero, x), dtype)


@operator('DynamicQuantizeLinear')
def dynamic_quantize_linear(f, n, x):
    over = range(x.rank)
    low = f.map('si::minimum({}, 0.0f)', f.reduce('min', x, over, False))
    high = f.map('si::maximum({}, 0.0f)', f.reduce('max', x, over, False))
    quotient = f.map('({} - {}) / 255.0f', high, low)
    scale = f.map('si::where({0} == 0.0f, {0} * 0.0f + 1.0f, {0})', quotient)
    zero = f.map('si::cast<si::u8>(si::round(si::clamp(0.0f - {} / {}, 0.0f, 255.0f)))', low, scale, dtype='uint8')
    return [f.map('si::quantize<si::u8>({}, {}, {})', x, scale, zero, dtype='uint8'), scale, zero]


def integer_product(f, a, a_zero, b, b_zero):
    """The exact matrix product of codes less their zero points; i64."""
    centre = [f.map('si::cast<si::i32>({})', value, dtype='int32') if zero is None else
              f.map('si::cast<si::i32>({}) - {}', value, f.constant(Array('int32', (), f.known(zero, 'a zero point').data)), dtype='int32')
              for value, zero in ((a, a_zero), (b, b_zero))]
    left, right = f.unsqueeze(centre[0], [a.rank]), f.unsqueeze(centre[1], [b.rank - 2])
    product = f.map('{} * {}', left, right)
    return f.reduce('sum', product, [product.rank - 2], False, dtype='int64')


@operator('QLinearMatMul')
def quantized_matmul(f, n, a, a_scale, a_zero, b, b_scale, b_zero, scale, zero):
    def one(value):
        return f.constant(Array(value.dtype, (), f.known(value, 'a parameter').data))
    if any(count(value.shape) != 1 for value in (a_scale, b_scale, scale)):
        raise NotExpressible('scales per row')
    real = f.map('si::cast<float>({}) * {} * {}', integer_product(f, a, a_zero, b, b_zero), one(a_scale), one(b_scale), dtype='float32')
    return quantized_to(f, real, one(scale), one(zero), zero.dtype)


@operator('MatMulInteger')
def matmul_integer(f, n, a, b, a_zero=None, b_zero=None):
    return f.map('si::cast<si::i32>({})', integer_product(f, a, a_zero, b, b_zero), dtype='int32')


@operator('BitCast')
def bit_cast(f, n, x):
    raise NotExpressible('no operator reinterprets bits')


# -------------------------------------------------------------------------------------------------------------- activation

def with_attributes(name, entry):
    template, defaults = entry
    return lambda f, n, x: f.map(template, x, *(float(n.attributes.get(key, value)) for key, value in defaults))


table({
    'LeakyRelu': ('si::leaky_relu({}, {})', [('alpha', 0.01)]),
    'Elu': ('si::elu({}, {})', [('alpha', 1.0)]),
    'Celu': ('si::maximum({0}, 0.0f) + si::minimum({1} * si::expm1({0} / {1}), 0.0f)', [('alpha', 1.0)]),
    'Selu': ('si::where({0} > 0.0f, {2} * {0}, {2} * ({1} * si::expm1({0})))', [('alpha', 1.67326319217681884765625), ('gamma', 1.05070102214813232421875)]),
    'HardSigmoid': ('si::hard_sigmoid({}, {}, {})', [('alpha', 0.2), ('beta', 0.5)]),
    'ThresholdedRelu': ('si::where({0} > {1}, {0}, 0.0f)', [('alpha', 1.0)]),
    'Shrink': ('si::where({0} < -{1}, {0} + {2}, si::where({0} > {1}, {0} - {2}, 0.0f))', [('lambd', 0.5), ('bias', 0.0)]),
    'Swish': ('{0} * si::sigmoid({1} * {0})', [('alpha', 1.0)]),
}, with_attributes)


@operator('SwiGLU')
def swiglu(f, n, gate, x):
    return f.map('{0} * si::sigmoid({2} * {0}) * {1}', gate, x, float(n.attributes.get('alpha', 1.0)))


@operator('Softsign')
def softsign(f, n, x):
    return f.map('{0} / (1.0f + si::abs({0}))', x)


@operator('Gelu')
def gelu(f, n, x):
    return f.map('si::gelu_tanh({})' if n.attributes.get('approximate', 'none') == 'tanh' else 'si::gelu({})', x)


# --------------------------------------------------------------------------------------------------------------- reduction

def reduction(name, entry):
    """(Sinter's function, what an operator over no axis does, type of its result for integers)"""
    function, alone, widens = entry

    def emit(f, n, x, given=None):
        over = ints(f, n, 'axes', given, 'the list of axes')
        keep = n.attributes.get('keepdims', 1)
        if not over:
            if n.attributes.get('noop_with_empty_axes', 0):
                return f.map(alone, x) if alone != '{}' else x
            over = range(x.rank)
        over = sorted({x.axis(axis) for axis in over})
        if x.rank == 0:
            return f.map(alone, x) if alone != '{}' else x
        if name == 'ReduceLogSum':
            return f.map('si::log({})', f.reduce('sum', x, over, keep))
        if widens and not arrays.is_float(x.dtype):  # sums of integers are wide here; a mean or a norm of them is f32
            wide = 'float32' if function in ('mean', 'norm_l2') else 'uint64' if x.dtype[0] == 'u' else 'int64'
            return f.cast(f.reduce(function, x, over, keep, wide), x.dtype)
        return f.reduce(function, x, over, keep)
    return emit


table({
    'ReduceSum': ('sum', '{}', True), 'ReduceProd': ('prod', '{}', True), 'ReduceMean': ('mean', '{}', True),
    'ReduceMax': ('max', '{}', False), 'ReduceMin': ('min', '{}', False), 'ReduceL1': ('norm_l1', 'si::abs({})', True),
    'ReduceL2': ('norm_l2', 'si::abs({})', True), 'ReduceSumSquare': ('sum_square', '{0} * {0}', True),
    'ReduceLogSum': ('', 'si::log({})', False), 'ReduceLogSumExp': ('logsumexp', '{}', False),
}, reduction)


def arg_reduction(name, function):
    def emit(f, n, x):
        axis = x.axis(n.attributes.get('axis', 0))
        which = '<si::pick::last>' if n.attributes.get('select_last_index', 0) else ''
        return f.reduce(function + which, x, [axis], n.attributes.get('keepdims', 1), 'int64')
    return emit


table({'ArgMax': 'argmax', 'ArgMin': 'argmin'}, arg_reduction)


def pooled(name, function):
    return lambda f, n, x: f.reduce(function, x, range(2, x.rank))


table({'GlobalAveragePool': 'mean', 'GlobalMaxPool': 'max'}, pooled)


@operator('GlobalLpPool')
def global_lp_pool(f, n, x):
    p = n.attributes.get('p', 2)
    if p <= 2:
        return f.reduce('norm_l%d' % p, x, range(2, x.rank))
    power_sum = f.reduce('sum', f.map('si::pow(si::abs({}), {})', x, float(p)), range(2, x.rank))
    return f.map('si::pow({}, {})', power_sum, 1.0 / p)


# ----------------------------------------------------------------------------------------------------------------- softmax

def softmax_like(name, function):
    def emit(f, n, x):
        if n.opset >= 13:
            return function(f, x, [x.axis(n.attributes.get('axis', -1))])
        axis = n.attributes.get('axis', 1) % max(x.rank, 1)  # older: over all axes from this one on
        return function(f, x, list(range(axis, x.rank)))
    return emit


def over_axes(name):
    def emit(f, x, over):
        tail = '' if over == [x.rank - 1] else ', ' + axes(over)
        return f.map('si::%s({}%s)' % (name, tail), x)
    return emit


def hardmax(f, x, over):
    if len(over) != 1:
        raise NotExpressible('argmax over several axes')
    first = f.reduce('argmax', x, over, True, 'int64')
    return f.map('si::cast<%s>({} == {})' % ('float' if x.dtype == 'float32' else 'double' if x.dtype == 'float64' else 'si::f16'),
                 f.iota(x, over[0]), first, dtype=x.dtype)


table({'Softmax': over_axes('softmax'), 'LogSoftmax': over_axes('log_softmax'), 'Hardmax': hardmax}, softmax_like)


# ----------------------------------------------------------------------------------------------------------- normalization

def moments(f, x, over, epsilon):
    return f.reduce('mean', x, over), f.map('si::rsqrt({} + {})', f.reduce('variance', x, over), epsilon)


def normalize(f, x, over, epsilon):
    return f.map('si::normalize({}, %s, {})' % axes(over), x, epsilon)


def per_channel(f, value, rank, axis=1):
    return f.reshape(value, [value.shape[0] if number == axis else 1 for number in range(rank)])


@operator('LayerNormalization')
def layer_normalization(f, n, x, scale, bias=None):
    axis = x.axis(n.attributes.get('axis', -1))
    epsilon = n.attributes.get('epsilon', 1e-5)
    over = range(axis, x.rank)
    if axis == x.rank - 1:
        y = f.map('si::layer_norm(%s)' % ', '.join('{}' for value in (x, scale, bias, 0) if value is not None),
                  *(value for value in (x, scale, bias, epsilon) if value is not None))
    else:
        y = f.map('{} * {}', normalize(f, x, over, epsilon), scale)
        y = f.map('{} + {}', y, bias) if bias else y
    return [y, *(moments(f, x, over, epsilon) if n.outputs > 1 else ())][:n.outputs]


@operator('RMSNormalization')
def rms_normalization(f, n, x, scale):
    axis = x.axis(n.attributes.get('axis', -1))
    epsilon = n.attributes.get('epsilon', 1e-5)
    if axis == x.rank - 1:
        return f.map('si::rms_norm({}, {}, {})', x, scale, epsilon)
    square = f.reduce('mean', f.map('{0} * {0}', x), range(axis, x.rank))
    return f.map('{} * si::rsqrt({} + {}) * {}', x, square, epsilon, scale)


@operator('GroupNormalization')
def group_normalization(f, n, x, scale, bias):
    groups, channels = n.attributes['num_groups'], x.shape[1]
    grouped = f.reshape(x, (x.shape[0], groups, channels // groups) + x.shape[2:])
    per_group = n.opset < 21  # then scale and bias have one number per group, later one per channel
    affine = [1, groups, 1 if per_group else channels // groups] + [1] * (x.rank - 2)
    y = f.map('{} * {} + {}', normalize(f, grouped, range(2, grouped.rank), n.attributes.get('epsilon', 1e-5)),
              f.reshape(scale, affine), f.reshape(bias, affine))
    return f.reshape(y, x.shape)


@operator('InstanceNormalization')
def instance_normalization(f, n, x, scale, bias):
    return f.map('{} * {} + {}', normalize(f, x, range(2, x.rank), n.attributes.get('epsilon', 1e-5)),
                 per_channel(f, scale, x.rank), per_channel(f, bias, x.rank))


@operator('BatchNormalization')
def batch_normalization(f, n, x, scale, bias, mean, variance):
    epsilon, momentum = n.attributes.get('epsilon', 1e-5), n.attributes.get('momentum', 0.9)
    channels = [per_channel(f, value, x.rank) for value in (mean, variance, scale, bias)]
    if not n.attributes.get('training_mode', 0):
        return f.map('si::batch_norm({}, {}, {}, {}, {}, {})', x, *channels, epsilon)
    over = [axis for axis in range(x.rank) if axis != 1]
    y = f.map('{} * {} + {}', normalize(f, x, over, epsilon), *channels[2:])
    running = [f.map('{} * {} + {} * {}', old, momentum, f.reduce(function, x, over, False, extra=extra), 1 - momentum)
               for old, function, extra in ((mean, 'mean', ''), (variance, 'variance', ', 0.0f'))]
    return [y, *running][:n.outputs]


@operator('LpNormalization')
def lp_normalization(f, n, x):
    norm = f.reduce('norm_l%d' % n.attributes.get('p', 2), x, [x.axis(n.attributes.get('axis', -1))])
    return f.map('si::where({1} == 0.0f, 0.0f, {0} / {1})', x, norm)


@operator('MeanVarianceNormalization')
def mean_variance_normalization(f, n, x):
    over = [x.axis(axis) for axis in n.attributes.get('axes', [0, 2, 3])]
    return f.map('({} - {}) / (si::sqrt({}) + 1e-9f)', x, f.reduce('mean', x, over), f.reduce('variance', x, over))


@operator('LRN')
def local_response(f, n, x):
    """A window over channels is a masked sum over all of them."""
    size, alpha = n.attributes['size'], n.attributes.get('alpha', 0.0001)
    beta, bias = n.attributes.get('beta', 0.75), n.attributes.get('bias', 1.0)
    wide = f.broadcast_to(f.unsqueeze(f.map('{0} * {0}', x), [1]), (x.shape[0], x.shape[1]) + x.shape[1:])
    distance = f.map('{} - {}', f.iota(wide, 2), f.iota(wide, 1))
    below, above = (size - 1) // 2, size - 1 - (size - 1) // 2
    window = f.map('si::where({0} >= %d && {0} <= %d, {1}, 0.0f)' % (-below, above), distance, wide, dtype=x.dtype)
    total = f.reduce('sum', window, [2], False)
    return f.map('{} / si::pow({} + {} * {}, {})', x, bias, alpha / size, total, beta)


# -------------------------------------------------------------------------------------------------------------------- loss

def classes_last(f, x):
    return f.permute(x, [0, *range(2, x.rank), 1])


def negative_log_likelihood(f, n, log_probability, target, weight):
    """A gather along the classes is a masked sum: where(class == target, value, 0). The classes are the last axis here, so that
    a sum over everything else folds the rows' values."""
    last = log_probability.rank - 1
    label = f.unsqueeze(target, [last])
    # The mask stands for the gather; an ignored label may be out of range, then nothing is chosen.
    chosen = f.map('{} == {}', f.iota(log_probability, last), f.cast(label, 'int64'), dtype='bool')
    pick = lambda value: f.reduce('sum', f.map('si::where({}, {}, 0.0f)', chosen, value, dtype=value.dtype), [last], False)
    loss = f.map('-{}', pick(log_probability))
    weights = pick(weight) if weight else None
    if 'ignore_index' in n.attributes:
        counted = f.map('{} != %d' % n.attributes['ignore_index'], target, dtype='bool')
        weights = (f.map('si::where({}, {}, 0.0f)', counted, weights, dtype=loss.dtype) if weights
                   else f.cast(counted, loss.dtype))
    loss = f.map('{} * {}', loss, weights) if weights else loss
    kind = n.attributes.get('reduction', 'mean')
    if isinstance(kind, bytes):
        kind = kind.decode()
    if kind == 'none':
        return loss
    over = range(loss.rank)
    if kind == 'sum':
        return f.reduce('sum', loss, over, False)
    if not weights:
        return f.reduce('mean', loss, over, False)
    return f.map('{} / {}', f.reduce('sum', loss, over, False), f.reduce('sum', weights, over, False))


@operator('NegativeLogLikelihoodLoss')
def nll_loss(f, n, x, target, weight=None):
    return negative_log_likelihood(f, n, classes_last(f, x), target, weight)


@operator('SoftmaxCrossEntropyLoss')
def softmax_cross_entropy(f, n, scores, target, weight=None):
    rows = classes_last(f, scores)
    if weight is None and 'ignore_index' not in n.attributes:
        loss = f.map('si::cross_entropy({}, {})', rows, f.unsqueeze(target, [rows.rank - 1]))
        loss = Value(loss.dtype, rows.shape[:-1] + (1,), loss.text)
        kind = n.attributes.get('reduction', 'mean')
        loss = f.squeeze(loss, [loss.rank - 1]) if kind == 'none' else f.reduce(kind, loss, range(loss.rank), False)
        return [loss, over_axes('log_softmax')(f, scores, [1])][:n.outputs]
    loss = negative_log_likelihood(f, n, over_axes('log_softmax')(f, rows, [rows.rank - 1]), target, weight)
    return [loss, over_axes('log_softmax')(f, scores, [1])][:n.outputs]


# ---------------------------------------------------------------------------------------------------------------- movement

@operator('Transpose')
def transpose(f, n, x):
    return f.permute(x, n.attributes.get('perm', list(range(x.rank))[::-1]))


@operator('Reshape')
def reshape(f, n, x, given=None):
    shape = ints(f, n, 'shape', given, 'the new shape')
    if not n.attributes.get('allowzero', 0):
        shape = [x.shape[axis] if size == 0 else size for axis, size in enumerate(shape)]
    if -1 in shape:
        others = -count(shape)
        shape[shape.index(-1)] = count(x.shape) // others if others else 0
    return f.reshape(x, shape)


@operator('Flatten')
def flatten(f, n, x):
    axis = n.attributes.get('axis', 1)
    axis = axis + x.rank if axis < 0 else axis
    return f.reshape(x, (count(x.shape[:axis]), count(x.shape[axis:])))


@operator('Squeeze')
def squeeze(f, n, x, given=None):
    gone = ints(f, n, 'axes', given, 'the list of axes')
    return f.squeeze(x, [axis for axis, size in enumerate(x.shape) if size == 1] if gone is None else {x.axis(axis) for axis in gone})


@operator('Unsqueeze')
def unsqueeze(f, n, x, given=None):
    new = ints(f, n, 'axes', given, 'the list of axes')
    return f.unsqueeze(x, [axis % (x.rank + len(new)) for axis in new])


@operator('Expand')
def expand(f, n, x, given):
    return f.broadcast_to(x, arrays.broadcast(x.shape, f.known(given, 'the new shape').data))


@operator('Slice')
def slice_of(f, n, x, starts=None, ends=None, given=None, steps=None):
    starts, ends = ints(f, n, 'starts', starts, 'where a slice starts'), ints(f, n, 'ends', ends, 'where a slice ends')
    over = ints(f, n, 'axes', given, 'the list of axes') or list(range(len(starts)))
    steps = ints(f, n, 'steps', steps, 'the step of a slice') or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, over, steps):
        axis = x.axis(axis)
        chosen = range(x.shape[axis])[slice(start, end if end >= -x.shape[axis] or step > 0 else None, step)]
        if step > 0:
            x = f.slice(x, axis, chosen.start, chosen.stop, step)
        elif not chosen:
            x = f.slice(x, axis, 0, 0)
        else:
            x = f.flip(f.slice(x, axis, chosen[-1], chosen[0] + 1, -step), axis)
    return x


@operator('Split')
def split(f, n, x, given=None):
    axis = x.axis(n.attributes.get('axis', 0))
    sizes = ints(f, n, 'split', given, 'the sizes of a split')
    if not sizes:
        parts = n.attributes.get('num_outputs', n.outputs)
        size = -(-x.shape[axis] // parts)
        sizes = [min(size, x.shape[axis] - size * part) for part in range(parts)]
    return [f.slice(x, axis, sum(sizes[:part]), sum(sizes[:part + 1])) for part in range(len(sizes))]


@operator('Concat')
def concat(f, n, *inputs):
    axis = inputs[0].axis(n.attributes.get('axis', 1))
    inputs = [value for value in inputs if value.shape[axis]] or list(inputs[:1])
    return inputs[0] if len(inputs) == 1 else f.concatenation(axis, inputs)


@operator('Tile')
def tile(f, n, x, repeats):
    repeats = [int(number) for number in f.known(repeats, 'the number of repeats').data]
    spread = [axis for axis, times in enumerate(repeats) if times != 1]
    apart, wide = list(x.shape), list(x.shape)
    for axis in reversed(spread):
        apart.insert(axis, 1)
        wide.insert(axis, repeats[axis])
    return f.reshape(f.broadcast_to(f.reshape(x, apart), wide), [size * times for size, times in zip(x.shape, repeats)])


@operator('DepthToSpace')
def depth_to_space(f, n, x):
    block, (batch, channels, height, width) = n.attributes['blocksize'], x.shape
    if n.attributes.get('mode', 'DCR') == 'DCR':
        x = f.permute(f.reshape(x, (batch, block, block, channels // block**2, height, width)), [0, 3, 4, 1, 5, 2])
    else:
        x = f.permute(f.reshape(x, (batch, channels // block**2, block, block, height, width)), [0, 1, 4, 2, 5, 3])
    return f.reshape(x, (batch, channels // block**2, height * block, width * block))


@operator('SpaceToDepth')
def space_to_depth(f, n, x):
    block, (batch, channels, height, width) = n.attributes['blocksize'], x.shape
    x = f.permute(f.reshape(x, (batch, channels, height // block, block, width // block, block)),
                  [0, 3, 5, 1, 2, 4] if n.attributes.get('mode', 'DCR') == 'DCR' else [0, 1, 3, 5, 2, 4])
    return f.reshape(x, (batch, channels * block**2, height // block, width // block))


@operator('CenterCropPad')
def center_crop_pad(f, n, x, given):
    wanted = [int(size) for size in f.known(given, 'the new shape').data]
    for axis, size in zip(n.attributes.get('axes', range(x.rank)), wanted):
        axis = x.axis(axis)
        if size > x.shape[axis]:
            raise NotExpressible('padding: a result outside of its operand')
        start = (x.shape[axis] - size) // 2
        x = f.slice(x, axis, start, start + size)
    return x


@operator('Pad')
def pad(f, n, x, given=None, value=None, over=None):
    pads = ints(f, n, 'pads', given, 'the padding')
    if any(size > 0 for size in pads):
        raise NotExpressible('padding: a result outside of its operand')
    over = ints(f, n, 'axes', over, 'the list of axes') or range(x.rank)
    for index, axis in enumerate(over):
        axis = x.axis(axis)
        x = f.slice(x, axis, -pads[index], x.shape[axis] + pads[index + len(pads) // 2])
    return x


@operator('Trilu')
def trilu(f, n, x, k=None):
    k = int(f.known(k, 'the diagonal').data[0]) if k else 0
    distance = f.map('{} - {}', f.iota(x, x.rank - 1), f.iota(x, x.rank - 2))
    return f.map('si::where({} %s %d, {}, {})' % ('>=' if n.attributes.get('upper', 1) else '<=', k), distance, x, f.scalar(x, 0), dtype=x.dtype)


@operator('EyeLike')
def eye_like(f, n, x):
    dtype = DATA_TYPES[n.attributes['dtype']] if 'dtype' in n.attributes else x.dtype
    diagonal = f.map('{} - {} == %d' % n.attributes.get('k', 0), f.iota(x, 1), f.iota(x, 0), dtype='bool')
    return f.cast(diagonal, dtype)


@operator('OneHot')
def one_hot(f, n, indices, depth, values):
    depth = int(f.known(depth, 'the depth').data[0])
    axis = n.attributes.get('axis', -1) % (indices.rank + 1)
    labels = f.unsqueeze(f.cast(indices, 'int64'), [axis])
    wide = f.broadcast_to(labels, labels.shape[:axis] + (depth,) + labels.shape[axis + 1:])
    hit = f.map('{0} == {1} || {0} == {1} + %d' % depth, f.iota(wide, axis), labels, dtype='bool')
    off, on = (f.squeeze(f.slice(values, 0, index, index + 1), [0]) for index in (0, 1))
    return f.map('si::where({}, {}, {})', hit, on, off, dtype=values.dtype)


@operator('Gather')
def gather(f, n, x, index):
    axis = x.axis(n.attributes.get('axis', 0))
    if index.array is None or count(index.shape) != 1:
        raise NotExpressible('gather')
    at = index.array.data[0] % x.shape[axis]
    return f.reshape(f.slice(x, axis, at, at + 1), x.shape[:axis] + index.shape + x.shape[axis + 1:])


@operator('Range')
def range_of(f, n, start, limit, delta):
    bounds = [f.known(value, 'the range').data[0] for value in (start, limit, delta)]
    length = max(0, math.ceil((bounds[1] - bounds[0]) / bounds[2]))
    like = next((value for value in (limit, start, delta) if value.array is None), None)
    if like is None:
        raise NotExpressible('the result is known before any tensor is: no formula')
    steps = f.iota(f.broadcast_to(like, (length,)), 0)
    return f.map('{} + {} * {}', start, f.cast(steps, start.dtype), delta)


@operator('Constant', 'ConstantOfShape', 'Shape', 'Size')
def constant(f, n, *inputs):
    raise NotExpressible('the result is known before any tensor is: no formula')


# ----------------------------------------------------------------------------------------------------------- window, dropout

def window(name, coefficients):
    def emit(f, n, size):
        length = int(f.known(size, 'the length').data[0])
        dtype = DATA_TYPES[n.attributes.get('output_datatype', 1)]
        periods = f.cast(size, dtype) if n.attributes.get('periodic', 1) else f.map('{} - 1.0f', f.cast(size, dtype))
        position = f.cast(f.iota(f.broadcast_to(size, (length,)), 0), dtype)
        angle = f.map('{} * %r / {}' % (2 * math.pi), position, periods)
        a0, a1, a2 = coefficients
        return f.map('%r - %r * si::cos({0}) + %r * si::cos(2.0 * {0})' % (a0, a1, a2) if a2 else '%r - %r * si::cos({})' % (a0, a1), angle)
    return emit


table({'HannWindow': (0.5, 0.5, 0), 'HammingWindow': (25 / 46, 21 / 46, 0), 'BlackmanWindow': (0.42, 0.5, 0.08)}, window)


@operator('Dropout')
def dropout(f, n, x, ratio=None, training=None):
    drops = training and f.known(training, 'the mode').data[0] and (not ratio or f.known(ratio, 'the ratio').data[0] != 0)
    if drops:
        raise NotExpressible('random numbers')
    return [x, f.map('{0} == {0} || {0} != {0}', x, dtype='bool')][:n.outputs]


# ------------------------------------------------------------------------------------------------------------------ rotary

@operator('RotaryEmbedding')
def rotary_embedding(f, n, x, cos, sin, position=None):
    """Pairs become an axis of two; the other of a pair is a flip of that axis."""
    if position:
        raise NotExpressible('gather (of the angle caches, by position)')
    heads, whole = n.attributes.get('num_heads', 0), x.shape
    if x.rank == 3:
        x = f.reshape(x, (x.shape[0], x.shape[1], heads, x.shape[2] // heads))
        batch, length, heads, size = x.shape
        angles = lambda value: (batch, length, 1)
    else:
        batch, heads, length, size = x.shape
        angles = lambda value: (batch, 1, length)
    rotary = n.attributes.get('rotary_embedding_dim', 0) or size
    interleaved = n.attributes.get('interleaved', 0)
    pair = (rotary // 2, 2) if interleaved else (2, rotary // 2)
    axis = 4 if interleaved else 3
    rotated = f.reshape(f.slice(x, 3, 0, rotary), x.shape[:3] + pair)
    cos, sin = (f.reshape(value, angles(value) + ((rotary // 2, 1) if interleaved else (1, rotary // 2))) for value in (cos, sin))
    sign = f.map('si::where({} == 0, -1.0f, 1.0f)', f.iota(rotated, axis), dtype=x.dtype)
    y = f.map('{} * {} + {} * {} * {}', rotated, cos, f.flip(rotated, axis), sign, sin)
    y = f.reshape(y, x.shape[:3] + (rotary,))
    return f.reshape(y if rotary == size else f.concatenation(3, [y, f.slice(x, 3, rotary, size)]), whole)


# --------------------------------------------------------------------------------------------------------------- optimizer

def optimizer(name, step):
    def emit(f, n, rate, time, *tensors):
        """Inputs are all X, then all G, then the state tensors; outputs all new X, then the new states."""
        number = n.outputs // step.outputs
        groups = [tensors[index * number:(index + 1) * number] for index in range(len(tensors) // number)]
        results = [step(f, n, rate, f.cast(time, rate.dtype), *(group[index] for group in groups)) for index in range(number)]
        return [result[output] for output in range(step.outputs) for result in results]
    return emit


def regularised(f, n, x, gradient):
    return f.map('{} * {} + {}', f.scalar(x, n.attributes.get('norm_coefficient', 0.0)), x, gradient)


def adagrad(f, n, rate, time, x, gradient, squares):
    gradient = regularised(f, n, x, gradient)
    rate = f.map('{} / (1.0f + {} * {})', rate, time, n.attributes.get('decay_factor', 0.0))
    squares = f.map('{0} + {1} * {1}', squares, gradient)
    return f.map('{} - {} * {} / (si::sqrt({}) + {})', x, rate, gradient, squares, n.attributes.get('epsilon', 1e-6)), squares


def momentum(f, n, rate, time, x, gradient, velocity):
    gradient = regularised(f, n, x, gradient)
    alpha = n.attributes['alpha']
    beta = f.map('si::where({} > 0.0f, {}, 1.0f)', time, n.attributes['beta'])
    velocity = f.map('{} * {} + {} * {}', f.scalar(x, alpha), velocity, beta, gradient)
    step = velocity if n.attributes['mode'] == 'standard' else f.map('{} + {} * {}', gradient, alpha, velocity)
    return f.map('{} - {} * {}', x, rate, step), velocity


def adam(f, n, rate, time, x, gradient, first, second):
    gradient = regularised(f, n, x, gradient)
    alpha, beta = n.attributes.get('alpha', 0.9), n.attributes.get('beta', 0.999)
    first = f.map('{} * {} + {} * {}', f.scalar(x, alpha), first, 1 - alpha, gradient)
    second = f.map('{0} * {1} + {2} * ({3} * {3})', f.scalar(x, beta), second, 1 - beta, gradient)
    rate = f.map('si::where({0} > 0.0f, {1} * si::sqrt(1.0f - si::pow({2}, {0})) / (1.0f - si::pow({3}, {0})), {1})', time, rate, beta, alpha)
    new = f.map('{} - {} * {} / (si::sqrt({}) + {})', x, rate, first, second, n.attributes.get('epsilon', 1e-6))
    return f.map('{} * {}', new, 1 - n.attributes.get('norm_coefficient_post', 0.0)), first, second


adagrad.outputs, momentum.outputs, adam.outputs = 2, 2, 3
table({'Adagrad': adagrad, 'Momentum': momentum, 'Adam': adam}, optimizer)


# ---------------------------------------------------------------------------------------------------------- not expressible

OUTSIDE = {
    'a contraction (matrix product)': 'MatMul Gemm Einsum Attention FlexAttention LinearAttention Det',
    'a convolution': 'Conv ConvTranspose CausalConvWithState DeformConv',
    'a windowed reduction (pooling)': 'AveragePool MaxPool LpPool MaxUnpool MaxRoiPool RoiAlign',
    'a running reduction (scan)': 'CumSum CumProd',
    'a sort': 'TopK Unique NonMaxSuppression',
    'gather or scatter': 'GatherElements GatherND Scatter ScatterElements ScatterND TensorScatter ReverseSequence',
    'a result whose shape depends on values': 'Compress NonZero',
    'a convolution of integers': 'QLinearConv ConvInteger',
    'interpolation': 'Resize Upsample GridSample AffineGrid',
    'random numbers': 'RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial',
    'control flow': 'If Loop Scan SequenceMap',
    'a recurrent network': 'LSTM GRU RNN',
    'a Fourier transform': 'DFT STFT MelWeightMatrix',
    'strings': 'StringConcat StringNormalizer StringSplit RegexFullMatch TfIdfVectorizer LabelEncoder',
    'sequences and optional values': 'SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength '
                                     'SplitToSequence ConcatFromSequence Optional OptionalGetElement OptionalHasElement',
    'images': 'ImageDecoder Col2Im',
}
REASONS = {name: reason for reason, names in OUTSIDE.items() for name in names.split()}


def emit(f, n, inputs):
    """The values of the outputs of a node."""
    if n.domain not in ('', 'ai.onnx', 'ai.onnx.preview', 'ai.onnx.preview.training'):
        raise NotExpressible(f'operators of the domain {n.domain}')
    if n.op in REASONS:
        raise NotExpressible(REASONS[n.op])
    if n.op not in OPERATORS:
        raise NotExpressible(f'operator {n.op} is not known here')
    while inputs and inputs[-1] is None:
        inputs = inputs[:-1]
    result = OPERATORS[n.op](f, n, *inputs)
    return result if isinstance(result, list) else [result]
