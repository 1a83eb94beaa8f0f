"""Of random programs an oracle of clocks knows every race: none is missed, none is made up."""

import numpy as np
import pytest

from simulator import FaultKind, KernelFault, parse
from tests.simulator.compiled import Kernel, run
from tests.simulator.programs.random_flags import RandomFlags
from tests.simulator.programs.random_races import BLOCKS, BUFFER, THREADS, RandomProgram
from tests.simulator.programs.running import lines_of, threads_of

SCHEDULES = [{}, {"warps_apart": True}, {"order": "reversed", "warps_apart": True}]


@pytest.mark.parametrize("seed", range(60))
def test_accesses_and_barriers_race_exactly_where_the_oracle_says(seed):
    program = RandomProgram(seed)
    races = {race[:4] for race in program.races()}
    _check(program.text(), races, [np.zeros(BUFFER // 4, np.uint32)])


@pytest.mark.parametrize("seed", range(60))
def test_accesses_and_flags_race_exactly_where_the_oracle_says(seed):
    program = RandomFlags(seed)
    _check(program.text(), program.races(), [np.zeros(4, np.uint32), np.zeros(16, np.uint32)])


@pytest.mark.parametrize("kind", [RandomProgram, RandomFlags])
def test_programs_with_races_and_without_are_both_common(kind):
    racy = sum(bool(kind(seed).races()) for seed in range(60))
    assert 10 <= racy <= 50


def test_no_random_program_hangs_on_how_far_a_fence_of_another_thread_reaches():
    """Where the rules could be read in two ways, the programs do not tell them apart."""
    for seed in range(60):
        program = RandomFlags(seed)
        assert bool(program.races()) == bool(program.races(generous=True))


def _check(text, races, buffers):
    names = ("buffer",) if len(buffers) == 1 else ("data", "flags")
    kernel = Kernel(text, parse(text).entries["k"], names)
    for schedule in SCHEDULES:
        try:
            run(kernel, BLOCKS, THREADS, *map(np.zeros_like, buffers), counters=False, **schedule)
        except KernelFault as fault:
            assert fault.kind is FaultKind.RACE, fault.what
            assert _pairs(fault) & races, fault.what
        else:
            assert not races, f"{len(races)} races, as {min(races)}"


def _pairs(fault):
    """(step, thread, later step, thread): which thread was at which line is not told apart."""
    told = sorted(lines_of(fault))
    numbers = [int(thread) + THREADS * int(block.split()[1]) for thread, block in threads_of(fault)]
    first, second = told[0], told[-1]
    return {(first, a, second, b) for a, b in (numbers, numbers[::-1])}
