"""A kernel that copies into a tile of shared memory, from its body; and what it copies."""

import numpy as np

from tests.simulator.compiled import compiled

HEAD = """
#include <cuda_pipeline.h>
extern "C" __global__ void k(float* x, float* y, int n)
{
    __shared__ float tile[2][64];
    int t = threadIdx.x;
"""


def kernel(body):
    return compiled(f"{HEAD}{body}\n}}\n")


def numbers(count=64):
    return np.arange(1, count + 1, dtype=np.float32)
