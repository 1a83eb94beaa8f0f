"""What a launch would cost on the virtual device: a model in clock cycles, never a measurement.

    cost = 1,000 + rounds · waits · 600 + max(memory, work)

rounds  ceil(blocks / resident blocks of the device): a block of many warps or much shared memory
        leaves room for fewer at a time (`simulator.residency`; registers are not known)
waits   how often a warp waits for global memory, on average; 600 cycles each
memory  the bytes of all sectors requested, at 2,400 a cycle for the device and 64 for a processor
work    of the processor with most blocks, ceil(blocks / 132) of them, the largest of its
        instructions at 4 a cycle, passes through shared memory at 1, tensor-core instructions at ½,
        turns of atomics at one address at 1

Rates: an H200's DRAM moves 4.8 TB/s at 1.98 GHz, which is 2,400 bytes a cycle; an SM has 4
schedulers, 64 bytes a cycle from L2, and the tensor cores of compute capability 8.0 do a 16×8×16
product of halves in 2 cycles (CUDA C++ Programming Guide, A100 and H200 datasheets). Caches are
not modelled: the tiling that asks for fewer bytes is cheaper, wherever they would come from.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from harness.launching.recording import LaunchRecord, listening, recording

if TYPE_CHECKING:
    from simulator import Counters

MULTIPROCESSORS = 132
_LAUNCH_CYCLES = 1_000
_WAIT_CYCLES = 600
_DEVICE_BYTES, _PROCESSOR_BYTES = 2_400, 64  # a cycle
_SECTOR = 32  # bytes
_SCHEDULERS = 4
_MMA_CYCLES = 2


def cost(launch: LaunchRecord) -> float:
    """Modelled cycles of a launch that was recorded with counters."""
    from simulator.residency import residency

    counters = launch.launched.counters
    blocks = max(1, counters.blocks)
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    resident = residency(threads, None, launch.shared_bytes).blocks
    rounds = -(-blocks // resident)
    waits = counters.load_waits / max(1, counters.warps)
    share = -(-blocks // MULTIPROCESSORS) / blocks  # of all blocks, on the processor with most
    moved = _SECTOR * _sectors(counters)
    memory = max(moved / _DEVICE_BYTES, share * moved / _PROCESSOR_BYTES)
    work = share * max(
        counters.warp_instructions / _SCHEDULERS,
        _wavefronts(counters),
        counters.mma * _MMA_CYCLES,
        counters.atomic_turns,
    )
    return _LAUNCH_CYCLES + rounds * waits * _WAIT_CYCLES + max(memory, work)


def _sectors(counters: "Counters") -> int:
    return (
        counters.global_load_sectors
        + counters.global_store_sectors
        + counters.global_atomic_sectors
        + counters.async_copy_sectors
        + counters.local_load_sectors
        + counters.local_store_sectors
    )


def _wavefronts(counters: "Counters") -> int:
    return (
        counters.shared_load_wavefronts
        + counters.shared_store_wavefronts
        + counters.shared_atomic_turns
        + counters.async_copy_wavefronts
    )


def benchmark(
    kernel_call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any
) -> float | list[float]:
    """What an autotuner calls for each configuration: one run, counted.

    The model has no spread: each quantile is the same.
    """
    with recording() as launches:
        kernel_call()
    cycles = sum(cost(launch) for launch in launches)
    return cycles if quantiles is None else [cycles] * len(quantiles)


class _Clock:
    """Adds up the cost of the launches while somebody holds an event."""

    def __init__(self) -> None:
        self.cycles = 0.0

    def append(self, launch: LaunchRecord) -> None:
        self.cycles += cost(launch)


_clock = _Clock()


class Event:
    """A moment in modelled time. Launches are counted, which slows them, while one exists."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._at = _clock.cycles
        self._listening = listening(_clock) if enable_timing else None

    def record(self, stream: Any = None) -> None:
        self._at = _clock.cycles

    def elapsed_time(self, end: "Event") -> float:
        """Modelled cycles of the launches in between; 1 where there was none, as no time is 0."""
        return max(1.0, end._at - self._at)

    def synchronize(self) -> None:
        pass


class DeviceInterface:
    """What `triton.testing.do_bench` takes from torch.cuda."""

    Event = Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        pass
