"""Lesson 03: the first kernel, and the host that launches it."""

import math

import numpy as np
import pytest
import torch

from curriculum.lesson_03 import host
from harness import cuda
from harness.judging.operators import Operators
from harness.launching.recording import recording
from references import vectors
from references.hardware import SECTOR_BYTES
from references.vectors import spread

KERNELS = cuda.module(__file__, "kernel.cu")

# one element, the edges of a warp and of a block, a prime, several blocks
SIZES = [1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4099, 1 << 16]


def ceil_div(n, d):
    return -(-n // d)


# --- Task 1: the kernel ---------------------------------------------------------------------------


def launch_vec_add(a, b, c, threads=256):
    n = a.numel()
    kernel = KERNELS.get_function("vec_add")
    kernel((ceil_div(n, threads),), (threads,), (a, b, c, np.int32(n)))
    return c


def kernel_sum(a, b, threads=256):
    return launch_vec_add(a, b, torch.empty_like(a), threads)


@pytest.mark.task(1)
@pytest.mark.parametrize("n", SIZES)
def test_the_kernel_adds_every_pair(n, device, rng, close):
    close.function(kernel_sum, vectors.added, spread(n, rng, device), spread(n, rng, device))


@pytest.mark.task(1)
@pytest.mark.parametrize("threads", [1, 32, 100, 1024])
def test_the_kernel_is_right_for_any_block(threads, device, rng, close):
    a, b = spread(1000, rng, device), spread(1000, rng, device)
    close(kernel_sum(a, b, threads), vectors.added, a, b)


@pytest.mark.task(1)
def test_nan_and_infinity_pass_through(device, close):
    special = [math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, 3.4e38]
    a = torch.tensor([x for x in special for _ in special], device=device)
    b = torch.tensor(special * len(special), device=device)
    close(kernel_sum(a, b), vectors.added, a, b)


@pytest.mark.task(1)
def test_the_sum_may_overwrite_an_input(device, rng, close):
    a, b = spread(1000, rng, device), spread(1000, rng, device)
    before = a.clone()
    close(launch_vec_add(a, b, a), vectors.added, before, b)


@pytest.mark.task(1)
@pytest.mark.parametrize("n", [1, 31, 257, 1000])
def test_nothing_beyond_the_last_element_is_written(n, device, rng, close):
    # A GPU lets a write past the end pass when the memory there happens to be yours. So c lies
    # here between two fences of 300 elements.
    a, b = spread(n, rng, device), spread(n, rng, device)
    fenced = torch.full((300 + n + 300,), 7.0, device=device)
    launch_vec_add(a, b, fenced[300 : 300 + n])
    close(fenced[300 : 300 + n], vectors.added, a, b)
    fences = torch.cat([fenced[:300], fenced[300 + n :]])
    close.equal(fences, torch.full_like(fences, 7.0))


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, 33, 1000, 4096])
def test_a_warp_makes_three_requests(n, rng, profile, close):
    a, b, c = spread(n, rng), spread(n, rng), torch.empty(n)
    result = profile(lambda: launch_vec_add(a, b, c))["vec_add"]
    close(c, vectors.added, a, b)
    warps = ceil_div(n, 32)  # those with an element at all; the guard keeps the others quiet
    loads, stores = result.counters.global_load_requests, result.counters.global_store_requests
    said = f"n = {n}, {warps} warps with an element"
    assert loads == 2 * warps, f"{said}: {loads} load requests, not {2 * warps}: two for each warp"
    assert stores == warps, f"{said}: {stores} store requests, not {warps}: one for each warp"


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [256, 4096])
def test_every_byte_that_moves_is_used(n, rng, profile, close):
    a, b, c = spread(n, rng), spread(n, rng), torch.empty(n)
    result = profile(lambda: launch_vec_add(a, b, c))["vec_add"]
    close(c, vectors.added, a, b)
    loaded, stored = result.counters.global_load_bytes, result.counters.global_store_bytes
    assert loaded == 8 * n, f"n = {n}: {loaded} bytes of loads requested at L1, not {8 * n}"
    assert stored == 4 * n, f"n = {n}: {stored} bytes of stores requested at L1, not {4 * n}"
    for_loads, for_stores = 8 * n // SECTOR_BYTES, 4 * n // SECTOR_BYTES  # if all bytes are used
    sectors = result.counters.global_load_sectors
    said = f"n = {n}: {sectors} sectors of {SECTOR_BYTES} bytes loaded"
    assert sectors == for_loads, f"{said}; {for_loads} hold all that is needed"
    sectors = result.counters.global_store_sectors
    said = f"n = {n}: {sectors} sectors of {SECTOR_BYTES} bytes stored"
    assert sectors == for_stores, f"{said}; {for_stores} hold all that is needed"


# --- Task 2: the host -----------------------------------------------------------------------------


def needs_the_kernel_of_task_1(device):
    """Launch it without the host function that a test of task 2 is about."""
    a = torch.arange(300.0, device=device)
    try:
        right = bool((kernel_sum(a, a) == 2 * a).all())
    except Exception:
        right = False
    if not right:
        said = "task 1 first: this test launches the kernel vec_add through host.vec_add"
        pytest.fail(f"{said}, and the kernel alone is not right yet", pytrace=False)


@pytest.mark.task(2)
@pytest.mark.parametrize("n", SIZES)
def test_the_host_adds_every_pair(n, device, rng, close):
    needs_the_kernel_of_task_1(device)
    a, b = spread(n, rng, device), spread(n, rng, device)
    c = close.function(host.vec_add, vectors.added, a, b)
    assert c.data_ptr() not in (a.data_ptr(), b.data_ptr()), "the sum needs memory of its own"


@pytest.mark.task(2)
@pytest.mark.simulated
def test_an_empty_sum_needs_no_launch(close):
    with recording() as launches:
        c = host.vec_add(torch.empty(0), torch.empty(0))
    assert len(launches) == 0, "0 elements need 0 blocks, and a grid of 0 blocks cannot launch"
    close.equal(c, torch.empty(0))


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, 256, 257, 1000])
def test_the_grid_is_as_large_as_it_must_be_and_no_larger(n, rng, profile, close):
    needs_the_kernel_of_task_1("cpu")
    a, b = spread(n, rng), spread(n, rng)
    launches = profile(lambda: host.vec_add(a, b))
    assert len(launches) == 1, f"n = {n}: {len(launches)} launches, and one is enough"
    close(launches.result, vectors.added, a, b)
    counters = launches["vec_add"].counters
    idle = counters.threads - n
    block = counters.threads // counters.blocks
    said = f"n = {n}, {counters.blocks} blocks of {block} threads: {idle} threads have no element"
    assert 0 <= idle < block, f"{said}, which is a whole block"


def refused(error, a, b, what):
    """Check that vec_add raises `error` and nothing else."""
    try:
        host.vec_add(a, b)
    except error:
        return
    pytest.fail(f"vec_add took {what}; it should raise a {error.__name__}", pytrace=False)


@pytest.mark.task(2)
def test_the_host_refuses_another_type(device):
    a = torch.ones(8, device=device)
    for wrong in (a.double(), a.half(), a.int()):
        kind = str(wrong.dtype).removeprefix("torch.")
        refused(TypeError, a, wrong, f"{kind} for b")
        refused(TypeError, wrong, a, f"{kind} for a")
        refused(TypeError, wrong, wrong, f"{kind} for both")


LAYOUTS = {
    "another length": lambda a: a[:7],
    "one element to broadcast": lambda a: a[:1],
    "two dimensions": lambda a: a.reshape(2, 4),
    "every second element": lambda a: a.repeat(2)[::2],
    "one element shown eight times": lambda a: a[:1].expand(8),
    "another device": lambda a: a.to("meta"),
}


@pytest.mark.task(2)
@pytest.mark.parametrize("what", LAYOUTS)
def test_the_host_refuses_another_layout(what, device):
    a = torch.arange(8.0, device=device)
    wrong = LAYOUTS[what](a)
    refused(ValueError, a, wrong, f"a vector b with {what}")
    refused(ValueError, wrong, a, f"a vector a with {what}")


@pytest.mark.task(2)
@pytest.mark.simulated
def test_the_kernel_does_the_work_and_torch_only_makes_room(rng, profile, close, unpoisoned):
    needs_the_kernel_of_task_1("cpu")
    a, b = spread(1000, rng), spread(1000, rng)
    with Operators() as operators:
        launches = profile(lambda: host.vec_add(a, b))
    close(launches.result, vectors.added, a, b)
    stored = launches["vec_add"].counters.global_store_bytes
    assert stored == 4000, f"vec_add stored {stored} bytes for 1000 sums, not 4000"
    unwanted = operators.names & {"add", "add_", "sum", "contiguous", "_to_copy", "copy_", "stack"}
    asked = ", ".join(sorted(unwanted))
    assert not asked, f"the host asks torch for {asked}; it needs torch.empty_like alone"


# --- Task 3: axpy ---------------------------------------------------------------------------------


@pytest.mark.task(3)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("a", [2.5, -1e-3])
def test_axpy_scales_and_adds_in_place(a, n, device, rng, close):
    x, y = spread(n, rng, device), spread(n, rng, device)
    before = y.clone()
    result = host.axpy(a, x, y)
    in_place = isinstance(result, torch.Tensor) and result.data_ptr() == y.data_ptr()
    kind = "another tensor" if isinstance(result, torch.Tensor) else repr(result)
    assert in_place, f"axpy works in place and returns y itself, not {kind}"
    close(y, vectors.scaled_and_added, np.float32(a), x, before)


@pytest.mark.task(3)
def test_zero_times_infinity_is_nan(device, close):
    x = torch.tensor([math.inf, -math.inf, math.nan, 5.0], device=device)
    y = torch.arange(4.0, device=device)
    before = y.clone()
    close(host.axpy(0.0, x, y), vectors.scaled_and_added, np.float32(0), x, before)


@pytest.mark.task(3)
@pytest.mark.simulated
def test_axpy_reads_two_vectors_and_writes_one(rng, profile, close):
    n = 1000
    x, y = spread(n, rng), spread(n, rng)
    before = y.clone()
    counters = profile(lambda: host.axpy(2.5, x, y))["axpy"].counters
    close(y, vectors.scaled_and_added, np.float32(2.5), x, before)
    loads, stores, warps = counters.global_load_requests, counters.global_store_requests, 32
    said = f"n = {n}, {warps} warps with an element"
    assert loads == 2 * warps, f"{said}: {loads} load requests, not {2 * warps}: two for each warp"
    assert stores == warps, f"{said}: {stores} store requests, not {warps}: one for each warp"
