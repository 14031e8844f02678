# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants of a formula: a small array, a .npy reader, and the folding of operators whose inputs are all known.

Only the standard library. The arrays are shapes, axes, scalars and the like, so speed doesn't matter; values are rounded to
their element type after every step, as a run of the graph would.
"""
import ast
import itertools
import math
import struct

CODES = {  # ONNX name -> (struct code, integer range)
    'float32': ('f', None), 'float64': ('d', None), 'float16': ('e', None), 'bool': ('?', None),
    'int8': ('b', (-2**7, 2**7)), 'int16': ('h', (-2**15, 2**15)), 'int32': ('i', (-2**31, 2**31)), 'int64': ('q', (-2**63, 2**63)),
    'uint8': ('B', (0, 2**8)), 'uint16': ('H', (0, 2**16)), 'uint32': ('I', (0, 2**32)), 'uint64': ('Q', (0, 2**64)),
}
STORED = {'<f4': 'float32', '<f8': 'float64', '<f2': 'float16', '|b1': 'bool', '|i1': 'int8', '<i2': 'int16', '<i4': 'int32',
          '<i8': 'int64', '|u1': 'uint8', '<u2': 'uint16', '<u4': 'uint32', '<u8': 'uint64'}
# TensorProto.DataType
DATA_TYPES = {1: 'float32', 2: 'uint8', 3: 'int8', 4: 'uint16', 5: 'int16', 6: 'int32', 7: 'int64', 8: 'string', 9: 'bool',
              10: 'float16', 11: 'float64', 12: 'uint32', 13: 'uint64', 14: 'complex64', 15: 'complex128', 16: 'bfloat16',
              17: 'float8e4m3fn', 18: 'float8e4m3fnuz', 19: 'float8e5m2', 20: 'float8e5m2fnuz', 21: 'uint4', 22: 'int4',
              23: 'float4e2m1', 24: 'float8e8m0', 25: 'uint2', 26: 'int2'}


def is_float(dtype):
    return dtype in ('float32', 'float64', 'float16', 'bfloat16')


def count(shape):
    return math.prod(shape)


def fit(dtype, value):
    """A Python number as that type holds it."""
    if dtype == 'bool':
        return bool(value)
    if dtype in ('float32', 'float16', 'float64'):
        code = CODES[dtype][0]
        try:
            return struct.unpack(code, struct.pack(code, float(value)))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    if dtype == 'bfloat16':  # the upper half of a float32, half to even
        bits = struct.unpack('<I', struct.pack('<f', fit('float32', value)))[0]
        if value == value:
            bits += 0x7fff + (bits >> 16 & 1)
        return struct.unpack('<f', struct.pack('<I', bits & 0xffff0000))[0]
    low, high = CODES[dtype][1]
    if isinstance(value, float):  # truncates and saturates
        return 0 if math.isnan(value) else low if value <= low else high - 1 if value >= high else int(value)
    return (int(value) - low) % (high - low) + low


class Array:
    def __init__(self, dtype, shape, data):
        self.dtype, self.shape = dtype, tuple(shape)
        self.data = [fit(dtype, value) for value in data]
        if len(self.data) == 1 and count(self.shape) > 1:
            self.data *= count(self.shape)
        assert len(self.data) == count(self.shape), (shape, len(self.data))

    def uniform(self):
        """True when all elements are the same (NaN included)."""
        return bool(self.data) and all(value == self.data[0] or value != value and self.data[0] != self.data[0] for value in self.data)

    def at(self, index):
        """Element at a broadcast index."""
        offset = 0
        for position, size in zip(index[len(index) - len(self.shape):], self.shape):
            offset = offset * size + (position if size != 1 else 0)
        return self.data[offset]


def read_npy(path):
    """An array of the types that NumPy has; None for a value that isn't stored as one."""
    with open(path, 'rb') as file:
        content = file.read()
    if content[:6] != b'\x93NUMPY':
        raise ValueError(f'{path} is not a .npy file')
    begin, size = (10, struct.unpack('<H', content[8:10])[0]) if content[6] == 1 else (12, struct.unpack('<I', content[8:12])[0])
    head = ast.literal_eval(content[begin:begin + size].decode('latin1').strip())
    dtype = STORED[head['descr']]
    data = content[begin + size:]
    number = count(head['shape'])
    return Array(dtype, head['shape'], struct.unpack('<%d%s' % (number, CODES[dtype][0]), data))


def from_json(tensor):
    """A tensor of test.json or of a graph: {"dtype":..., "shape":..., "values":...}."""
    return Array(tensor['dtype'], tensor['shape'], [float(value) if isinstance(value, str) else value for value in tensor['values']])


def indices(shape):
    return itertools.product(*(range(size) for size in shape))


def broadcast(*shapes):
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(rank):
        sizes = {shape[axis - rank + len(shape)] for shape in shapes if axis - rank + len(shape) >= 0} - {1}
        if len(sizes) > 1:
            raise ValueError(f'shapes {shapes} do not broadcast')
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def map_arrays(function, *arrays, dtype=None):
    shape = broadcast(*(array.shape for array in arrays))
    return Array(dtype or arrays[0].dtype, shape, [function(*(array.at(index) for array in arrays)) for index in indices(shape)])


def take(array, shape, where):
    """Rearranges: the element at `index` of the result is the one at `where(index)`."""
    strides = [count(array.shape[axis + 1:]) for axis in range(len(array.shape))]
    return Array(array.dtype, shape, [array.data[sum(position * stride for position, stride in zip(where(index), strides))]
                                      for index in indices(shape)])


def divide(left, right):
    if isinstance(left, float):
        if right == 0:
            return math.nan if left == 0 or left != left else math.copysign(math.inf, left) * math.copysign(1, right)
        return left / right
    return 0 if right == 0 else abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


# Folding of one node. Every function takes the attributes and the arrays of the inputs (None when absent).
FOLD = {
    'Add': lambda a, x, y: map_arrays(lambda p, q: p + q, x, y),
    'Sub': lambda a, x, y: map_arrays(lambda p, q: p - q, x, y),
    'Mul': lambda a, x, y: map_arrays(lambda p, q: p * q, x, y),
    'Div': lambda a, x, y: map_arrays(divide, x, y),
    'Mod': lambda a, x, y: map_arrays(lambda p, q: math.fmod(p, q) if isinstance(p, float) else p % q if q else 0, x, y),
    'Neg': lambda a, x: map_arrays(lambda p: -p, x),
    'Sqrt': lambda a, x: map_arrays(lambda p: math.sqrt(p) if p >= 0 else math.nan, x),
    'Reciprocal': lambda a, x: map_arrays(lambda p: divide(1.0, p), x),
    'Ceil': lambda a, x: map_arrays(lambda p: p if math.isinf(p) or p != p else math.ceil(p), x),
    'Floor': lambda a, x: map_arrays(lambda p: p if math.isinf(p) or p != p else math.floor(p), x),
    'Relu': lambda a, x: map_arrays(lambda p: max(p, 0), x),
    'Abs': lambda a, x: map_arrays(abs, x),
    'Max': lambda a, *xs: map_arrays(max, *xs) if len(xs) > 1 else xs[0],
    'Min': lambda a, *xs: map_arrays(min, *xs) if len(xs) > 1 else xs[0],
    'Equal': lambda a, x, y: map_arrays(lambda p, q: p == q, x, y, dtype='bool'),
    'Less': lambda a, x, y: map_arrays(lambda p, q: p < q, x, y, dtype='bool'),
    'Greater': lambda a, x, y: map_arrays(lambda p, q: p > q, x, y, dtype='bool'),
    'LessOrEqual': lambda a, x, y: map_arrays(lambda p, q: p <= q, x, y, dtype='bool'),
    'GreaterOrEqual': lambda a, x, y: map_arrays(lambda p, q: p >= q, x, y, dtype='bool'),
    'And': lambda a, x, y: map_arrays(lambda p, q: p and q, x, y),
    'Or': lambda a, x, y: map_arrays(lambda p, q: p or q, x, y),
    'Not': lambda a, x: map_arrays(lambda p: not p, x),
    'Where': lambda a, c, x, y: map_arrays(lambda p, q, r: q if p else r, c, x, y, dtype=x.dtype),
    'Identity': lambda a, x: x,
    'Cast': lambda a, x: Array(DATA_TYPES[a['to']], x.shape, x.data),
    'CastLike': lambda a, x, like: Array(like.dtype, x.shape, x.data),
    'Size': lambda a, x: Array('int64', (), [count(x.shape)]),
    'Range': lambda a, start, limit, delta: fold_range(start, limit, delta),
    'ConstantOfShape': lambda a, shape: fold_fill(a, shape),
    'Concat': lambda a, *xs: fold_concat(xs, a['axis']),
    'Gather': lambda a, x, index: fold_gather(x, index, a.get('axis', 0)),
    'ReduceMax': lambda a, x, *axes: fold_all(max, a, x),
    'ReduceMin': lambda a, x, *axes: fold_all(min, a, x),
    'ReduceSum': lambda a, x, *axes: fold_all(lambda values: sum(values), a, x),
    'ReduceProd': lambda a, x, *axes: fold_all(math.prod, a, x),
}


def fold_range(start, limit, delta):
    number = max(0, math.ceil((limit.data[0] - start.data[0]) / delta.data[0]))
    return Array(start.dtype, (number,), [start.data[0] + position * delta.data[0] for position in range(number)])


def fold_fill(attributes, shape):
    value = from_json(attributes['value']['tensor']) if 'value' in attributes else Array('float32', (1,), [0.0])
    return Array(value.dtype, shape.data, value.data * count(shape.data))


def fold_concat(arrays, axis):
    axis %= len(arrays[0].shape)
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)
    data = []
    for outer in indices(shape[:axis]):
        for array in arrays:
            inner = count(array.shape[axis:])
            begin = inner * sum(position * count(shape[k + 1:axis]) for k, position in enumerate(outer))
            data += array.data[begin:begin + inner]
    return Array(arrays[0].dtype, shape, data)


def fold_gather(array, index, axis):
    axis %= len(array.shape)
    rank = len(index.shape)
    shape = array.shape[:axis] + index.shape + array.shape[axis + 1:]
    return take(array, shape, lambda at: at[:axis] + (index.at(at[axis:axis + rank]) % array.shape[axis],) + at[axis + rank:])


def fold_all(function, attributes, array):
    """Reductions of shapes are over all of a vector."""
    if len(array.shape) > 1:
        raise ValueError('only vectors are folded')
    return Array(array.dtype, (1,) * len(array.shape) if attributes.get('keepdims', 1) else (), [function(array.data)])
