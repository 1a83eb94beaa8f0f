"""<mma.h> on the simulator: every shape, type, layout and stride against float64.

The kernels are golden ones, of two compilers.
"""

import numpy as np
import pytest

from tests.simulator.compiled import run, written
from tests.simulator.golden.stored import VERSIONS, kernel
from tests.simulator.matrices import (
    HELD,
    PLACES,
    bound,
    exact,
    from_memory,
    in_memory,
    one_memory,
    random_matrix,
)

TYPES = {  # of a and b, and of c and d
    "half_to_float": ("f16", "f32"),
    "half_to_half": ("f16", "f16"),
    "bfloat": ("bf16", "f32"),
    "signed_char": ("s8", "s32"),
    "unsigned_char": ("u8", "s32"),
    "tensor_float": ("tf32", "f32"),
    "doubles": ("f64", "f64"),
}
LARGE = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
SHAPES = dict.fromkeys(TYPES, LARGE) | {"tensor_float": ((16, 16, 8),), "doubles": ((8, 8, 4),)}
CASES = [(name, shape) for name in TYPES for shape in SHAPES[name]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("layouts", ["row_col", "col_row"])
@pytest.mark.parametrize("name, shape", CASES)
def test_d_is_a_times_b_plus_c_rounded_once(version, name, shape, layouts):
    m, n, k = shape
    factor, total = TYPES[name]
    chosen = kernel(version, f"tensor_wmma/{name}_{m}x{n}x{k}_{layouts}")
    a_rows, b_rows = (layout == "row" for layout in layouts.split("_"))
    for shared in (0, 1):
        for pads in (0, 1):  # of 16 bytes behind each line
            random = np.random.default_rng([m, n, k, pads, shared])
            a = random_matrix(random, (m, k), factor)
            b = random_matrix(random, (k, n), factor)
            c = random_matrix(random, (m, n), total)
            pad = pads * 16 // HELD[factor]().itemsize
            pad_sum = pads % 2 * 16 // HELD[total]().itemsize
            flat_a, lda = in_memory(a, a_rows, pad, 1024)
            flat_b, ldb = in_memory(b, b_rows, pad, 1024)
            flat_c, ldc = in_memory(c, a_rows, pad_sum, 1280)
            memory = one_memory(flat_a, flat_b, flat_c)
            run(chosen, 1, 32, memory, lda, ldb, ldc, shared, shared_bytes=PLACES[-1])
            d = memory[PLACES[2] // 4 :].view(HELD[total])
            got = exact(from_memory(d, (m, n), a_rows, ldc), total)
            factors = exact(a, factor), exact(b, factor)
            c = exact(c, total)
            allowed = bound(*factors, c, k, total)
            assert np.all(np.abs(got - (factors[0] @ factors[1] + c)) <= allowed), (shared, pads)


NARROW = {  # opcode of the product without what precedes its shape, types of a and b, shape
    "m8n8k32.s32.s4.s4.s32": ("s4", (8, 8, 32)),
    "m8n8k32.s32.u4.u4.s32.satfinite": ("u4", (8, 8, 32)),
    "m8n8k128.s32.b1.b1.s32": ("b1", (8, 8, 128)),
}


def packed(lines, bits):
    """Integers of few bits, the first in the lowest."""
    if bits == 1:
        return np.packbits(lines, axis=1, bitorder="little").reshape(-1)
    nibbles = (lines.astype(np.uint8) & 15).reshape(-1, 2)
    return nibbles[:, 0] | nibbles[:, 1] << 4


@pytest.mark.parametrize("space", ["", ".global"])
@pytest.mark.parametrize("opcode", NARROW)
def test_integers_of_a_few_bits_by_inline_ptx(opcode, space):
    type_, (m, n, k) = NARROW[opcode]
    shape, logic = opcode.split(".")[0], ".xor.popc" if type_ == "b1" else ""
    body = f"""
        ld.param.u64 x, [a]; ld.param.u64 y, [b]; ld.param.u64 z, [c];
        wmma.load.a.sync.aligned.row.{shape}{space}.{type_} {{r0}}, [x], {k};
        wmma.load.b.sync.aligned.col.{shape}{space}.{type_} {{r1}}, [y];
        wmma.load.c.sync.aligned.col.{shape}{space}.s32 {{r2, r3}}, [z+256], 8;
        wmma.mma{logic}.sync.aligned.row.col.{opcode} {{r2, r3}}, {{r0}}, {{r1}}, {{r2, r3}};
        wmma.store.d.sync.aligned.row.{shape}{space}.s32 [z], {{r2, r3}};
        ret;"""
    registers = [("b32", f"r{i}") for i in range(4)] + [("b64", name) for name in "xyz"]
    random = np.random.default_rng(k)
    a, b = random_matrix(random, (m, k), type_), random_matrix(random, (k, n), type_)
    c = np.zeros(128, np.int32)
    c[64:] = random_matrix(random, 64, "s32")
    bits = 1 if type_ == "b1" else 4
    made = written(body, ".param .u64 a, .param .u64 b, .param .u64 c", registers)
    added = c[64:].reshape(8, 8).T.copy()
    counters = run(made, 1, 32, packed(a, bits), packed(b.T, bits), c).counters
    x, y = exact(a, type_), exact(b, type_)
    want = (x[:, :, None] != y[None]).sum(axis=1) if type_ == "b1" else x @ y
    np.testing.assert_array_equal(c[:64].reshape(8, 8), want + added)
    assert counters.mma == 2  # compute capability 9.0 makes it of two wider ones
    assert counters.float_operations == 0


def test_a_load_whose_result_a_loop_needs_is_waited_for_once_a_turn():
    (m, n, k) = 16, 64, 64
    random = np.random.default_rng(5)
    a, b = random_matrix(random, (m, k), "f16"), random_matrix(random, (k, n), "f16")
    chosen = kernel("13_5", "tensor_gemms/half_to_float")
    c = np.zeros((m, n), np.float32)
    counters = run(chosen, n // 16, 32, a, b, c, m, n, k).counters
    tiles = n // 16 * k // 16
    assert counters.load_waits == tiles
    assert counters.loads_in_flight == 8  # a and b, in four pieces of 8 x 8 each


def test_a_guard_that_a_whole_warp_agrees_on():
    body = """
        ld.param.u64 x, [a]; ld.param.u64 y, [b];
        mov.u32 r8, %tid.x; setp.lt.u32 p, r8, 32; shr.u32 r9, r8, 5; mad.wide.u32 y, r9, 1024, y;
        mov.f32 f0, 0f40E00000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;
        mov.f32 f4, f0; mov.f32 f5, f0; mov.f32 f6, f0; mov.f32 f7, f0;
        @p wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {f0,f1,f2,f3,f4,f5,f6,f7}, [x], 16;
        @!p wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [y], {f0,f1,f2,f3,f4,f5,f6,f7}, 16;
        @p wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [y], {f0,f1,f2,f3,f4,f5,f6,f7}, 16;
        ret;"""
    registers = [("f32", f"f{i}") for i in range(8)] + [("b64", "x"), ("b64", "y"), ("pred", "p")]
    made = written(body, ".param .u64 a, .param .u64 b", [*registers, ("b32", "r8"), ("b32", "r9")])
    x, y = np.arange(256, dtype=np.float32), np.zeros((2, 16, 16), np.float32)
    counters = run(made, 1, 64, x, y).counters
    np.testing.assert_array_equal(y[0], x.reshape(16, 16).T)
    assert (y[1] == 7).all()
    assert (counters.global_load_requests, counters.global_store_requests) == (4, 4 + 8)
