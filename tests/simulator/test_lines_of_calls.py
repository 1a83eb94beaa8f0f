"""A fault in a `__device__` function names its own line and the line that calls it."""

import numpy as np
import pytest

from simulator import FaultKind, KernelFault, frames_of
from tests.simulator.compiled import compiled, run

SOURCE = """
__device__ float at(const float* x, int i)
{
    return x[i];  // inner
}
__device__ float doubled(const float* x, int i)
{
    return 2 * at(x, i);  // middle
}
__device__ __noinline__ float far(const float* x, int i)
{
    return x[i] + 1;  // far
}
extern "C" __global__ void k(const float* x, float* y, int which)
{
    int i = threadIdx.x;
    if (which == 0) y[i] = doubled(x, i + 1);  // outer
    if (which == 1) y[i] = far(x, i + 1);  // other
}
"""


def line(mark):
    return next(n for n, text in enumerate(SOURCE.split("\n"), 1) if text.endswith(f"// {mark}"))


@pytest.mark.parametrize("which, marks", [(0, ("inner", "middle", "outer")), (1, ("far", "other"))])
def test_all_calls_are_known_inlined_by_the_compiler_or_not(which, marks):
    kernel = compiled(SOURCE, "k")
    with pytest.raises(KernelFault) as raised:
        run(kernel, 1, 32, np.zeros(32, np.float32), np.zeros(32, np.float32), np.int32(which))
    assert raised.value.kind is FaultKind.OUT_OF_BOUNDS
    assert [frame.line for frame in frames_of(raised.value.line)] == [line(m) for m in marks]
    assert raised.value.line == line(marks[0])


RACE = """
__device__ void fill(int* tile, int value)
{
    tile[threadIdx.x] = value;
}
__device__ int other(int* tile)
{
    return tile[63 - threadIdx.x];
}
extern "C" __global__ void k(int* y)
{
    __shared__ int tile[64];
    fill(tile, threadIdx.x);
    y[threadIdx.x] = other(tile);
}
"""


def test_a_race_names_both_calls_and_asks_for_the_barrier_between_them():
    with pytest.raises(KernelFault) as raised:
        run(compiled(RACE, "k"), 1, 64, np.zeros(64, np.int32))
    said = raised.value.what
    assert "at line 8 (called from line 14)" in said and "at line 4 (called from line 13)" in said
    assert "between line 13 and line 14" in raised.value.advice
