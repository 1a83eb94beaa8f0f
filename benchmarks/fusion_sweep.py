"""The sweep `fusion`: lesson 10's chain of three kernels, and the one that does all of it.

Each size is measured with inputs that must come from memory: the calls go round through buffers of
several times the L2 cache. What one kernel has just written, the next may still find in L2. Beside
them a kernel of the fused one's arguments that does nothing: what a launch costs on this host.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cupy
import numpy as np

COLUMNS = 4096
BLOCK, ELEMENTS_A_THREAD = 256, 4
_COLD_BYTES = 512 << 20
_EMPTY_LAUNCHES = 64  # in a row
_NOTHING = r"""
extern "C" __global__ void nothing(float* y, const float* x, const float* bias,
                                   const float* residual, int n, int columns) {}
"""
_SOURCE = Path(__file__).resolve().parent.parent / "solutions" / "lesson_10" / "kernel.cu"

Timed = Callable[[Sequence[Callable[[], object]], int], list[float]]


def sweep(milliseconds: Timed) -> list[dict[str, Any]]:
    """One point for each number of elements, 2^12 to 2^28."""
    module = cupy.RawModule(code=_SOURCE.read_text(encoding="utf-8"), options=("--std=c++17",))
    kernels = [module.get_function(name) for name in ("add_bias", "apply_gelu", "add_residual")]
    fused = module.get_function("bias_gelu_add")
    nothing = cupy.RawModule(code=_NOTHING).get_function("nothing")
    bias = cupy.random.rand(COLUMNS, dtype=cupy.float32)
    points = []
    for exponent in range(12, 29, 2):
        n = 1 << exponent
        copies = max(1, min(64, _COLD_BYTES // (20 * n)))
        tensors = [cupy.random.rand(copies, n, dtype=cupy.float32) for _ in range(5)]
        x, residual, shifted, bent, y = ([t[k] for k in range(copies)] for t in tensors)
        grid = (-(-n // (ELEMENTS_A_THREAD * BLOCK)),)
        count, columns = np.int32(n), np.int32(COLUMNS)
        launches = 64 if n <= 1 << 22 else 8
        apart = [  # what each kernel is launched with, turn by turn
            [(shifted[k], x[k], bias, count, columns) for k in range(copies)],
            [(bent[k], shifted[k], count) for k in range(copies)],
            [(y[k], bent[k], residual[k], count) for k in range(copies)],
        ]
        together = [[(y[k], x[k], bias, residual[k], count, columns) for k in range(copies)]]
        calls = [
            _in_turn(kernels, apart, grid, launches),
            _in_turn([fused], together, grid, launches),
            _in_turn([nothing], together, (1,), _EMPTY_LAUNCHES),
        ]
        taken = milliseconds(calls, 15)
        counts = (launches, launches, _EMPTY_LAUNCHES)
        names = ("apart", "together", "empty_launch")
        point = {
            f"{name}_microseconds": 1000 * t / count
            for name, t, count in zip(names, taken, counts, strict=True)
        }
        points.append({"n": n, "columns": COLUMNS} | point)
        del tensors, x, residual, shifted, bent, y, apart, together, calls
    return points


def _in_turn(
    kernels: Sequence[Any], arguments: Sequence[Sequence[Any]], grid: tuple[int], launches: int
) -> Callable[[], None]:
    """Launch all kernels `launches` times, each time with the next of their arguments."""

    def call() -> None:
        for turn in range(launches):
            for kernel, each in zip(kernels, arguments, strict=True):
                kernel(grid, (BLOCK,), each[turn % len(each)])

    return call
