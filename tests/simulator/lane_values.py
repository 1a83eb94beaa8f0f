"""Lanes for the opcode tests: which bits they hold, and how an opcode is run on them."""

from functools import cache
from random import Random

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from simulator.instructions.opcodes import operation
from simulator.types import DTYPES
from tests.simulator.exact_arithmetic import FORMATS, NAN, layout, width_of

few = settings(derandomize=True, deadline=None, database=None, max_examples=5)


@cache
def special_floats(type_name):
    """±: zero, the smallest, the largest subnormal, the smallest normal, 1, its neighbours, …"""
    width, digits = FORMATS[type_name]
    _, infinity, smallest = layout(type_name)
    one = (1 - smallest) << (digits - 1)
    step = 1 << (digits - 2)  # half an octave
    positive = [0, 1, 2, (1 << (digits - 1)) - 1, 1 << (digits - 1)]
    positive += [one - 1, one, one + 1, one - 2 * step, one + step, one + 2 * step, one + 3 * step]
    positive += [infinity - 1, infinity, infinity + 1, infinity + step]
    return positive + [raw | 1 << (width - 1) for raw in positive]


@cache
def special_integers(width):
    top = 1 << (width - 1)
    small = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255]
    return [n for n in small if n < top] + [top - 1, top, top + 1, 2 * top - 2, 2 * top - 1]


def raw_bits(random, type_name):
    """Bits of one lane: a special value, a moderate float, or anything."""
    if type_name == "pred":
        return random.getrandbits(1)
    if type_name in ("f16x2", "bf16x2"):
        return raw_bits(random, type_name[:-2]) << 16 | raw_bits(random, type_name[:-2])
    width = width_of(type_name)
    kind = random.random()
    if kind < 0.3:
        return random.getrandbits(width)
    if type_name not in FORMATS:
        return random.choice(special_integers(width))
    if kind < 0.6:
        return random.choice(special_floats(type_name))
    digits = FORMATS[type_name][1]
    octaves = 6 << (digits - 1)  # on either side of 1
    one = (1 - layout(type_name)[2]) << (digits - 1)
    return one + random.randint(-octaves, octaves) | random.getrandbits(1) << (width - 1)


def lanes(*type_names, count=40):
    """Lanes, one tuple of raw bits each. One draw for them all: a draw for each is slow."""

    def drawn(seed):
        random = Random(seed)
        return [tuple(raw_bits(random, name) for name in type_names) for _ in range(count)]

    return st.integers(0, 2**32 - 1).map(drawn)


def as_array(raw, type_name):
    dtype = DTYPES[type_name]
    if type_name == "pred":
        return np.array(raw, bool)
    return np.array(raw, f"u{dtype.itemsize}").view(dtype)


def as_bits(values, type_name):
    """Result lanes as raw bits, every NaN as NAN."""
    values = np.atleast_1d(values)
    if type_name == "pred":
        return [int(bit) for bit in values]
    raw = [int(bits) for bits in values.view(f"u{values.dtype.itemsize}")]
    if type_name in FORMATS:
        width, _ = FORMATS[type_name]
        infinity = layout(type_name)[1]
        return [NAN if bits & ((1 << (width - 1)) - 1) > infinity else bits for bits in raw]
    return raw


def run(opcode, rows, destinations=1):
    """The opcode on lanes of raw bits: a list of raw results, or of tuples if there are several."""
    found = operation(opcode, destinations)
    types = found.operands + (("pred",) if found.carry_in else ())
    columns = [as_array(column, name) for column, name in zip(transposed(rows), types, strict=True)]
    with np.errstate(all="ignore"):
        result = found.compute(*columns)
    result_types = found.results + (("pred",) if found.carry_out else ())
    if len(result_types) == 1:
        return as_bits(result, result_types[0])
    return transposed(as_bits(x, name) for x, name in zip(result, result_types, strict=True))


def transposed(rows):
    return list(zip(*rows, strict=True))


def halves(raw):
    return raw & 0xFFFF, raw >> 16
