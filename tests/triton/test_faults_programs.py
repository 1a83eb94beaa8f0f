"""Right programs run to their results, wrong ones to the fault that their source marks."""

from pathlib import Path

import pytest
import torch

from simulator import FaultKind
from tests.triton.programs.every import PROGRAMS
from tests.triton.programs.running import lines_of, shown_lines, verdict

RIGHT = [name for name, program in PROGRAMS.items() if program.kind is None]
WRONG = [name for name, program in PROGRAMS.items() if program.kind is not None]
SCHEDULES = [
    {"order": order, "seed": seed}
    for order, seeds in (("forward", 1), ("reversed", 1), ("shuffled", 4))
    for seed in range(seeds)
] + [{"order": order, "seed": 5, "warps_apart": True} for order in ("reversed", "shuffled")]
CUDA = ("thread ", "block", "__syncthreads", "__threadfence", "(i < n)", "<<<", "atomicAdd")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_is_right_in_every_order(name):
    program = PROGRAMS[name]
    for schedule in SCHEDULES:
        found = verdict(program, **schedule)
        assert found.fault is None, found.report
        for argument, want in program.results.items():
            torch.testing.assert_close(found.arguments[argument], want)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_caught_in_every_order_at_its_lines(name):
    program = PROGRAMS[name]
    for schedule in SCHEDULES:
        found = verdict(program, **schedule)
        assert found.fault is not None, f"no fault was found: {schedule}"
        _check(program, found)


def _check(program, found):
    assert found.fault.kind is program.kind, found.report
    file = Path(program.kernel.fn.__code__.co_filename).name
    shown = shown_lines(found.report, file)
    first, second = program.marked("first"), program.marked("second")
    parties = first | second | program.marked("both")
    wanted = parties or program.marked("fault")
    assert shown[0] in wanted, found.report
    if program.kind is FaultKind.RACE:
        assert lines_of(found.report.split("in no order")[0]) == parties, found.report
    elif program.marked("origin"):
        assert lines_of(found.report) == program.marked("origin"), found.report
    assert set(shown[1:]) == program.marked("called"), found.report
    assert program.place in found.fault.what, found.report
    assert program.advice in found.report.split("\ntry ")[1], found.report
    assert not [word for word in CUDA if word in found.report], found.report
    assert len(found.report.splitlines()) <= 25


def test_the_programs_are_many_and_look_alike():
    assert len(RIGHT) >= 12 and len(WRONG) >= 15
