"""Counters of the tensor-core instructions, worked out by hand from what hardware makes of each."""

import numpy as np
import pytest

from tests.simulator.compiled import run, written

REGISTERS = [("b64", "x"), ("b64", "y"), ("b32", "s"), *(("b32", f"r{k}") for k in range(16))]
SHARED = ".shared .align 32 .b8 tile[8192];\n"


def vector(count, first=0):
    return "{" + ", ".join(f"r{k}" for k in range(first, first + count)) + "}"


def counted(body, warps=1, size=4096):
    made = written(f"ld.param.u64 x, [a]; ld.param.u64 y, [b]; {body} ret;",
                   ".param .u64 a, .param .u64 b", REGISTERS, SHARED)  # fmt: skip
    return run(made, 1, 32 * warps, np.zeros(size, np.float64), np.zeros(size, np.float64)).counters


def seen(counters, direction):
    names = ("requests", "sectors", "bytes", "ideal_sectors")
    return tuple(getattr(counters, f"global_{direction}_{name}") for name in names)


@pytest.mark.parametrize(
    ("opcode", "registers", "stride", "wanted"),
    [
        # Four tiles of 8 x 8 halves, each 8 lines of 16 bytes, a lane 4 bytes of it.
        ("a.sync.aligned.row.m16n16k16.global.f16", 8, 16, (4, 32, 512, 16)),
        ("a.sync.aligned.col.m16n16k16.global.f16", 8, 64, (4, 32, 512, 16)),
        ("a.sync.aligned.row.m32n8k16.global.f16", 8, 16, (8, 64, 1024, 32)),
        ("b.sync.aligned.row.m32n8k16.global.f16", 8, 8, (2, 8, 256, 8)),  # lines side by side
        ("b.sync.aligned.col.m16n16k16.bf16", 4, 16, (4, 32, 512, 16)),
        # A float for each lane: 8 lines of 16 bytes, or, across, 4 lines of 32.
        ("a.sync.aligned.row.m16n16k8.tf32", 4, 8, (4, 32, 512, 16)),
        ("b.sync.aligned.row.m16n16k8.tf32", 4, 16, (4, 16, 512, 16)),
        # Two floats that lie side by side, or, across, one by one.
        ("c.sync.aligned.row.m16n16k16.global.f32", 8, 16, (4, 32, 1024, 32)),
        ("c.sync.aligned.col.m16n16k16.global.f32", 8, 16, (8, 32, 1024, 32)),
        ("c.sync.aligned.col.m8n32k16.global.f32", 8, 8, (4, 32, 1024, 32)),
        # Four bytes that lie side by side, or, across, one by one: 4 lines of 8 bytes.
        ("a.sync.aligned.row.m16n16k16.global.s8", 2, 16, (2, 8, 256, 8)),
        ("a.sync.aligned.col.m16n16k16.global.s8", 2, 16, (8, 32, 256, 8)),
    ],
)
def test_what_a_load_of_a_matrix_moves(opcode, registers, stride, wanted):
    counters = counted(f"wmma.load.{opcode} {vector(registers)}, [x], {stride};")
    assert seen(counters, "load") == wanted
    assert counters.memory_instructions == 1


@pytest.mark.parametrize(("layout", "requests"), [("row", 4), ("col", 8)])
def test_what_a_store_of_sums_moves(layout, requests):
    opcode = f"wmma.store.d.sync.aligned.{layout}.m16n16k16.global.f32"
    sums = "".join(f"mov.b32 r{k}, {k};" for k in range(8))
    counters = counted(f"{sums} {opcode} [y], {vector(8)}, 16;")
    assert seen(counters, "store") == (requests, 32, 1024, 32)


FILL = """
    mov.u32 r0, %tid.x; mov.u32 s, tile; mad.lo.u32 s, r0, 16, s;
    """ + "".join(f"st.shared.v4.b32 [s+{512 * k}], {{r0, r0, r0, r0}};" for k in range(16)) + """
    bar.warp.sync -1; mov.u32 s, tile;"""  # fmt: skip


@pytest.mark.parametrize(
    ("opcode", "registers", "stride", "wanted"),  # requests, wavefronts, conflicts
    [
        ("a.sync.aligned.row.m16n16k16.shared.f16", 8, 16, (1, 8, 4)),  # lines of 32 bytes: 2-way
        ("a.sync.aligned.row.m16n16k16.shared.f16", 8, 24, (1, 4, 0)),
        ("a.sync.aligned.row.m16n16k16.shared.f16", 8, 64, (1, 32, 28)),  # of 128 bytes: 8-way
        ("b.sync.aligned.row.m16n16k16.shared.f16", 8, 72, (1, 4, 0)),
        ("a.sync.aligned.row.m32n8k16.shared.f16", 8, 24, (2, 8, 0)),
        ("b.sync.aligned.col.m32n8k16.shared.f16", 8, 24, (1, 2, 0)),
        ("a.sync.aligned.row.m16n16k16.shared.s8", 2, 16, (1, 2, 0)),
        # No rows of 16 bytes for a generic address: 4 bytes a lane, 8 lines of 32 bytes on the
        # same banks by twos.
        ("a.sync.aligned.row.m16n16k16.bf16", 4, 16, (4, 8, 4)),
    ],
)
def test_what_a_load_from_shared_memory_takes(opcode, registers, stride, wanted):
    place = "[s]" if ".shared" in opcode else "[x]"
    to_generic = "" if ".shared" in opcode else "cvt.u64.u32 x, s; cvta.shared.u64 x, x;"
    load = f"wmma.load.{opcode} {vector(registers)}, {place}, {stride};"
    counters = counted(f"{FILL} {to_generic} {load}")
    names = ("requests", "wavefronts", "conflicts")
    assert tuple(getattr(counters, f"shared_load_{name}") for name in names) == wanted


@pytest.mark.parametrize(
    ("opcode", "sizes", "issued", "operations"),
    [
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", (8, 8, 8, 8), 2, 8192),
        ("wmma.mma.sync.aligned.row.row.m32n8k16.f16.f16", (4, 8, 8, 4), 2, 8192),
        ("wmma.mma.sync.aligned.col.col.m8n32k16.f32.bf16.bf16.f32", (8, 2, 8, 8), 2, 8192),
        ("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", (8, 4, 4, 8), 4, 4096),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite", (8, 2, 2, 8), 2, 0),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", (4, 4, 2, 4), 1, 4096),
        ("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", (4, 2, 1, 4), 1, 2048),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", (4, 4, 2, 4), 1, 2048),
        ("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", (4, 2, 1, 4), 1, 1024),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", (4, 4, 2, 4), 1, 0),
    ],
)
def test_mma_is_what_hardware_issues(opcode, sizes, issued, operations):
    d, a, b, c = sizes
    counters = counted(f"{opcode} {vector(d)}, {vector(a)}, {vector(b)}, {vector(c)};", warps=3)
    assert counters.mma == 3 * issued
    assert counters.float_operations == 3 * operations
    assert counters.tensor_instructions == 3
