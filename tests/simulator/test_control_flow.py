"""Lanes that part and meet: every kernel's values against the same steps in plain Python."""

import numpy as np
import pytest

from simulator.translating.control_flow import basic_blocks
from tests.simulator.compiled import compiled, run, written

# Each computes y[i] from i and n; Python reads almost the same.
KERNELS = {
    "nested loops of unlike lengths": (
        """int sum = 0;
    #pragma unroll 1
    for (int a = 0; a < i % 7; ++a)
        #pragma unroll 1
        for (int b = a; b < i % 11; b += 2)
            sum = sum * 3 + a * b + i;
    y[i] = sum;""",
        lambda i, n: _nested(i),
    ),
    "continue and break": (
        """int sum = 0;
    #pragma unroll 1
    for (int k = 0; k < n; ++k) {
        if ((k + i) % 3 == 0) continue;
        if (sum > 40 + i) break;
        sum += k;
        if (k == i % 13) { sum += 100; continue; }
        sum ^= 1;
    }
    y[i] = sum;""",
        lambda i, n: _continues(i, n),
    ),
    "switch that falls through": (
        """int v = i;
    switch (i % 6) {
        case 0: v += 1;
        case 1: v *= 2;
        case 2: v -= 3; break;
        case 4: v = -v;
        default: v += 1000;
    }
    y[i] = v;""",
        lambda i, n: _switch(i),
    ),
    "early return": (
        """if (i % 5 == 0) { y[i] = -1; return; }
    int v = i;
    #pragma unroll 1
    while (v != 1) {
        if (v > 20000) { y[i] = -2; return; }
        v = v % 2 ? 3 * v + 1 : v / 2;
        if (v == n) return;
    }
    y[i] = v;""",
        lambda i, n: _collatz(i, n),
    ),
    "return from a nested loop": (
        """#pragma unroll 1
    for (int a = 0; a < n; ++a)
        #pragma unroll 1
        for (int b = 0; b <= a; ++b) {
            if (a * b == i) { y[i] = a * 1000 + b; return; }
        }
    y[i] = -1;""",
        lambda i, n: next((a * 1000 + b for a in range(n) for b in range(a + 1) if a * b == i), -1),
    ),
    "goto into and out of loops": (
        """int v = 0, k = i;
    if (i % 2) goto middle;
again:
    v += 3;
middle:
    v = (v * 2 + k) & 1023;
    if (--k > n) goto middle;
    if (v % 7 != 0 && v < 500) goto again;
    y[i] = v;""",
        lambda i, n: _goto(i, n),
    ),
    "short circuits": (
        """int v = 0;
    if ((i % 2 == 0 && i % 3 == 0) || (i > n && !(i % 5 == 0 || i % 7 == 0))) v = 1;
    if (i % 2 ? i % 3 == 1 : i % 5 == 2) v += 2;
    y[i] = v;""",
        lambda i, n: (
            int((i % 2 == 0 and i % 3 == 0) or (i > n and not (i % 5 == 0 or i % 7 == 0)))
            + 2 * int(i % 3 == 1 if i % 2 else i % 5 == 2)
        ),
    ),
    "do while": (
        """unsigned v = i * 2654435761u; int turns = 0;
    do { v ^= v >> 7; v *= 5; ++turns; } while (v % 9 != 0 && turns < n);
    y[i] = turns;""",
        lambda i, n: _do_while(i, n),
    ),
    "a loop that nobody enters": (
        "int s = i;\n for (int k = n; k < 10; ++k) s += k; y[i] = s;",
        lambda i, n: i,
    ),
}


def _nested(i):
    total = 0
    for a in range(i % 7):
        for b in range(a, i % 11, 2):
            total = (total * 3 + a * b + i) & 0xFFFFFFFF
    return total - (total >> 31 << 32)


def _continues(i, n):
    total = 0
    for k in range(n):
        if (k + i) % 3 == 0:
            continue
        if total > 40 + i:
            break
        total += k
        if k == i % 13:
            total += 100
            continue
        total ^= 1
    return total


def _switch(i):
    v, case = i, i % 6
    if case == 0:
        v += 1
    if case <= 1:
        v *= 2
    if case <= 2:
        return v - 3
    return (-v if case == 4 else v) + 1000


def _collatz(i, n):
    if i % 5 == 0:
        return -1
    v = i
    while v != 1:
        if v > 20000:
            return -2
        v = 3 * v + 1 if v % 2 else v // 2
        if v == n:
            return 77  # what y held before
    return v


def _goto(i, n):
    v, k = 0, i
    again = i % 2 == 0
    while True:
        v += 3 if again else 0
        v = (v * 2 + k) & 1023
        k -= 1
        again = k <= n
        if again and not (v % 7 != 0 and v < 500):
            return v


def _do_while(i, n):
    v, turns = i * 2654435761 & 0xFFFFFFFF, 0
    while True:
        v ^= v >> 7
        v = v * 5 & 0xFFFFFFFF
        turns += 1
        if v % 9 == 0 or turns >= n:
            return turns


def kernel_of(body):
    return compiled(
        f"""extern "C" __global__ void k(int* y, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}"""
    )


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("block", [32, 45])  # 45: a ragged last warp
def test_values_are_those_of_plain_python(name, block):
    body, oracle = KERNELS[name]
    y = np.full(4 * block, 77, np.int32)
    run(kernel_of(body), 4, block, y, 20)
    assert y.tolist() == [oracle(i, 20) for i in range(4 * block)]


@pytest.mark.parametrize("name", KERNELS)
def test_every_loop_is_contiguous_and_follows_its_header(name):
    for block in basic_blocks(kernel_of(KERNELS[name][0]).entry):
        if block.loop is not None:
            members = block.loop.members
            assert members == list(range(members[0], members[-1] + 1))


def test_lanes_that_part_meet_right_after_the_if():
    """The add behind the if runs once a warp, not once a side."""
    kernel = written(
        """mov.u32 t, %tid.x;
           and.b32 low, t, 1;
           setp.eq.u32 p, low, 0;
           @p bra EVEN;
           add.u32 t, t, 100;
           bra JOIN;
           EVEN: add.u32 t, t, 200;
           JOIN: add.u32 t, t, 1;
           ret;""",
        registers=[("b32", "t, low"), ("pred", "p")],
    )
    counters = run(kernel, 1, 32).counters
    assert counters.warp_instructions == 4 + 2 + 1 + 2  # head, odd side, even side, join
    assert counters.thread_instructions == 4 * 32 + 2 * 16 + 1 * 16 + 2 * 32
    assert (counters.branches, counters.divergent_branches) == (1, 1)


def test_an_exit_that_stands_before_the_join_in_the_text_does_not_break_the_loop():
    """Lanes leave one by one through a block that the compiler may put anywhere."""
    kernel = compiled(
        """extern "C" __global__ void search(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, found = -1;
    #pragma unroll 1
    for (int k = 0; k < n; ++k) {
        if (x[k] == i) { found = k; break; }
        if (x[k] == -i - 1) { found = -k - 10; break; }
    }
    y[i] = found;
}"""
    )
    x = np.random.default_rng(1).permutation(96).astype(np.int32)
    x[::7] = -x[::7] - 1
    y = np.zeros(96, np.int32)
    run(kernel, 2, 48, x, y, 96)
    where = {int(v) if v >= 0 else int(-v - 1): k for k, v in enumerate(x)}
    want = [where[i] if x[where[i]] >= 0 else -where[i] - 10 for i in range(96)]
    assert y.tolist() == want


def test_functions_that_stay_functions_are_numbered_behind_the_entry():
    """One numbering for all; a function's blocks are together, and a call ends one."""
    entry = compiled(
        """__device__ __noinline__ int deep(int n, int m)
{
    int sum = 0;
    #pragma unroll 1
    for (int k = 0; k < n; ++k) sum = sum * 3 + (k & m ? deep(n - 1, m) : k);
    return sum;
}
__device__ int flat(int n, int m) { return n + m; }
__device__ int (*table[2])(int, int) = {deep, flat};
extern "C" __global__ void k(int* y) { y[threadIdx.x] = table[threadIdx.x & 1](3, 1); }""",
        "k",
    ).entry
    blocks = basic_blocks(entry)
    owners = [block.function for block in blocks]
    assert owners == sorted(owners) and len(set(owners)) == 3
    indices = sorted(k for block in blocks for k in range(block.first, block.end))
    assert indices == list(range(sum(len(f.instructions) for f in (entry, *entry.functions))))
    for block in blocks:
        assert all(blocks[s].function == block.function for s in block.successors)
        if block.loop is not None:
            low, high = min(block.loop.members), max(block.loop.members)
            assert block.loop.members == list(range(low, high + 1))
    assert sum(block.call is not None for block in blocks) == 2
