"""The budgets by counting up, and the log line by line."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Residency:
    blocks: int
    warps: int
    fraction: float
    limiters: tuple


@dataclass(frozen=True)
class Account:
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int


def _warps(threads):
    return (threads + 31) // 32


def blocks_by_warps(gpu, threads):
    return gpu.warps_per_sm // _warps(threads) if threads < 1025 else 0


def blocks_by_registers(gpu, threads, registers):
    per_thread = registers + -registers % 8  # 256 for 32 lanes are 8 for each
    in_a_quarter = gpu.registers_per_sm // 4 // (32 * per_thread)
    return 0 if registers >= 256 else in_a_quarter * 4 // _warps(threads)


def blocks_by_shared(gpu, shared_bytes):
    units = 8 + (shared_bytes + 127) // 128
    most = gpu.shared_bytes_per_sm // 128 // units
    return most * (shared_bytes <= gpu.shared_bytes_per_block)


def occupancy(gpu, threads, registers, shared_bytes=0):
    names = ["warps", "blocks", "registers", "shared memory"]
    rooms = [
        blocks_by_warps(gpu, threads),
        gpu.blocks_per_sm,
        blocks_by_registers(gpu, threads, registers),
        blocks_by_shared(gpu, shared_bytes),
    ]
    least = sorted(rooms)[0]
    full = [name for name, room in zip(names, rooms, strict=True) if room <= least]
    held = least * _warps(threads)
    return Residency(least, held, held / gpu.warps_per_sm, tuple(full))


def account(log, kernel):
    inside = mine = False
    found = {}
    for line in log.splitlines():
        if "Compiling entry function" in line:
            inside = f"'{kernel}'" in line
        elif "Function properties for" in line:
            mine = line.endswith(f" for {kernel}")
        elif inside and mine and "spill stores" in line:
            words = line.replace(",", "").split()
            found["stores"], found["loads"] = int(words[6]), int(words[10])
        elif inside and "Used " in line:
            found["registers"] = int(line.split("Used ")[1].split()[0])
    return Account(found["registers"], found["stores"], found["loads"])


def register_limit(gpu, threads, blocks):
    a_quarter_has = -(-(_warps(threads) * blocks) // 4)  # warps, as evenly as can be
    return min(255, gpu.registers_per_sm // 4 // a_quarter_has // 256 * 8)


def must_spill(gpu, values, threads, blocks):
    return register_limit(gpu, threads, blocks) < values
