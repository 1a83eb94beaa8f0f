"""Three of the kernels in Numba's CUDA dialect, statement for statement.

Import only with NUMBA_ENABLE_CUDASIM=1 in the environment: Numba reads it once, when it is
imported, and without it asks for a GPU.
"""

import numpy as np
from numba import cuda


@cuda.jit
def vector_add(a, b, c, n):  # type: ignore[no-untyped-def]
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        c[i] = a[i] + b[i]


@cuda.jit
def tiled_matmul(a, b, c, n):  # type: ignore[no-untyped-def]
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
    total = np.float32(0)
    for k in range(0, n, 16):
        left[ty, tx] = a[row * n + k + tx]
        right[ty, tx] = b[(k + ty) * n + column]
        cuda.syncthreads()
        for j in range(16):
            total += left[ty, j] * right[j, tx]
        cuda.syncthreads()
    c[row * n + column] = total


@cuda.jit
def tree_reduction(x, sums, n):  # type: ignore[no-untyped-def]
    part = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 256 + t
    part[t] = x[i] if i < n else np.float32(0)
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
