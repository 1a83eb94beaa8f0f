"""Lesson 04: neighbouring lanes, neighbouring addresses."""

import math
import mmap

import numpy as np
import pytest
import torch

from curriculum.lesson_04 import host
from harness import cuda
from harness.judging.data import spread
from harness.judging.operators import Operators
from harness.launching.recording import recording
from references import access_patterns
from references.hardware import SECTOR_BYTES

# one element, the edges of a warp and of a block, a prime, several blocks of 4 elements a thread
SIZES = [1, 2, 3, 31, 32, 33, 255, 256, 257, 1009, 5000]


# --- Task 1: a copy with a stride -----------------------------------------------------------------


@pytest.mark.task(1)
@pytest.mark.parametrize("stride", [0, 1, 2, 3, 8, 33])
@pytest.mark.parametrize("n", SIZES)
def test_every_stride_finds_its_elements(n, stride, device, rng, close):
    x = spread((n - 1) * stride + 1, rng=rng, device=device)
    close.equal(host.strided_copy(x, n, stride), access_patterns.every(x, n, stride))


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize(
    "stride, sectors", [(0, 1), (1, 4), (2, 8), (3, 12), (5, 20), (7, 28), (8, 32), (33, 32)]
)
def test_a_larger_stride_touches_more_sectors_until_each_lane_has_its_own(
    stride, sectors, rng, profile, close
):
    n = 4096
    x = spread((n - 1) * stride + 1, rng=rng)
    launches = profile(lambda: host.strided_copy(x, n, stride))
    close.equal(launches.result, access_patterns.every(x, n, stride))
    counters = launches["strided_copy"].counters
    requests = counters.global_load_requests
    assert requests == n // 32, f"{n} floats: {requests} load requests, not {n // 32}"
    each = counters.global_load_sectors / requests
    assert each == sectors, f"stride {stride}: {each:g} sectors a load request, not {sectors}"
    stored = counters.global_store_sectors / counters.global_store_requests
    assert stored == 4, f"stride {stride}: {stored:g} sectors a store request; y has no gaps: 4"


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("offset, sectors", [(0, 4), (1, 5), (4, 5), (8, 4)])
def test_a_warp_that_begins_inside_a_sector_touches_one_more(offset, sectors, rng, profile, close):
    x = spread(4096 + offset, rng=rng)[offset:]
    launches = profile(lambda: host.strided_copy(x, 4096, 1))
    close.equal(launches.result, x)
    counters = launches["strided_copy"].counters
    each = counters.global_load_sectors / counters.global_load_requests
    said = f"x begins {offset} floats past a multiple of {SECTOR_BYTES} bytes"
    assert each == sectors, f"{said}: {each:g} sectors a request, not {sectors}"


def zeros_that_nobody_touched(n):
    """float32 zeros [n] that take no memory before they are written."""
    if not hasattr(mmap, "MAP_NORESERVE"):  # Windows
        return torch.from_numpy(np.zeros(n, np.float32))
    lazily = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_NORESERVE
    return torch.from_numpy(np.frombuffer(mmap.mmap(-1, 4 * n, flags=lazily), np.float32))


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("n, stride", [(200, (1 << 31) // 198), (5, (1 << 30) + 1)])
def test_the_index_into_x_may_pass_32_bits(n, stride, close):
    # A few floats lie over more than 2^31, and over more than 2^32: no sign will do.
    x = zeros_that_nobody_touched((n - 1) * stride + 1)
    wanted = torch.arange(1.0, n + 1)
    x[torch.arange(n) * stride] = wanted
    close.equal(host.strided_copy(x, n, stride), wanted)


# --- Task 2: the sum of each column ---------------------------------------------------------------

# one element, one row, one column, no row, both sides of a strip and of a block, several of each
MATRICES = [(1, 1), (1, 33), (33, 1), (0, 5), (2, 3), (127, 31), (128, 256), (129, 257), (1009, 70)]


@pytest.mark.task(2)
@pytest.mark.parametrize(
    "rows, columns, strip",
    [(1, 1, 1), (5, 3, 2), (7, 2, 100), (0, 5, 128), (128, 256, 64), (129, 257, 128), (300, 70, 7)],
)
def test_the_kernel_alone_adds_each_strip(rows, columns, strip, device, rng, close):
    a, strips = spread(rows, columns, rng=rng, device=device), max(1, -(-rows // strip))
    kernel = cuda.module(host.__file__, "kernel.cu").get_function("col_sum_strips")

    def strip_sums(a):
        sums = torch.empty(strips, columns, device=device)
        sizes = [np.int32(size) for size in (rows, columns, strip)]
        kernel((-(-columns // 64), strips), (64,), (a, sums, *sizes))
        return sums

    def each_strip_added(a):
        return access_patterns.strip_sums(a, strip)

    close.function(strip_sums, each_strip_added, a, sums=True)


@pytest.mark.task(2)
@pytest.mark.parametrize("rows", [4097, 16_385, 16_640])
def test_no_row_of_a_tall_column_is_left_out(rows, device, close):
    # 128 strips of 128 rows hold 16,384
    close.equal(host.col_sum(torch.ones(rows, 1, device=device)), torch.tensor([float(rows)]))


@pytest.mark.task(2)
@pytest.mark.parametrize("rows, columns", MATRICES)
def test_each_column_is_added_up(rows, columns, device, rng, close):
    a = spread(rows, columns, rng=rng, device=device)
    close.function(host.col_sum, access_patterns.column_sums, a, sums=True)


@pytest.mark.task(2)
def test_nan_and_infinity_stay_in_their_columns(device, rng, close):
    a = spread(300, 40, rng=rng, device=device)
    a[299, 3], a[7, 20], a[250, 21] = math.nan, math.inf, -math.inf
    close.function(host.col_sum, access_patterns.column_sums, a, sums=True)


@pytest.mark.task(2)
@pytest.mark.simulated
def test_no_column_needs_no_launch(close):
    with recording() as launches:
        sums = host.col_sum(torch.empty(5, 0))
    assert len(launches) == 0, "0 columns need 0 blocks, and a grid of 0 blocks cannot launch"
    close.equal(sums, torch.empty(0))


def first_launch(launches, said):
    """The launch that reads a, of the two that col_sum makes."""
    kernels = [launch.kernel for launch in launches.launches]
    wanted = ["col_sum_strips"] * 2
    assert kernels == wanted, f"{said}: launched {kernels}, not {wanted}: strips, then their sums"
    return launches.launches[0]


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("rows, columns", [(512, 64), (300, 1024)])
def test_neighbouring_lanes_add_neighbouring_columns(rows, columns, rng, profile, close):
    a = spread(rows, columns, rng=rng)
    launches = profile(lambda: host.col_sum(a))
    close(launches.result, access_patterns.column_sums, a, sums=True)
    said = f"a [{rows}, {columns}]"
    counters = first_launch(launches, said).launched.counters
    loaded, share = counters.global_load_bytes, launches["col_sum_strips"].counters
    assert loaded == a.nbytes, f"{said}: {loaded} bytes requested at L1, not {a.nbytes}"
    useful = share.global_load_efficiency
    told = f"{said}: of the bytes moved for loads {useful:.0%} are used"
    assert useful > 0.95, f"{told}; a warp's lanes should read one row side by side"


@pytest.mark.task(2)
@pytest.mark.simulated
def test_many_threads_share_a_tall_column(rng, profile, close):
    rows, columns = 4096, 32
    a = spread(rows, columns, rng=rng)
    launches = profile(lambda: host.col_sum(a))
    close(launches.result, access_patterns.column_sums, a, sums=True)
    said = f"a [{rows}, {columns}]"
    (_, strips, _) = first_launch(launches, said).grid
    told = f"{said}: {strips} strips, so that one thread adds {rows / strips:g} rows"
    assert strips >= 16, f"{told}; with so few threads most of the GPU waits"


# What makes room, or shows the same memory in another shape.
ROOM = {"empty", "empty_like", "new_empty", "empty_strided", "view", "_unsafe_view", "reshape"}
ROOM |= {"select", "slice", "squeeze", "unsqueeze", "flatten", "alias", "detach", "as_strided"}


@pytest.mark.task(2)
@pytest.mark.simulated
def test_the_kernel_adds_and_torch_only_makes_room(rng, profile, close, unpoisoned):
    a = spread(300, 40, rng=rng)
    with Operators() as operators:
        launches = profile(lambda: host.col_sum(a))
    close(launches.result, access_patterns.column_sums, a, sums=True)
    asked = ", ".join(sorted(operators.names - ROOM))
    assert not asked, f"the host asks torch for {asked}; it needs torch.empty alone"
    atomics = launches["col_sum_strips"].counters.atomics
    said = f"a [300, 40]: {atomics} atomic operations (lesson 07)"
    assert atomics == 0, f"{said}; a thread adds its strip in a register, and stores the sum once"


# --- Task 3: from one array of points to three arrays ---------------------------------------------


@pytest.mark.task(3)
@pytest.mark.parametrize("n", SIZES)
def test_each_coordinate_gets_an_array_of_its_own(n, device, rng, close):
    xyz = spread(n, 3, rng=rng, device=device)
    close.function(host.aos_to_soa, access_patterns.split, xyz)
    close.equal(host.aos_to_soa(xyz), access_patterns.split(xyz))


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [256, 4096])
def test_the_stores_have_no_gaps_and_the_loads_have(n, rng, profile, close):
    xyz = spread(n, 3, rng=rng)
    launches = profile(lambda: host.aos_to_soa(xyz))
    close.equal(launches.result, access_patterns.split(xyz))
    kernel = launches["aos_to_soa"]
    counters, fewest = kernel.counters, 12 * n // SECTOR_BYTES
    stored = counters.global_store_sectors
    assert stored == fewest, f"n = {n}: the stores touch {stored} sectors; {fewest} hold all"
    loaded = counters.global_load_sectors
    said = f"n = {n}: the loads touch {loaded} sectors"
    assert loaded <= 3 * fewest, f"{said}; three requests of 12 for each warp make {3 * fewest}"
    different = kernel.buffers["xyz"].bytes_read
    assert different == 12 * n, f"n = {n}: {different} different bytes of xyz read, not {12 * n}"
