"""Where the compiler holds that no thread can be, it leaves the code out: that is said."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run, written

NULL = """extern "C" __global__ void null(int* p, int which)
{
    if (threadIdx.x == which)
        p = 0;
    p[threadIdx.x] = 1;
}"""

UNREACHABLE = """extern "C" __global__ void never(int* p, int which)
{
    if (threadIdx.x == which) {
        p[threadIdx.x] = 2;
        __builtin_unreachable();
    }
    p[threadIdx.x] = 1;
}"""


def test_a_store_through_a_pointer_that_is_null_is_a_trap_at_its_condition():
    kernel = compiled(NULL)
    found = fault(kernel, 1, 32, np.zeros(32, np.int32), 7)
    assert found.kind is FaultKind.TRAP
    assert found.what == "thread 7 of block 0 takes a path that the compiler holds impossible"
    assert "null" in found.advice
    assert kernel.line("if (") <= found.line <= kernel.line("p[threadIdx.x] = 1")


@pytest.mark.parametrize("source", [NULL, UNREACHABLE])
def test_a_kernel_that_keeps_away_from_it_runs(source):
    y = np.zeros(32, np.int32)
    run(compiled(source), 1, 32, y, 32)
    assert (y == 1).all()


def test_a_branch_to_the_end_of_the_text_is_one_and_falling_off_it_too():
    aimed = written("mov.u32 t, %tid.x; setp.eq.u32 p, t, 5; @p bra END; ret; END:",
                    registers=[("b32", "t"), ("pred", "p")])  # fmt: skip
    assert "thread 5" in fault(aimed, 1, 32).what
    fallen = written("mov.u32 t, %tid.x; setp.ne.u32 p, t, 5; @p ret; END:",
                     registers=[("b32", "t"), ("pred", "p")])  # fmt: skip
    assert "thread 5" in fault(fallen, 1, 32).what


def test_a_label_at_the_end_that_nobody_reaches_is_nothing():
    run(written("ret; $L__func_end0:"), 1, 32)
