"""Functions that call themselves: every lane goes as deep as it must, and all meet again."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run

THREADS = [1, 32, 45]  # one, a whole warp, a block that is no multiple of a warp


@pytest.mark.parametrize("threads", THREADS)
def test_a_factorial(threads):
    kernel = compiled(
        """__device__ __noinline__ unsigned long long factorial(int n)
{
    if (n < 2) return 1;
    unsigned long long rest = factorial(n - 1);
    return rest * n + (rest & 1);
}
extern "C" __global__ void k(unsigned long long* y)
{
    y[threadIdx.x] = factorial(threadIdx.x % 20);
}""",
        "k",
    )

    def factorial(n):
        if n < 2:
            return 1
        rest = factorial(n - 1)
        return rest * n + (rest & 1)

    y = np.zeros(threads, np.uint64)
    run(kernel, 1, threads, y)
    assert y.tolist() == [factorial(t % 20) for t in range(threads)]


@pytest.mark.parametrize("threads", THREADS)
def test_fibonacci_calls_itself_twice(threads):
    kernel = compiled(
        """__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void k(int* y) { y[threadIdx.x] = fibonacci(threadIdx.x % 11); }""",
        "k",
    )
    fibonacci = [0, 1]
    for _ in range(9):
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    y = np.zeros(threads, np.int32)
    run(kernel, 1, threads, y)
    assert y.tolist() == [fibonacci[t % 11] for t in range(threads)]


def test_two_functions_call_each_other():
    kernel = compiled(
        """__device__ __noinline__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 100 : 1 + odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 200 : 2 + even(n - 1); }
extern "C" __global__ void k(int* y) { y[threadIdx.x] = even(threadIdx.x); }""",
        "k",
    )
    y = np.zeros(45, np.int32)
    run(kernel, 1, 45, y)
    assert y.tolist() == [(200 if n % 2 else 100) + n + n // 2 for n in range(45)]


def test_ackermann_calls_itself_in_its_own_argument():
    kernel = compiled(
        """__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void k(int* y)
{
    y[threadIdx.x] = ackermann(threadIdx.x / 12, threadIdx.x % 12);
}""",
        "k",
    )
    y = np.zeros(36, np.int32)
    run(kernel, 1, 36, y)
    closed = [lambda n: n + 1, lambda n: n + 2, lambda n: 2 * n + 3]
    assert y.tolist() == [closed[t // 12](t % 12) for t in range(36)]


QUICKSORT = """__device__ __noinline__ void sort(int* a, int count)
{
    if (count < 2) return;
    int below[16], above[16], less = 0, more = 0, pivot = a[0];
    for (int k = 1; k < count; ++k) {
        if (a[k] < pivot) below[less++] = a[k];
        else above[more++] = a[k];
    }
    sort(below, less);
    sort(above, more);
    for (int k = 0; k < less; ++k) a[k] = below[k];
    a[less] = pivot;
    for (int k = 0; k < more; ++k) a[less + 1 + k] = above[k];
}
extern "C" __global__ void k(int* y)
{
    int mine[16], t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; ++k) mine[k] = y[16 * t + k];
    sort(mine, 16);
    for (int k = 0; k < 16; ++k) y[16 * t + k] = mine[k];
}"""


def test_each_call_has_local_arrays_of_its_own():
    """A quicksort whose parts lie in the arrays of the calls that made them."""
    kernel = compiled(QUICKSORT, "k")
    y = np.random.default_rng(0).integers(0, 100, (3 * 45, 16)).astype(np.int32)
    y[7] = np.arange(16)  # the deepest: one call for each element
    want = np.sort(y, axis=1)
    run(kernel, 3, 45, y)
    np.testing.assert_array_equal(y, want)


def test_lanes_of_one_path_share_a_call_and_are_counted_so():
    """All lanes go equally deep: each line of the function costs one warp instruction a call."""
    kernel = compiled(
        """__device__ __noinline__ int deeper(int n, int* y)
{
    if (n == 0) return 0;
    y[threadIdx.x] = n;
    return deeper(n - 1, y) + y[threadIdx.x];
}
extern "C" __global__ void k(int* y, int n)
{
    y[threadIdx.x] = deeper(n, y);
}""",
        "k",
    )
    y = np.zeros(96, np.int32)
    launched = run(kernel, 1, 96, y, 6)
    assert (y == 6).all()
    assert launched.lines[kernel.line("y[threadIdx.x] = n;")].global_store_requests == 6 * 3
    after = launched.lines[kernel.line("return deeper(n - 1")]
    assert after.global_load_requests == 6 * 3
    assert after.thread_instructions == 32 * after.warp_instructions


def test_lanes_that_go_deeper_leave_the_others_at_the_end():
    """Lane t goes t % 5 deep: a store at depth d is executed by the lanes that come so far."""
    kernel = compiled(
        """__device__ __noinline__ int deeper(int n, int* y)
{
    if (n == 0) return 1;
    int below = deeper(n - 1, y);
    y[threadIdx.x] = n;
    return 3 * below;
}
extern "C" __global__ void k(int* y)
{
    int power = deeper(threadIdx.x % 5, y);
    y[threadIdx.x] = power;
}""",
        "k",
    )
    y = np.zeros(32, np.int32)
    launched = run(kernel, 1, 32, y)
    assert y.tolist() == [3 ** (t % 5) for t in range(32)]
    inside = launched.lines[kernel.line("y[threadIdx.x] = n;")]
    assert inside.global_store_requests == 4  # at the depths 4, 3, 2 and 1
    active = sum(t % 5 for t in range(32))
    assert inside.thread_instructions * 4 == inside.warp_instructions * active
    behind = launched.lines[kernel.line("y[threadIdx.x] = power")]
    assert behind.global_store_requests == 1  # all meet behind the call


def test_printf_in_a_recursion():
    kernel = compiled(
        """__device__ __noinline__ void down(int n)
{
    if (n == 0) return;
    printf("%d of %d\\n", threadIdx.x, n);
    down(n - 1);
    printf("%s %d\\n", "back at", n);
}
extern "C" __global__ void k() { down(threadIdx.x + 1); }""",
        "k",
    )
    first, deeper = "0 of 1\n1 of 2\n", "1 of 1\n"
    assert run(kernel, 1, 2).output == first + deeper + "back at 1\nback at 1\nback at 2\n"


def test_local_memory_grows_with_the_depth_and_keeps_what_it_has():
    """More than 200 calls of 32 bytes each: a wave begins with the memory of none."""
    kernel = compiled(
        """__device__ __noinline__ int walk(int n, const int* above)
{
    volatile int mine[8];
    for (int k = 0; k < 8; ++k) mine[k] = n + k + (above ? above[n & 7] : 0) % 1000;
    if (n == 0) return mine[threadIdx.x & 7];
    int below = walk(n - 1, (const int*)mine);
    return below + mine[n & 7];
}
extern "C" __global__ void k(int* y) { y[threadIdx.x] = walk(200 + threadIdx.x, nullptr); }""",
        "k",
    )

    def walk(n, above, t):
        mine = [n + k + (above[n & 7] if above else 0) % 1000 for k in range(8)]
        return mine[t & 7] if n == 0 else walk(n - 1, mine, t) + mine[n & 7]

    y = np.zeros(45, np.int32)
    run(kernel, 1, 45, y)
    assert y.tolist() == [walk(200 + t, None, t) for t in range(45)]


def test_a_recursion_in_a_loop_in_a_recursion():
    """Paths through a tree of calls: the number of ways to pay an amount with coins."""
    kernel = compiled(
        """__device__ __noinline__ int ways(int amount, int largest)
{
    if (amount == 0) return 1;
    int found = 0;
    for (int coin = largest; coin >= 1; coin /= 2)
        if (coin <= amount) found += ways(amount - coin, coin);
    return found;
}
extern "C" __global__ void k(int* y) { y[threadIdx.x] = ways(threadIdx.x, 8); }""",
        "k",
    )

    def ways(amount, largest):
        if amount == 0:
            return 1
        coins = [c for c in (8, 4, 2, 1) if c <= min(largest, amount)]
        return sum(ways(amount - c, c) for c in coins)

    y = np.zeros(20, np.int32)
    run(kernel, 1, 20, y)
    assert y.tolist() == [ways(t, 8) for t in range(20)]


def test_many_blocks_recurse_as_one_does():
    kernel = compiled(QUICKSORT, "k")
    y = np.random.default_rng(1).integers(0, 1000, (60 * 64, 16)).astype(np.int32)
    want = np.sort(y, axis=1)
    run(kernel, 60, 64, y)
    np.testing.assert_array_equal(y, want)
