"""The race checker says of random programs what the definition says, pair by pair."""

import re

import numpy as np
import pytest

from simulator import FaultKind, KernelFault
from tests.simulator.compiled import run
from tests.simulator.race_definition import Definition
from tests.simulator.race_programs import BLOCKS, CELLS, SIZE, Operation, Program

_THREAD = re.compile(r"thread (\d+) of (?:block (\d+)|the same block)")


def told(program, **settings):
    """(the fault or None, the notes) of a run."""
    cells, table = np.zeros(CELLS, np.uint8), program.table()
    kernel = program.kernel()
    try:
        launched = run(kernel, BLOCKS, SIZE, cells, table, counters=False, **settings)
    except KernelFault as fault:
        return fault, ()
    return None, launched.notes


def pair_of(fault):
    """The two accesses that a fault names: (line, (block, thread)) of each."""
    lines = [int(n) for n in re.findall(r"at line (\d+)", fault.what)]
    lines += lines[:1]  # once, where it is that of both
    (one, block), (two, other) = _THREAD.findall(fault.what)[:2]
    parties = [(int(block), int(one)), (int(other or block), int(two))]
    return frozenset(zip(lines[:2], parties, strict=True))


def check(program, definition, **settings):
    fault, notes = told(program, **settings)
    where = f"{program}\nraces {definition.races}\n{settings}: {fault} {notes}"
    assert (fault is not None) == bool(definition.races), where
    if fault is not None:
        assert fault.kind is FaultKind.RACE, where
        assert pair_of(fault) in definition.races, where
    else:
        assert bool(notes) == bool(definition.notes), where


@pytest.mark.parametrize("chunk", range(10))
def test_random_programs_with_flags_race_where_the_definition_says(chunk):
    for seed in range(chunk * 40, chunk * 40 + 40):
        program = Program(seed)
        check(program, Definition(program))
        check(program, Definition(program, strict=True), strict=True)
        check(program, Definition(program, together=False), resident_blocks=1)


@pytest.mark.parametrize("chunk", range(4))
def test_without_flags_the_verdict_is_that_of_the_definition_in_every_schedule(chunk):
    for seed in range(chunk * 25, chunk * 25 + 25):
        program = Program(10_000 + seed, flags=False)
        definition = Definition(program)
        for order in ("forward", "reversed", "shuffled"):
            check(program, definition, order=order, seed=seed, warps_apart=bool(seed % 2))


@pytest.mark.parametrize("chunk", range(5))
def test_votes_let_pass_only_what_they_stand_between(chunk):
    """Nothing but whole barriers orders memory here: epochs are looked at when they end."""
    everyone = {(b, t): 0xFFFFFFFF for b in range(BLOCKS) for t in range(SIZE)}
    for seed in range(chunk * 25, chunk * 25 + 25):
        program = Program(20_000 + seed, flags=False, meetings=("barrier", "vote", "vote"))
        program.operations.append(Operation("vote", everyone))
        definition = Definition(program)
        for order in ("forward", "shuffled"):
            check(program, definition, order=order, seed=seed, warps_apart=bool(seed % 2))


def test_random_programs_are_of_all_kinds():
    """Many race, many do not, and many are right only because of a flag."""
    programs = [Program(seed) for seed in range(200)]
    racing = [bool(Definition(p).races) for p in programs]
    assert 40 <= sum(racing) <= 160
