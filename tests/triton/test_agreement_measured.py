"""The stored PTX of our Triton kernels does on the simulator what it did on a GPU.

`python -m tests.triton` prints the counters of both.
"""

import pytest

from benchmarks.triton_machines import digest
from tests.triton.cases import complaints
from tests.triton.measured import (
    COMMAND,
    DIFFERENT,
    HEADING,
    is_recorded,
    of_gpu,
    ours,
    recording,
    rows,
    stored_cases,
)
from tests.triton.wanted import differ

CASES = [pytest.param(case, id=case.name) for case in stored_cases()]
AT_MOST_DIFFERENT = 18


def test_every_case_is_recorded_as_it_stands():
    stale = [case.name for case in stored_cases() if not is_recorded(case)]
    assert not stale, (
        f"{len(stale)} cases were never recorded, or have changed since: {stale[:5]} …\n"
        f"On a machine with a GPU and ncu: {COMMAND}"
    )


def test_fifty_kernels_ran_on_both():
    kernels = {row.kernel for case in stored_cases() for row in rows(case)}
    assert len(kernels) >= 50


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_the_gpus(case):
    memory, _ = ours(case)
    assert not complaints(case, memory)
    recorded = recording()["cases"][case.name]
    assert not recorded["complaints"], "the GPU's own outputs are not the truth"
    for name, wanted in case.wanted(case.made()).items():
        there = of_gpu(case, name, memory[name])
        if there is None:
            assert digest(memory[name]) == recorded["outputs"][name]["digest"], name
        else:
            assert digest(there) == recorded["outputs"][name]["digest"], "another recording's"
            apart = differ(memory[name], there, wanted)
            assert not apart.any(), f"{name}: {int(apart.sum())} of {apart.numel()} are apart"


@pytest.mark.parametrize("case", CASES)
def test_counters_are_nsight_computes(case):
    every = list(rows(case))
    different = [row for row in every if not row.equal]
    wrong = [str(row) for row in different if not row.may_differ]
    assert not wrong, "\n".join(["counters differ:", HEADING, *wrong])
    if case.name in DIFFERENT:
        assert different, f"{case.name} agrees: it needs no permission to differ"
    assert any(row.ours for row in every)


def test_most_kernels_agree_in_every_integer():
    agreeing = {row.kernel for case in stored_cases() for row in rows(case)}
    agreeing -= {row.kernel for case in stored_cases() for row in rows(case) if not row.equal}
    assert len(agreeing) >= 50
    assert len(DIFFERENT) <= AT_MOST_DIFFERENT
    assert set(DIFFERENT) <= {case.name for case in stored_cases()}


@pytest.mark.parametrize(
    "counter",
    [
        "global_load_sectors",
        "global_store_sectors",
        "global_atomic_sectors",
        "shared_load_wavefronts",
        "shared_store_wavefronts",
        "async_copy_requests",
        "barriers",
        "shuffles",
        "mma",
    ],
)
def test_a_counter_is_put_to_work_by_three_kernels(counter):
    """Where both sides count nothing they agree about nothing."""
    at_work = {
        row.kernel
        for case in stored_cases()
        for row in rows(case)
        if row.counter == counter and row.ours and row.equal
    }
    assert len(at_work) >= 3, sorted(at_work)


def test_triton_itself_runs_the_kernels_on_the_gpu():
    """Compiled for it by the Triton of that machine, and held to the same truth."""
    entries = recording()["cases"].values()
    wrong = [entry["native_complaints"] for entry in entries if entry.get("native_complaints")]
    assert not wrong
    assert sum("native" in entry for entry in entries) >= 50
