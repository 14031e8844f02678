# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A formula under construction: values with a known type and shape, and the C++ statements that compute them.

A value is a constant (an Array), an operand (an input of the test) or the result of a statement. Constants of one number are
written as literals, others become operands with static data. Whether an input is needed as a constant (axes, a new shape) is
decided by the operator that uses it: `known` reads it from its file.
"""
import math
import re

import arrays
from arrays import Array, broadcast, count

CPP = {'float32': 'float', 'float64': 'double', 'float16': 'si::f16', 'bfloat16': 'si::bf16', 'bool': 'bool', 'int8': 'si::i8',
       'int16': 'si::i16', 'int32': 'si::i32', 'int64': 'si::i64', 'uint8': 'si::u8', 'uint16': 'si::u16', 'uint32': 'si::u32',
       'uint64': 'si::u64', 'float8e4m3fn': 'si::f8_e4m3fn', 'float8e5m2': 'si::f8_e5m2', 'float8e4m3fnuz': 'si::f8_e4m3fnuz',
       'float8e5m2fnuz': 'si::f8_e5m2fnuz', 'float4e2m1': 'si::f4_e2m1', 'float8e8m0': 'si::f8_e8m0',
       # one in a byte, as the files have them; what makes such codes saturates to their range (operators.RANGES)
       'int4': 'si::i8', 'uint4': 'si::u8', 'int2': 'si::i8', 'uint2': 'si::u8'}
MAX_RANK = 8


class NotExpressible(Exception):
    """Why a test can't be a Sinter formula."""


def extents(shape):
    return 'si::extents<%s>' % ', '.join(map(str, shape))


def axes(numbers):
    return 'si::axes<%s>' % ', '.join(map(str, numbers))


def number(dtype, value):
    """A C++ literal."""
    if dtype == 'bool':
        return 'true' if value else 'false'
    if not arrays.is_float(dtype):
        return str(value) if abs(value) < 2**31 else f'si::i64({value})' if abs(value) < 2**63 else f'si::u64({value}u)'
    if math.isnan(value):
        return '__builtin_nanf("")'
    suffix = '' if dtype == 'float64' else 'f'
    if math.isinf(value):
        return ('-' if value < 0 else '') + f'__builtin_inf{suffix}()'
    return repr(float(value)) + suffix


def check_type(dtype):
    if dtype not in CPP:
        raise NotExpressible(f'type {dtype} is not an element type')


class Value:
    def __init__(self, dtype, shape, text=None, array=None, solve=None):
        self.dtype, self.shape, self.text = dtype, tuple(shape), text
        self.array = array    # set: a constant
        self.solve = solve    # computes the array when an operator must know it
        self.solved = None
        self.pieces = None    # a concatenation: (axis, [values]); only an output can be one
        self.base = None      # of a reshape: the value before it

    @property
    def rank(self):
        return len(self.shape)

    def axis(self, number):
        """A normalised axis."""
        if not -self.rank <= number < max(self.rank, 1):
            raise ValueError(f'axis {number} of rank {self.rank}')
        return number % max(self.rank, 1)


class Formula:
    def __init__(self):
        self.statements = []   # (name, C++ expression)
        self.operands = []     # (name, Value of an input)
        self.tables = []       # (name, Array): constants with more than one number

    # ---- values
    def operand(self, dtype, shape, index, read):
        value = Value(dtype, shape, f'x{index}', solve=read)
        self.operands.append((value.text, value))
        return value

    def constant(self, array):
        return Value(array.dtype, array.shape, array=array)

    def scalar(self, like, value):
        """A literal of the type of `like` (a Value or a type name)."""
        dtype = like if isinstance(like, str) else like.dtype
        # Beside f16 a number is converted to the compute type, so it isn't rounded to f16 here.
        return Value(dtype, (), array=Array('float32' if dtype in ('float16', 'bfloat16') else dtype, (), [value]))

    def known(self, value, what):
        """The numbers of a value that decides a shape. (It may be an operand in another place.)"""
        if value.array is not None:
            return value.array
        if value.solve:
            if value.solved is None:
                value.solved = value.solve()
            return value.solved
        raise NotExpressible(f'{what} is computed from tensor values')

    def use(self, value):
        """The C++ text of a value as an argument."""
        check_type(value.dtype)
        if value.text == 'pieces':
            raise NotExpressible('a concatenation inside a formula')
        if value.array is None:
            return value.text
        if value.array.uniform():
            return number(value.dtype, value.array.data[0])
        for name, array in self.tables:
            if array is value.array:
                return name
        self.tables.append((f'c{len(self.tables)}', value.array))
        return self.tables[-1][0]

    def let(self, text, dtype, shape):
        check_type(dtype)
        if len(shape) > MAX_RANK:
            raise NotExpressible(f'rank {len(shape)}, and Sinter has up to {MAX_RANK} axes')
        name = f'v{len(self.statements)}'
        self.statements.append((name, text))
        return Value(dtype, shape, name)

    # ---- operators
    def map(self, template, *arguments, dtype=None):
        """An elementwise operator; '{}' stands for each argument. Numbers are literals of the type of the first value."""
        first = next(argument for argument in arguments if isinstance(argument, Value))
        values = [argument if isinstance(argument, Value) else self.scalar(first, argument) for argument in arguments]
        texts = [self.use(value) for value in values]
        shape = broadcast(*(value.shape for value in values))
        # A literal has rank 0, whatever the shape of the constant that it stands for.
        have = broadcast(*(() if value.array is not None and value.array.uniform() else value.shape for value in values))
        if all(value.array is not None and value.array.uniform() for value in values):
            self.tables.append((f'c{len(self.tables)}', values[0].array))  # an operator needs one operand that isn't a literal
            texts[0], have = self.tables[-1][0], broadcast(have, values[0].shape)
        result = self.let(template.format(*texts), dtype or first.dtype, have)
        return result if have == shape else self.broadcast_to(result, shape)

    def cast(self, value, dtype):
        check_type(value.dtype)
        if value.dtype == dtype:
            return value
        if value.array is not None and dtype in CPP:
            return self.constant(Array(dtype, value.shape, value.array.data))
        check_type(dtype)
        return self.map('si::cast<%s>({})' % CPP[dtype], value, dtype=dtype)

    def broadcast_to(self, value, shape):
        shape = tuple(shape)
        if value.shape == shape:
            return value
        if value.array is not None and value.array.uniform() and count(shape):
            return self.constant(Array(value.dtype, shape, [value.array.data[0]]))
        if count(value.shape) == count(shape):
            return self.reshape(value, shape)
        return self.move(value, 'si::expand({}, %s{{}})' % extents(shape), shape,
                         lambda at: tuple(position if size != 1 else 0 for position, size in zip(at[len(at) - value.rank:], value.shape)))

    def move(self, value, template, shape, where):
        """An index map: the element at `index` of the result is the one at where(index)."""
        if value.array is not None:
            return self.constant(arrays.take(value.array, shape, where))
        return self.let(template.format(self.use(value)), value.dtype, shape)

    def reshape(self, value, shape):
        shape = tuple(shape)
        if count(shape) != count(value.shape):
            raise ValueError(f'reshape of {value.shape} to {shape}')
        if value.array is not None:
            return self.constant(Array(value.dtype, shape, value.array.data))
        base = value.base or value
        if shape in (value.shape, base.shape):
            return value if shape == value.shape else base
        if value.text == 'pieces':
            result = Value(value.dtype, shape, 'pieces')
            result.base = base
            return result
        if base.text[0] == 'v' and [size for size in base.shape if size != 1] == [size for size in shape if size != 1]:
            result = self.move_ones(base, shape)
        else:
            result = self.let('si::reshape(%s, %s{})' % (self.use(base), extents(shape)), value.dtype, shape)
        result.base = base
        return result

    def move_ones(self, value, shape):
        """A reshape that only adds and removes axes of one element: it can be pushed through more than a reshape can."""
        gone, new, source = [], [], 0
        for axis, size in enumerate(shape + (None,)):
            while source < value.rank and value.shape[source] == 1 != size:
                gone.append(source)
                source += 1
            if source < value.rank and value.shape[source] == size:
                source += 1
            elif size is not None:
                new.append(axis)
        return self.unsqueeze(self.squeeze(value, gone), new)

    def permute(self, value, order):
        if list(order) == sorted(order):
            return value
        if value.pieces:
            axis, parts = value.pieces
            return self.concatenation(list(order).index(axis), [self.permute(part, order) for part in parts])
        return self.move(value, 'si::permute<%s>({})' % ', '.join(map(str, order)), [value.shape[axis] for axis in order],
                         lambda at: tuple(at[order.index(axis)] for axis in range(value.rank)))

    def concatenation(self, axis, parts):
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        result = Value(parts[0].dtype, shape, 'pieces')
        result.pieces = (axis, parts)
        return result

    def slice(self, value, axis, start, stop, step=1):
        """start, stop >= 0 and step > 0; backwards is this and a flip."""
        stop = max(start, stop)
        length = -(-(stop - start) // step)
        if (start, length, step) == (0, value.shape[axis], 1):
            return value
        shape = value.shape[:axis] + (length,) + value.shape[axis + 1:]
        tail = f', {step}' if step != 1 else ''
        return self.move(value, 'si::slice<%d, %d, %d%s>({})' % (axis, start, stop, tail), shape,
                         lambda at: at[:axis] + (start + at[axis] * step,) + at[axis + 1:])

    def flip(self, value, axis):
        last = value.shape[axis] - 1
        return self.move(value, 'si::flip<%d>({})' % axis, value.shape, lambda at: at[:axis] + (last - at[axis],) + at[axis + 1:])

    def unsqueeze(self, value, axes_of_result):
        base, shape = value.base or value, list(value.shape)
        for axis in sorted(axes_of_result):
            shape.insert(axis, 1)
            value = self.move(value, 'si::unsqueeze<%d>({})' % axis, tuple(shape), lambda at, axis=axis: at[:axis] + at[axis + 1:])
        value.base = base if value is not base else None
        return value

    def squeeze(self, value, gone):
        base, shape = value.base or value, list(value.shape)
        for axis in sorted(gone, reverse=True):
            del shape[axis]
            value = self.move(value, 'si::squeeze<%d>({})' % axis, tuple(shape), lambda at, axis=axis: at[:axis] + (0,) + at[axis:])
        value.base = base if value is not base else None
        return value

    def iota(self, like, axis):
        """The coordinate along an axis of `like`, which must be an operand or a result."""
        shape = tuple(size if number == axis else 1 for number, size in enumerate(like.shape))
        return self.let('si::iota<%d>(%s)' % (axis, self.use(like)), 'int64', shape)

    def reduce(self, function, value, over, keep=True, dtype=None, extra=''):
        """si::function(value, axes<...>[, drop]); `dtype` is the type that the operator of ONNX gives."""
        over = sorted(over)
        if not over:
            raise ValueError('no axes')
        shape = tuple(1 if axis in over else size for axis, size in enumerate(value.shape) if keep or axis not in over)
        text = 'si::%s(%s, %s%s%s)' % (function, self.use(value), axes(over), extra, '' if keep else ', si::drop')
        return self.let(text, dtype or value.dtype, shape)

    # ---- output
    def needed(self, texts):
        """Statements, operands and tables that the given expressions use, in order."""
        used = set()
        for text in texts:
            used |= set(re.findall(r'\b[vxc]\d+\b', text))
        statements = []
        for name, text in reversed(self.statements):
            if name in used:
                statements.append((name, text))
                used |= set(re.findall(r'\b[vxc]\d+\b', text))
        return (list(reversed(statements)), [name for name, _ in self.operands if name in used],
                [(name, array) for name, array in self.tables if name in used])
