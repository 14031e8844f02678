# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test folders (test.json, .npy files, graph_*.json) as C++ test functions."""
import json
import os
import struct
from types import SimpleNamespace

import arrays
import operators
from arrays import Array, FOLD, count
from formula import CPP, Formula, NotExpressible, check_type, extents, number


class Case:
    """One formula with its inputs and expected outputs; `code` is its C++ function, or `reason` why there is none."""

    def __init__(self, folder, group, name, graph=None):
        self.folder, self.group, self.test, self.graph = folder, group, name, graph
        self.name = f'{group}/{name}' + (f'/{graph}' if graph else '')
        self.code = self.reason = None


def find(data, group=None, test=None):
    """All cases under DATA/<group>/<test>/, operators and graphs."""
    found = []
    for group_name in sorted(os.listdir(data)):
        if group not in (None, group_name) or not os.path.isdir(os.path.join(data, group_name)):
            continue
        for name in sorted(os.listdir(os.path.join(data, group_name))):
            folder = os.path.join(data, group_name, name)
            if test not in (None, name) or not os.path.exists(os.path.join(folder, 'test.json')):
                continue
            found.append(Case(folder, group_name, name))
            for file in sorted(os.listdir(folder)):
                if file.startswith('graph_') and file.endswith('.json'):
                    found.append(Case(folder, group_name, name, file[:-len('.json')].replace('graph_expanded', 'graph')))
                    found[-1].file = os.path.join(folder, file)
    return found


def read_json(path):
    with open(path) as file:
        return json.load(file)


def generate(case, index):
    """Fills in case.code or case.reason."""
    test = read_json(os.path.join(case.folder, 'test.json'))
    formula = Formula()
    inputs = [formula.operand(given['dtype'], given['shape'], number, reader(case.folder, given)) if given else None
              for number, given in enumerate(test['inputs'])]
    wanted = [output for output in test['outputs'] if output]
    try:
        for output in wanted:
            check_type(output['dtype'])
        if case.graph:
            results = graph_results(formula, read_json(case.file), test, inputs)
        else:
            node = SimpleNamespace(op=test['op'], domain=test.get('domain', ''), attributes=test['attributes'], opset=test['opset'],
                                   outputs=len(test['outputs']))
            results = operators.emit(formula, node, inputs)
            results = [result for result, output in zip(results, test['outputs']) if output]
        for result, output in zip(results, wanted):
            if result.array is not None:
                raise NotExpressible('the result is known before any tensor is: no formula')
            if result.dtype != output['dtype'] or result.shape != tuple(output['shape']):
                raise AssertionError(f'the formula gives {result.dtype}{list(result.shape)}, the test {output["dtype"]}{output["shape"]}')
        if len(results) != len(wanted):
            raise AssertionError(f'the formula gives {len(results)} outputs, the test {len(wanted)}')
        case.code = function_text(case, index, formula, inputs, test, results, wanted)
    except NotExpressible as reason:
        case.reason = str(reason)


def reader(folder, given):
    def read():
        array = arrays.read_npy(os.path.join(folder, given['file']))
        if given['dtype'] == 'bfloat16':  # stored as its bits, the upper half of a float32
            return Array('float32', array.shape, [struct.unpack('<f', struct.pack('<I', bits << 16))[0] for bits in array.data])
        return array
    return read


# ------------------------------------------------------------------------------------------------------------------- graphs

def graph_results(formula, graph, test, inputs):
    """Values of the graph's outputs. Nodes are visited from the outputs, so that what isn't used needn't be expressible."""
    values = {'': None}
    by_name = {given['name']: value for given, value in zip(test['inputs'], inputs) if given}
    present = [value for value in inputs if value is not None]
    for position, name in enumerate(graph['inputs']):
        values[name] = by_name.get(name) or (present[position] if position < len(present) else None)
    producer = {output: node for node in graph['nodes'] for output in node['outputs']}
    opsets = graph.get('opset', {})

    def value_of(name):
        if name not in values:
            node = producer[name]
            results = node_results(formula, node, opsets.get('ai.onnx', test['opset']), value_of)
            for output, result in zip(node['outputs'], results):
                values.setdefault(output, result)
        return values[name]

    wanted = {output['name'] for output in test['outputs'] if output}
    return [value_of(name) for position, name in enumerate(graph['outputs'])
            if name in wanted or test['outputs'][position]]


def node_results(formula, node, opset, value_of):
    op, attributes = node['op'], node['attributes']
    if op == 'Constant':
        return [formula.constant(constant_of(attributes))]
    if op == 'Shape':
        shape = value_of(node['inputs'][0]).shape
        shape = shape[attributes.get('start', 0):attributes.get('end', len(shape))]
        return [formula.constant(Array('int64', (len(shape),), shape))]
    if op == 'Where':  # a constant condition needs one side only
        condition = value_of(node['inputs'][0])
        if condition.array is not None and condition.array.uniform() and count(condition.shape) == 1:
            return [value_of(node['inputs'][1 if condition.array.data[0] else 2])]
    inputs = [value_of(name) for name in node['inputs']]
    described = SimpleNamespace(op=op, domain=node.get('domain', ''), attributes=attributes, opset=opset, outputs=len(node['outputs']))

    def folded(scratch):
        known = [None if value is None else scratch.constant(formula.known(value, 'a shape')) for value in inputs]
        if op in FOLD:
            return [scratch.constant(FOLD[op](attributes, *(value and value.array for value in known)))]
        return operators.emit(scratch, described, known)

    if op == 'Size' or all(value is None or value.array is not None for value in inputs):
        try:
            results = folded(Formula()) if op != 'Size' else [formula.constant(Array('int64', (), [count(inputs[0].shape)]))]
            if all(result.array is not None for result in results):
                return results
        except (NotExpressible, ValueError):
            pass
    # Integers that only serve shapes are computed here, when the formula can't or an operator asks for their values.
    shape_like = all(value is None or value.dtype in ('int64', 'int32', 'bool') and count(value.shape) <= 16 for value in inputs)
    try:
        results = operators.emit(formula, described, inputs)
    except NotExpressible:
        if not shape_like:
            raise
        results = folded(Formula())
        if not all(result.array is not None for result in results):
            raise
        return results
    if shape_like:
        for position, result in enumerate(results):
            if result.array is None and result.solve is None:
                result.solve = lambda position=position: folded(Formula())[position].array
    return results


def constant_of(attributes):
    if 'value' in attributes:
        return arrays.from_json(attributes['value']['tensor'])
    kinds = {'value_float': 'float32', 'value_floats': 'float32', 'value_int': 'int64', 'value_ints': 'int64'}
    for key, dtype in kinds.items():
        if key in attributes:
            data = attributes[key]
            return Array(dtype, (len(data),), data) if key.endswith('s') else Array(dtype, (), [data])
    raise NotExpressible('strings')


# ---------------------------------------------------------------------------------------------------------------------- C++

def leaves_of(value, target, strides, offset):
    """The values that make up an output and the part of it that each fills: itself, or the pieces of a concatenation."""
    if not value.pieces:
        return [(value, target, strides, offset)]
    axis, parts = value.pieces
    found, start = [], 0
    for part in parts:
        found += leaves_of(part, target, strides, offset + start * strides[axis])
        start += part.shape[axis]
    return found


def function_text(case, index, formula, inputs, test, results, wanted):
    lines = [f'// {case.name}: {test["op"]}', f'void test_{index}(harness& test) {{']
    groups = []  # outputs of one formula: their shapes broadcast to the first one's
    for position, (result, output) in enumerate(zip(results, wanted)):
        if regrouped(result):
            result = result.base
        strides = [count(result.shape[axis + 1:]) for axis in range(result.rank)]
        for value, target, steps, offset in leaves_of(result, f'y{position}', strides, 0):
            text = f'{target}.view()' if value.shape == tuple(output['shape']) else f'si::view({target}.data(), {extents(value.shape)}{{}})'
            if value is not result:
                text = (f'si::view({target}.data() + {offset}, {extents(value.shape)}{{}}, '
                        f'si::array<si::i64, {len(steps)}>{{{{{", ".join(map(str, steps))}}}}})')
                if regrouped(value):
                    value = value.base
                    text = f'si::reshape({text}, {extents(value.shape)}{{}})'
            mates = [group for group in groups if value is result and fits_with(group[0][1], value)]
            if mates:
                mates[0].append((text, value))
            else:
                groups.append([(text, value)])

    for position, output in enumerate(wanted):
        lines.append(f'  auto y{position} = test.output<{CPP[output["dtype"]]}, {extents(output["shape"])}>();')
    used = set()
    body = []
    for group in groups:
        texts = [formula.use(value) for _, value in group]
        statements, operands, tables = formula.needed(texts)
        used |= set(operands)
        names = operands + [name for name, _ in tables]
        if not names:
            raise NotExpressible('the result is known before any tensor is: no formula')
        left = group[0][0] if len(group) == 1 else f'si::tie({", ".join(text for text, _ in group)})'
        for name, array in tables:
            body.append(table_text(name, array))
        arguments = ', '.join([f'{name}.view()' for name in operands] + [name for name, _ in tables])
        body.append(f'  test.ran(si::try_run(executor, {left} = si::let({arguments}, []({", ".join("auto " + name for name in names)}) {{')
        body += [f'    auto {name} = {text};' for name, text in statements]
        body.append(f'    return {texts[0] if len(texts) == 1 else "si::outputs(" + ", ".join(texts) + ")"};')
        body.append('  })));')
    for position, given in enumerate(test['inputs']):
        if f'x{position}' in used:
            path = f'{case.group}/{case.test}/{given["file"]}'
            lines.append(f'  auto x{position} = test.input<{CPP[given["dtype"]]}, {extents(given["shape"])}>("{path}");')
    lines += ['  if (!test.ready()) return;'] + body
    for position, output in enumerate(wanted):
        lines.append(f'  test.compare(y{position}, {position}, "{case.group}/{case.test}/{output["file"]}");')
    return '\n'.join(lines + ['}', ''])


def regrouped(value):
    """The last step only regroups elements: then the output is viewed so, and the formula ends before that step."""
    return value.base and (value.base.pieces or (value.base.text or 'x')[0] == 'v')


def fits_with(first, value):
    """The same shape, or one with reduced axes kept as 1."""
    return first.shape == value.shape or first.rank == value.rank > 1 and all(
        size in (1, whole) for size, whole in zip(value.shape, first.shape))


def table_text(name, array):
    numbers = ', '.join(number_text(array.dtype, value) for value in array.data) or '0'
    return (f'  static const {CPP[array.dtype]} {name}_data[] = {{{numbers}}};\n'
            f'  const si::tensor_view<const {CPP[array.dtype]}, {extents(array.shape)}> {name}(reachable({name}_data));')


def number_text(dtype, value):
    text = number(dtype, value)
    return f'{CPP[dtype]}({text})' if dtype in ('float16', 'bfloat16') else text
