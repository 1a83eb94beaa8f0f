"""Lesson 04, tasks 4 and 5: sixteen bytes a lane, and the two ways to turn a matrix."""

import pytest
import torch

from curriculum.lesson_04 import host
from harness.judging.data import rectangles, spread
from references import access_patterns

# --- Task 4: four floats at a time ----------------------------------------------------------------

FENCE = 8  # floats before and after y that must stay as they are


def copied(x, ahead, device):
    """Copy x [n] into y, `ahead` floats past a multiple of 16 bytes; y, and what lies around it."""
    n = x.numel()
    memory = torch.full((FENCE + ahead + n + FENCE,), 7.0, device=device)
    y = memory[FENCE + ahead : FENCE + ahead + n]
    host.copy_vec4(x, y)
    return y, torch.cat([memory[: FENCE + ahead], memory[FENCE + ahead + n :]])


@pytest.mark.task(4)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 127, 128, 129, 1023, 4096, 4099, 16_384, 16_411])
def test_every_float_is_copied_once(n, device, rng, close):
    x = spread(n, rng=rng, device=device)
    y, around = copied(x, 0, device)
    close.equal(y, x)
    close.equal(around, torch.full_like(around, 7.0))


@pytest.mark.task(4)
@pytest.mark.parametrize("past_y", [0, 1, 2, 3])
@pytest.mark.parametrize("past_x", [0, 1, 2, 3])
def test_either_end_may_begin_inside_sixteen_bytes(past_x, past_y, device, rng, close):
    for n in (130, 4099, 1, 2, 3):
        x = spread(past_x + n, rng=rng, device=device)[past_x:]
        y, around = copied(x, past_y, device)
        close.equal(y, x)
        close.equal(around, torch.full_like(around, 7.0))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [4096, 16_384, 16_411])
def test_a_request_moves_sixteen_sectors(n, rng, profile, close):
    x, y = spread(n, rng=rng), torch.empty(n)
    counters = profile(lambda: host.copy_vec4(x, y))["copy_vec4"].counters
    close.equal(y, x)
    whole, tail = divmod(n, 128)  # a warp of float4s; a tail may take a float4 and three floats
    most, few = whole + (4 if tail else 0), f"{whole} float4 requests hold {128 * whole}"
    loads, stores = counters.global_load_requests, counters.global_store_requests
    assert loads <= most, f"{n} floats: {loads} load requests; {few}"
    assert stores <= most, f"{n} floats: {stores} store requests; {few}"
    most, fewest = -(-n // 8) + (4 if tail else 0), -(-n // 8)
    sectors = counters.global_load_sectors
    assert sectors <= most, f"{n} floats: loads touch {sectors} sectors; {fewest} hold them all"
    sectors = counters.global_store_sectors
    assert sectors <= most, f"{n} floats: stores touch {sectors} sectors; {fewest} hold them all"


# --- Task 5: a transpose, either side in order ----------------------------------------------------


@pytest.mark.task(5)
@pytest.mark.parametrize("side", ["read", "write"])
@pytest.mark.parametrize("rows, columns", rectangles(32))
def test_rows_become_columns(rows, columns, side, device, rng, close):
    a = spread(rows, columns, rng=rng, device=device)
    turned = close.function(lambda a: host.transpose(a, side), access_patterns.transposed, a)
    close.equal(turned, access_patterns.transposed(a))


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("rows, columns", [(64, 64), (96, 32)])
@pytest.mark.parametrize("side", ["read", "write"])
def test_one_side_is_in_order(side, rows, columns, rng, profile, close):
    a = spread(rows, columns, rng=rng)
    launches = profile(lambda: host.transpose(a, side))
    close.equal(launches.result, access_patterns.transposed(a))
    name = f"transpose_{side}_rows"
    counters, said = launches[name].counters, f"{name}, a [{rows}, {columns}]"
    wanted = rows * columns // 32
    requests = counters.global_load_requests, counters.global_store_requests
    told = f"{said}: {requests[0]} load and {requests[1]} store requests"
    assert requests == (wanted, wanted), f"{told}; {wanted} of each move every element once"
    if side == "read":
        each = counters.global_load_sectors / counters.global_load_requests
        assert each == 4, f"{said}: {each:g} sectors a load request, not 4"
    else:
        each = counters.global_store_sectors / counters.global_store_requests
        assert each == 4, f"{said}: {each:g} sectors a store request, not 4"
