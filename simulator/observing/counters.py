"""What is counted. A counter's name carries its level: all of these are requests at L1.

Nothing here says what hit in a cache or what reached DRAM: neither is modelled.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from operator import attrgetter


@dataclass(slots=True)
class Counters:
    """Plain sums, of a kernel or of one source line.

    *Warp instructions* by class; a class's name ends in `_instructions`, and the classes add up to
    `warp_instructions`. Which instruction is in which: `instruction_classes.py`.

    *Requests*

    requests      warp instructions that reached memory with at least one lane; of local memory
                  one for each 4 bytes that a lane asks for
    sectors       distinct 32-byte pieces that the lanes of each request touched
    bytes         useful bytes: distinct bytes that the lanes of each request asked for
    ideal_sectors ceil(bytes / 32), request by request
    wavefronts    passes through shared memory's 32 banks of 4 bytes
    conflicts     wavefronts beyond what the same lanes need at best: see `requests.py`

    *Local memory* belongs to one thread and lies in global memory, word by word of 4 bytes, the
    same word of a warp's lanes side by side. Its best is none: registers would have cost nothing.

    *Loads in flight.* `load_waits` says how often a warp came to an instruction that needs the
    result of a global load still under way, or waits for copies (cp.async) that are; the wait lasts
    until everything under way has come.
    """

    blocks: int = 0
    warps: int = 0
    threads: int = 0
    warp_instructions: int = 0
    thread_instructions: int = 0  # summed over the lanes that were active
    integer_instructions: int = 0  # and logic, comparisons, selections, minimum and maximum
    fma_instructions: int = 0  # add, subtract, multiply, fma, divide: float32 and narrower
    double_instructions: int = 0  # the same in float64
    special_instructions: int = 0  # roots, reciprocals, exponential, logarithm, sine
    tensor_instructions: int = 0  # products of matrices
    convert_instructions: int = 0  # from one type to another
    move_instructions: int = 0  # register to register, and reading a parameter
    memory_instructions: int = 0  # loads, stores and atomics, in every space
    exchange_instructions: int = 0  # shuffles, votes, matches, reductions over a warp
    control_instructions: int = 0  # branches, returns, barriers, fences
    # By thread: 1 for an operation, 2 for fma, each twice where two halves are packed in a word; of
    # a product of matrices the thread's share of 2 m n k.
    float_operations: int = 0
    mma: int = 0  # tensor-core instructions as hardware issues them, by warp
    overlapped_mma: int = 0  # of those: copies of the block were under way (`overlap.py`)
    branches: int = 0  # conditional branches, by warp
    divergent_branches: int = 0  # of those: the warp's lanes went both ways
    barriers: int = 0  # of the block, by warp
    warp_barriers: int = 0  # __syncwarp, by warp
    shuffles: int = 0  # by warp
    votes: int = 0  # votes and matches, by warp
    warp_reductions: int = 0  # __reduce_add_sync and its like, by warp
    load_waits: int = 0  # by warp
    atomics: int = 0  # requests, by warp; in global and in shared memory
    atomic_lanes: int = 0  # updates: one for each lane, also where nothing changes
    atomic_turns: int = 0  # for each request the most lanes that hit one address
    global_atomic_requests: int = 0
    global_atomic_sectors: int = 0
    shared_atomic_requests: int = 0
    # For each request the most lanes that hit one bank; cas takes two turns, and `+= 1` whose old
    # value nobody reads serves lanes at one address together, as reading does.
    shared_atomic_turns: int = 0
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
    local_load_bytes: int = 0  # each lane's own: none are shared
    local_store_requests: int = 0
    local_store_sectors: int = 0
    local_store_bytes: int = 0
    shared_load_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_load_conflicts: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    shared_store_conflicts: int = 0
    # cp.async: not among the loads and stores above. `copy_counters.py` says what is counted.
    async_copy_requests: int = 0
    async_copy_sectors: int = 0
    async_copy_bytes: int = 0
    async_copy_ideal_sectors: int = 0
    async_copy_wavefronts: int = 0
    async_copy_conflicts: int = 0

    def __add__(self, other: "Counters") -> "Counters":
        return total((self, other))

    def __repr__(self) -> str:
        """What is not zero, in at most 100 columns: assertions print it."""
        shown = [f"{name}={count}" for name in NAMES if (count := getattr(self, name))]
        text = f"Counters({', '.join(shown)})"
        return text if len(text) <= 100 else f"{text[:98]}…)"

    def add(self, name: str, amount: int) -> None:
        setattr(self, name, getattr(self, name) + amount)

    @property
    def global_load_efficiency(self) -> float:
        """Useful bytes over the bytes of the sectors moved for them; 1.0 if nothing moved."""
        return _ratio(self.global_load_bytes, 32 * self.global_load_sectors)

    @property
    def async_copy_efficiency(self) -> float:
        return _ratio(self.async_copy_bytes, 32 * self.async_copy_sectors)

    @property
    def global_store_efficiency(self) -> float:
        return _ratio(self.global_store_bytes, 32 * self.global_store_sectors)

    @property
    def execution_efficiency(self) -> float:
        """Lanes that were active in a warp instruction, on average, over 32."""
        return _ratio(self.thread_instructions, 32 * self.warp_instructions)

    @property
    def atomic_contention(self) -> float:
        """Lanes of a request that hit one address, on average: 1.0 is none in another's way."""
        return _ratio(self.atomic_turns, self.atomics)

    @property
    def loads_in_flight(self) -> float:
        """Global loads and copies that a warp waits for at a time; of a kernel, not of a line.

        1.0 is one load after another. PTX's order is counted: the GPU's assembler may still move
        loads up, so that hardware has as many in flight or more.
        """
        return _ratio(self.global_load_requests + self.async_copy_requests, self.load_waits)


NAMES = tuple(field.name for field in fields(Counters))
CLASSES = tuple(  # they add up to warp_instructions
    name
    for name in NAMES
    if name.endswith("_instructions") and name not in ("warp_instructions", "thread_instructions")
)


_VALUES = attrgetter(*NAMES)


def total(parts: Iterable[Counters]) -> Counters:
    """The sum of many."""
    return Counters(*map(sum, zip(*map(_VALUES, parts), strict=True)))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a launch did to one buffer.

    bytes_read, bytes_written  distinct bytes: what an ideal cache would move
    hottest_updates            how many atomic updates the address got that got most; several
                               launches do not add up here, the largest counts
    """

    bytes_read: int = 0
    bytes_written: int = 0
    hottest_updates: int = 0

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(
            self.bytes_read + other.bytes_read,
            self.bytes_written + other.bytes_written,
            max(self.hottest_updates, other.hottest_updates),
        )
