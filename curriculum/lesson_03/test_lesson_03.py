"""Lesson 03: the first kernel, and the host that launches it."""

import math

import numpy as np
import pytest
import torch

from curriculum.lesson_03 import host
from harness import cuda
from harness.judging.operators import Operators
from harness.launching.launch_settings import changed
from harness.launching.recording import recording
from references import vectors
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
    assert result.counters.global_load_requests == 2 * warps
    assert result.counters.global_store_requests == warps


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [256, 4096])
def test_every_byte_that_moves_is_used(n, rng, profile, close):
    a, b, c = spread(n, rng), spread(n, rng), torch.empty(n)
    result = profile(lambda: launch_vec_add(a, b, c))["vec_add"]
    close(c, vectors.added, a, b)
    assert result.counters.global_load_efficiency >= 0.99
    assert result.counters.global_store_efficiency >= 0.99
    assert result.counters.global_load_bytes == 8 * n  # each input once
    assert sum(traffic.bytes_read for traffic in result.buffers.values()) == 8 * n
    assert sum(traffic.bytes_written for traffic in result.buffers.values()) == 4 * n


# --- Task 2: the host -----------------------------------------------------------------------------


@pytest.mark.task(2)
@pytest.mark.parametrize("n", SIZES)
def test_the_host_adds_every_pair(n, device, rng, close):
    a, b = spread(n, rng, device), spread(n, rng, device)
    c = close.function(host.vec_add, vectors.added, a, b)
    assert c.data_ptr() not in (a.data_ptr(), b.data_ptr()), "the sum needs memory of its own"


@pytest.mark.task(2)
@pytest.mark.simulated
def test_an_empty_sum_needs_no_launch():
    with recording() as launches:
        c = host.vec_add(torch.empty(0), torch.empty(0))
    assert c.shape == (0,) and c.dtype == torch.float32
    assert len(launches) == 0, "0 elements need 0 blocks, and a grid of 0 blocks cannot launch"


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, 256, 257, 1000])
def test_the_grid_is_as_large_as_it_must_be_and_no_larger(n, rng, profile, close):
    a, b = spread(n, rng), spread(n, rng)
    launches = profile(lambda: host.vec_add(a, b))
    assert len(launches) == 1, "one launch is enough"
    close(launches.result, vectors.added, a, b)
    counters = launches["vec_add"].counters
    idle = counters.threads - n
    assert 0 <= idle < counters.threads // counters.blocks, f"{idle} threads have no element"


@pytest.mark.task(2)
def test_the_host_refuses_another_type(device):
    a = torch.ones(8, device=device)
    for wrong in (a.double(), a.half(), a.int()):
        with pytest.raises(TypeError):
            host.vec_add(a, wrong)
        with pytest.raises(TypeError):
            host.vec_add(wrong, a)


@pytest.mark.task(2)
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda a: a[:7], id="another length"),
        pytest.param(lambda a: a[:1], id="one element to broadcast"),
        pytest.param(lambda a: a.reshape(2, 4), id="two dimensions"),
        pytest.param(lambda a: a.repeat(2)[::2], id="every second element"),
        pytest.param(lambda a: a[:1].expand(8), id="one element shown eight times"),
        pytest.param(lambda a: a.to("meta"), id="another device"),
    ],
)
def test_the_host_refuses_another_layout(make, device):
    a = torch.arange(8.0, device=device)
    with pytest.raises(ValueError):
        host.vec_add(a, make(a))
    with pytest.raises(ValueError):
        host.vec_add(make(a), a)


@pytest.mark.task(2)
@pytest.mark.simulated
def test_the_kernel_does_the_work_and_torch_only_makes_room(rng, profile, close, unpoisoned):
    a, b = spread(1000, rng), spread(1000, rng)
    with Operators() as operators:
        launches = profile(lambda: host.vec_add(a, b))
    close(launches.result, vectors.added, a, b)
    assert launches["vec_add"].counters.global_store_bytes == 4 * 1000
    unwanted = operators.names & {"add", "add_", "sum", "contiguous", "_to_copy", "copy_", "stack"}
    assert not unwanted, f"the host asks torch for {unwanted}; it needs torch.empty_like alone"


# --- Task 3: axpy ---------------------------------------------------------------------------------


@pytest.mark.task(3)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("a", [2.5, -1e-3])
def test_axpy_scales_and_adds_in_place(a, n, device, rng, close):
    x, y = spread(n, rng, device), spread(n, rng, device)
    before = y.clone()
    result = host.axpy(a, x, y)
    assert result.data_ptr() == y.data_ptr(), "axpy works in place and returns y itself"
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
    assert counters.global_load_requests == 2 * ceil_div(n, 32)
    assert counters.global_store_requests == ceil_div(n, 32)


# --- Task 4: the grid-stride loop -----------------------------------------------------------------


@pytest.mark.task(4)
@pytest.mark.parametrize("blocks, threads", [(1, 1), (1, 32), (3, 64), (7, 96), (132, 256)])
@pytest.mark.parametrize("n", [1, 33, 1000])
def test_any_grid_adds_every_pair(n, blocks, threads, device, rng, close):
    a, b = spread(n, rng, device), spread(n, rng, device)
    c = torch.empty_like(a)
    host.vec_add_gs(a, b, c, blocks, threads)
    close(c, vectors.added, a, b)


@pytest.mark.task(4)
def test_bytes_wrap_around(device, close):
    a = torch.arange(256, device=device, dtype=torch.uint8).repeat(256)
    b = torch.arange(256, device=device, dtype=torch.uint8).repeat_interleave(256)
    c = torch.empty_like(a)
    host.add_u8(a, b, c, blocks=5)
    close.equal(c, vectors.added(a, b))


@pytest.mark.task(4)
@pytest.mark.simulated
def test_one_block_and_many_move_the_same_sectors(rng, profile, close):
    a, b = spread(1 << 14, rng), spread(1 << 14, rng)
    moved = []
    for blocks in (1, 8, 64):
        c = torch.empty_like(a)
        result = profile(lambda blocks=blocks, c=c: host.vec_add_gs(a, b, c, blocks))["vec_add_gs"]
        close(c, vectors.added, a, b)
        counters = result.counters
        moved.append((counters.global_load_sectors, counters.global_store_sectors))
    # 4 bytes an element, 32 bytes a sector: nothing is read or written twice, whatever the grid
    assert moved == [(2 * (1 << 14) // 8, (1 << 14) // 8)] * 3


def lazy_bytes(n):
    """n zero bytes that take no memory before they are touched."""
    return torch.from_numpy(np.zeros(n, np.uint8))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("power", [31, 32])
def test_an_index_may_pass_32_bits(power, close):
    # 2^31 is one more than an int holds, 2^32 one more than an unsigned int. Only the first and
    # the last block run: the others would take an hour here, and show nothing new.
    n = (1 << power) + 64
    a, b, c = lazy_bytes(n), lazy_bytes(n), lazy_bytes(n)
    a[:256], a[-64:], b[-64:] = 3, torch.arange(64), 100
    blocks = ceil_div(n, 256)
    with changed(blocks=[0, blocks - 1]):
        host.add_u8(a, b, c, blocks, 256)
    close.equal(c[:256], vectors.added(a[:256], b[:256]))
    close.equal(c[-64:], vectors.added(a[-64:], b[-64:]))


@pytest.mark.task(4)
@pytest.mark.simulated
def test_a_stride_may_pass_32_bits_too(rng, profile, close):
    # 2^24 + 1 blocks of 256 threads step by 2^32 + 256. In 32 bits that is a step of 256, and the
    # first block does the work of all.
    a, b, c = spread(1000, rng), spread(1000, rng), torch.empty(1000)
    with changed(blocks=[0, 1, 2, 3]):
        result = profile(lambda: host.vec_add_gs(a, b, c, (1 << 24) + 1, 256))["vec_add_gs"]
    close(c, vectors.added, a, b)
    assert result.counters.global_store_bytes == 4 * 1000
