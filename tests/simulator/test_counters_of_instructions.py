"""Instructions by class and floating-point operations, by hand and over many kernels."""

import numpy as np
import pytest

from simulator.instructions.opcodes import FAMILIES, INDEX
from simulator.instructions.rows import UnknownInstruction
from simulator.observing import instruction_classes
from simulator.observing.counters import CLASSES
from simulator.observing.instruction_classes import class_of, float_operations
from simulator.reading.ptx import Instruction
from simulator.translating.statements import STATEMENTS
from tests.simulator.compiled import compiled, run
from tests.simulator.golden import stored
from tests.simulator.random_programs import Program
from tests.simulator.test_counters_by_hand import counted


def instruction(text):
    opcode, _, operands = text.partition(" ")
    return Instruction(opcode, tuple(operands.split(", ")) if operands else (), None, 1, 0)


def classes(launched):
    return {name: n for name in CLASSES if (n := getattr(launched.counters, name))}


BODY = """add.u32 v, t, 1; mul.lo.u32 v, v, v; and.b32 v, v, 7; setp.lt.u32 p, v, 3;
selp.f32 v, v, w, p; min.f32 v, v, w;
add.f32 w, v, v; fma.rn.f32 w, v, v, w; mul.f32 w, w, v; fma.rn.f16x2 w, v, v, w;
add.f64 f, f, f; fma.rn.f64 f, f, f, f;
ex2.approx.f32 w, v; rcp.rn.f32 w, v;
cvt.rn.f32.u32 w, v; cvt.u64.u32 d, v;
mov.u32 v, w; cvta.to.global.u64 d, x;
ld.global.u32 v, [a]; st.global.u32 [a], v; red.global.add.u32 [a], 1;
shfl.sync.down.b32 v, t, 1, 31, -1; vote.sync.any.pred q, p, -1; activemask.b32 v;
bar.sync 0; membar.gl; @p bra END;
END: ret;"""


def test_every_instruction_has_the_class_of_its_unit():
    # In front of it: ld.param, ld.param, mov, mad.wide.
    assert classes(counted(BODY, threads=64)) == {
        "integer_instructions": 2 * (6 + 1),
        "fma_instructions": 2 * 4,
        "double_instructions": 2 * 2,
        "special_instructions": 2 * 2,
        "convert_instructions": 2 * 2,
        "move_instructions": 2 * (2 + 3),
        "memory_instructions": 2 * 3,
        "exchange_instructions": 2 * 3,
        "control_instructions": 2 * 4,
    }


def test_floating_point_operations_count_by_thread_twice_for_fma_and_for_pairs():
    by_lane = (1 + 2 + 1 + 4) + (1 + 2) + (1 + 1)
    assert counted(BODY, threads=50).counters.float_operations == 50 * by_lane


@pytest.mark.parametrize(
    ("text", "name", "operations"),
    [
        ("mad.lo.s32 a, b, c, d", "integer_instructions", 0),
        ("mul.wide.u32 a, b, c", "integer_instructions", 0),
        ("dp4a.u32.u32 a, b, c, d", "integer_instructions", 0),
        ("setp.gt.f32 a, b, c", "integer_instructions", 0),
        ("max.f32 a, b, c", "integer_instructions", 0),
        ("neg.f32 a, b", "integer_instructions", 0),
        ("sub.rn.bf16x2 a, b, c", "fma_instructions", 2),
        ("fma.rn.f16 a, b, c, d", "fma_instructions", 2),
        ("div.rn.f32 a, b, c", "fma_instructions", 1),
        ("div.rn.f64 a, b, c", "double_instructions", 1),
        ("sqrt.rn.f32 a, b", "special_instructions", 1),
        ("tanh.approx.f16x2 a, b", "special_instructions", 2),
        ("cvt.rn.f16.f32 a, b", "convert_instructions", 0),
        ("ld.param.u64 a, [b]", "move_instructions", 0),
        ("st.param.b32 [b], a", "move_instructions", 0),
        ("ld.const.f32 a, [b]", "memory_instructions", 0),
        ("atom.shared.add.f32 a, [b], c", "memory_instructions", 0),
        ("redux.sync.add.s32 a, b, c", "exchange_instructions", 0),
        ("trap", "control_instructions", 0),
    ],
)
def test_a_class_and_its_operations(text, name, operations):
    assert class_of(instruction(text)) == name
    assert float_operations(instruction(text)) == operations


def test_whatever_can_be_translated_has_a_class():
    """A new statement needs a word in the table; arithmetic has its class from its row."""
    listed = set(instruction_classes.CLASS_OF)
    assert sorted(set(STATEMENTS) - listed) == []
    assert sorted(({name for name, _ in INDEX} | set(FAMILIES)) & listed - set(STATEMENTS)) == []
    assert set(instruction_classes.CLASS_OF.values()) <= set(CLASSES)


@pytest.mark.parametrize("text", ["frobnicate.u32 a, b", "frobnicate"])
def test_an_unknown_instruction_has_no_class(text):
    with pytest.raises(UnknownInstruction):
        class_of(instruction(text))


@pytest.mark.parametrize(
    "use, shuffles", [("", 0), ("st.global.u32 [a], v;", 2), ("mov.u32 v, t; @p mov.u32 w, v;", 2)]
)
def test_a_shuffle_that_nobody_reads_is_no_shuffle(use, shuffles):
    """The assembler leaves it out: Nsight Compute counts none of the ones in Triton's scans."""
    body = f"setp.eq.u32 p, t, 0; shfl.sync.bfly.b32 v, t, 1, 31, -1; {use} ret;"
    counters = counted(body, threads=64).counters
    assert counters.shuffles == shuffles
    assert counters.exchange_instructions == 2


def sums_up(launched):
    for counters in (launched.counters, *launched.lines.values()):
        assert sum(getattr(counters, name) for name in CLASSES) == counters.warp_instructions


@pytest.mark.parametrize("seed", range(12))
def test_the_classes_of_random_programs_add_up_to_their_instructions(seed):
    kernel = compiled(Program(seed).source)
    launched = run(kernel, 3, 45, np.zeros(3 * 45, np.uint32), faults=False)
    assert launched.counters.warp_instructions > 0
    sums_up(launched)


def test_instructions_of_a_called_function_are_counted_in_their_class():
    kernel = compiled(
        """__noinline__ __device__ float work(float v, int n)
{
    for (int k = 0; k < n; ++k) v = fmaf(v, v, 1.0f);
    return v;
}
extern "C" __global__ void calls(float* y, int n)
{
    y[threadIdx.x] = work(y[threadIdx.x], n);
}"""
    )
    launched = run(kernel, 1, 96, np.zeros(96, np.float32), 10)
    assert launched.counters.fma_instructions == 3 * 10
    assert launched.counters.float_operations == 96 * 10 * 2
    sums_up(launched)


def test_instructions_of_a_function_that_calls_itself_are_counted_as_often_as_they_run():
    kernel = compiled(
        """__noinline__ __device__ float power(float v, int n)
{
    if (n == 0) return 1.0f;
    return power(v, n - 1) * v + 0.5f;
}
extern "C" __global__ void calls(float* y)
{
    y[threadIdx.x] = power(y[threadIdx.x], threadIdx.x % 3);
}""",
        name="calls",
    )
    launched = run(kernel, 1, 96, np.zeros(96, np.float32))
    line = launched.lines[kernel.line("power(v, n - 1)")]
    assert line.fma_instructions == launched.counters.fma_instructions == 3 * 2
    assert launched.counters.float_operations == 2 * (32 * 1 + 32 * 2)
    sums_up(launched)


@pytest.mark.parametrize("version", stored.VERSIONS)
@pytest.mark.parametrize("source", stored.SOURCES)
def test_every_instruction_of_the_stored_kernels_has_a_class(version, source):
    for entry in stored.module(version, source).entries.values():
        for function in (entry, *entry.functions):
            assert {class_of(one) for one in function.instructions} <= set(CLASSES)
