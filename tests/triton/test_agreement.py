"""Triton's own code of our kernels gives the truth on the simulator, and nobody is accused."""

import pytest

import harness.triton_driver  # noqa: F401  (runs what lies on the CPU)
from harness.launching.launch_settings import changed
from tests.triton.cases import cases, complaints

CASES = [pytest.param(case, id=case.name) for case in cases()]
TALKING = [pytest.param(case, id=case.name) for case in cases() if case.talks]


@pytest.mark.parametrize("case", CASES)
def test_a_kernel_gives_the_truth_with_faults_on(case):
    memory = case.made()
    with changed(faults=True):
        case.run(memory)
    assert not complaints(case, memory, installed=True)


@pytest.mark.parametrize("order, seed", [("reversed", 0), ("shuffled", 1), ("shuffled", 2)])
@pytest.mark.parametrize("case", TALKING)
def test_programs_that_meet_may_come_in_any_order(case, order, seed):
    memory = case.made()
    with changed(faults=True, order=order, seed=seed):
        case.run(memory)
    assert not complaints(case, memory, installed=True)


def test_a_hundred_cases_of_names_of_their_own():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names) >= 100


@pytest.mark.parametrize("case", CASES)
def test_memory_that_nothing_ran_on_is_complained_of(case):
    """Else a case could pass without its kernel."""
    assert complaints(case, case.made())
