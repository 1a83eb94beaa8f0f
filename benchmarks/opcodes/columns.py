"""The operands: special values in all combinations, random bits, numbers of every size.

Columns of a case are drawn together, so that all pairs (of three operands: all triples of the most
special ones) meet in some lane. A 16-bit operand that stands alone takes every value there is.
"""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.opcodes.cases import BLOCK, Case
from benchmarks.opcodes.entries import bytes_of
from benchmarks.opcodes.formats import FORMATS, PAIRS, bits_of, numbers
from simulator.types import DTYPES

Column = NDArray[Any]


def columns_of(case: Case) -> list[Column]:
    """What each input holds, as unsigned words [lanes]; the same for every run."""
    return list(_columns(case.inputs, case.lanes))


@lru_cache(maxsize=64)
def _columns(inputs: tuple[str, ...], lanes: int) -> tuple[Column, ...]:
    seed = [ord(letter) for letter in " ".join(inputs)]
    random = np.random.default_rng([lanes, *seed])
    operands = [name for name in inputs if ":" not in name]
    drawn = iter(_together(random, operands, lanes))
    return tuple(_named(name, lanes) if ":" in name else next(drawn) for name in inputs)


def _together(random: np.random.Generator, types: list[str], lanes: int) -> list[Column]:
    if not types:
        return []
    if len(types) == 1 and types[0] != "pred" and bytes_of(types[0]) == 2:
        return [np.resize(np.arange(1 << 16, dtype=np.uint16), lanes)]
    columns = [_mixed(random, name, lanes) for name in types]
    combinations = list(product(*(_specials(name, len(types)) for name in types)))
    rows = np.array(combinations[: lanes // 2], dtype=object).reshape(-1, len(types))
    for k, column in enumerate(columns):
        column[: len(rows)] = rows[:, k].astype(column.dtype)
    if len(types) > 1 and types[0] in FORMATS and types[0] == types[1]:
        _meet_at_smallest(random, types[0], columns[0][len(rows) :: 8], columns[1][len(rows) :: 8])
    order = random.permutation(lanes)  # so that no warp is all specials
    return [column[order] for column in columns]


def _meet_at_smallest(random: np.random.Generator, type_name: str, a: Column, b: Column) -> None:
    """In place: factors whose product lies within a last place of the smallest normal number."""
    bits, fraction = FORMATS[type_name]
    one = (1 << (bits - 2)) - (1 << fraction)
    octaves = 4 << fraction
    a[:] = one - octaves + random.integers(0, octaves, len(a))  # 2**-4 .. 1
    normal = 1 << fraction
    b[:] = bits_of(
        type_name, numbers(type_name, np.array([normal], a.dtype)) / numbers(type_name, a)
    )
    a |= (random.integers(0, 2, len(a)) << (bits - 1)).astype(a.dtype)


def _specials(type_name: str, operands: int) -> list[int]:
    if type_name == "pred":
        return [0, 1]
    if type_name in PAIRS:
        few = _specials(PAIRS[type_name], 3)
        return [low | few[(k * 7 + 3) % len(few)] << 16 for k, low in enumerate(few)]
    values = special_floats(type_name) if type_name in FORMATS else special_integers(type_name)
    if operands < 3:
        return values
    return values[:36:2] if operands == 3 else values[::6]


def special_floats(type_name: str) -> list[int]:
    """Both signs of zero, subnormals, the ends of the normals, 1 and its neighbours, halves and
    ties of whole numbers, the largest whole numbers, infinity, quiet and signalling NaNs."""
    bits, fraction = FORMATS[type_name]
    infinity = (1 << (bits - 1)) - (1 << fraction)
    one = infinity // 2 >> fraction << fraction
    normal, half = 1 << fraction, 1 << (fraction - 1)
    positive = [0, infinity, one, infinity + half, 1, normal, infinity + 1, one + half]
    positive += [normal - 1, infinity - 1, one - 1, one + 1, 2 * normal, one - normal]
    positive += [infinity + half + 5, infinity + half - 1, 2, half, normal + 1, one + normal]
    positive += [one - normal + 1, one + normal + half // 2, one + normal + 3 * (half // 2)]
    positive += [one + fraction * normal, one + (fraction + 1) * normal]
    positive += [min(one + p * normal, infinity - 2) for p in (7, 8, 15, 16, 31, 32, 63, 64)]
    both = [(raw, raw | 1 << (bits - 1)) for raw in dict.fromkeys(positive)]
    return [raw for pair in both for raw in pair]


def special_integers(type_name: str) -> list[int]:
    bits = 8 * DTYPES[type_name].itemsize
    full = (1 << bits) - 1
    ends = [0, full, 1, full >> 1, (full >> 1) + 1, 2, full - 1, 31, 32, 33, 7, 3, 63, 64, 65]
    ends += [15, 16, 127, 128, 255, 8, (full >> 1) - 1, (full >> 1) + 2, full // 3, full // 3 * 2]
    return list(dict.fromkeys(value & full for value in ends))


def _mixed(random: np.random.Generator, type_name: str, lanes: int) -> Column:
    """A third random bits, a third numbers of every size, a third of moderate size."""
    if type_name == "pred":
        return random.integers(0, 2, lanes).astype(np.uint32)
    if type_name in PAIRS:
        low, high = (_mixed(random, PAIRS[type_name], lanes).astype(np.uint32) for _ in range(2))
        return low | random.permutation(high) << np.uint32(16)
    bits = 8 * DTYPES[type_name].itemsize
    dtype = np.dtype(f"u{bytes_of(type_name)}")
    word = random.integers(0, 1 << bits, lanes, dtype=np.uint64)
    kind = random.integers(0, 3, lanes)
    if type_name in FORMATS:
        fraction = FORMATS[type_name][1]
        one = (1 << (bits - 2)) - (1 << fraction)
        octaves = 8 << fraction
        moderate = one - octaves + word % np.uint64(2 * octaves)
        moderate |= (word >> np.uint64(3) & np.uint64(1)) << np.uint64(bits - 1)
        short = word >> np.uint64(fraction // 2) << np.uint64(fraction // 2)  # sums of these tie
        return np.choose(kind, [word, moderate, short]).astype(dtype)
    sized = word >> random.integers(0, bits, lanes, dtype=np.uint64)
    negative = -sized & np.uint64((1 << bits) - 1)
    return np.choose(kind, [word, sized, negative]).astype(dtype)


# ---- columns that are no plain operands: `name:type`


def _named(column: str, lanes: int) -> Column:
    """`kind:type`, or of the slots of another column `kind other:type`."""
    name, type_name = column.split(":")
    kind, _, of = name.partition(" ")
    random = np.random.default_rng([ord(letter) for letter in name])
    drawn: Column = NAMED[kind](random, type_name, lanes, of)
    return drawn


def _own(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """A slot for each lane, among those of its block."""
    blocks = np.arange(lanes, dtype=np.uint32).reshape(-1, BLOCK)
    return random.permuted(blocks, axis=1).reshape(-1)


def _few(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """32 lanes on each slot, from anywhere."""
    return random.permutation(np.arange(lanes, dtype=np.uint32) % np.uint32(lanes // 32))


def _near(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """16 slots of the own block."""
    block = np.arange(lanes, dtype=np.uint32) & ~np.uint32(BLOCK - 1)
    return block + random.integers(0, 16, lanes, dtype=np.uint32)


def _begin(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    return _together(random, [type_name, type_name], lanes)[0]


def _small(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """Floats -4 .. 4: sums of 32 of them are exact in every format, and of pairs of them."""
    if type_name in PAIRS:
        low, high = (
            _small(random, PAIRS[type_name], lanes, of).astype(np.uint32) for _ in range(2)
        )
        return low | high << np.uint32(16)
    if type_name not in FORMATS:
        return _mixed(random, type_name, lanes)
    numbers = random.integers(-4, 5, lanes).astype(np.float32)
    if type_name == "bf16":
        return (numbers.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    size = bytes_of(type_name)
    return numbers.astype(f"f{size}").view(f"u{size}")


def _each(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """The same value for all lanes of a slot."""
    return _small(random, type_name, lanes, "")[_named(f"{of}:u32", lanes)]


def _expected(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """What the slot begins with; of lanes that are alone there, half expect something else."""
    here = _named(f"begin:{type_name}", lanes)[_named(f"{of}:u32", lanes)]
    if of != "own":
        return here
    other: Column = np.where(random.integers(0, 2, lanes), here, _mixed(random, type_name, lanes))
    return other


def _segment(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """A shuffle's segments and clamp, one for each warp: as compilers write them, and any."""
    width = 1 << random.integers(0, 6, lanes // 32)
    usual = (32 - width) << 8 | random.choice([0, 31], lanes // 32)
    anything = random.integers(0, 1 << 13, lanes // 32)
    chosen = np.where(random.random(lanes // 32) < 0.6, usual, anything)
    return np.repeat(chosen, 32).astype(np.uint32)


def _agreed(random: np.random.Generator, type_name: str, lanes: int, of: str) -> Column:
    """A third of the warps agree, a third have few values, a third one lane that stands out."""
    kind = np.repeat(random.integers(0, 3, lanes // 32), 32)
    base = np.repeat(random.integers(0, 1 << 32, lanes // 32, dtype=np.uint64), 32)
    few = random.integers(0, 4, lanes).astype(np.uint64)
    lone = np.repeat(random.integers(0, 32, lanes // 32), 32) == np.arange(lanes) % 32
    values = np.choose(kind, [base, base + few, base + lone])
    if type_name == "pred":
        return (values & np.uint64(1)).astype(np.uint32)
    return (values * np.uint64(0x100000001)).astype(f"u{bytes_of(type_name)}")


NAMED = {
    "own": _own,
    "few": _few,
    "near": _near,
    "begin": _begin,
    "small": _small,
    "each": _each,
    "expected": _expected,
    "place": lambda random, type_name, lanes, of: random.integers(0, 32, lanes).astype(np.uint32),
    "steps": lambda random, type_name, lanes, of: random.integers(-34, 35, lanes).astype(np.uint32),
    "segment": _segment,
    "agreed": _agreed,
}
