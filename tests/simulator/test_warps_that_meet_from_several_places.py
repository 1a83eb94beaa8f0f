"""A warp instruction in one arm of an if meets the same one in the other."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import fault, run, written

LANE = "mov.u32 %r0, %laneid;\nsetp.lt.u32 %p0, %r0, 12;\n"
STORE = """
    ld.param.u64 %rd0, [y];
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    st.global.u32 [%rd0], %r9;
    ret;"""


def arms(one, other, before="", count=32):
    """y[lane] after lanes 0 .. 11 did one thing, and all others another."""
    body = f"{LANE}{before}@%p0 bra ONE;\n{other}\nbra MEET;\nONE:\n{one}\nMEET:{STORE}"
    registers = [("u32", f"%r{k}") for k in range(12)]
    registers += [("b64", "%rd0"), ("b64", "%rd1"), ("pred", "%p0"), ("pred", "%p1")]
    return written(body, ".param .u64 y", registers)


def result(kernel, warps=3, **settings):
    y = np.full(32 * warps, 99, np.uint32)
    run(kernel, 1, 32 * warps, y[:32], **settings)
    return y[:32]


LANES = np.arange(32)


@pytest.mark.parametrize("settings", [{}, {"warps_apart": True, "order": "reversed"}])
def test_a_shuffle_reads_from_the_other_arm(settings):
    kernel = arms(
        "add.u32 %r1, %r0, 100;\nshfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;",
        "add.u32 %r1, %r0, 200;\nshfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;\nadd.u32 %r9, %r9, 1000;",
    )
    own = LANES + np.where(LANES < 12, 100, 200)
    want = own[LANES ^ 16] + np.where(LANES < 12, 0, 1000)
    np.testing.assert_array_equal(result(kernel, **settings), want)


def test_two_shuffles_in_a_row_meet_one_after_the_other():
    pair = "shfl.sync.idx.b32 %r2, %r1, {}, 31, -1;\nshfl.sync.idx.b32 %r3, %r2, {}, 31, -1;\n"
    kernel = arms(
        "add.u32 %r1, %r0, 100;\n" + pair.format("%r0", 0) + "sub.u32 %r9, %r3, 1;",
        "add.u32 %r1, %r0, 200;\n" + pair.format(31, "%r0") + "add.u32 %r9, %r3, 1;",
    )
    # First: lanes below 12 keep their own, all others get lane 31's. Then: lane 0's, or their own.
    want = np.where(LANES < 12, 100 - 1, 231 + 1)
    np.testing.assert_array_equal(result(kernel), want)


def test_a_vote_counts_both_arms():
    vote = "setp.{}.u32 %p1, %r0, 5;\nvote.sync.ballot.b32 %r9, %p1, -1;"
    kernel = arms(vote.format("gt"), vote.format("gt"))
    np.testing.assert_array_equal(result(kernel), np.full(32, 0xFFFFFFC0, np.uint32))


def test_each_arm_may_meet_by_itself():
    kernel = arms(
        "shfl.sync.idx.b32 %r9, %r0, 3, 31, 0xfff;",
        "shfl.sync.idx.b32 %r9, %r0, 20, 31, 0xfffff000;",
    )
    np.testing.assert_array_equal(result(kernel), np.where(LANES < 12, 3, 20))


def test_other_instructions_do_not_meet():
    kernel = arms(
        "shfl.sync.idx.b32 %r9, %r0, 3, 31, -1;",
        "shfl.sync.bfly.b32 %r9, %r0, 1, 31, -1;",
    )
    found = fault(kernel, 1, 32, np.zeros(32, np.uint32))
    assert found.kind is FaultKind.ABSENT_LANES


def test_an_arm_with_one_meeting_more_waits_for_nobody_who_comes():
    kernel = arms(
        "bar.warp.sync -1;\nmov.u32 %r9, 1;",
        "bar.warp.sync -1;\nbar.warp.sync -1;\nmov.u32 %r9, 2;",
    )
    found = fault(kernel, 1, 32, np.zeros(32, np.uint32))
    assert found.kind is FaultKind.ABSENT_LANES
    assert "thread 12 of block 0" in found.what


def test_stores_behind_a_meeting_are_done_once():
    """An arm's code runs twice, to bring its values and to get the others'."""
    count = "ld.param.u64 %rd1, [y];\natom.global.add.u32 %r5, [%rd1+64], 1;\n"
    meet = "bar.warp.sync -1;\n"
    kernel = arms(meet + count + "mov.u32 %r9, 7;", meet + count + "mov.u32 %r9, 7;")
    y = np.zeros(64, np.uint32)
    run(kernel, 1, 16, y)
    assert y[16] == 16
    assert (y[:16] == 7).all()
