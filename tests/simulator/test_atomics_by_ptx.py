"""Atomics that a test writes in PTX: halves, the NaNs of sums, 16-bit swaps, what PTX lacks."""

import numpy as np
import pytest

from simulator import UnknownInstruction
from tests.simulator.compiled import run, written

REGISTERS = [("b64", "%d<4>"), ("b32", "%r<4>"), ("b16", "%h<4>")]
POINTERS = ".param .u64 memory, .param .u64 x, .param .u64 old"


def updating(update, size):
    """Each thread of one block: its element of x in %{r,h,d}1, one memory element for all."""
    letter = {2: "h", 4: "r", 8: "d"}[size]
    register = f"%{letter}1" if letter != "d" else "%d3"
    before = f"%{letter}2"
    body = f"""
ld.param.u64 %d0, [memory]; ld.param.u64 %d1, [x]; ld.param.u64 %d2, [old];
mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, {size}; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
ld.global.b{8 * size} {register}, [%d1];
{update}
st.global.b{8 * size} [%d2], {before};
ret;"""
    return written(body, POINTERS, REGISTERS)


def words(numbers, type_name):
    """Raw bits of numbers that bf16 holds exactly."""
    if type_name == "bf16":
        return (np.array(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.array(numbers, np.float16).view(np.uint16)


@pytest.mark.parametrize("type_name", ["f16", "bf16"])
def test_lanes_add_halves_one_after_another(type_name):
    kernel = updating(f"atom.global.add.noftz.{type_name} %h2, [%d0], %h1;", 2)
    x = words([1, 2, -3, 0.5], type_name)
    memory, old = words([4], type_name), np.zeros(4, np.uint16)
    run(kernel, 1, 4, memory, x, old)
    assert memory.tolist() == words([4.5], type_name).tolist()
    assert old.tolist() == words([4, 5, 7, 4], type_name).tolist()


@pytest.mark.parametrize("type_name", ["f16", "bf16"])
@pytest.mark.parametrize("wanted", [True, False])
def test_lanes_add_pairs_of_halves_one_after_another(type_name, wanted):
    begin = "atom" if wanted else "mov.b32 %r2, 0; red"
    target = "%r2, " if wanted else ""
    update = f"{begin}.global.add.noftz.{type_name}x2 {target}[%d0], %r1;"
    x = words([1, 10, 2, 20, -3, -30], type_name).view(np.uint32)
    memory, old = words([4, 40], type_name).view(np.uint32), np.zeros(3, np.uint32)
    run(updating(update, 4), 1, 3, memory, x, old)
    assert memory.view(np.uint16).tolist() == words([4, 40], type_name).tolist()
    if wanted:
        before = words([4, 40, 5, 50, 7, 70], type_name)
        assert old.view(np.uint16).tolist() == before.tolist()


def test_a_half_that_is_no_number_is_the_nan_of_the_hardware():
    kernel = updating("atom.global.add.noftz.f16 %h2, [%d0], %h1;", 2)
    memory = np.array([0xFC01], np.uint16)
    run(kernel, 1, 1, memory, words([1], "f16"), np.zeros(1, np.uint16))
    assert memory.tolist() == [0x7FFF]


@pytest.mark.parametrize(
    "update", ["atom.global.add.f32 %r2,", "mov.b32 %r2, 0; red.global.add.f32"]
)
def test_a_float_sum_that_is_no_number_is_the_nan_of_the_hardware(update):
    kernel = updating(f"{update} [%d0], %r1;", 4)
    memory = np.array([0xFFC00001], np.uint32)
    run(kernel, 1, 3, memory, np.ones(3, np.float32), np.zeros(3, np.uint32))
    assert memory.tolist() == [0x7FFFFFFF]


def test_sixteen_bits_are_compared_and_swapped():
    kernel = updating("atom.global.cas.b16 %h2, [%d0], 7, %h1;", 2)
    memory, old = np.array([7, 9], np.uint16), np.zeros(3, np.uint16)
    run(kernel, 1, 3, memory, np.array([100, 200, 300], np.uint16), old)
    assert memory.tolist() == [100, 9]
    assert old.tolist() == [7, 100, 100]


@pytest.mark.parametrize("opcode", ["min.noftz.f16", "max.noftz.bf16x2", "exch.b128"])
def test_atomics_without_a_row_name_themselves(opcode):
    kernel = updating(f"atom.global.{opcode} %r2, [%d0], %r1;", 4)
    with pytest.raises(UnknownInstruction, match=opcode):
        run(kernel, 1, 1, *(np.zeros(4, np.uint32) for _ in range(3)))


def test_a_hint_for_the_cache_is_no_operand_of_the_update():
    update = """
createpolicy.fractional.L2::evict_last.b64 %d3, 0f3F800000;
atom.global.add.L2::cache_hint.u32 %r2, [%d0], %r1, %d3;
red.global.gpu.relaxed.add.L2::cache_hint.u32 [%d0], %r1, %d3;"""
    memory, old = np.array([5], np.uint32), np.zeros(2, np.uint32)
    run(updating(update, 4), 1, 2, memory, np.array([10, 20], np.uint32), old)
    assert memory.tolist() == [65]
    assert old.tolist() == [5, 15]
