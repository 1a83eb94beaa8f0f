"""The law as a time: how long the memory takes for what is under way, or for one load."""

from collections import namedtuple

from curriculum.lesson_08.budget import occupancy

Candidate = namedtuple("Candidate", "threads registers shared_bytes ilp load_bytes")


def bytes_in_flight(warps, ilp, load_bytes):
    return sum(ilp * load_bytes for _ in range(32 * warps))


def copy_bandwidth(warps, ilp, load_bytes, sms, latency_nanoseconds, most):
    under_way = sms * bytes_in_flight(warps, ilp, load_bytes)
    queue = under_way / most * 2  # as much is written as is read
    return 2 * under_way / (latency_nanoseconds + queue)


def warps_needed(ilp, load_bytes, sms, latency_nanoseconds, most):
    warps = 1
    while 2 * sms * bytes_in_flight(warps, ilp, load_bytes) < most * latency_nanoseconds:
        warps += 1
    return warps


def tune(candidates, gpu, latency_nanoseconds, most):
    rows = []
    for c in candidates:
        resident = occupancy(gpu, c.threads, c.registers, c.shared_bytes).warps
        rate = copy_bandwidth(resident, c.ilp, c.load_bytes, gpu.sms, latency_nanoseconds, most)
        rows.append((c.load_bytes, resident * c.ilp * c.load_bytes, rate, c))
    rows.sort(key=lambda row: row[:2], reverse=True)
    fastest = max(row[2] for row in rows)
    return next(row[3] for row in rows if row[2] >= 0.9 * fastest)
