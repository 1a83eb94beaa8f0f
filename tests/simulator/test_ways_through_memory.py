"""The short cuts of loads and stores give what lane-by-lane accesses give.

Neighbouring lanes at neighbouring addresses go through a slice, a guard's lanes are found again by
its identity, and an access at addresses seen before is not checked again.
"""

import numpy as np
import pytest

from simulator.running.lanes import Lanes
from simulator.running.selection import SelectionCache
from tests.simulator.compiled import fault, run, written

LANES = 96  # three warps of one block
REGISTERS = [
    ("b32", "%t<9>"),
    ("b64", "%a<9>"),
    ("b32", "%f<9>"),
    ("pred", "%p<9>"),
]
PARAMETERS = ".param .u64 x, .param .u64 y, .param .u32 n"
START = """
ld.param.u64 %a0, [x]; ld.param.u64 %a1, [y]; ld.param.u32 %t8, [n];
mov.u32 %t0, %tid.x;
"""


def kernel(body):
    return written(f"{START} {body} ret;", PARAMETERS, REGISTERS)


def words(count=LANES):
    return np.arange(100, 100 + count, dtype=np.uint32)


@pytest.mark.parametrize("stride", [4, 8, -4, 0])
def test_lanes_a_constant_stride_apart_load_their_own_element(stride):
    first = -stride * (LANES - 1) if stride < 0 else 0
    body = f"""mad.lo.s32 %t1, %t0, {stride}, {first}; cvt.s64.s32 %a2, %t1; add.s64 %a2, %a0, %a2;
mad.wide.u32 %a3, %t0, 4, %a1; ld.global.u32 %f0, [%a2]; st.global.u32 [%a3], %f0;"""
    x, y = words(2 * LANES), np.zeros(LANES, np.uint32)
    run(kernel(body), 1, LANES, x, y, LANES)
    np.testing.assert_array_equal(y, x[(first + stride * np.arange(LANES)) // 4])


@pytest.mark.parametrize("stride", [4, 8, -4])
def test_lanes_a_constant_stride_apart_store_their_own_element(stride):
    first = -stride * (LANES - 1) if stride < 0 else 0
    body = f"""mad.lo.s32 %t1, %t0, {stride}, {first}; cvt.s64.s32 %a2, %t1; add.s64 %a2, %a1, %a2;
mad.wide.u32 %a3, %t0, 4, %a0; ld.global.u32 %f0, [%a3]; st.global.u32 [%a2], %f0;"""
    x, y = words(), np.zeros(2 * LANES, np.uint32)
    run(kernel(body), 1, LANES, x, y, LANES)
    want = np.zeros_like(y)
    want[(first + stride * np.arange(LANES)) // 4] = x
    np.testing.assert_array_equal(y, want)


def test_bytes_in_reverse_order_are_a_stride_of_minus_one():
    body = """sub.s32 %t1, %t8, %t0; cvt.s64.s32 %a2, %t1; add.s64 %a2, %a0, %a2;
cvt.u64.u32 %a3, %t0; add.s64 %a3, %a1, %a3; ld.global.u8 %t2, [%a2+-1]; st.global.u8 [%a3], %t2;"""
    x, y = np.arange(LANES, dtype=np.uint8), np.zeros(LANES, np.uint8)
    run(kernel(body), 1, LANES, x, y, LANES)
    np.testing.assert_array_equal(y, x[::-1])


@pytest.mark.parametrize("stride", [16, 32])
def test_vectors_of_neighbouring_lanes_keep_their_elements_in_order(stride):
    body = f"""mad.wide.u32 %a2, %t0, {stride}, %a0; mad.wide.u32 %a3, %t0, {stride}, %a1;
ld.global.v4.u32 {{%f0, %f1, %f2, %f3}}, [%a2]; st.global.v4.u32 [%a3], {{%f3, %f2, %f1, %f0}};"""
    x, y = words(4 * LANES * stride // 16), np.zeros(4 * LANES * stride // 16, np.uint32)
    run(kernel(body), 1, LANES, x, y, LANES)
    used = x.reshape(LANES, -1)[:, :4]
    np.testing.assert_array_equal(y.reshape(LANES, -1)[:, :4], used[:, ::-1])


def test_a_loaded_value_stays_when_its_place_is_overwritten():
    body = """mad.wide.u32 %a2, %t0, 4, %a0; mad.wide.u32 %a3, %t0, 4, %a1;
ld.global.u32 %f0, [%a2]; st.global.u32 [%a2], %t0; st.global.u32 [%a3], %f0;"""
    x, y = words(), np.zeros(LANES, np.uint32)
    run(kernel(body), 1, LANES, x, y, LANES)
    np.testing.assert_array_equal(y, words())
    np.testing.assert_array_equal(x, np.arange(LANES))


@pytest.mark.parametrize("negated", ["", "!"])
@pytest.mark.parametrize("kept", ["some", "all", "none"])
def test_a_guard_before_several_accesses_lets_the_same_lanes_through(kept, negated):
    limit = {"some": 37, "all": LANES, "none": 0}[kept]
    body = f"""setp.lt.u32 %p0, %t0, %t8;
mad.wide.u32 %a2, %t0, 4, %a0; mad.wide.u32 %a3, %t0, 4, %a1; mov.u32 %f0, 7; mov.u32 %f1, %t0;
@{negated}%p0 ld.global.u32 %f0, [%a2]; @{negated}%p0 ld.global.u32 %f1, [%a2+384];
add.u32 %f0, %f0, %f1;
@{negated}%p0 st.global.u32 [%a3], %f0; @{negated}%p0 st.global.u32 [%a2], %t0;"""
    x, y = words(2 * LANES), np.zeros(LANES, np.uint32)
    run(kernel(body), 1, LANES, x, y, limit)
    lane = np.arange(LANES)
    passed = (lane < limit) != bool(negated)
    np.testing.assert_array_equal(
        y, np.where(passed, words(2 * LANES)[:LANES] + words(2 * LANES)[LANES:], 0)
    )
    np.testing.assert_array_equal(x[:LANES], np.where(passed, lane, words()))


def test_lanes_that_a_guard_leaves_out_keep_what_they_had():
    body = """and.b32 %t1, %t0, 1; setp.eq.u32 %p0, %t1, 0; mad.wide.u32 %a2, %t0, 4, %a0;
mad.wide.u32 %a3, %t0, 4, %a1; mul.lo.u32 %f0, %t0, 3; @%p0 ld.global.u32 %f0, [%a2];
st.global.u32 [%a3], %f0;"""
    x, y = words(), np.zeros(LANES, np.uint32)
    run(kernel(body), 1, LANES, x, y, 0)
    lane = np.arange(LANES)
    np.testing.assert_array_equal(y, np.where(lane % 2 == 0, words(), 3 * lane))


def test_a_guard_in_a_loop_is_looked_at_anew_each_turn():
    """The predicate register is the same, its lanes are not."""
    body = """mov.u32 %t2, 0; mad.wide.u32 %a2, %t0, 4, %a0; mad.wide.u32 %a3, %t0, 4, %a1;
again: setp.gt.u32 %p0, %t0, %t2; @%p0 ld.global.u32 %f0, [%a3]; add.u32 %f0, %f0, 1;
@%p0 st.global.u32 [%a3], %f0; add.u32 %t2, %t2, 1; setp.lt.u32 %p1, %t2, %t8; @%p1 bra again;"""
    x, y = words(), np.zeros(LANES, np.uint32)
    run(kernel(body), 1, LANES, x, y, 5)
    np.testing.assert_array_equal(y, np.minimum(np.arange(LANES), 5))


def test_the_same_access_at_other_addresses_is_checked_again():
    """A pointer that moves through a loop leaves the buffer in its last turn."""
    body = """mov.u32 %t2, 0; mad.wide.u32 %a2, %t0, 4, %a0;
again: ld.global.u32 %f0, [%a2]; add.s64 %a2, %a2, 4; add.u32 %t2, %t2, 1;
setp.lt.u32 %p1, %t2, %t8; @%p1 bra again;"""
    x, y = words(), np.zeros(1, np.uint32)
    run(kernel(body), 1, LANES - 4, x, y, 5)
    found = fault(kernel(body), 1, LANES - 4, x, y, 6)
    assert f"thread {LANES - 5} of block 0 reads argument 0[{LANES}]" in found.what


def test_counters_count_an_access_again_that_is_not_checked_again():
    body = """mov.u32 %t2, 0; mad.wide.u32 %a2, %t0, 4, %a0; mad.wide.u32 %a3, %t0, 4, %a1;
again: ld.global.u32 %f0, [%a2]; add.u32 %t2, %t2, 1; setp.lt.u32 %p1, %t2, %t8; @%p1 bra again;
st.global.u32 [%a3], %f0;"""
    x, y = words(), np.zeros(LANES, np.uint32)
    launched = run(kernel(body), 1, LANES, x, y, 7)
    assert launched.counters.global_load_requests == 7 * 3
    assert launched.counters.global_load_sectors == 7 * 3 * 4
    np.testing.assert_array_equal(y, x)


def test_generic_pointers_into_shared_memory_reach_it_at_every_offset():
    body = """mov.u32 %t1, tile; cvt.u64.u32 %a2, %t1; cvta.shared.u64 %a2, %a2;
mad.wide.u32 %a2, %t0, 4, %a2; mad.wide.u32 %a3, %t0, 4, %a1;
st.u32 [%a2], %t0; st.u32 [%a2+384], %t8; ld.u32 %f0, [%a2]; ld.u32 %f1, [%a2+384];
add.u32 %f0, %f0, %f1; st.global.u32 [%a3], %f0;"""
    shared = written(
        f".shared .align 4 .b8 tile[{8 * LANES}]; {START} {body} ret;", PARAMETERS, REGISTERS
    )
    y = np.zeros(2 * LANES, np.uint32)
    run(shared, 2, LANES, words(), y, 1000)
    np.testing.assert_array_equal(y[:LANES], 1000 + np.arange(LANES))


def test_a_selection_is_found_again_by_its_guard_and_its_lanes():
    cache, lanes = SelectionCache(), Lanes(None, 64)
    guard, base = np.arange(64) % 3 == 0, np.arange(64, dtype=np.uint64) * 4
    first = cache.get(guard, lanes)
    assert cache.get(guard, lanes) is first
    assert first.addresses(base) is first.addresses(base)
    np.testing.assert_array_equal(first.addresses(base), base[guard])
    np.testing.assert_array_equal(first.lanes.index, np.flatnonzero(guard))
    assert cache.get(guard.copy(), lanes) is not first
    assert cache.get(guard, Lanes(None, 64)) is not first


def test_a_cache_that_is_told_of_a_change_forgets():
    cache, lanes = SelectionCache(), Lanes(None, 64)
    guard, base = np.arange(64) % 3 == 0, np.arange(64, dtype=np.uint64) * 4
    first = cache.get(guard, lanes)
    before = first.addresses(base)
    base += np.uint64(4)
    cache.forget(base)
    np.testing.assert_array_equal(first.addresses(base), before + np.uint64(4))
    cache.forget(guard)
    assert cache.get(guard, lanes) is not first
