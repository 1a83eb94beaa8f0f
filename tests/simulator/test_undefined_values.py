"""Registers that nobody has written: what they hold, who follows them, and when that is a fault."""

import numpy as np
import pytest

from simulator import FaultKind
from simulator.translating.definedness import Sources
from simulator.translating.program import Program, program_of
from simulator.undefined import Matter, Origin
from tests.simulator.compiled import compiled, fault, run, written
from tests.simulator.golden.stored import SOURCES, VERSIONS, module

# Of the golden sources' kernels, those in which some path reads a register first.
READ_FIRST = {"tiles_at_run_time", "parts_double", "scopes"}
POINTER = "ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1;"
REGISTERS = [("b64", "%rd<9>"), ("b32", "%r<9>"), ("f32", "%f<9>"), ("pred", "%p<9>")]


def by_hand(body, before=""):
    return written(f"{POINTER} {body} ret;", ".param .u64 y", REGISTERS, before)


def stored(body, **settings):
    y = np.zeros(32, np.uint32)
    run(by_hand(body), 1, 32, y, **settings)
    return y


def test_a_register_that_nobody_wrote_is_no_zero():
    assert np.isnan(stored("st.global.f32 [%rd1], %f1;", faults=False).view(np.float32)).all()
    assert (stored("st.global.u32 [%rd1], %r2;", faults=False) == 0xCDCDCDCD).all()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("source", SOURCES)
def test_nothing_is_followed_where_every_variable_is_given_a_value(version, source):
    for name, entry in module(version, source).entries.items():
        followed = program_of(entry, sources=Sources()).followed
        if followed is not None and not entry.most_local_bytes:
            assert name in READ_FIRST


def test_what_is_not_followed_has_the_code_of_a_launch_that_does_not_ask():
    kernel = compiled(
        'extern "C" __global__ void k(const float* x, float* y) { y[threadIdx.x] = x[0]; }'
    )
    asked, plain = Program(kernel.entry, sources=Sources()), Program(kernel.entry)
    assert asked.followed is None
    assert [f.__code__.co_code for f in asked.functions] == [
        f.__code__.co_code for f in plain.functions
    ]


@pytest.mark.parametrize(
    "body",
    [
        "and.b32 %r3, %r2, 0; st.global.u32 [%rd1], %r3;",
        "or.b32 %r3, %r2, -1; st.global.u32 [%rd1], %r3;",
        "shl.b32 %r3, %r2, 8; and.b32 %r3, %r3, 255; st.global.u32 [%rd1], %r3;",
        "prmt.b32 %r3, %r1, %r2, 0x3210; st.global.u32 [%rd1], %r3;",
        "mov.b64 %rd2, {%r1, %r2}; mov.b64 {%r3, %r4}, %rd2; st.global.u32 [%rd1], %r3;",
        "mov.b64 %rd2, {%r1, %r2}; cvt.u32.u64 %r3, %rd2; st.global.u32 [%rd1], %r3;",
        "setp.lt.s32 %p1, %r1, 99; selp.b32 %r3, %r1, %r2, %p1; st.global.u32 [%rd1], %r3;",
        "setp.ge.s32 %p1, %r1, 99; setp.eq.and.s32 %p2, %r2, 5, %p1; @%p2 st.global.u32 [%rd1], 1;",
        "setp.ge.s32 %p1, %r1, 99; @%p1 st.global.u32 [%rd1], %r2;",
        "setp.ge.s32 %p1, %r1, 99; @%p1 ld.global.u32 %r3, [%rd2];",
        "add.s32 %r3, %r2, 1; st.global.u8 [%rd1], %r1;",
        "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; and.b32 %r3, %r3, 0; st.global.u32 [%rd1], %r3;",
    ],
)
def test_an_undefined_value_that_does_not_matter_is_no_fault(body):
    stored(body)


@pytest.mark.parametrize(
    ("body", "matter"),
    [
        ("st.global.u32 [%rd1], %r2;", Matter.STORE),
        ("xor.b32 %r3, %r2, %r2; st.global.u32 [%rd1], %r3;", Matter.STORE),
        ("mul.lo.s32 %r3, %r2, 0; st.global.u32 [%rd1], %r3;", Matter.STORE),
        ("mov.b64 %rd2, {%r1, %r2}; shr.u64 %rd2, %rd2, 24; cvt.u32.u64 %r3, %rd2;"
         "st.global.u32 [%rd1], %r3;", Matter.STORE),
        ("vote.sync.any.pred %p1, %p2, -1; selp.b32 %r3, 1, 0, %p1; st.global.u32 [%rd1], %r3;",
         Matter.STORE),
        ("setp.eq.s32 %p1, %r2, 5; @%p1 st.global.u32 [%rd1], 1;", Matter.DECISION),
        ("setp.eq.s32 %p1, %r2, 5; @%p1 bra A; st.global.u32 [%rd1], 1; A:", Matter.DECISION),
        ("A: add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, 5; @%p1 bra A;", Matter.DECISION),
        ("shfl.sync.idx.b32 %r3, %r1, %r2, 31, -1;", Matter.DECISION),
        ("bar.warp.sync %r2;", Matter.DECISION),
        ("ld.global.u32 %r3, [%rd2];", Matter.ADDRESS),
        ("red.global.add.u32 [%rd1], %r2;", Matter.ATOMIC),
        ("atom.global.exch.b32 %r3, [%rd1], %r2;", Matter.ATOMIC),
    ],
)  # fmt: skip
def test_an_undefined_value_that_something_hangs_on_is_a_fault(body, matter):
    found = fault(by_hand(body), 1, 32, np.zeros(32, np.uint32))
    assert found.kind is FaultKind.UNDEFINED_VALUE
    assert found.undefined.matter is matter
    assert found.undefined.origin is Origin.VARIABLE
    assert found.expected and found.advice


# One lane's word of an 8 x 8 tile is undefined: those of row 3 in columns 2 and 3.
TILE = ".shared .align 16 .b8 tile[128];"
THROUGH_A_TILE = """mov.u32 %r4, tile; mad.lo.u32 %r5, %r1, 4, %r4; mov.u32 %r6, %r1;
setp.ne.u32 %p1, %r1, 13; @!%p1 mov.u32 %r6, %r2; st.shared.u32 [%r5], %r6; bar.sync 0;
mad.lo.u32 %r5, %r1, 16, %r4;"""


@pytest.mark.parametrize(("how", "lanes"), [("", {13}), (".trans", {9, 13})])
def test_ldmatrix_hands_undefined_values_to_the_lanes_that_get_them_and_to_no_others(how, lanes):
    for lane in range(32):
        body = (
            f"{THROUGH_A_TILE} ldmatrix.sync.aligned.m8n8.x1{how}.shared.b16 {{%r7}}, [%r5];"
            f"setp.eq.u32 %p3, %r1, {lane}; @%p3 st.global.u32 [%rd1], %r7;"
        )
        kernel, y = by_hand(body, TILE), np.zeros(32, np.uint32)
        if lane in lanes:
            assert fault(kernel, 1, 32, y).undefined.matter is Matter.STORE
        else:
            run(kernel, 1, 32, y)
