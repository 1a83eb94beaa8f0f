"""Loads and stores with every hint that PTX has change nothing; unknown memories are refused."""

import numpy as np
import pytest

from simulator import UnknownInstruction
from tests.simulator.compiled import run, written

REGISTERS = [("b64", "%d<6>"), ("b32", "%r<8>"), ("pred", "%p<6>")]
BEGIN = "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; "


def outcome(body, declarations=""):
    """What a thread writes to b [8] of a = 1 .. 8."""
    kernel = written(f"{declarations}{BEGIN}{body} ret;", ".param .u64 a, .param .u64 b", REGISTERS)
    a, b = np.arange(1, 9, dtype=np.uint32), np.zeros(8, np.uint32)
    run(kernel, 1, 1, a, b)
    return b.tolist()


LOADS = [
    "ld.global.ca",
    "ld.global.cg",
    "ld.global.cs",
    "ld.global.lu",
    "ld.global.cv",
    "ld.volatile.global",
    "ld.relaxed.gpu.global",
    "ld.acquire.sys.global",
    "ld.global.nc",
    "ld.global.nc.L1::no_allocate.L2::128B",
    "ld.global.L1::evict_last.L2::256B",
    "ld.weak.global.L1::evict_first",
]
STORES = [
    "st.global.wb",
    "st.global.cg",
    "st.global.cs",
    "st.global.wt",
    "st.volatile.global",
    "st.relaxed.gpu.global",
    "st.release.cta.global",
    "st.global.L1::no_allocate",
    "st.weak.global.L1::evict_last",
]


@pytest.mark.parametrize("load", LOADS)
def test_a_hinted_load_is_a_load(load):
    body = f"{load}.v4.b32 {{%r0, %r1, %r2, %r3}}, [%d0]; st.global.v2.b32 [%d1], {{%r1, %r3}};"
    assert outcome(body)[:3] == [2, 4, 0]


@pytest.mark.parametrize("store", STORES)
def test_a_hinted_store_is_a_store(store):
    assert outcome(f"ld.global.b32 %r0, [%d0+8]; {store}.b32 [%d1+4], %r0;")[:3] == [0, 3, 0]


@pytest.mark.parametrize(
    "policy",
    [
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d2, 0f3F800000;",
        "createpolicy.fractional.L2::evict_first.b64 %d2;",
        "createpolicy.range.L2::evict_last.L2::evict_first.b64 %d2, [%d0], 16, 32;",
    ],
)
def test_a_policy_goes_along_and_is_not_stored(policy):
    body = f"""{policy}
ld.global.L1::evict_last.L2::cache_hint.b32 %r0, [%d0+4], %d2;
st.global.L2::cache_hint.b32 [%d1], %r0, %d2;"""
    assert outcome(body)[:2] == [2, 0]


def test_prefetches_and_fences_change_nothing():
    body = """prefetch.global.L2 [%d0]; prefetch.global.L1 [%d0]; prefetchu.L1 [%d0];
prefetch.global.L2::evict_last [%d0]; fence.sc.gpu; fence.acq_rel.cta; membar.gl; membar.sys;
ld.global.b32 %r0, [%d0]; st.global.b32 [%d1], %r0;"""
    assert outcome(body) == [1, 0, 0, 0, 0, 0, 0, 0]


def test_a_generic_address_tells_which_memory_it_lies_in():
    body = """mov.u32 %r0, tile; cvt.u64.u32 %d2, %r0; cvta.shared.u64 %d2, %d2;
isspacep.shared %p0, %d2; isspacep.global %p1, %d2; isspacep.local %p2, %d2;
isspacep.shared::cta %p3, %d0; isspacep.global %p4, %d0; isspacep.local %p5, %d0;
"""
    for k in range(6):
        body += f"selp.u32 %r1, 1, 0, %p{k}; st.global.u32 [%d1+{4 * k}], %r1;\n"
    assert outcome(body, ".shared .align 4 .b8 tile[16];\n")[:6] == [1, 0, 0, 0, 1, 0]


def test_shared_memory_of_the_own_block_may_be_named_in_full():
    body = """mov.u32 %r0, tile; ld.global.b32 %r1, [%d0+12]; st.shared::cta.b32 [%r0], %r1;
ld.shared::cta.b32 %r2, [%r0]; st.global.b32 [%d1], %r2;"""
    assert outcome(body, ".shared .align 4 .b8 tile[16];\n")[0] == 4


@pytest.mark.parametrize("opcode", ["st.async.weak.shared::cluster.b32", "ld.shared::cluster.b32"])
def test_memory_of_other_blocks_is_not_there(opcode):
    operands = "[%d1], %r0" if opcode.startswith("st") else "%r0, [%d0]"
    with pytest.raises(UnknownInstruction, match=opcode):
        outcome(f"{opcode} {operands};")
