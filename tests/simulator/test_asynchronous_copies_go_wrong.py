"""cp.async gone wrong: used too early, overwritten, out of bounds, misaligned."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run
from tests.simulator.copying import kernel, numbers


def unfinished(body, threads=64, blocks=1, n=0, **settings):
    """The fault of a kernel that must be one of copies, and the kernel."""
    k = kernel(body)
    x = numbers(256)
    found = fault(k, blocks, threads, x, np.zeros(256, np.float32), n, **settings)
    assert found.kind is FaultKind.UNFINISHED_COPY, found
    return k, found


def test_its_own_copy_is_read_before_any_wait():
    k, found = unfinished("""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);  // copied
    __pipeline_commit();
    y[t] = tile[0][t];  // read
    """)
    started = k.line("// copied")
    assert found.line == k.line("// read")
    assert found.what == (
        "thread 0 of block 0 reads tile[0] while a copy (cp.async) into it is under way, which it "
        f"started on line {started}"
    )
    assert "No wait stands between" in found.advice
    assert (found.block, found.thread) == ((0, 0, 0), (0, 0, 0))


def test_a_barrier_is_no_wait():
    k, found = unfinished("""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);  // copied
    __pipeline_commit();
    __syncthreads();
    y[t] = tile[0][63 - t];  // read
    """)
    assert found.line == k.line("// read")
    assert f"which thread 63 started on line {k.line('// copied')}" in found.what


def test_the_wait_is_for_too_few_groups():
    k, found = unfinished("""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][t], &x[64 + t], 4);  // the second
    __pipeline_commit();
    __pipeline_wait_prior(1);  // one is left
    y[t] = tile[0][t];
    y[64 + t] = tile[1][t];  // read
    """)
    assert found.line == k.line("// read")
    assert f"on line {k.line('// the second')}" in found.what
    assert found.advice == (
        f"wait_group 1 on line {k.line('// one is left')} lets the newest group go on, and this "
        "copy is there: leave fewer, or commit a group in every turn, also an empty one."
    )


def test_the_last_turn_of_a_pipeline_commits_no_empty_group():
    """Without it the wait of the last turn lets the last tile go on."""
    _, found = unfinished(
        """
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) {
            __pipeline_memcpy_async(&tile[(k + 1) & 1][t], &x[(k + 1) * 64 + t], 4);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        __syncthreads();
        y[k * 64 + t] = tile[k & 1][63 - t];
        __syncthreads();
    }
    """,
        n=3,
    )
    assert "also an empty one" in found.advice


def test_a_copy_that_nobody_commits_is_covered_by_no_wait():
    k, found = unfinished("""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_wait_prior(0);  // for nothing
    y[t] = tile[0][t];
    """)
    assert f"The wait on line {k.line('// for nothing')} is for groups" in found.advice
    assert "commit before you wait" in found.advice


@pytest.mark.parametrize("change", ["tile[0][t] = 1.0f;", "atomicAdd(&tile[0][t], 1.0f);"])
def test_a_destination_is_changed_while_the_copy_is_under_way(change):
    k, found = unfinished(f"""
    tile[0][t] = 0.0f;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    {change}  // changed
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[0][t];
    """)
    assert found.line == k.line("// changed")
    assert ("updates" if "atomic" in change else "writes") + " tile[0]" in found.what


def test_two_copies_into_one_place_are_under_way():
    k, found = unfinished("""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);  // first
    __pipeline_memcpy_async(&tile[0][t], &x[64 + t], 4);  // second
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[0][t];
    """)
    assert found.line == k.line("// second")
    assert "copies to tile[0]" in found.what
    assert f"line {k.line('// first')}" in found.what


@pytest.mark.parametrize("change", ["x[t] = 0.0f;", "atomicAdd(&x[t], 1.0f);"])
def test_a_source_is_changed_while_the_copy_is_under_way(change):
    k, found = unfinished(f"""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    {change}  // changed
    __pipeline_wait_prior(0);
    y[t] = tile[0][t];
    """)
    assert found.line == k.line("// changed")
    assert "x[0] while a copy (cp.async) of it is under way" in found.what


def test_a_source_behind_a_barrier_is_still_read():
    """Another thread writes it, ordered behind the start and before the wait."""
    _, found = unfinished("""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    __syncthreads();
    if (t == 5) x[9] = 0.0f;
    __pipeline_wait_prior(0);
    y[t] = tile[0][t];
    """)
    assert "thread 5 of block 0 writes x[9]" in found.what
    assert "which thread 9 started" in found.what


def test_only_the_lanes_that_have_not_waited_are_too_early():
    k = """
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    if (t < BOUND) __pipeline_wait_prior(0);
    if (t < 40) y[t] = tile[0][t];
    __pipeline_wait_prior(0);
    """
    y = np.zeros(64, np.float32)
    run(kernel(k.replace("BOUND", "40")), 1, 64, numbers(), y, 0)
    assert (y[:40] == numbers(40)).all()
    _, found = unfinished(k.replace("BOUND", "37"))
    assert "thread 37 of block 0" in found.what


def test_a_block_does_not_see_the_copies_of_another():
    """Blocks have shared memory of their own at the same addresses."""
    body = """
    if (blockIdx.x == 1) {
        __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
        __pipeline_commit();
        __pipeline_memcpy_async(&tile[1][t], &x[t], 4);
    } else {
        tile[0][t] = 2.0f;
    }
    if (blockIdx.x == 1) __pipeline_wait_prior(0);
    y[blockIdx.x * 64 + t] = tile[0][t];
    if (blockIdx.x == 1) __pipeline_commit();
    __pipeline_wait_prior(0);
    """
    y = np.zeros(128, np.float32)
    run(kernel(body), 2, 64, numbers(), y, 0)
    assert (y[:64] == 2).all()
    assert (y[64:] == numbers()).all()


def test_without_looking_for_faults_the_old_bytes_are_read():
    k = kernel("""
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    y[t] = tile[0][t];
    """)
    y = np.zeros(64, np.float32)
    run(k, 1, 64, numbers(), y, 0, faults=False)
    assert np.isnan(y).all()


# ---- bounds and alignment

COPY = """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const char* x, float4* y, int from, int to, int zeros)
{
    __shared__ __align__(16) char tile[1024];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[16 * t + to], &x[16 * t + from], 16, zeros);  // here
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = *reinterpret_cast<float4*>(&tile[16 * t]);
}
"""
X = np.zeros(1024, np.uint8)


@pytest.mark.parametrize(
    ("from_", "to", "kind", "words"),
    [
        (16, 0, FaultKind.OUT_OF_BOUNDS, "thread 63 of block 0 reads x[1024]"),
        (-16, 0, FaultKind.OUT_OF_BOUNDS, "thread 0 of block 0 reads x[-16]"),
        (0, 16, FaultKind.OUT_OF_BOUNDS, "writes byte 1024 of its block's shared memory"),
        (4, 0, FaultKind.MISALIGNED, "reads 16 bytes at byte 4 of x"),
        (0, 8, FaultKind.MISALIGNED, "writes 16 bytes at byte 8 of memory"),
    ],
)
def test_both_ends_are_looked_at_where_the_copy_starts(from_, to, kind, words):
    k = compiled(COPY)
    threads = 32 if kind is FaultKind.MISALIGNED else 64
    found = fault(k, 1, threads, X, np.zeros(256, np.float32), from_, to, 0)
    assert found.kind is kind
    assert words in found.what
    assert found.line == k.line("// here")


def test_what_is_zero_is_not_read_and_still_aligned():
    y = np.ones(256, np.float32)
    run(compiled(COPY), 1, 64, X, y, 1 << 20, 0, 16)
    assert (y == 0).all()
    found = fault(compiled(COPY), 1, 64, X, y, 8, 0, 12)
    assert found.kind is FaultKind.MISALIGNED


def test_a_negative_number_of_bytes_is_a_huge_one():
    k = kernel("""
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[0][t]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"  // here
                 :: "r"(to), "l"(&x[t]), "r"(n - t));
    y[t] = 0.0f;
    """)
    found = fault(k, 1, 64, numbers(), np.zeros(64, np.float32), 4)
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert "thread 5 of block 0 asks for 4294967295 bytes in a copy (cp.async) of 4" in found.what
    assert found.line == k.line("// here")
