"""Budgets spent in a loop, the log with one regular expression, the limit by halving."""

import re
from collections import namedtuple

Residency = namedtuple("Residency", "blocks warps fraction limiters")
Account = namedtuple("Account", "registers spill_store_bytes spill_load_bytes")

LINE = (
    r"Function properties for {}\n"
    r".*?(\d+) bytes spill stores, (\d+) bytes spill loads\n.*?Used (\d+)"
)


def spend(budget, price):
    """How often a price can be paid."""
    times = 0
    while budget >= price:
        budget -= price
        times += 1
    return times


def blocks_by_warps(gpu, threads):
    started = len(range(0, threads, 32))
    return spend(gpu.warps_per_sm, started) if threads <= 1024 else 0


def blocks_by_registers(gpu, threads, registers):
    if registers > 255:
        return 0
    price = 256
    while price < 32 * registers:
        price += 256
    warps = sum(spend(gpu.registers_per_sm // 4, price) for quarter in range(4))
    return spend(warps, len(range(0, threads, 32)))


def blocks_by_shared(gpu, shared_bytes):
    if shared_bytes > gpu.shared_bytes_per_block:
        return 0
    price = shared_bytes + 1024
    price += (128 - price) % 128
    return spend(gpu.shared_bytes_per_sm, price)


def occupancy(gpu, threads, registers, shared_bytes=0):
    allowed = (
        (blocks_by_warps(gpu, threads), "warps"),
        (gpu.blocks_per_sm, "blocks"),
        (blocks_by_registers(gpu, threads, registers), "registers"),
        (blocks_by_shared(gpu, shared_bytes), "shared memory"),
    )
    blocks, _ = min(allowed)
    warps = blocks * ((threads - 1) // 32 + 1)
    return Residency(
        blocks, warps, warps / gpu.warps_per_sm, tuple(n for b, n in allowed if b == blocks)
    )


def account(log, kernel):
    if f"function '{kernel}'" not in log:
        raise KeyError(kernel)
    stores, loads, registers = re.search(LINE.format(kernel), log, re.DOTALL).groups()
    return Account(int(registers), int(stores), int(loads))


def register_limit(gpu, threads, blocks):
    low, high = 1, 256  # low fits, high does not
    while high - low > 1:
        middle = (low + high) // 2
        if blocks_by_registers(gpu, threads, middle) < blocks:
            high = middle
        else:
            low = middle
    return low


def must_spill(gpu, values, threads, blocks):
    return blocks_by_registers(gpu, threads, min(values, 256)) < blocks
