"""How many blocks of a launch run together: as many as run fastest, or as a device keeps resident.

Blocks that wait for each other need the device's number: with fewer, a kernel that ends on hardware
would hang, and with more, one that hangs would end. All others may run in whatever waves are fast.
"""

from dataclasses import dataclass

from simulator.occupancy import architecture_of, occupancy
from simulator.running.wave import SMS

DEVICE = architecture_of("sm_90")  # the virtual device's limits; its code is that of sm_80
LANES_IN_A_WAVE = 1 << 16  # 64-128 k lanes is where NumPy is at its best; see README.md
# Of shared and local memory; still more blocks than a device has resident, at any shared size.
BYTES_IN_A_WAVE = 1 << 27


class DoesNotFit(ValueError):
    """The device cannot keep resident what a launch asks for."""


@dataclass(frozen=True, slots=True)
class Residency:
    """What the virtual device keeps resident of a launch.

    blocks  on all its multiprocessors
    why     the same as a sentence's part, with what each resource allows
    """

    blocks: int
    why: str


def residency(threads: int, registers: int | None, shared_bytes: int) -> Residency:
    """The resident blocks of a launch on the virtual device.

    threads       of a block
    registers     of a thread, or None if they are not known: then they limit nothing
    shared_bytes  of a block, static and dynamic

    Raises DoesNotFit if not one block does.
    """
    on_an_sm = occupancy(DEVICE.name, threads, registers or 0, shared_bytes, 0)
    if not on_an_sm.blocks:
        raise DoesNotFit(
            f"a block of {threads} threads, {registers or 0} registers each, and {shared_bytes} "
            f"bytes of shared memory does not fit on a multiprocessor: {on_an_sm}"
        )
    blocks = on_an_sm.blocks * SMS
    unknown = "" if registers else "; registers are not counted"
    return Residency(blocks, f"{blocks:,} on {SMS} SMs, {on_an_sm}{unknown}")


def blocks_in_a_wave(threads: int, shared_bytes: int, local_bytes: int) -> int:
    """How many blocks run fastest together: their registers and memory stay in a cache.

    threads       of a block
    shared_bytes  of a block
    local_bytes   of a thread
    """
    padded = -(-threads // 32) * 32
    memory = shared_bytes + padded * local_bytes
    return max(1, min(LANES_IN_A_WAVE // padded, BYTES_IN_A_WAVE // max(1, memory)))
