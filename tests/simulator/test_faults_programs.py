"""Right programs run to their results, wrong ones to the fault that their source marks."""

import re

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.programs.every import MODULES, PROGRAMS
from tests.simulator.programs.program import stretches
from tests.simulator.programs.running import lines_of, threads_of, verdict

RIGHT = [name for name, program in PROGRAMS.items() if program.kind is None]
WRONG = [name for name, program in PROGRAMS.items() if program.kind is not None]

# Blocks forward, backward and in any order; warps in lock step, and some far ahead of others.
SCHEDULES = [
    {"order": order, "seed": seed, "warps_apart": apart}
    for apart in (False, True)
    for order, seeds in (("forward", 1), ("reversed", 1), ("shuffled", 9))
    for seed in range(seeds)
]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_has_its_results_and_no_fault(name):
    _check_right(PROGRAMS[name], verdict(PROGRAMS[name]))


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_caught_with_both_lines_and_threads(name):
    _check_wrong(PROGRAMS[name], verdict(PROGRAMS[name]))


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_is_right_in_every_schedule(name):
    for schedule in SCHEDULES:
        _check_right(PROGRAMS[name], verdict(PROGRAMS[name], **schedule))


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_gets_one_verdict_in_every_schedule(name):
    verdicts = set()
    for schedule in SCHEDULES:
        found = verdict(PROGRAMS[name], **schedule)
        _check_wrong(PROGRAMS[name], found)
        verdicts.add((found.fault.kind, frozenset(lines_of(found.fault))))
    assert len(verdicts) == 1


def test_the_programs_are_many_and_show_every_kind_of_fault():
    assert len(RIGHT) >= 70 and len(WRONG) >= 100
    assert sum(len(module.SUBJECT.programs) for module in MODULES) == len(PROGRAMS)
    assert {program.kind for program in PROGRAMS.values()} == {None, *FaultKind}


def test_every_kernel_of_the_sources_is_launched():
    for module in MODULES:
        programs = module.SUBJECT.programs
        used = {name for program in programs for name in (program.kernel, program.then) if name}
        assert used == set(stretches(programs[0].path))


def _check_right(program, found):
    assert found.fault is None, f"{found.fault}, line {found.fault.line}"
    for name, want in program.results.items():
        got = found.arrays[name]
        np.testing.assert_array_equal(got, np.asarray(want).reshape(got.shape), err_msg=name)
    told = {int(line) for note in found.notes for line in re.findall(r"line (\d+)", note)}
    assert told == program.marked("noted"), found.notes


def _check_wrong(program, found):
    fault = found.fault
    assert fault is not None, "no fault was found"
    assert fault.kind is program.kind, fault.what
    _check_lines(program, lines_of(fault))
    places = (program.place,) if isinstance(program.place, str) else program.place
    assert any(place in fault.what for place in places), fault.what
    if program.kind is FaultKind.RACE:
        _check_parties(program, threads_of(fault), fault.what)


def _check_lines(program, lines):
    first, second = program.marked("first"), program.marked("second")
    if program.kind is FaultKind.DEADLOCK:  # it may also tell who wrote last, and where
        assert first | second | program.marked("fault") <= lines, lines
    elif first:
        assert len(lines) == 2 and lines & first and lines & second, lines
    elif program.marked("any"):
        assert len(lines) == 2 and lines <= program.marked("any"), lines
    else:
        wanted = program.marked("both") | program.marked("fault") | program.marked("origin")
        assert lines == wanted, lines


def _check_parties(program, threads, what):
    """Two threads, as near to each other as the program says."""
    assert len(threads) == 2, what
    (thread, block), (other_thread, other_block) = threads
    numbers = [_linear(program, thread), _linear(program, other_thread)]
    if block != other_block:
        distance = "blocks"
    else:
        assert numbers[0] != numbers[1], what
        distance = "lanes" if numbers[0] // 32 == numbers[1] // 32 else "warps"
    wanted = ("lanes", "warps") if program.between == "any" else (program.between,)
    assert distance in wanted, what


def _linear(program, thread):
    """The number of a thread written as 5 or (5, 1)."""
    shape = program.block if isinstance(program.block, tuple) else (program.block,)
    number, stride = 0, 1
    for coordinate, size in zip(re.findall(r"\d+", thread), shape, strict=False):
        assert int(coordinate) < size, thread
        number += int(coordinate) * stride
        stride *= size
    return number
