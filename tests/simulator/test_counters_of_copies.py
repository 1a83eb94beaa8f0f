"""What cp.async is counted as: worked out by hand, and lane by lane for addresses at random."""

import numpy as np
import pytest

from simulator.observing.counters import NAMES
from tests.simulator.compiled import compiled, run

COPY = """
#include <cuda_pipeline.h>
template <int bytes> struct __align__(bytes) Piece { int words[bytes / 4]; };
using Source = const Piece<BYTES>*;
extern "C" __global__ void k(Source x, const int* from, const int* to, const int* valid, int* y)
{
    extern __shared__ __align__(16) int words[];
    auto tile = reinterpret_cast<Piece<BYTES>*>(words);
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (valid[t] >= 0) {
        unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(&tile[to[t]]));
        asm volatile("cp.async.CACHE.shared.global [%0], [%1], BYTES, %2;"
                     :: "r"(target), "l"(&x[from[t]]), "r"(valid[t]));  // copied
    }
    asm volatile("cp.async.wait_all;");
    y[t] = 0;
}
"""


def counted(size, cache, from_, to, valid=None, threads=None):
    """The counters of one copy for each element of from_, on the line of the copy."""
    k = compiled(COPY.replace("BYTES", str(size)).replace("CACHE", cache))
    from_, to = (np.ascontiguousarray(a, np.int32) for a in (from_, to))
    valid = np.full(len(from_), size) if valid is None else valid
    x = np.zeros(int(from_.max() + 1) * size, np.uint8)
    threads = threads or len(from_)
    arguments = (x, from_, to, np.asarray(valid, np.int32), np.zeros(len(from_), np.int32))
    shared = int(to.max() + 1) * size
    launched = run(k, len(from_) // threads, threads, *arguments, shared_bytes=shared)
    (line,) = {n for n, c in launched.lines.items() if c.async_copy_requests} or {0}
    return launched.lines.get(line, launched.counters)


def figures(counters):
    return {name: getattr(counters, name) for name in NAMES if name.startswith("async_copy_")}


LANE = np.arange(32)


@pytest.mark.parametrize("size", [4, 8, 16])
def test_neighbours_fill_their_sectors(size):
    sectors = size  # of 32 bytes, for 32 lanes
    assert figures(counted(size, "ca", LANE, LANE)) == {
        "async_copy_requests": 1,
        "async_copy_sectors": sectors,
        "async_copy_bytes": 32 * size,
        "async_copy_ideal_sectors": sectors,
        "async_copy_wavefronts": size // 4,
        "async_copy_conflicts": 0,
    }


def test_copies_around_l1_pass_through_no_banks():
    found = figures(counted(16, "cg", LANE, LANE))
    assert (
        found["async_copy_sectors"],
        found["async_copy_wavefronts"],
        found["async_copy_conflicts"],
    ) == (16, 0, 0)


def test_sectors_far_apart_are_moved_for_little():
    found = figures(counted(4, "ca", 8 * LANE, LANE))
    assert (
        found["async_copy_sectors"],
        found["async_copy_ideal_sectors"],
        found["async_copy_bytes"],
    ) == (32, 4, 128)


def test_lanes_of_one_source_take_turns_at_its_bank():
    found = figures(counted(4, "ca", 0 * LANE, LANE))
    assert (found["async_copy_sectors"], found["async_copy_bytes"]) == (1, 4)
    assert (found["async_copy_wavefronts"], found["async_copy_conflicts"]) == (32, 31)


@pytest.mark.parametrize(("step", "passes"), [(1, 1), (2, 2), (8, 8), (32, 32), (33, 1)])
def test_banks_of_the_destination_serialise(step, passes):
    found = figures(counted(4, "ca", LANE, step * LANE))
    assert (found["async_copy_wavefronts"], found["async_copy_conflicts"]) == (passes, passes - 1)


def test_around_l1_a_piece_of_shared_memory_is_filled_from_one_line():
    """Two lanes side by side share what L2 sends, if their sources lie in one line of 128 bytes."""
    assert counted(16, "cg", LANE, LANE).async_copy_sectors == 16
    assert counted(16, "cg", 0 * LANE, LANE).async_copy_sectors == 16
    assert counted(16, "cg", LANE, 2 * LANE).async_copy_sectors == 32
    assert counted(16, "cg", 8 * LANE, LANE).async_copy_sectors == 32
    assert counted(16, "cg", 3 * LANE, LANE).async_copy_sectors == 20


def test_lanes_that_copy_nothing_ask_for_nothing():
    valid = np.where(LANE < 12, 4, 0)
    found = figures(counted(4, "ca", LANE, LANE, valid))
    assert (
        found["async_copy_requests"],
        found["async_copy_sectors"],
        found["async_copy_bytes"],
    ) == (1, 2, 48)
    assert found["async_copy_wavefronts"] == 1  # the zeros are written
    found = figures(counted(4, "ca", LANE, LANE, 0 * LANE))
    assert (
        found["async_copy_requests"],
        found["async_copy_sectors"],
        found["async_copy_wavefronts"],
    ) == (0, 0, 1)


def test_copies_are_no_loads_and_no_stores():
    k = compiled(PIPELINE.replace("STAGES", "2"))
    x, y = np.ones(12 * 32, np.float32), np.zeros(32, np.float32)
    counters = run(k, 1, 32, x, y, 12).counters
    assert counters.async_copy_requests == 12
    assert (counters.global_load_requests, counters.shared_store_requests) == (0, 0)
    assert (counters.shared_load_requests, counters.global_store_requests) == (12, 1)


# ---- lane by lane


def slow(size, cache, from_, to, valid):
    """The same for one warp, by sets and loops."""
    here = [lane for lane in range(32) if valid[lane] >= 0]
    reading = [lane for lane in here if valid[lane] > 0]
    source, target = from_ * size, to * size
    bytes_ = {int(source[lane]) + k for lane in reading for k in range(size)}
    if cache == "ca":
        moved = {b // 32 for b in bytes_}
    else:
        moved = {(int(source[lane]) // 128, int(target[lane]) // 32) for lane in reading}
    together = 128 // size
    passes = best = 0
    for first in range(0, 32, together):
        group = [lane for lane in here if first <= lane < first + together]
        if not group or cache == "cg":
            continue
        best += 1
        passes += max(
            sum(
                to[a] % together == to[b] % together
                or (from_[a] % together == from_[b] % together and {a, b} <= set(reading))
                for b in group
            )
            for a in group
        )
    return {
        "async_copy_requests": int(bool(reading)),
        "async_copy_sectors": len(moved),
        "async_copy_bytes": len(bytes_),
        "async_copy_ideal_sectors": -(-len(bytes_) // 32),
        "async_copy_wavefronts": passes,
        "async_copy_conflicts": passes - best,
    }


@pytest.mark.parametrize(("size", "cache"), [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")])
@pytest.mark.parametrize("present", ["all", "some", "parts"])
def test_counters_equal_those_of_one_lane_at_a_time(size, cache, present):
    random = np.random.default_rng(size + len(present))
    warps = 12
    from_ = random.integers(0, 60, 32 * warps)
    from_[:128] = np.arange(128) + random.integers(0, 50, 4).repeat(32)  # some are alike
    to = np.concatenate([32 * (w % 4) + random.permutation(32) for w in range(warps)])
    valid = np.full(32 * warps, size)
    if present != "all":
        valid[random.random(32 * warps) < 0.4] = -1  # not there
    if present == "parts":
        valid = np.where(valid < 0, -1, random.integers(0, size + 1, 32 * warps))
    wanted = dict.fromkeys(slow(size, cache, from_[:32], to[:32], valid[:32]), 0)
    for first in range(0, 32 * warps, 32):
        some = slice(first, first + 32)
        for name, number in slow(size, cache, from_[some], to[some], valid[some]).items():
            wanted[name] += number
    assert figures(counted(size, cache, from_, to, valid, threads=128)) == wanted


# ---- waits

PIPELINE = """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* x, float* y, int tiles)
{
    __shared__ float stage[STAGES][32];
    int t = threadIdx.x;
    for (int k = 0; k < STAGES - 1; k++) {
        __pipeline_memcpy_async(&stage[k][t], &x[k * 32 + t], 4);
        __pipeline_commit();
    }
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < tiles; k++) {
        int ahead = k + STAGES - 1;
        if (ahead < tiles)
            __pipeline_memcpy_async(&stage[ahead % STAGES][t], &x[ahead * 32 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(STAGES - 1);  // waits
        sum += stage[k % STAGES][t];
    }
    y[t] = sum;
}
"""


@pytest.mark.parametrize(("stages", "waits"), [(2, 6), (3, 4), (4, 3)])
def test_stages_are_under_way_together(stages, waits):
    """12 tiles: a wait ends when all copies under way have come, as with loads."""
    k = compiled(PIPELINE.replace("STAGES", str(stages)))
    x, y = np.ones(12 * 32, np.float32), np.zeros(32, np.float32)
    launched = run(k, 1, 32, x, y, 12)
    assert (y == 12).all()
    assert launched.lines[k.line("// waits")].load_waits == waits
    assert launched.counters.load_waits == waits
    assert launched.counters.loads_in_flight == stages


def test_a_wait_for_nothing_is_none():
    k = compiled("""
#include <cuda_pipeline.h>
extern "C" __global__ void k(float* y)
{
    __pipeline_wait_prior(0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = 1.0f;
}""")
    assert run(k, 1, 32, np.zeros(32, np.float32)).counters.load_waits == 0


def test_starting_moves_bytes_and_the_rest_is_control():
    source = COPY.replace("BYTES", "4").replace("CACHE", "ca")
    k = compiled(source)
    arguments = [np.zeros(128, np.uint8), *(np.arange(32, dtype=np.int32) for _ in range(2))]
    arguments += [np.full(32, 4, np.int32), np.zeros(32, np.int32)]
    launched = run(k, 1, 32, *arguments, shared_bytes=128)
    wait = launched.lines[k.line("cp.async.wait_all")]
    assert (wait.control_instructions, wait.memory_instructions) == (1, 0)


OVERLAP = """
#include <cuda_pipeline.h>
__device__ void multiply(float (&c)[4], unsigned a, unsigned b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(b));
}
extern "C" __global__ void k(const unsigned* x, float* y)
{
    __shared__ unsigned tile[2][64];
    int t = threadIdx.x;
    float c[4] = {};
    multiply(c, 0, 0);
    if (t < 33) __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    multiply(c, 0, 0);  // counts
    if (t == blockIdx.x) __pipeline_memcpy_async(&tile[1][t], &x[t], 4);
    __pipeline_commit();
    if (blockIdx.x == 0) __pipeline_wait_prior(1); else __pipeline_wait_prior(0);
    multiply(c, t < 33 ? tile[0][t] : 0, 0);  // counts in block 0
    __pipeline_wait_prior(0);
    multiply(c, 0, 0);
    y[t] = c[0];
}
"""


def test_products_count_as_overlapped_while_copies_of_their_block_are_under_way():
    k = compiled(OVERLAP)
    launched = run(k, 2, 96, np.zeros(64, np.uint32), np.zeros(96, np.float32))
    counters, lines = launched.counters, launched.lines
    assert counters.mma == 4 * 2 * 3  # products, blocks, warps
    # Behind the first copies the warps of both blocks, behind the first wait those of block 0.
    assert counters.overlapped_mma == 3 * (2 + 1)
    assert sum(line.overlapped_mma for line in lines.values()) == 3 * (2 + 1)


def test_no_product_is_overlapped_where_nothing_is_copied():
    k = compiled(OVERLAP.replace("if (t", "if (t < 0 && t"))
    launched = run(k, 1, 32, np.zeros(64, np.uint32), np.zeros(96, np.float32), faults=False)
    assert (launched.counters.mma, launched.counters.overlapped_mma) == (4, 0)
