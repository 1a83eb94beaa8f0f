"""What is counted. A counter's name carries its level: all of these are requests at L1.

Nothing here says what hit in a cache or what reached DRAM: neither is modelled.
"""

from dataclasses import dataclass, fields


@dataclass(slots=True)
class Counters:
    """Plain sums, of a kernel or of one source line.

    requests      warp instructions that reached memory with at least one lane
    sectors       distinct 32-byte pieces that the lanes of each request touched
    bytes         useful bytes: distinct bytes that the lanes of each request asked for
    ideal_sectors ceil(bytes / 32), request by request
    wavefronts    passes through shared memory's 32 banks of 4 bytes
    conflicts     wavefronts beyond what the same bytes need at best
    """

    blocks: int = 0
    warps: int = 0
    threads: int = 0
    warp_instructions: int = 0
    thread_instructions: int = 0  # summed over the lanes that were active
    branches: int = 0  # conditional branches, by warp
    divergent_branches: int = 0  # of those: the warp's lanes went both ways
    barriers: int = 0  # by warp
    shuffles: int = 0  # by warp
    atomics: int = 0  # by warp
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0
    global_load_ideal_sectors: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_bytes: int = 0
    global_store_ideal_sectors: int = 0
    local_load_requests: int = 0
    local_load_sectors: int = 0
    local_store_requests: int = 0
    local_store_sectors: int = 0
    shared_load_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_load_conflicts: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    shared_store_conflicts: int = 0

    def __add__(self, other: "Counters") -> "Counters":
        return Counters(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __repr__(self) -> str:
        """What is not zero, in at most 100 columns: assertions print it."""
        shown = [f"{f.name}={count}" for f in fields(self) if (count := getattr(self, f.name))]
        text = f"Counters({', '.join(shown)})"
        return text if len(text) <= 100 else f"{text[:98]}…)"

    def add(self, name: str, amount: int) -> None:
        setattr(self, name, getattr(self, name) + amount)

    @property
    def global_load_efficiency(self) -> float:
        """Useful bytes over the bytes of the sectors moved for them; 1.0 if nothing moved."""
        return _ratio(self.global_load_bytes, 32 * self.global_load_sectors)

    @property
    def global_store_efficiency(self) -> float:
        return _ratio(self.global_store_bytes, 32 * self.global_store_sectors)

    @property
    def execution_efficiency(self) -> float:
        """Lanes that were active in a warp instruction, on average, over 32."""
        return _ratio(self.thread_instructions, 32 * self.warp_instructions)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


@dataclass(frozen=True, slots=True)
class Traffic:
    """Distinct bytes of one buffer that a launch touched: what an ideal cache would move."""

    bytes_read: int = 0
    bytes_written: int = 0

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(self.bytes_read + other.bytes_read, self.bytes_written + other.bytes_written)
