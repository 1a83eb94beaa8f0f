"""Lesson 08, the trade-off: registers for each thread against warps for each SM.

A copy reads one byte for each byte that it writes. A warp waits for its loads, so it is loads that
Little's law counts. A store is not waited for, but the memory has its bytes to move, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from curriculum.lesson_08 import budget
from references.hardware import LANES_PER_WARP, Gpu

ALIKE = 0.9  # of the best: what is expected to reach it, the model cannot tell from the best


def bytes_in_flight(warps: int, ilp: int, load_bytes: int) -> int:
    """Bytes that one SM has asked for and not received: `warps` warps, `ilp` loads in each lane."""
    # TASK 5: lanes times loads times bytes
    return warps * LANES_PER_WARP * ilp * load_bytes
    # END TASK


def copy_bandwidth(
    warps: int, ilp: int, load_bytes: int, sms: int, latency_nanoseconds: float, most: float
) -> float:
    """GB/s of a copy, bytes read and bytes written counted.

    In one turn each warp asks for its loads, waits, and stores. All ask at once: the last of them
    waits for the way, and for the memory to move the bytes of all, read and written.

    latency_nanoseconds  the way of a lonely load, there and back
    most                 GB/s that the memory moves while it is busy
    """
    # TASK 5: how many bytes does the whole GPU move in a turn, and how long do both waits take?
    moved = 2 * sms * bytes_in_flight(warps, ilp, load_bytes)
    return moved / (latency_nanoseconds + moved / most)
    # END TASK


def warps_needed(
    ilp: int, load_bytes: int, sms: int, latency_nanoseconds: float, most: float
) -> int:
    """The fewest warps an SM with which a copy could reach `most` GB/s, if no load had to queue.

    Little's law alone; the answer may be more than an SM has places for.
    """
    # TASK 5: half of `most` is read; how much of it must one SM have under way, and how much has a
    # warp?
    each_sm = most / 2 * latency_nanoseconds / sms
    a_warp = bytes_in_flight(1, ilp, load_bytes)
    return int(-(-each_sm // a_warp))
    # END TASK


@dataclass(frozen=True)
class Candidate:
    """One way to build and launch the copy."""

    threads: int
    registers: int
    shared_bytes: int
    ilp: int
    load_bytes: int


def tune(
    candidates: Sequence[Candidate], gpu: Gpu, latency_nanoseconds: float, most: float
) -> Candidate:
    """The candidate to launch.

    Those that the model expects to reach ALIKE of the fastest are equals. Of the equals take the
    widest loads, and of those the most bytes in flight.
    """

    # TASK 6: expect a bandwidth of each, at the warps that the budgets allow; keep the equals
    def warps(one: Candidate) -> int:
        return budget.occupancy(gpu, one.threads, one.registers, one.shared_bytes).warps

    def expected(one: Candidate) -> float:
        load = one.ilp, one.load_bytes
        return copy_bandwidth(warps(one), *load, gpu.sms, latency_nanoseconds, most)

    best = max(map(expected, candidates))
    equals = [one for one in candidates if expected(one) >= ALIKE * best]
    return max(equals, key=lambda one: (one.load_bytes, warps(one) * one.ilp))
    # END TASK
