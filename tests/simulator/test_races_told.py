"""What a race report says: both threads, both lines, both values, the place, and why."""

import re

import numpy as np
import pytest

from simulator import FaultKind
from simulator.observing.shared_names import spoken
from tests.simulator.compiled import compiled, fault, run


def kernel(body, parameters="const int* x, int* y", before=""):
    return compiled(f'{before}\nextern "C" __global__ void k({parameters})\n{{\n{body}\n}}', "k")


def writes(found):
    """(block, value) of each of the two that write."""
    return set(re.findall(r"of block (\d+) writes (\d+) to", found.what))


def ints(*sizes):
    return [np.zeros(size, np.int32) for size in sizes]


def test_a_missing_barrier_names_array_index_values_and_lines():
    k = kernel("""__shared__ int pad[3], tile[64]; int t = threadIdx.x;
    pad[t % 3] = 0;
    tile[t] = 100 + t;
    y[t] = tile[63 - t] + pad[0];""")
    found = fault(k, 1, 64, *ints(64, 64))
    assert found.kind is FaultKind.RACE
    lines = k.line("tile[t] ="), k.line("y[t] =")
    assert found.line == lines[1]
    assert f"reads tile[63] at line {lines[1]}" in found.what
    assert f"thread 63 of the same block writes 163 to it at line {lines[0]}" in found.what
    assert f"no __syncthreads() stands between line {lines[0]} and line {lines[1]}" in found.what
    assert f"Put __syncthreads() between line {lines[0]} and line {lines[1]}" in found.advice


def test_lanes_of_a_warp_are_told_of_lock_step():
    k = kernel("""__shared__ int tile[32]; int t = threadIdx.x;
    tile[t] = x[t];
    y[t] = tile[31 - t];""")
    found = fault(k, 1, 32, *ints(32, 32))
    assert "lanes of one warp, which need not run in lock step:\nno __syncwarp()" in found.what


def test_one_instruction_that_sends_two_threads_to_one_place_is_told_once():
    k = kernel("    y[threadIdx.x / 2] = threadIdx.x;")
    found = fault(k, 1, 64, *ints(1, 64))
    line = k.line("y[")
    assert f"both at line {line}" in found.what and found.what.count(f"line {line}") == 1
    one, other = "thread 0 of block 0 writes 0 to y[0]", "thread 1 of the same block writes 1"
    assert f"{one} and {other}" in found.what


def test_two_blocks_have_no_order_within_a_launch():
    k = kernel("    if (threadIdx.x == 0) y[0] = blockIdx.x + 5;")
    found = fault(k, 2, 32, *ints(1, 1))
    assert writes(found) == {("1", "6"), ("0", "5")} and "y[0]" in found.what
    assert "blocks have no order within a launch" in found.what


@pytest.mark.parametrize("resident", [None, 1])
def test_blocks_of_different_waves_race_too(resident):
    k = kernel("    int i = blockIdx.x * 32 + threadIdx.x; y[i / 2 * 2] = i;")
    found = fault(k, 4, 16, *ints(1, 128), resident_blocks=resident)
    assert found.kind is FaultKind.RACE
    k = kernel("    if (threadIdx.x == 0) y[blockIdx.x == 3 ? 0 : blockIdx.x] = blockIdx.x + 1;")
    found = fault(k, 4, 16, *ints(1, 4), resident_blocks=resident)
    assert writes(found) == {("3", "4"), ("0", "1")} and "y[0]" in found.what


FLAG = """if (blockIdx.x == 0) {{
        data[0] = 42;
        {before}
        flag[0] = 1;
    }} else {{
        while (flag[0] == 0);
        {behind}
        y[0] = data[0];
    }}"""


@pytest.mark.parametrize(
    ("before", "behind", "why"),
    [
        ("", "__threadfence();", "no __threadfence() stands between line {write} and a flag"),
        ("__threadfence();", "", "no __threadfence() stands between that look and line {read}"),
        ("__threadfence_block();", "__threadfence();", "orders it for its own block only"),
        ("__threadfence();", "__threadfence_block();", "that look and line {read}"),
    ],
)
def test_a_flag_without_its_fence_says_which_one_is_missing(before, behind, why):
    body = FLAG.format(before=before, behind=behind)
    k = kernel(body, "volatile int* flag, int* data, int* y")
    found = fault(k, 2, 1, *ints(1, 1, 1))
    assert found.kind is FaultKind.RACE
    lines = {"write": k.line("data[0] = 42"), "read": k.line("y[0] = data[0]")}
    assert why.format(**lines) in found.what


def test_a_flag_with_both_fences_is_right():
    body = FLAG.format(before="__threadfence();", behind="__threadfence();")
    arrays = ints(1, 1, 1)
    launched = run(kernel(body, "volatile int* flag, int* data, int* y"), 2, 1, *arrays)
    assert arrays[2][0] == 42 and not launched.notes


def test_an_atomic_of_block_scope_between_blocks_is_told_of_its_scope():
    found = fault(kernel("    atomicAdd_block(y, 1);"), 2, 1, *ints(1, 1))
    assert "an atomic of block scope is one only among the threads of its own block" in found.what
    y = ints(1)[0]
    run(kernel("    atomicAdd_block(y, 1);"), 1, 64, ints(1)[0], y)
    assert y[0] == 64


LOOK = "    if (y[0] < threadIdx.x) atomicMax(y, threadIdx.x);"


def test_a_plain_look_beside_an_atomic_is_a_note_and_a_fault_if_strict():
    k = kernel(LOOK)
    (note,) = run(k, 2, 32, *ints(1, 1)).notes
    assert "A plain read beside an atomic may be out of date" in note
    assert fault(k, 2, 32, *ints(1, 1), strict=True).kind is FaultKind.RACE


@pytest.mark.parametrize("weak_stores", [False, True])
@pytest.mark.parametrize("blocks", [1, 3])
def test_the_same_value_from_many_is_a_note(blocks, weak_stores):
    k = kernel("    y[0] = 7;")
    y = ints(1)[0]
    (note,) = run(k, blocks, 64, ints(1)[0], y, weak_stores=weak_stores).notes
    assert "write the same value to y[0]" in note and y[0] == 7


def test_the_same_value_counts_as_it_was_stored_not_as_it_was_left():
    """The first of two ordered writes differs from the third one; the second does not."""
    k = kernel("""int t = threadIdx.x;
    if (t == 0) { y[0] = 1; y[0] = 2; }
    if (t == 32) y[0] = 2;""")
    (note,) = run(k, 1, 64, *ints(1, 1)).notes  # of one thread only the last write counts
    assert "the same value" in note
    k = kernel("""int t = threadIdx.x;
    if (t == 0) y[0] = 1;
    __syncwarp();
    if (t == 1) y[0] = 2;
    if (t == 32) y[0] = 2;""")
    assert fault(k, 1, 64, *ints(1, 1)).kind is FaultKind.RACE


def test_an_uninitialised_read_that_somebody_fills_too_late_is_a_race():
    k = kernel("""__shared__ int tile[64]; int t = threadIdx.x;
    int v = t < 32 ? tile[t + 32] : 0;
    if (t >= 32) tile[t] = t;
    y[t] = v;""")
    assert fault(k, 1, 64, *ints(1, 64)).kind is FaultKind.RACE
    k = kernel("""__shared__ int tile[64]; int t = threadIdx.x;
    int v = t < 32 ? tile[t + 32] : 0;
    __syncthreads();
    if (t >= 32) tile[t] = t;
    __syncthreads();
    y[t] = v + tile[32 + t % 32];""")
    assert fault(k, 1, 64, *ints(1, 64)).kind is FaultKind.UNINITIALISED_READ


def test_a_race_that_leads_out_of_bounds_is_told_as_a_race():
    k = kernel("""__shared__ int where[64]; int t = threadIdx.x;
    where[t] = t;
    __syncthreads();
    where[t] = 1000000;
    y[where[63 - t]] = t;""")
    assert fault(k, 1, 64, *ints(1, 64)).kind is FaultKind.RACE


def test_bytes_of_one_word_are_places_of_their_own():
    k = kernel("    y[threadIdx.x] = threadIdx.x;", "const int* x, unsigned char* y")
    y = np.zeros(64, np.uint8)
    run(k, 1, 64, ints(1)[0], y)
    assert y.tolist() == list(range(64))


def test_device_variables_are_watched_and_named():
    k = kernel("    if (threadIdx.x == 0) seen = blockIdx.x;", before="__device__ int seen;")
    found = fault(k, 2, 32, *ints(1, 1))
    assert "seen[0]" in found.what


def test_switched_off_nobody_looks():
    y = ints(1)[0]
    launched = run(kernel("    y[0] = threadIdx.x;"), 1, 64, ints(1)[0], y, faults=False)
    assert not launched.notes


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("tile", "tile"), ("_Z4TILE", "TILE"), ("_ZZ4scanPKfE4tile", "tile"), ("_Z3a_0", "a_0"),
     ("_ZZ4scanPKfE4tile_0", "tile"), ("_ZN5space4tileE", "tile"), ("_ZL4lock", "lock")],
)  # fmt: skip
def test_a_variable_is_named_as_the_source_spells_it(symbol, name):
    assert spoken(symbol) == name
