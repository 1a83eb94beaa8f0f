"""Programs that wait for each other: locks, flags, the last one's work."""

import torch
import triton
import triton.language as tl

from simulator import FaultKind
from tests.triton.programs.program import counted, right, wrong

RACE, DEADLOCK = FaultKind.RACE, FaultKind.DEADLOCK
X = counted(128)


def locked():
    return {
        "x": X.clone(),
        "lock": torch.zeros(1, dtype=torch.int32),
        "y": torch.zeros(32),
        "BLOCK": 32,
    }


SUM = {"y": X.reshape(4, 32).sum(0)}


@right((4,), locked, SUM)
@triton.jit
def under_a_lock(x, lock, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    part = tl.load(x + tl.program_id(0) * BLOCK + offsets)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(y + offsets, tl.load(y + offsets) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


# The lock is given back by a plain store, which releases nothing.
@wrong(RACE, (4,), locked, place="lock[0]", advice="tl.atomic_xchg")
@triton.jit
def given_back_by_a_store(x, lock, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    part = tl.load(x + tl.program_id(0) * BLOCK + offsets)
    while tl.atomic_cas(lock, 0, 1) == 1:  # first
        pass
    tl.store(y + offsets, tl.load(y + offsets) + part)
    tl.debug_barrier()
    tl.store(lock, 0)  # second


# The lock is an atomic, and a relaxed one: it orders nothing around it.
@wrong(RACE, (4,), locked, place="y[", advice="acquire")
@triton.jit
def a_relaxed_lock(x, lock, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    part = tl.load(x + tl.program_id(0) * BLOCK + offsets)
    while tl.atomic_cas(lock, 0, 1, sem="relaxed") == 1:
        pass
    tl.store(y + offsets, tl.load(y + offsets) + part)  # both
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="relaxed")


# Nobody gives the lock back.
@wrong(DEADLOCK, (4,), locked, place="lock[0]", advice="which program should write it")
@triton.jit
def never_given_back(x, lock, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    part = tl.load(x + tl.program_id(0) * BLOCK + offsets)
    while tl.atomic_cas(lock, 0, 1) == 1:  # fault
        pass
    tl.atomic_add(y + offsets, part)


def chained():
    return {"x": X[:4].clone(), "flag": torch.zeros(4, dtype=torch.int32), "y": torch.zeros(4)}


# Each program waits for the one before it, which is resident or has ended.
@right((4,), chained, {"y": X[:4].cumsum(0)}, settings={"order": "forward", "resident_blocks": 2})
@right((4,), chained, {"y": X[:4].cumsum(0)}, name="one_after_another_all_resident")
@triton.jit
def one_after_another(x, flag, y):
    me = tl.program_id(0)
    total = tl.load(x + me)
    if me > 0:
        while tl.atomic_add(flag + me - 1, 0) == 0:
            pass
        total += tl.load(y + me - 1)
    tl.store(y + me, total)
    tl.debug_barrier()
    tl.atomic_xchg(flag + me, 1)


# Each program waits for the one behind it, which starts only when this one has ended.
@wrong(
    DEADLOCK,
    (4,),
    chained,
    place="flag[",
    advice="a lower id",
    settings={"order": "forward", "resident_blocks": 2},
)
@triton.jit
def waits_for_a_later_one(x, flag, y):
    me = tl.program_id(0)
    last = tl.num_programs(0) - 1
    total = tl.load(x + me)
    if me < last:
        while tl.atomic_add(flag + me + 1, 0) == 0:  # fault
            pass
        total += tl.load(y + me + 1)
    tl.store(y + me, total)
    tl.debug_barrier()
    tl.atomic_xchg(flag + me, 1)


# The same with ids from a counter: who comes first has the higher place.
@right(
    (4,),
    lambda: chained() | {"counter": torch.zeros(1, dtype=torch.int32)},
    {"y": X[:4].flip(0).cumsum(0).flip(0)},
    settings={"resident_blocks": 2},
)
@triton.jit
def waits_for_an_earlier_one_by_ticket(x, flag, y, counter):
    last = tl.num_programs(0) - 1
    me = last - tl.atomic_add(counter, 1)
    total = tl.load(x + me)
    if me < last:
        while tl.atomic_add(flag + me + 1, 0) == 0:
            pass
        total += tl.load(y + me + 1)
    tl.store(y + me, total)
    tl.debug_barrier()
    tl.atomic_xchg(flag + me, 1)


def handed_over():
    flag = torch.zeros(1, dtype=torch.int32)
    return {"data": torch.zeros(32), "flag": flag, "y": torch.zeros(32)}


# The flag is raised by a plain store: what was written before may come later.
@wrong(RACE, (2,), handed_over, place="flag[0]", advice="tl.atomic_xchg")
@triton.jit
def a_flag_by_a_store(data, flag, y):
    offsets = tl.arange(0, 32)
    if tl.program_id(0) == 0:
        tl.store(data + offsets, offsets + 1.0)
        tl.debug_barrier()
        tl.store(flag, 1)  # first
    else:
        while tl.atomic_add(flag, 0) == 0:  # second
            pass
        tl.store(y + offsets, tl.load(data + offsets))


@right((2,), handed_over, {"y": X[:32]})
@triton.jit
def a_flag_that_releases(data, flag, y):
    offsets = tl.arange(0, 32)
    if tl.program_id(0) == 0:
        tl.store(data + offsets, offsets + 1.0)
        tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem="release")
    else:
        while tl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        tl.store(y + offsets, tl.load(data + offsets))


def last_ones():
    return {
        "x": X.clone(),
        "parts": torch.zeros(4),
        "counter": torch.zeros(1, dtype=torch.int32),
        "y": torch.zeros(1),
        "BLOCK": 32,
    }


@right((4,), last_ones, {"y": X.sum()[None]})
@triton.jit
def summed_by_the_last_one(x, parts, counter, y, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    tl.store(parts + me, tl.sum(tl.load(x + me * BLOCK + tl.arange(0, BLOCK)), axis=0))
    tl.debug_barrier()
    if tl.atomic_add(counter, 1) == 3:
        tl.store(y, tl.sum(tl.load(parts + tl.arange(0, 4)), axis=0))


# The counter is relaxed: that it stands at the end says nothing of what others have written.
@wrong(RACE, (4,), last_ones, place="parts[", advice="acquire")
@triton.jit
def summed_by_the_last_one_relaxed(x, parts, counter, y, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    part = tl.sum(tl.load(x + me * BLOCK + tl.arange(0, BLOCK)), axis=0)
    tl.store(parts + me, part)  # first
    tl.debug_barrier()
    if tl.atomic_add(counter, 1, sem="relaxed") == 3:
        values = tl.load(parts + tl.arange(0, 4))  # second
        tl.store(y, tl.sum(values, axis=0))


# A loop that asks nobody and never ends.
@wrong(
    FaultKind.ENDLESS_LOOP,
    (1,),
    lambda: {"y": torch.zeros(1), "n": 5},
    place="program 0",
    advice="which variable should change",
)
@triton.jit
def a_step_is_missing(y, n):
    k = 0
    while k < n:  # fault
        k += n // 8
    tl.store(y, k)
