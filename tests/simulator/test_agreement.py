"""Our counters are Nsight Compute's, integer for integer, for the same PTX.

`pytest -s` prints the tables; `python -m tests.simulator.agreement` prints them without pytest.
"""

import pytest

from simulator.observing.counters import Counters
from tests.simulator.agreement.cases import REASONS, cases
from tests.simulator.agreement.comparing import (
    COMMAND,
    COPIES,
    COPIES_THROUGH_L1,
    DIVERGENT,
    HEADING,
    METRICS,
    OPCODES,
    compared,
    divergence,
    families,
    is_recorded,
    of_family,
)

AT_MOST_DIFFERENT = 4


def test_every_case_is_recorded_as_it_stands():
    stale = [case.name for case in cases() if not is_recorded(case)]
    assert not stale, (
        f"{len(stale)} cases were never recorded, or have changed since: {stale[:5]} …\n"
        f"On a machine with a GPU and ncu: {COMMAND}"
    )


@pytest.mark.parametrize("family", families())
def test_a_family_agrees(family):
    recorded = [case for case in of_family(family) if is_recorded(case)]
    assert recorded, f"no case of {family} is recorded. On a machine with a GPU and ncu: {COMMAND}"
    rows = {case: compared(case) for case in recorded}
    table = [str(row) for case in recorded for row in rows[case] if row.ours or row.theirs]
    print("\n".join(["", HEADING, *table]))
    wrong = [
        str(row)
        for case in recorded
        for row in rows[case]
        if not row.equal and case.different is None
    ]
    assert not wrong, "\n".join(["counters differ:", HEADING, *wrong])
    agreeing = {case.kernel for case in recorded if all(row.equal for row in rows[case])}
    assert len(agreeing) >= 3, f"only {sorted(agreeing)} agree in every counter"
    for case in recorded:
        if case.different:
            differs = any(not row.equal for row in rows[case])
            assert differs, f"{case.name} agrees: it needs no permission to differ"


def test_no_branch_diverges_on_hardware_that_does_not_here():
    """The assembler makes short arms predicates; it never makes a branch. 306 of 348 are equal."""
    rows = [divergence(case) for case in cases()]
    missed = [str(row) for row in rows if row.ours < row.theirs]
    assert not missed, "\n".join([HEADING, *missed])
    assert sum(row.equal for row in rows) >= 306


def test_forty_kernels_are_held_to_every_integer():
    assert len({case.kernel for case in cases() if case.different is None}) >= 40


@pytest.mark.parametrize("counter", [*METRICS, *OPCODES, *DIVERGENT, *COPIES, *COPIES_THROUGH_L1])
def test_a_counter_is_put_to_work_by_three_kernels(counter):
    """Where both sides count nothing they agree about nothing."""
    at_work = {
        row.case.kernel
        for case in cases()
        if case.different is None and is_recorded(case)
        for row in compared(case)
        if row.counter == counter and row.ours
    }
    assert len(at_work) >= 3, sorted(at_work)


def test_few_cases_may_differ_and_each_says_why():
    different = {case.name: case.different for case in cases() if case.different is not None}
    assert len(different) <= AT_MOST_DIFFERENT
    assert set(different.values()) <= set(REASONS)


def test_names_of_cases_are_their_own():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("family", families())
def test_every_kernel_of_a_stored_file_is_launched(family):
    """A kernel that was written and forgotten would agree with nothing."""
    of = of_family(family)
    text = of[0].ptx.read_text(encoding="utf-8")
    entries = {line.split()[2].rstrip("(") for line in text.splitlines() if ".entry" in line}
    assert entries == {case.kernel for case in of}


def test_what_is_compared_is_counted():
    assert set(METRICS) <= set(Counters.__dataclass_fields__)
