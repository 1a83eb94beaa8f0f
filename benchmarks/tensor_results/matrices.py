"""The stored PTX of <mma.h>: every shape, type and layout, and whole products."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.tensor_results.comparing import Row, compared
from benchmarks.tensor_results.machines import Machine, Simulated
from tests.simulator.matrices import (
    HELD,
    PLACES,
    exact,
    from_memory,
    in_memory,
    one_memory,
    random_matrix,
)

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "simulator" / "golden" / "nvrtc_12_9"
LARGE = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
WMMA = {
    "half_to_float": ("f16", "f32", LARGE),
    "half_to_half": ("f16", "f16", LARGE),
    "bfloat": ("bf16", "f32", LARGE),
    "signed_char": ("s8", "s32", LARGE),
    "unsigned_char": ("u8", "s32", LARGE),
    "tensor_float": ("tf32", "f32", ((16, 16, 8),)),
    "doubles": ("f64", "f64", ((8, 8, 4),)),
}
GEMMS = {  # name: type of a and b, of c, (m, n, k), grid, threads, k of one instruction
    "half_to_float": ("f16", "f32", (64, 64, 512), (16, 1), 32, 16),
    "half_to_half": ("f16", "f16", (64, 64, 512), (16, 1), 32, 16),
    "half_tall": ("f16", "f32", (64, 64, 512), (16, 1), 32, 16),
    "half_wide": ("f16", "f32", (64, 64, 512), (16, 1), 32, 16),
    "bfloat": ("bf16", "f32", (64, 64, 512), (16, 1), 32, 16),
    "tensor_float": ("tf32", "f32", (64, 64, 512), (16, 1), 32, 4),
    "doubles": ("f64", "f64", (64, 64, 512), (64, 1), 32, 4),
    "signed_char": ("s8", "s32", (64, 64, 512), (16, 1), 32, 16),
    "unsigned_char": ("u8", "s32", (64, 64, 512), (16, 1), 32, 16),
    "with_edges": ("f16", "f32", (33, 65, 70), (5, 3), 32, 16),
    "blocked": ("f16", "f32", (128, 192, 512), (3, 2), 128, 16),
    "by_hand": ("f16", "f32", (128, 192, 512), (3, 2), 128, 16),
}


def matrices(gpu: Machine) -> Iterator[tuple[str, Row]]:
    for name, (_, _, shapes) in WMMA.items():
        for shape in shapes:
            for layouts in ("row_col", "col_row"):
                for where in ("global", "shared"):
                    row = one_warp(gpu, name, shape, layouts, where)
                    yield f"{name}_{'x'.join(map(str, shape))}_{layouts} {where}", row


def one_warp(gpu: Machine, name: str, shape: tuple[int, int, int], layouts: str, where: str) -> Row:
    """Lines are 16 bytes longer than they need to be."""
    text = (GOLDEN / "tensor_wmma.ptx").read_text()
    factor, total, _ = WMMA[name]
    m, n, k = shape
    random = np.random.default_rng([m, n, k, len(where + layouts)])
    a, b = random_matrix(random, (m, k), factor), random_matrix(random, (k, n), factor)
    c = random_matrix(random, (m, n), total)
    a_rows, b_rows = (layout == "row" for layout in layouts.split("_"))
    pad = 16 // HELD[factor]().itemsize
    flat_a, lda = in_memory(a, a_rows, pad, 1024)
    flat_b, ldb = in_memory(b, b_rows, pad, 1024)
    flat_c, ldc = in_memory(c, a_rows, 16 // HELD[total]().itemsize, 1280)
    memory = one_memory(flat_a, flat_b, flat_c)
    numbers = [lda, ldb, ldc, int(where == "shared")]
    entry = f"{name}_{m}x{n}x{k}_{layouts}"
    results = []
    for machine in (gpu, Simulated()):
        (left,) = machine.run(text, entry, (1, 1), 32, [memory], numbers, PLACES[-1])
        d = left[PLACES[2] // 4 :].view(HELD[total])
        results.append(exact(from_memory(d, (m, n), a_rows, ldc), total))
    x, y, z = exact(a, factor), exact(b, factor), exact(c, total)
    magnitudes = np.abs(x) @ np.abs(y) + np.abs(z)
    steps = 2 if factor == "tf32" else 1
    return compared(*results, x @ y + z, magnitudes, total, steps)


def whole_products(gpu: Machine) -> Iterator[tuple[str, Row]]:
    text = (GOLDEN / "tensor_gemms.ptx").read_text()
    for name, (factor, total, (m, n, k), grid, threads, depth) in GEMMS.items():
        random = np.random.default_rng([m, n, k])
        a, b = random_matrix(random, (m, k), factor), random_matrix(random, (k, n), factor)
        if total == "f16":  # so that a sum of 512 stays below 65504
            a = (a / 8).astype(a.dtype)
        c = np.zeros((m, n), HELD[total])
        theirs, ours = (
            exact(machine.run(text, name, grid, threads, [a, b, c], [m, n, k])[2], total)
            for machine in (gpu, Simulated())
        )
        x, y = exact(a, factor), exact(b, factor)
        magnitudes = np.abs(x) @ np.abs(y)
        row = compared(theirs, ours, x @ y, magnitudes, total, -(-k // depth))
        yield f"{name} {m}x{n}x{k}", row
