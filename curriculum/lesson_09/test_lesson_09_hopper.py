"""Lesson 09, task 8: a kernel of Hopper's own instructions, read as PTX."""

import re

import pytest

from curriculum.lesson_09 import hopper, host

# COLUMNS, DOWN, STAGES of hopper.cu
VARIANTS = [(128, 2, 4), (64, 1, 2), (64, 2, 3), (128, 1, 2)]
BOX = (64, 64)  # of every TMA copy of hopper.cu

# By hand: guards, comments that name instructions, relatives of those that count.
SNIPPET = """
    // wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 in a comment
    @%p1 bra $L__BB0_2;
    mbarrier.init.shared.b64 [%r1], 1;
    @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 18432;  // not 4096;
    @!%p3 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r3, %r4}], [%r1];
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5], [%rd2, {%r4, %r3}], [%r1];
    cp.async.bulk.commit_group;
    cp.async.cg.shared.global [%r6], [%rd3], 16;
    mbarrier.try_wait.parity.shared.b64 %p4, [%r1], %r7;
    mbarrier.arrive.shared.b64 _, [%r1];
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f1, %f2}, %rd4, %rd5, 1, 1, 1, 0, 1;
    wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f1, %f2}, %rd4, %rd5, 1, 1, 1;
    wgmma.commit_group.sync.aligned;
"""  # noqa: E501


def checked(call, got, wanted, because):
    assert got == wanted, f"{call} is {got!r}, not {wanted!r}: {because}"


def checked_census(said, ptx, wanted, because):
    got = hopper.census(ptx)
    for kind, count in zip(hopper.KINDS, wanted, strict=True):
        checked(f'census of {said}: "{kind}"', got.get(kind), count, because)


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.parametrize("columns, down, stages", VARIANTS)
def test_each_kind_of_instruction_is_counted(columns, down, stages):
    ptx = host.hopper_ptx(columns, down, stages)
    said = f"hopper.cu with COLUMNS {columns}, DOWN {down}"
    wanted = (4 * down, down + columns // 64, 1, 1)
    checked_census(said, ptx, wanted, "its comments name instructions too, and do not count")


@pytest.mark.stretch
@pytest.mark.task(8)
def test_comments_and_relatives_do_not_count():
    why = f"guards may stand before a name, comments may name anything\n{SNIPPET}"
    checked_census("the lines below", SNIPPET, (2, 2, 1, 1), why)
    got = hopper.shapes(SNIPPET)
    checked("shapes", [tuple(s) for s in got], [(64, 16, 16), (64, 8, 32)], f"in\n{SNIPPET}")
    checked("expected_bytes", hopper.expected_bytes(SNIPPET), 18432, f"in\n{SNIPPET}")


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.parametrize("columns, down, stages", VARIANTS)
def test_a_name_tells_the_shape(columns, down, stages):
    got = hopper.shapes(host.hopper_ptx(columns, down, stages))
    said = f"shapes of hopper.cu with COLUMNS {columns}, DOWN {down}"
    checked(said, [tuple(s) for s in got], [(64, columns, 16)] * (4 * down), "64 of K a stage")


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.parametrize("columns", [64, 128])
def test_the_sums_of_a_product_are_the_registers_of_its_line(columns):
    ptx = host.hopper_ptx(columns)
    line = re.search(r"wgmma\.mma_async\S*\s*\{([^}]*)\}", ptx)
    registers = line[1].count(",") + 1  # float registers between the braces
    shape = hopper.Shape(64, columns, 16)
    call = f"sums_per_thread({tuple(shape)})"
    checked(call, hopper.sums_per_thread(shape), registers, "that many stand in the braces")
    shape = hopper.Shape(64, 256, 16)
    checked(f"sums_per_thread({tuple(shape)})", hopper.sums_per_thread(shape), 128, "of 255")


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.parametrize("columns, down, stages", VARIANTS)
def test_a_barrier_opens_when_all_bytes_have_come(columns, down, stages):
    ptx = host.hopper_ptx(columns, down, stages)
    comes = 2 * 64 * 64 * (down + columns // 64)
    said = f"hopper.cu with COLUMNS {columns}, DOWN {down}"
    checked(f"expected_bytes of {said}", hopper.expected_bytes(ptx), comes, "boxes of 64 x 64")
    checked(f"outcome of {said}", hopper.outcome(ptx, *BOX), "opens", f"{comes} bytes come")


@pytest.mark.stretch
@pytest.mark.task(8)
def test_a_barrier_told_wrong_hangs_or_opens_early():
    for expected, becomes in ((32_768 + 8192, "hangs"), (24_576, "early"), (32_768, "opens")):
        ptx = host.hopper_ptx(128, 2, 4, f"EXPECTED={expected}")
        why = f"32768 bytes come, {expected} are expected"
        checked(f"outcome with EXPECTED {expected}", hopper.outcome(ptx, *BOX), becomes, why)
    why = "two boxes of 72 x 64 halves come, 18432 bytes are expected"
    checked("outcome", hopper.outcome(SNIPPET, 72, 64), "opens", why)
    checked("outcome", hopper.outcome(SNIPPET, 64, 64), "hangs", why.replace("72", "64"))
