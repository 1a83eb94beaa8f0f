"""What lesson 01 must find, by counting: threads in order, warps, launches, slots, cycles."""

Triple = tuple[int, int, int]  # (x, y, z)


def threads_of(block: Triple) -> list[Triple]:
    """The threads of a block, in the order in which CUDA numbers them."""
    columns, rows, layers = block
    return [(x, y, z) for z in range(layers) for y in range(rows) for x in range(columns)]


def members_of(block: Triple, warp: int) -> list[Triple]:
    """The threads of one warp, in lane order."""
    return threads_of(block)[32 * warp : 32 * warp + 32]


def launched(n: int, threads: int) -> tuple[int, int, int]:
    """(blocks, warps, idle lanes): add blocks until every element has a thread."""
    blocks = warps = 0
    while blocks * threads < n:
        blocks += 1
        warps += len(range(0, threads, 32))
    return blocks, warps, 32 * warps - n


def served(durations: list[float], sms: int, per_sm: int) -> list[tuple[int, float, float]]:
    """(SM, start, end) of each block: look at all slots every time, and take the first free one."""
    free = {(slot, sm): 0.0 for slot in range(per_sm) for sm in range(sms)}
    schedule = []
    for duration in durations:
        slot, sm = min(free, key=lambda key: (free[key], key))
        start = free[slot, sm]
        free[slot, sm] = start + duration
        schedule.append((sm, start, start + duration))
    return schedule


def stepped_busy_fraction(warps: int, latency: int, issue: int) -> float:
    """Step one scheduler through its cycles: it issues from the warp that has waited longest."""
    ready = [0] * warps  # the cycle from which each warp may issue
    cycle = busy = 0
    horizon = 10 * max(latency, warps * issue)
    while cycle < horizon:
        warp = min(range(warps), key=ready.__getitem__)
        if ready[warp] > cycle:
            cycle += 1
            continue
        ready[warp] = cycle + latency
        cycle += issue
        busy += issue
    return busy / cycle
