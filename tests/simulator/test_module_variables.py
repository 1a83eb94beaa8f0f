"""Variables of a module live as long as the module, and all its kernels see the same ones."""

import gc
import pickle

import numpy as np
import pytest

from simulator import FaultKind, parse
from simulator.running import module_memory
from tests.simulator.compiled import fault, kernel_of, loaded, ptx_of, run

COUNTER = """__device__ int counter = 5;
__device__ int* where = &counter;
__constant__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void take(int* y)
{
    y[0] = atomicAdd(&counter, 1);
}
extern "C" __global__ void look(int* y, int far)
{
    y[far] = *where;
}
extern "C" __global__ void aim(int* y)
{
    where = (int*)table + 2;
}
extern "C" __global__ void scribble(int* y)
{
    *where = y[0];
}"""


def kernels():
    module = parse(ptx_of(COUNTER))
    return {name: kernel_of(module, COUNTER, name) for name in module.entries}


def test_a_launch_finds_what_the_one_before_left():
    kernel, y = loaded(COUNTER, "take"), np.zeros(1, np.int32)
    seen = []
    for _ in range(3):
        run(kernel, 1, 1, y)
        seen.append(int(y[0]))
    assert seen == [5, 6, 7]


def test_two_kernels_of_a_module_share_its_variables():
    module, y = kernels(), np.zeros(1, np.int32)
    run(module["take"], 1, 1, y)
    run(module["look"], 1, 1, y, 0)
    assert y[0] == 6


def test_two_modules_of_one_text_share_nothing():
    y = np.zeros(1, np.int32)
    run(loaded(COUNTER, "take"), 1, 1, y)
    run(loaded(COUNTER, "take"), 1, 1, y)
    assert y[0] == 5


def test_an_address_kept_in_a_variable_stays_true():
    """Whatever else a later launch is given."""
    module, y = kernels(), np.zeros(1, np.int32)
    run(module["aim"], 1, 1, y)
    run(module["look"], 1, 1, y, 0)
    assert y[0] == 3


def test_after_a_fault_the_variables_begin_anew():
    """On a GPU a fault ends the context, and the module with it."""
    module, y = kernels(), np.zeros(1, np.int32)
    run(module["take"], 1, 1, y)
    assert fault(module["look"], 1, 1, y, 1).kind is FaultKind.OUT_OF_BOUNDS
    run(module["take"], 1, 1, y)
    assert y[0] == 5


def test_a_constant_table_cannot_be_written():
    module, y = kernels(), np.zeros(1, np.int32)
    run(module["scribble"], 1, 1, y)
    run(module["aim"], 1, 1, y)
    found = fault(module["scribble"], 1, 1, y)
    assert found.kind is FaultKind.WRITE_TO_CONST
    assert "table" in found.what


@pytest.mark.parametrize("copies", [1, 2])
def test_a_module_travels_between_processes_with_its_kernels_together(copies):
    module, y = parse(ptx_of(COUNTER)), np.zeros(1, np.int32)
    for _ in range(copies):
        module = pickle.loads(pickle.dumps(module))
    run(kernel_of(module, COUNTER, "take"), 1, 1, y)
    run(kernel_of(module, COUNTER, "look"), 1, 1, y, 0)
    assert y[0] == 6


def test_what_a_module_holds_goes_with_it():
    gc.collect()
    before = len(module_memory._MADE)
    kernel = loaded(COUNTER, "take")
    run(kernel, 1, 1, np.zeros(1, np.int32))
    assert len(module_memory._MADE) == before + 1
    del kernel
    gc.collect()
    assert len(module_memory._MADE) == before
