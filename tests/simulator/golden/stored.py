"""The stored PTX of the golden sources, and its launches on outputs that nobody has written yet.

Two versions of NVRTC made the text, once (`benchmarks/record_golden_ptx.py`): here it is only read.
A kernel is named as `source/entry`. Runs of an element-wise kernel come in several sizes.
"""

from functools import cache
from pathlib import Path

import numpy as np

from simulator import parse
from tests.simulator.compiled import Kernel, run

GOLDEN = Path(__file__).parent
SOURCES = sorted(path.stem for path in (GOLDEN / "sources").glob("*.cu"))
VERSIONS = ("12_9", "13_5")  # of NVRTC
SIZES = (1, 31, 32, 33, 100)  # a lone thread, one short of a warp, a warp, one more, ragged blocks
MOST = max(SIZES)
BLOCK = 64
POISON = 0xA5  # each byte of an output before the launch


def text_of(version, source):
    return (GOLDEN / f"nvrtc_{version}" / f"{source}.ptx").read_text()


@cache
def module(version, source):
    return parse(text_of(version, source))


@cache
def kernel(version, name):
    """A kernel of a module that all tests of a process share."""
    return of_module(module(version, name.split("/")[0]), name)


def fresh(version, name):
    """A kernel whose module nobody has launched before: its variables have their initial values."""
    return of_module(parse(text_of(version, name.split("/")[0])), name)


def of_module(parsed, name):
    source, entry = name.split("/")
    text = (GOLDEN / "sources" / f"{source}.cu").read_text()
    return Kernel(text, parsed.entries[entry], ())


def poisoned(shape, dtype):
    array = np.empty(shape, dtype)
    array.view(np.uint8).reshape(-1)[...] = POISON
    return array


def rows(version, name, inputs, dtype, count, sizes=SIZES, block=BLOCK):
    """Yield (n, y [count][n]) of the first n elements of the inputs, for each size."""
    chosen = kernel(version, name)
    for n in sizes:
        y = poisoned((count, n), dtype)
        kept = [x[..., :n].copy() for x in inputs]
        run(chosen, -(-n // block), block, *(x.copy() for x in kept), y, n)
        yield n, y


def results(version, name, inputs, dtype, count, n=MOST):
    """y [count][n] of the first n elements."""
    ((_, y),) = rows(version, name, inputs, dtype, count, sizes=(n,))
    return y


def check_rows(version, name, inputs, want, sizes=SIZES, block=BLOCK):
    """A kernel over several sizes gives want [count][most], bit for bit."""
    for n, y in rows(version, name, inputs, want.dtype, len(want), sizes, block):
        assert_same_bits(y, np.ascontiguousarray(want[:, :n]), f"{name} of {n}")


def assert_same_bits(got, want, what=""):
    """Equal bit for bit; one NaN is as good as another."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    width = f"u{got.dtype.itemsize}"
    both_nan = (got != got) & (want != want)
    wrong = np.argwhere((got.view(width) != want.view(width)) & ~both_nan)
    shown = [(tuple(map(int, w)), got[tuple(w)], want[tuple(w)]) for w in wrong[:5]]
    assert not len(wrong), f"{what}: {len(wrong)} differ; (place, got, want): {shown}"


def integers(dtype, seed, count=MOST):
    """Edges of an integer type, then random numbers of all magnitudes."""
    info, random = np.iinfo(dtype), np.random.default_rng(seed)
    edges = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1, info.max // 2 + 1]
    if info.min < 0:
        edges += [-1, -2, -7]
    drawn = random.integers(info.min, info.max, count, dtype, endpoint=True)
    found = drawn >> random.integers(0, info.bits, count).astype(dtype)
    place = random.permutation(count)[: 2 * len(edges)]
    found[place] = np.resize(np.array(edges, dtype), len(place))
    return found


def floats(dtype, seed, count=MOST, low=-12, high=12):
    """Finite numbers other than zero, with random exponents of two from low to high."""
    random = np.random.default_rng(seed)
    parts = random.uniform(1, 2, count) * random.choice([-1, 1], count)
    return np.ldexp(parts, random.integers(low, high, count)).astype(dtype)


def with_specials(values, seed):
    """The same numbers with zeros, infinities, NaNs, subnormals and extremes among them."""
    info, random = np.finfo(values.dtype), np.random.default_rng(seed)
    small, least = info.smallest_subnormal, info.smallest_normal
    specials = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        small,
        -small,
        least,
        -least,
        info.max,
        info.min,
    ]
    specials += [1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0]
    found = values.copy()
    place = random.permutation(len(found))[: 2 * len(specials)]
    found[place] = np.resize(np.array(specials).astype(values.dtype), len(place))
    return found
