"""What is timed: a kernel, its data, the true result, and the same task in plain NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.simulator_speed import kernels
from harness.launching.compiler import compile_file
from simulator import Buffer, Entry, Launched, Pointer, Settings, launch, parse

Array = NDArray[Any]
Sizes = tuple[int, int, int]


@dataclass(frozen=True)
class Task:
    """One kernel with data.

    arguments  arrays and NumPy scalars, as the kernel takes them; the output is among them
    output     index of the output among the arguments
    truth      what the output must be
    tolerance  relative and absolute
    fill       of the output before each launch
    plain      the same task in NumPy; the result
    """

    source: str
    grid: Sizes
    block: Sizes
    arguments: tuple[Any, ...]
    output: int
    truth: Array
    tolerance: float = 0.0
    fill: float = np.nan
    plain: Callable[[], Array] | None = None

    @property
    def entry(self) -> Entry:
        return compiled(self.source)

    def clear(self) -> None:
        self.arguments[self.output].fill(self.fill)

    def run(self, settings: Settings) -> Launched:
        bound: list[Any] = [
            Pointer(Buffer(f"argument {k}", value.view(np.uint8), value.dtype))
            if isinstance(value, np.ndarray)
            else value
            for k, value in enumerate(self.arguments)
        ]
        return launch(self.entry, self.grid, self.block, bound, settings=settings)

    def check(self) -> None:
        """Raises AssertionError where the output is not what it must be."""
        got = self.arguments[self.output]
        np.testing.assert_allclose(got, self.truth, rtol=self.tolerance, atol=self.tolerance)


@cache
def ptx_of(source: str) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cu")
        path.write_text(source, encoding="utf-8")
        return compile_file(path).ptx


@cache
def compiled(source: str) -> Entry:
    return next(iter(parse(ptx_of(source)).entries.values()))


def _random(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def _linear(n: int) -> tuple[Sizes, Sizes]:
    return (n // kernels.BLOCK, 1, 1), (kernels.BLOCK, 1, 1)


def vector_add(n: int) -> Task:
    a, b = _random(2, n)
    c = np.empty(n, np.float32)
    return Task(
        kernels.VECTOR_ADD, *_linear(n), (a, b, c, np.int32(n)), 2, a + b, plain=lambda: a + b
    )


def tiled_matmul(n: int) -> Task:
    a, b = _random(2, n, n)
    c = np.empty(n * n, np.float32)
    truth = (a.astype(np.float64) @ b).ravel()
    arguments = (a.ravel(), b.ravel(), c, np.int32(n))
    grid, block = (n // 16, n // 16, 1), (16, 16, 1)
    return Task(kernels.TILED_MATMUL, grid, block, arguments, 2, truth, 1e-4, plain=lambda: a @ b)


def register_tiled_matmul(n: int, depth: int) -> Task:
    a, b = _random(n, depth), _random(depth, n)
    c = np.empty(n * n, np.float32)
    truth = (a.astype(np.float64) @ b).ravel()
    arguments = (a.ravel(), b.ravel(), c, np.int32(n), np.int32(depth))
    grid, block = (n // 64, n // 64, 1), (16, 16, 1)
    return Task(kernels.REGISTER_TILED_MATMUL, grid, block, arguments, 2, truth, 1e-4)


def _reduction(source: str, n: int) -> Task:
    x = _random(n)
    sums = np.empty(n // kernels.BLOCK, np.float32)
    truth = x.astype(np.float64).reshape(-1, kernels.BLOCK).sum(axis=1)

    def plain() -> Array:
        total: Array = x.reshape(-1, kernels.BLOCK).sum(axis=1)
        return total

    return Task(source, *_linear(n), (x, sums, np.int32(n)), 1, truth, 1e-4, plain=plain)


def tree_reduction(n: int) -> Task:
    return _reduction(kernels.TREE_REDUCTION, n)


def shuffle_reduction(n: int) -> Task:
    return _reduction(kernels.SHUFFLE_REDUCTION, n)


def transpose(n: int) -> Task:
    x = _random(n, n)
    y = np.empty(n * n, np.float32)
    arguments = (x.ravel(), y, np.int32(n))
    return Task(kernels.TRANSPOSE, (n // 32, n // 32, 1), (32, 8, 1), arguments, 1, x.T.ravel())


def histogram(n: int) -> Task:
    x = np.random.default_rng(0).integers(0, 256, n).astype(np.uint8)
    bins = np.empty(256, np.uint32)
    truth = np.bincount(x, minlength=256)
    blocks = (n // kernels.BLOCK // 16, 1, 1)  # each thread counts 16 values
    return Task(kernels.HISTOGRAM, blocks, (256, 1, 1), (x, bins, np.int32(n)), 1, truth, fill=0)


def softmax_rows(rows: int, columns: int) -> Task:
    x = _random(rows, columns)
    y = np.empty(rows * columns, np.float32)
    wide = np.exp(x - x.max(axis=1, keepdims=True), dtype=np.float64)
    truth = (wide / wide.sum(axis=1, keepdims=True)).ravel()
    arguments = (x.ravel(), y, np.int32(columns))
    return Task(kernels.SOFTMAX_ROWS, (rows, 1, 1), (256, 1, 1), arguments, 1, truth, 1e-5)


def straight_line(lanes: int, instructions: int) -> Task:
    x = _random(lanes)
    y = np.empty(lanes, np.float32)
    p, q = x, (x.astype(np.float64) * 0.5 + 1).astype(np.float32)
    for k in range(max(1, instructions // 3)):
        p = p + q
        q = q * np.float32(1 + (k % 7 - 3) / 256)
        p = (p.astype(np.float64) * -0.25 + q).astype(np.float32)
    arguments = (x, y)
    return Task(kernels.straight_line(instructions), *_linear(lanes), arguments, 1, p + q, 1e-5)
