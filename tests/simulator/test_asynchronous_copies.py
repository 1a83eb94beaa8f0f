"""cp.async: what a copy brings, when it is there, and for whom; instructions written by hand."""

import numpy as np
import pytest

from simulator import UnknownInstruction
from tests.simulator.compiled import run, written

REGISTERS = [("b64", "%d<8>"), ("b32", "%r<8>"), ("f32", "%f<8>"), ("pred", "%p<4>")]
POINTERS = ".param .u64 x, .param .u64 y, .param .u32 n"
# %r0 the thread, %d0 its four floats of x, %d1 its four of y, %r1 its place in shared memory
BEGIN = """
.shared .align 16 .b8 tile[4096];
ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u32 %r7, [n];
mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 16; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, 16, %r1;
"""
END = """
ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r1];
st.global.v4.f32 [%d1], {%f0, %f1, %f2, %f3};
ret;"""


def copying(body, end=END):
    return written(BEGIN + body + end, POINTERS, REGISTERS)


def numbers(threads=32):
    return np.arange(1, 4 * threads + 1, dtype=np.float32)


def left_by(body, x, threads=32, n=0, **settings):
    """What each thread finds in its 16 bytes of shared memory: [threads, 4]."""
    y = np.full(4 * threads, np.nan, np.float32)
    run(copying(body), 1, threads, x, y, n, **settings)
    return y.reshape(threads, 4)


@pytest.mark.parametrize(
    "wait",
    ["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"],
)
@pytest.mark.parametrize(
    "copy",
    [
        "cp.async.ca.shared.global [%r1], [%d0], 16;",
        "cp.async.cg.shared.global [%r1], [%d0], 16;",
        "cp.async.cg.shared::cta.global [%r1], [%d0], 16;",
        "cp.async.ca.shared.global.L2::128B [%r1], [%d0], 16;",
        "cp.async.cg.shared.global.L2::cache_hint [%r1], [%d0], 16, %d5;",
        "cp.async.cg.shared.global.L2::cache_hint.L2::64B [%r1], [%d0], 16, 16, %d5;",
        "cp.async.ca.shared.global [%r1], [%d0], 8;cp.async.ca.shared.global [%r1+8], [%d0+8], 8;",
        "cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.ca.shared.global [%r1+4], [%d0+4], 4;"
        "cp.async.ca.shared.global [%r1+8], [%d0+8], 8;",
    ],
)
def test_a_copy_that_was_waited_for_is_there(copy, wait):
    x = numbers()
    assert (left_by(copy + wait, x) == x.reshape(-1, 4)).all()


@pytest.mark.parametrize("size", range(17))
@pytest.mark.parametrize("cache", ["ca", "cg"])
def test_what_the_source_does_not_give_is_zero(size, cache):
    x = numbers()
    got = left_by(f"cp.async.{cache}.shared.global [%r1], [%d0], 16, {size}; cp.async.wait_all;", x)
    wanted = x.view(np.uint8).reshape(-1, 16).copy()
    wanted[:, size:] = 0
    assert (got.view(np.uint8) == wanted).all()


def test_each_lane_has_a_source_size_of_its_own():
    x = numbers()
    sizes = np.arange(32) % 17
    body = """
    rem.u32 %r2, %r0, 17;
    cp.async.ca.shared.global [%r1], [%d0], 16, %r2; cp.async.wait_all;"""
    wanted = x.view(np.uint8).reshape(-1, 16).copy()
    wanted[np.arange(16) >= sizes[:, None]] = 0
    assert (left_by(body, x).view(np.uint8) == wanted).all()


def test_a_source_of_no_bytes_is_not_looked_at():
    x = numbers(20)  # 12 lanes reach past its end
    body = """
    setp.lt.u32 %p1, %r0, %r7; selp.u32 %r2, 16, 0, %p1;
    cp.async.cg.shared.global [%r1], [%d0], 16, %r2; cp.async.wait_all;"""
    got = left_by(body, x, n=20)
    assert (got[:20] == x.reshape(-1, 4)).all()
    assert (got[20:] == 0).all()


def test_the_last_piece_is_not_read_past_the_end():
    x = numbers(8)[:30]  # the last lane may take 8 bytes of its 16
    body = """
    mul.lo.u32 %r2, %r0, 16; sub.s32 %r2, %r7, %r2; min.s32 %r2, %r2, 16; max.s32 %r2, %r2, 0;
    cp.async.cg.shared.global [%r1], [%d0], 16, %r2; cp.async.wait_all;"""
    got = left_by(body, x, threads=8, n=120).reshape(-1)
    assert (got[:30] == x).all()
    assert (got[30:] == 0).all()


@pytest.mark.parametrize("negated", [False, True])
def test_an_ignored_source_gives_zero(negated):
    x = numbers()
    relation = "ge" if negated else "lt"  # ignored where the thread is below 5
    body = f"""
    setp.{relation}.u32 %p1, %r0, 5;
    cp.async.cg.shared.global [%r1], [%d0], 16, {"!" if negated else ""}%p1; cp.async.wait_all;"""
    got = left_by(body, x)
    assert (got[:5] == 0).all()
    assert (got[5:] == x.reshape(-1, 4)[5:]).all()


def test_a_guarded_copy_skips_lanes():
    x = numbers()
    body = """
    st.shared.v4.f32 [%r1], {0f40000000, 0f40000000, 0f40000000, 0f40000000};
    setp.lt.u32 %p1, %r0, 5;
    @%p1 cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.wait_all;"""
    got = left_by(body, x)
    assert (got[:5] == x.reshape(-1, 4)[:5]).all()
    assert (got[5:] == 2).all()


def test_until_the_wait_the_destination_holds_what_it_held():
    """Nothing looks on here: the values themselves are those of a copy that has not come."""
    x = numbers()
    body = """
    st.shared.v4.f32 [%r1], {0f40000000, 0f40000000, 0f40000000, 0f40000000};
    cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.commit_group;"""
    assert (left_by(body, x, faults=False) == 2).all()


def test_a_source_that_is_overwritten_too_early_is_copied_as_it_is_then():
    x = numbers()
    body = """
    cp.async.cg.shared.global [%r1], [%d0], 16;
    mov.f32 %f4, 0f40000000; st.global.f32 [%d0], %f4; cp.async.wait_all;"""
    assert (left_by(body, x, faults=False)[:, 0] == 2).all()


def test_a_wait_lets_the_newest_groups_go_on():
    x = numbers()
    body = """
    st.shared.v4.f32 [%r1], {0f00000000, 0f00000000, 0f00000000, 0f00000000};
    cp.async.ca.shared.global [%r1], [%d0], 4; cp.async.commit_group;
    cp.async.ca.shared.global [%r1+4], [%d0+4], 4;
    cp.async.ca.shared.global [%r1+8], [%d0+8], 4; cp.async.commit_group;
    cp.async.ca.shared.global [%r1+12], [%d0+12], 4; cp.async.commit_group;
    cp.async.wait_group """
    whole = x.reshape(-1, 4)
    for left, there in ((3, 0), (2, 1), (1, 3), (0, 4)):
        got = left_by(f"{body} {left};", x, faults=False)
        assert (got[:, :there] == whole[:, :there]).all()
        assert (got[:, there:] == 0).all()


def test_a_copy_that_was_not_committed_is_in_no_group():
    x = numbers()
    body = """
    st.shared.v4.f32 [%r1], {0f00000000, 0f00000000, 0f00000000, 0f00000000};
    cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.wait_group 0;"""
    assert (left_by(body, x, faults=False) == 0).all()


def test_an_empty_group_counts():
    """The last turns of a pipeline commit nothing: the wait stays the same."""
    x = numbers()
    body = "cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.commit_group;"
    wait = "cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 2;"
    assert (left_by(body + wait, x) == x.reshape(-1, 4)).all()


def test_lanes_count_their_own_groups():
    """Half of the lanes commit once more between copy and wait: only theirs has come."""
    x = numbers()
    body = """
    st.shared.v4.f32 [%r1], {0f00000000, 0f00000000, 0f00000000, 0f00000000};
    cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.commit_group;
    and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0;
    @%p1 bra LATER;
    cp.async.commit_group;
    LATER:
    cp.async.wait_group 1;"""
    got = left_by(body, x, faults=False)
    assert (got[1::2] == x.reshape(-1, 4)[1::2]).all()
    assert (got[::2] == 0).all()


def test_some_lanes_wait_earlier_than_others():
    x = numbers(70)
    body = """
    cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.commit_group;
    setp.lt.u32 %p1, %r0, 40;
    @%p1 cp.async.wait_group 0;
    @%p1 bra THERE;
    cp.async.wait_all;
    THERE:"""
    assert (left_by(body, x, threads=70) == x.reshape(-1, 4)).all()


@pytest.mark.parametrize("threads", [1, 31, 33, 96])
def test_blocks_of_any_size_copy(threads):
    x = numbers(threads)
    got = left_by("cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.wait_all;", x, threads)
    assert (got == x.reshape(-1, 4)).all()


def test_lanes_may_copy_from_several_tensors():
    body = """
    ld.param.u64 %d3, [x]; ld.param.u64 %d4, [z]; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0;
    selp.b64 %d3, %d3, %d4, %p1; mul.wide.u32 %d2, %r0, 16; add.s64 %d3, %d3, %d2;
    cp.async.cg.shared.global [%r1], [%d3], 16; cp.async.wait_all;"""
    kernel = written(
        BEGIN + body + END, ".param .u64 x, .param .u64 y, .param .u32 n, .param .u64 z", REGISTERS
    )
    x, z, y = numbers(), -numbers(), np.zeros(128, np.float32)
    run(kernel, 1, 32, x, y, 0, z)
    wanted = np.where(np.arange(32)[:, None] % 2 == 0, x.reshape(-1, 4), z.reshape(-1, 4))
    assert (y.reshape(-1, 4) == wanted).all()


def test_copies_that_nobody_waits_for_are_noted():
    kernel = copying("cp.async.cg.shared.global [%r1], [%d0], 16;", "ret;")
    launched = run(kernel, 3, 32, numbers(), numbers(), 0)
    (note,) = launched.notes
    assert "copies (cp.async) of 96 threads are under way when the kernel ends" in note
    assert launched.buffers["argument 0"].bytes_read == 512


@pytest.mark.parametrize(
    "instruction",
    [
        "cp.async.cg.shared.global [%r1], [%d0], 8;",  # around L1 there are only 16 bytes
        "cp.async.ca.shared.global [%r1], [%d0], 2;",
        "cp.async.cg.shared::cluster.global [%r1], [%d0], 16;",
        "cp.async.bulk.prefetch.L2.global [%d0], 16;",
        "cp.async.mbarrier.arrive.shared.b64 [%r1];",
        "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
        "mbarrier.init.shared.b64 [%r1], 32;",
    ],
)
def test_what_is_no_plain_copy_is_refused_by_name(instruction):
    with pytest.raises(UnknownInstruction) as refused:
        run(copying(instruction), 1, 32, numbers(), numbers(), 0)
    assert instruction.split()[0] in str(refused.value)
