"""Every shape of block and grid, chosen blocks, and every order of them."""

import numpy as np
import pytest

from simulator import UnknownInstruction
from tests.simulator.compiled import compiled, loaded, run

WHERE = """extern "C" __global__ void where(int* y)
{
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned i = b * blockDim.x * blockDim.y * blockDim.z + t;
    int digits = threadIdx.x + 100 * (threadIdx.y + 100 * threadIdx.z);
    y[2 * i] = digits;
    y[2 * i + 1] = blockIdx.x + 100 * (blockIdx.y + 100 * blockIdx.z);
}"""


def digits(sizes):
    x, y, z = sizes
    return [a + 100 * (b + 100 * c) for c in range(z) for b in range(y) for a in range(x)]


@pytest.mark.parametrize(
    ("grid", "block"),
    [
        ((1, 1, 1), (1, 1, 1)),
        ((5, 1, 1), (31, 1, 1)),
        ((3, 1, 1), (33, 1, 1)),
        ((2, 1, 1), (96, 1, 1)),
        ((2, 1, 1), (1024, 1, 1)),
        ((3, 2, 1), (8, 4, 1)),
        ((3, 2, 4), (5, 3, 2)),
        ((1, 1, 7), (1, 1, 64)),
        ((1, 9, 1), (1, 33, 1)),
    ],
)
@pytest.mark.parametrize("resident", [None, 2])
def test_every_thread_knows_its_place(grid, block, resident):
    threads, blocks = np.prod(block), np.prod(grid)
    y = np.full((blocks, threads, 2), -1, np.int32)
    launched = run(compiled(WHERE), grid, block, y, resident_blocks=resident)
    np.testing.assert_array_equal(y[:, :, 0], np.tile(digits(block), (blocks, 1)))
    np.testing.assert_array_equal(y[:, :, 1], np.tile(digits(grid), (threads, 1)).T)
    counters = launched.counters
    assert (counters.blocks, counters.threads) == (blocks, blocks * threads)
    assert counters.warps == blocks * -(-threads // 32)


def test_only_the_chosen_blocks_run():
    y = np.full((6, 32, 2), -1, np.int32)
    run(compiled(WHERE), (3, 2), 32, y, blocks=[4, 1])
    assert [bool((y[b] >= 0).all()) for b in range(6)] == [False, True, False, False, True, False]
    assert (y[4, :, 1] == 101).all()  # block 4 of a 3 x 2 grid is (1, 1)


TICKETS = """__device__ int next;
extern "C" __global__ void take(int* order)
{
    if (threadIdx.x == 0) order[atomicAdd(&next, 1)] = blockIdx.x;
}"""


@pytest.mark.parametrize("resident", [None, 1, 3])
def test_the_order_of_the_blocks_is_the_one_asked_for(resident):
    def order(**settings):
        taken = np.full(40, -1, np.int32)
        run(loaded(TICKETS), 40, 32, taken, resident_blocks=resident, **settings)
        return taken.tolist()

    assert order() == list(range(40))
    assert order(order="reversed") == list(range(40))[::-1]
    first, second = order(order="shuffled", seed=1), order(order="shuffled", seed=2)
    assert sorted(first) == sorted(second) == list(range(40))
    assert first != second != list(range(40))
    assert first == order(order="shuffled", seed=1)


def test_a_barrier_may_count_the_threads_of_a_block():
    kernel = compiled(
        """extern "C" __global__ void vote(const int* x, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] < 0) return;
    y[3 * i] = __syncthreads_count(x[i] > 4);
    y[3 * i + 1] = __syncthreads_and(x[i] > 0);
    y[3 * i + 2] = __syncthreads_or(x[i] > 8);
}"""
    )
    x = np.random.default_rng(3).integers(-2, 10, (5, 70)).astype(np.int32)
    x[1] = x[1] % 4 + 1
    x[2] = -1
    y = np.full((5, 70, 3), -1, np.int32)
    counters = run(kernel, 5, 70, x, y).counters
    for block, values in enumerate(x):
        there = values[values >= 0]
        want = [(there > 4).sum(), (there > 0).all(), (there > 8).any()]
        assert (y[block][values >= 0] == want).all()
        assert (y[block][values < 0] == -1).all()
    assert counters.barriers == 4 * 3 * 3  # four blocks have threads left, of three warps each


def test_a_launch_that_makes_no_sense_is_refused():
    kernel, y = compiled(WHERE), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="at least 1"):
        run(kernel, 0, 32, y)
    with pytest.raises(ValueError, match="1056 threads is over the limit of 1024"):
        run(kernel, 1, (33, 32), y)
    with pytest.raises(ValueError, match="takes 1 arguments, not 2"):
        run(kernel, 1, 1, y, 1)
    with pytest.raises(ValueError, match="4 bytes for a parameter of 8"):
        run(kernel, 1, 1, 1)
    with pytest.raises(ValueError, match="block ids must lie in 0 .. 3"):
        run(kernel, 4, 1, y, blocks=[4])
    with pytest.raises(ValueError, match="shared memory"):
        run(kernel, 1, 1, y, shared_bytes=232_449)
    with pytest.raises(ValueError, match="1024 threads, 72 registers each.*registers allow 0"):
        run(kernel, 1, 1024, y, registers=72)


def test_launch_bounds_are_kept():
    kernel = compiled(
        """extern "C" __global__ void __launch_bounds__(64) small(int* y)
{
    y[threadIdx.x] = 1;
}"""
    )
    run(kernel, 1, 64, np.zeros(64, np.int32))
    with pytest.raises(ValueError, match="65 threads is over the limit of 64"):
        run(kernel, 1, 65, np.zeros(65, np.int32))


@pytest.mark.parametrize(("dynamic", "total"), [(0, 128), (96, 128), (200, 256)])
def test_a_kernel_may_ask_how_much_shared_memory_its_block_has(dynamic, total):
    kernel = compiled(
        """extern "C" __global__ void size(unsigned* y)
{
    __shared__ int fixed[5];
    extern __shared__ int rest[];
    fixed[threadIdx.x] = 1;
    asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(y[0]));
    asm("mov.u32 %0, %total_smem_size;" : "=r"(y[1]));
    y[2] = fixed[threadIdx.x] + (y[0] ? rest[0] = 1 : 0);
}"""
    )
    y = np.zeros(3, np.uint32)
    run(kernel, 1, 1, y, shared_bytes=dynamic)
    assert y[:2].tolist() == [dynamic, total]


def test_a_register_that_the_simulator_does_not_have_names_itself_and_its_line():
    kernel = compiled(
        """extern "C" __global__ void grid(unsigned* y)
{
    unsigned a;
    asm("mov.u32 %0, %pm0;" : "=r"(a));
    y[0] = a;
}"""
    )
    with pytest.raises(UnknownInstruction, match="%pm0") as caught:
        run(kernel, 1, 1, np.zeros(1, np.uint32))
    assert caught.value.line == kernel.line("pm0")
