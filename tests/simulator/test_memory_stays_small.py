"""Huge buffers cost what is touched of them, and a wave holds only so many blocks."""

import numpy as np

from simulator.observing.events import Observer
from tests.simulator.compiled import compiled, run


class ResidentMemory(Observer):
    """How much memory the system backs while a launch runs."""

    def basic_block_ran(self, number, lanes):
        with open("/proc/self/statm") as file:
            self.pages = int(file.read().split()[1])


def test_chosen_blocks_of_a_huge_launch_cost_little_memory():
    """Two buffers of 4 GiB, of which only what the chosen blocks touch is ever backed."""
    kernel = compiled(
        """extern "C" __global__ void twice(const float* x, float* y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 1.0f;
}"""
    )
    before, after = ResidentMemory(), ResidentMemory()
    small = np.zeros(256, np.float32)
    run(kernel, 1, 256, small, small, np.int64(256), observers=[before])
    n = 1 << 30
    x, y = np.zeros(n, np.float32), np.zeros(n, np.float32)
    x[-256:] = 3
    chosen = [0, 5, n // 256 - 1]
    launched = run(kernel, n // 256, 256, x, y, np.int64(n), blocks=chosen, observers=[after])
    assert (after.pages - before.pages) * 4096 < 16 << 20
    assert (y[:256] == 1).all() and (y[5 * 256 : 6 * 256] == 1).all() and (y[-256:] == 7).all()
    assert launched.counters.blocks == 3
    assert launched.buffers["x"].bytes_read == 3 * 256 * 4


def test_a_wave_of_small_blocks_with_much_shared_memory_stays_small():
    """2048 blocks of one warp and 160 KiB each: a wave holds only what fits into 128 MiB."""
    kernel = compiled(
        """extern "C" __global__ void hoard(int* y)
{
    extern __shared__ int tile[];
    tile[threadIdx.x * 7] = threadIdx.x;
    __syncwarp();
    y[blockIdx.x] = tile[(blockIdx.x % 32) * 7];
}"""
    )
    before, waves = ResidentMemory(), ResidentMemory()
    y = np.zeros(2048, np.int32)
    run(kernel, 1, 32, y, shared_bytes=160 << 10, observers=[before])
    run(kernel, 2048, 32, y, shared_bytes=160 << 10, observers=[waves])
    np.testing.assert_array_equal(y, np.arange(2048) % 32)
    # As much again is the note of what is written; all blocks at once would take 670 MiB.
    assert (waves.pages - before.pages) * 4096 < 400 << 20
