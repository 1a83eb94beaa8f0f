"""Arguments from short recipes, the same on every machine and under every version of NumPy.

    int32 5, float32 1.5                  a scalar
    arange 100 int16 step=3               0, 3, 6 … in that type (integers wrap)
    random 100 int32 start=1 below=7      whole numbers, start <= x < below; seed=
    real 100 float32                      even over -2 <= x < 2; seed=
    permutation 100 int32 each=10         0 .. each - 1, mixed anew in each stretch; seed=
    mask 100 int32 lanes=even             1 for the lanes that take part, 0 for others
    paired 96 int32 first=1 second=2 below=9   random, but the same for lanes whose numbers differ
                                          only in these bits; first, second: half of each warp
    filled 100 int32 value=-1             what the kernel writes to; order= says how it is compared
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Argument:
    """An array that the launch may change, or a NumPy scalar.

    order  of an output: "each" element is compared, or the elements come in "any" order, or lanes
           share out what only their "sum" tells
    """

    value: np.ndarray | np.generic
    order: str = "each"


def made(recipe: str) -> Argument:
    kind, *rest = recipe.split()
    if kind in ("int32", "float32"):
        return Argument(np.dtype(kind).type(rest[0]))
    options = dict(option.split("=") for option in rest[2:])
    order = options.pop("order", "each")
    size, type_ = int(rest[0]), np.dtype(rest[1])
    return Argument(_RECIPES[kind](size, **options).astype(type_), order)


def _bits(size, seed):
    """[size] 32 random bits each, by the finaliser of SplitMix64."""
    x = np.arange(1, size + 1, dtype=np.uint64) + np.uint64(int(seed) << 32)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) >> np.uint64(32)


def _arange(size, step=1):
    return np.arange(size, dtype=np.int64) * int(step)


def _random(size, below, start=0, seed=0):
    start, below = int(start), int(below)
    return start + (_bits(size, seed) % np.uint64(below - start)).astype(np.int64)


def _real(size, seed=0):
    return (_bits(size, seed) >> np.uint64(8)) * 2.0**-22 - 2.0


def _permutation(size, each=None, seed=0):
    each = int(each or size)
    return np.argsort(_bits(size, seed).reshape(-1, each), axis=1, kind="stable").reshape(-1)


def _paired(size, first, second, below, seed=0):
    place = np.arange(size)
    bits = np.where(place % 32 < 16, int(first), int(second))
    return _random(size, below, seed=seed)[place & ~bits]


def _mask(size, lanes):
    lane = np.arange(size) % 32
    return {
        "even": lane % 2 == 0,
        "one": lane == 7,
        "high": lane >= 20,
        "twos": lane & 2 == 0,
        "half_even": (lane % 2 == 0) | (lane >= 16),
        "either": lane % 2 == np.repeat(_bits(-(-size // 2), 98) % np.uint64(2), 2)[:size],
        "random": _bits(size, 99) % np.uint64(2) == 0,
    }[lanes]


def _filled(size, value):
    return np.full(size, int(value))


_RECIPES = {
    "arange": _arange,
    "random": _random,
    "real": _real,
    "permutation": _permutation,
    "paired": _paired,
    "mask": _mask,
    "filled": _filled,
}
