"""A race because somebody went round a barrier: the barrier is what is wrong, and is told."""

import numpy as np

from simulator.faults import (
    DIVERGENT_ADVICE,
    DIVERGENT_EXPECTED,
    FaultKind,
    KernelFault,
    short,
)
from simulator.running.barriers import Barriers


def rather_the_barrier(barriers: Barriers, raised: KernelFault, fault: KernelFault) -> KernelFault:
    """The fault to tell of a launch that ended with `raised`, for which `fault` was found.

    A race across a barrier is the barrier's fault where some threads of the block wait at it and
    others will not come: they have returned, wait at another one, or are where no way leads back.
    """
    between = fault.between
    if fault.kind is not FaultKind.RACE or between is None or fault.block is None:
        return fault
    wave = barriers.wave
    slot = next(k for k in range(len(wave.blocks)) if wave.block_at(k) == fault.block)
    here = sum(
        int(np.count_nonzero(wave.slot[lanes.indices()] == slot))
        for parties in barriers.waiting.values()
        for point, lanes in parties
        if point[-1] == between.barrier
    )
    stuck = raised.kind is FaultKind.DIVERGENT_BARRIER
    returned = here == wave.live[slot] < wave.threads
    if not 0 < here < wave.threads or not (stuck or returned or between.behind):
        return fault
    others = wave.threads - here
    told = (
        f"in block {short(fault.block)}, {here} thread{'s wait' if here > 1 else ' waits'} at line "
        f"{between.line} and {others} {'go' if others > 1 else 'goes'} round it"
    )
    made = KernelFault(
        FaultKind.DIVERGENT_BARRIER,
        f"{raised.what if stuck else told}{between.aside}:\n{between.accesses}, in no order",
        line=between.line,
        expected=DIVERGENT_EXPECTED,
        advice=DIVERGENT_ADVICE,
    )
    made.block, made.thread = fault.block, fault.thread
    return made
