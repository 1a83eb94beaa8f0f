"""Functions in which lanes change memory for each other, wait for each other, or only loop."""

import numpy as np

from tests.simulator.compiled import compiled, run


def test_atomics_in_a_recursion():
    kernel = compiled(
        """__device__ __noinline__ int spread(int* bins, int n)
{
    if (n < 2) return atomicAdd(bins, 1) >= 0;
    int below = spread(bins, n / 2);
    return below * 2 + (spread(bins + 1, n - n / 2) != 0);
}
extern "C" __global__ void k(int* bins, int* y) { y[threadIdx.x] = spread(bins, threadIdx.x); }""",
        "k",
    )
    bins, want = np.zeros(16, np.int32), np.zeros(16, np.int32)

    def spread(place, n):
        if n < 2:
            want[place] += 1
            return 1
        below = spread(place, n // 2)
        return below * 2 + (spread(place + 1, n - n // 2) != 0)

    y = np.zeros(45, np.int32)
    run(kernel, 1, 45, bins, y)
    assert y.tolist() == [spread(0, t) for t in range(45)]
    assert bins.tolist() == want.tolist()


def test_a_lock_in_functions_that_are_called_through_pointers():
    """Each thread waits its turn inside a function; who has the lock is in another one."""
    kernel = compiled(
        """typedef void (*Step)(int*);
__device__ void acquire(int* lock) { while (atomicCAS(lock, 0, 1)) { } __threadfence(); }
__device__ void release(int* lock) { __threadfence(); atomicExch(lock, 0); }
__device__ Step steps[2] = {acquire, release};
extern "C" __global__ void k(int* lock, volatile int* y)
{
    steps[0](lock);
    int v = y[0];
    for (int k = 0; k < 3; ++k) v += 1;
    y[0] = v;
    steps[1](lock);
}""",
        "k",
    )
    lock, y = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run(kernel, 3, 45, lock, y)
    assert (y[0], lock[0]) == (3 * 3 * 45, 0)


def test_waiting_in_a_function_for_what_a_later_call_writes():
    """Block 0 waits inside a function at depth; block 1 writes behind its own calls."""
    kernel = compiled(
        """__device__ __noinline__ int wait(volatile int* flag, int n)
{
    if (n) return wait(flag, n - 1) * 2 + n;
    while (*flag == 0) { }
    return *flag;
}
__device__ __noinline__ int work(int n) { return n == 0 ? 1 : work(n - 1) * 3 + n; }
extern "C" __global__ void k(volatile int* flag, int* y)
{
    if (blockIdx.x == 0) y[threadIdx.x] = wait(flag, threadIdx.x % 4);
    else if (threadIdx.x == 0) flag[0] = work(5);
}""",
        "k",
    )

    def wait(n, value):
        return wait(n - 1, value) * 2 + n if n else value

    def work(n):
        return 1 if n == 0 else work(n - 1) * 3 + n

    y = np.zeros(45, np.int32)
    run(kernel, 2, 45, np.zeros(1, np.int32), y, resident_blocks=2)
    assert y.tolist() == [wait(t % 4, work(5)) for t in range(45)]


def test_a_function_that_loops_in_every_call_is_not_held_endless():
    """The loop's own registers are the same in each call; what the caller has is not."""
    kernel = compiled(
        """typedef void (*Step)(const int*, int*);
__device__ void find(const int* x, int* at)
{
    int k = 0;
    while (x[k] != 9) ++k;
    *at = k;
}
__device__ Step step = find;
extern "C" __global__ void k(const int* x, int* y, int n)
{
    for (int turn = 0; turn < n; ++turn) step(x, y + threadIdx.x);
}""",
        "k",
    )
    x, y = np.array([1, 2, 9], np.int32), np.zeros(45, np.int32)
    run(kernel, 1, 45, x, y, 1000)
    assert (y == 2).all()
