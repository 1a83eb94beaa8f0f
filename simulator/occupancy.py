"""How many blocks of a kernel one multiprocessor (SM) keeps resident, and what stops the next one.

The formula is that of `cuda_occupancy.h`, which NVIDIA ships with the CUDA runtime; what the header
asks of a device is in `cuda/__device/arch_traits.h` of CCCL. The tests hold both against recordings
of these headers. Pure arithmetic, no GPU.
"""

from dataclasses import dataclass
from enum import Enum

KIB = 1 << 10
THREADS_PER_WARP = 32
THREADS_PER_BLOCK = 1024
REGISTERS_PER_SM = 65_536  # of 32 bits; a block may have all of them
REGISTERS_PER_THREAD = 255  # that an instruction can name; the header lets 256 pass
SUB_PARTITIONS = 4  # an SM's quarters, each with its own scheduler and registers
REGISTERS_PER_ALLOCATION = 256  # what a warp gets is a multiple of it


class Resource(Enum):
    """What an SM can run out of; the value is how a sentence names it."""

    WARPS = "warps"
    REGISTERS = "registers"
    SHARED_MEMORY = "shared memory"
    BLOCKS = "block slots"
    BARRIERS = "barriers"


@dataclass(frozen=True, slots=True)
class Architecture:
    """The limits of one compute capability; all of them have the constants above."""

    name: str  # "sm_90"
    warps_per_sm: int
    blocks_per_sm: int
    shared_kib: tuple[int, ...]  # the carve-outs of L1 that shared memory may get, rising
    reserved_shared_bytes: int  # of each block's, for the system
    shared_granularity: int  # bytes: what a block gets is a multiple of it
    barriers_per_sm: int | None  # None: they never limit

    @property
    def threads_per_sm(self) -> int:
        return self.warps_per_sm * THREADS_PER_WARP

    @property
    def shared_bytes_per_sm(self) -> int:
        return self.shared_kib[-1] * KIB

    @property
    def shared_bytes_per_block(self) -> int:
        """With the opt-in; 48 KiB without."""
        return self.shared_bytes_per_sm - self.reserved_shared_bytes

    def carveout(self, shared_bytes: int) -> int:
        """The smallest carve-out of at least so many bytes."""
        return next(size * KIB for size in self.shared_kib if size * KIB >= shared_bytes)


_TO_100 = (0, 8, 16, 32, 64, 100)
_TO_164 = (*_TO_100, 132, 164)
_TO_228 = (*_TO_164, 196, 228)
# fmt: off
_ROWS = (
    #             name      warps blocks KiB      reserved granularity barriers
    Architecture("sm_75",  32, 16, (32, 64),    0, 256, None),
    Architecture("sm_80",  64, 32, _TO_164, 1024, 128, None),
    Architecture("sm_86",  48, 16, _TO_100, 1024, 128, None),
    Architecture("sm_87",  48, 16, _TO_164, 1024, 128, None),
    Architecture("sm_88",  48, 16, _TO_100, 1024, 128, None),
    Architecture("sm_89",  48, 24, _TO_100, 1024, 128, None),
    Architecture("sm_90",  64, 32, _TO_228, 1024, 128, 64),
    Architecture("sm_100", 64, 32, _TO_228, 1024, 128, 64),
    Architecture("sm_103", 64, 32, _TO_228, 1024, 128, 32),
    Architecture("sm_110", 48, 24, _TO_228, 1024, 128, 24),
    Architecture("sm_120", 48, 24, _TO_100, 1024, 128, 24),
    Architecture("sm_121", 48, 24, _TO_100, 1024, 128, 24),
)
# fmt: on
ARCHITECTURES = {row.name: row for row in _ROWS}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What one SM keeps resident of a kernel at a block size.

    blocks                resident on an SM; 0 if the launch is refused
    warps                 the same in warps, a last warp that is not full included
    fraction              of the SM's warps, 0.0 .. 1.0
    limited_by            whatever allows no more than `blocks`: one resource, or several that tie
    allows                blocks that each resource alone would allow; None: it does not limit
    registers_per_block   as allocated, with all rounding
    shared_bytes_per_block  as allocated, with the system's part and rounding
    shared_bytes_per_sm   the carve-out that the launch gets; 0 if its blocks do not fit in any
    """

    blocks: int
    warps: int
    fraction: float
    limited_by: tuple[Resource, ...]
    allows: dict[Resource, int | None]
    registers_per_block: int
    shared_bytes_per_block: int
    shared_bytes_per_sm: int

    def __str__(self) -> str:
        """`2 blocks an SM: registers allow 2, shared memory 5, warps 8, block slots 32`."""
        known = [(n, resource.value) for resource, n in self.allows.items() if n is not None]
        (least, first), *others = sorted(known, key=lambda pair: pair[0])
        told = [f"{first} allow{'s' * (first == 'shared memory')} {least}"]
        told += [f"{name} {number}" for number, name in others]
        return f"{self.blocks} block{'s' * (self.blocks != 1)} an SM: {', '.join(told)}"


def architecture_of(name: str) -> Architecture:
    """The limits of "sm_90", and of "sm_90a", which has the same.

    Raises ValueError, which names those there are.
    """
    found = ARCHITECTURES.get(name.rstrip("af"))
    if found is None:
        raise ValueError(f"{name!r} is no architecture known here: {', '.join(ARCHITECTURES)}")
    return found


def occupancy(
    architecture: str,
    threads: int,
    registers: int,
    static_shared: int,
    dynamic_shared: int,
    carveout: int | None = None,
    barriers: int = 0,
) -> Occupancy:
    """The resident blocks of a kernel on one SM, by the formula of `cuda_occupancy.h`.

    threads         of a block
    registers       of a thread; 0 if the kernel has none, or they are not known
    static_shared   bytes a block
    dynamic_shared  bytes a block; past 48 KiB in all, the kernel has opted in to what it needs
    carveout        per cent of the SM's shared memory that the kernel prefers to L1, 0 .. 100,
                    rounded up to a size there is, and overruled where not one block fits;
                    None: all of it
    barriers        that a block uses, at most 16; they limit from sm_90 on

    What no launch can have is no error but 0 blocks: over 1,024 threads, over 255 registers, more
    registers or shared memory than a block may take. Raises ValueError for numbers that mean
    nothing: no thread, less than no registers or bytes, a carve-out beyond 0 .. 100 per cent.
    """
    sm = architecture_of(architecture)
    if threads < 1:
        raise ValueError(f"{threads} threads a block: there must be at least 1")
    for what, number in (
        ("registers", registers),
        ("bytes of static shared memory", static_shared),
        ("bytes of dynamic shared memory", dynamic_shared),
        ("barriers", barriers),
    ):
        if number < 0:
            raise ValueError(f"{number} {what}: there cannot be less than none")
    if carveout is not None and not 0 <= carveout <= 100:
        raise ValueError(f"a carve-out of {carveout} per cent: it must lie in 0 .. 100, or be None")
    if barriers > 16:
        raise ValueError(f"{barriers} barriers a block: there are 16")

    warps = _rounded_up(threads, THREADS_PER_WARP) // THREADS_PER_WARP
    registers_per_warp = _rounded_up(registers * THREADS_PER_WARP, REGISTERS_PER_ALLOCATION)
    shared = static_shared + dynamic_shared + sm.reserved_shared_bytes
    shared = _rounded_up(shared, sm.shared_granularity)
    fits = shared - sm.reserved_shared_bytes <= sm.shared_bytes_per_block
    preferred = sm.shared_bytes_per_sm * (100 if carveout is None else carveout) // 100
    shared_per_sm = sm.carveout(max(preferred, shared)) if fits else 0
    allows = {
        Resource.WARPS: sm.warps_per_sm // warps if threads <= THREADS_PER_BLOCK else 0,
        Resource.REGISTERS: _blocks_by_registers(registers, registers_per_warp, warps),
        Resource.SHARED_MEMORY: shared_per_sm // shared if shared else None,
        Resource.BLOCKS: sm.blocks_per_sm,
        Resource.BARRIERS: sm.barriers_per_sm // barriers
        if sm.barriers_per_sm and barriers
        else None,
    }
    blocks = min(n for n in allows.values() if n is not None)
    return Occupancy(
        blocks=blocks,
        warps=blocks * warps,
        fraction=blocks * warps / sm.warps_per_sm,
        limited_by=tuple(resource for resource, n in allows.items() if n == blocks),
        allows=allows,
        registers_per_block=registers_per_warp * warps,
        shared_bytes_per_block=shared,
        shared_bytes_per_sm=shared_per_sm,
    )


def _blocks_by_registers(registers: int, registers_per_warp: int, warps: int) -> int | None:
    if not registers:
        return None
    # The launch is checked as if each sub-partition took the same number of the block's warps.
    checked = registers_per_warp * _rounded_up(warps, SUB_PARTITIONS)
    if registers > REGISTERS_PER_THREAD or checked > REGISTERS_PER_SM:
        return 0
    # A warp's registers lie in one sub-partition: what is left over in each of them is lost.
    warps_per_sub_partition = REGISTERS_PER_SM // SUB_PARTITIONS // registers_per_warp
    return warps_per_sub_partition * SUB_PARTITIONS // warps


def _rounded_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
