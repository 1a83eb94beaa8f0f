"""The sweep `occupancy`: warps on each SM × loads under way in each thread × bytes a load.

A copy in a loop, with as many blocks as are resident, so that none waits for a place. It shows how
busy so many warps, each with so many loads, keep the memory. Dynamic shared memory that nobody uses
sets the number of resident blocks; the driver confirms it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import cupy
import numpy as np
import torch
from cupy_backends.cuda.api import driver

KIB = 1 << 10
SHARED_KIB, RESERVED = 228, 1024  # of an SM of compute capability 9.0; of each block, in bytes
FLOATS = 1 << 26  # read, and as many written: several times the L2 cache
IN_A_ROW = 4  # launches between two events

_SOURCE = r"""
extern "C" __global__ void copy(const VECTOR* x, VECTOR* y, int n)
{
    int tile = ILP * blockDim.x;
    for (int first = blockIdx.x * tile + threadIdx.x; first < n; first += gridDim.x * tile) {
        VECTOR kept[ILP];
        #pragma unroll
        for (int k = 0; k < ILP; k++) {
            int i = first + k * blockDim.x;
            if (i < n) kept[k] = x[i];
        }
        #pragma unroll
        for (int k = 0; k < ILP; k++) {
            int i = first + k * blockDim.x;
            if (i < n) y[i] = kept[k];
        }
    }
}
"""
_VECTORS = {4: "float", 16: "float4"}  # by bytes

Timed = Callable[[Sequence[Callable[[], object]], int], list[float]]


def sweep(milliseconds: Timed) -> list[dict[str, Any]]:
    """One point for each number of resident blocks that the registers allow."""
    x = cupy.random.rand(FLOATS, dtype=cupy.float32)
    y = cupy.empty_like(x)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    points = []
    for load_bytes, vector in _VECTORS.items():
        n = np.int32(FLOATS * 4 // load_bytes)
        for ilp in (1, 2, 4, 8):
            options = ("--std=c++17", f"-DVECTOR={vector}", f"-DILP={ilp}")
            for threads, blocks, shared_bytes in _launches():
                # Each needs its own module: the limits below belong to a loaded kernel.
                kernel = cupy.RawModule(code=_SOURCE, options=options).get_function("copy")
                kernel.max_dynamic_shared_size_bytes = shared_bytes
                kernel.preferred_shared_memory_carveout = 100
                resident = driver.occupancyMaxActiveBlocksPerMultiprocessor(
                    kernel.kernel.ptr, threads, shared_bytes
                )
                if resident != blocks:  # too many registers for so many blocks
                    continue

                def call(
                    kernel: Any = kernel,
                    blocks: int = blocks,
                    threads: int = threads,
                    shared_bytes: int = shared_bytes,
                    n: np.int32 = n,
                ) -> None:
                    for _ in range(IN_A_ROW):
                        kernel((blocks * sms,), (threads,), (x, y, n), shared_mem=shared_bytes)

                y.fill(0)
                call()
                if not bool((x == y).all()):
                    raise AssertionError(f"{vector}, ILP {ilp}, {threads} threads: not a copy")
                taken = milliseconds([call], 9)[0] / IN_A_ROW
                points.append(
                    {
                        "threads": threads,
                        "blocks": blocks,
                        "warps": blocks * threads // 32,
                        "registers": kernel.num_regs,
                        "shared_bytes": shared_bytes,
                        "ilp": ilp,
                        "load_bytes": load_bytes,
                        "milliseconds": taken,
                        "gigabytes_per_second": 8 * FLOATS / taken / 1e6,
                    }
                )
    return points


def _launches() -> Iterator[tuple[int, int, int]]:
    """(threads, blocks on an SM, the shared bytes that leave no room for one block more)."""
    for threads in (128, 256):
        for blocks in range(1, 9):
            most = SHARED_KIB * KIB // blocks - RESERVED
            yield threads, blocks, most // 128 * 128
