"""Little's law in bytes a nanosecond."""

from dataclasses import dataclass
from math import ceil

from curriculum.lesson_08 import budget


@dataclass(frozen=True)
class Candidate:
    threads: int
    registers: int
    shared_bytes: int
    ilp: int
    load_bytes: int


def bytes_in_flight(warps, ilp, load_bytes):
    return 32 * load_bytes * ilp * warps


def copy_bandwidth(warps, ilp, load_bytes, sms, latency_nanoseconds, most):
    if warps == 0:
        return 0.0
    law = bytes_in_flight(warps, ilp, load_bytes) * sms * 2 / latency_nanoseconds
    return 1 / (1 / law + 1 / most)  # the two waits of a byte, one after the other


def warps_needed(ilp, load_bytes, sms, latency_nanoseconds, most):
    return ceil(most * latency_nanoseconds / (64 * ilp * load_bytes * sms))


def tune(candidates, gpu, latency_nanoseconds, most):
    def speed(one):
        held = budget.occupancy(gpu, one.threads, one.registers, one.shared_bytes).warps
        flight = bytes_in_flight(held, one.ilp, one.load_bytes)
        return copy_bandwidth(
            held, one.ilp, one.load_bytes, gpu.sms, latency_nanoseconds, most
        ), flight

    bar = max(speed(one)[0] for one in candidates) * 9 / 10
    best, record = None, (-1, -1)
    for one in candidates:
        rate, flight = speed(one)
        if rate >= bar and (one.load_bytes, flight) > record:
            best, record = one, (one.load_bytes, flight)
    return best
