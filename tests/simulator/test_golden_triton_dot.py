"""tl.dot as Triton compiles it: ldmatrix, mma.sync and copies that run ahead, also at edges."""

import re

import numpy as np
import pytest

from simulator import parse
from tests.simulator.compiled import Kernel, run
from tests.simulator.golden.stored import GOLDEN
from tests.simulator.matrices import HELD, bound, exact, random_matrix

TILE = 32
TYPES = {  # of a and b, of c, the depth of one mma
    "f16": ("f16", "f32", 16),
    "f16_unaligned": ("f16", "f32", 16),
    "f16_sums": ("f16", "f16", 16),
    "bf16": ("bf16", "f32", 16),
    "tf32": ("tf32", "f32", 8),
    "f64": ("f64", "f64", 4),
    "s8": ("s8", "s32", 32),
}


def product(name, m, n, k):
    """(a, b, c, what the launch counted)"""
    text = (GOLDEN / "triton_3_9" / f"dot_{name}.ptx").read_text()
    entry = parse(text).entries["dot"]
    factor, total, _ = TYPES[name]
    random = np.random.default_rng([m, n, k])
    a, b = random_matrix(random, (m, k), factor), random_matrix(random, (k, n), factor)
    c = np.full((m, n), 85, HELD[total])
    unused = [None] * (len(entry.parameters) - 6)  # where Triton's own memory would be
    kernel = Kernel(text, entry, ("a", "b", "c", "m", "n", "k"))
    grid = (-(-m // TILE), -(-n // TILE))
    launched = run(kernel, grid, 128, a, b, c, m, n, k, *unused, shared_bytes=65_536)
    return a, b, c, launched.counters


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("sizes", [(32, 32, 32), (64, 96, 128), (48, 80, 112), (16, 16, 16)])
def test_tiles_of_a_product(name, sizes):
    m, n, k = sizes
    factor, total, depth = TYPES[name]
    a, b, c, counters = product(name, m, n, k)
    x, y = exact(a, factor), exact(b, factor)
    allowed = sum(
        bound(x[:, : i + depth], y[: i + depth], np.zeros((m, n)), depth, total)
        for i in range(0, k, depth)
    )
    assert np.all(np.abs(exact(c, total) - x @ y) <= allowed)
    whole = [-(-size // TILE) * TILE for size in sizes]
    each = (8 if total == "f64" else 16) * 8 * depth
    assert counters.mma == np.prod(whole) // each


def test_sizes_that_are_no_multiples_of_anything():
    for m, n, k in [(1, 1, 1), (33, 65, 45), (50, 31, 97)]:
        a, b, c, _ = product("f16_unaligned", m, n, k)
        want = exact(a, "f16") @ exact(b, "f16")
        largest = np.abs(exact(a, "f16")) @ np.abs(exact(b, "f16"))
        assert np.all(np.abs(c - want) <= (k // 16 + 1) * 2.0**-24 * largest)


def test_the_stored_text_has_what_this_is_about():
    half = ("mma.sync", "ldmatrix", "ldmatrix[^;]*trans", "cp.async")
    for name, opcodes in {"f16": half, "f64": ("m8n8k4",), "s8": ("satfinite",)}.items():
        text = (GOLDEN / "triton_3_9" / f"dot_{name}.ptx").read_text()
        assert all(re.search(opcode, text) for opcode in opcodes), name
