"""How a launch is to run: what is looked for and counted, and in which order things happen."""

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.running.wave import Order
from simulator.vocabulary import CUDA, Vocabulary


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run a launch.

    faults    look for what hardware lets slip (what would trap is always found)
    counters  count what the hardware would have moved
    blocks    run these linear block ids only; None: all
    order     of the blocks; of warps that are apart; of the lanes that update one address
    seed      of the shuffled order, and of whose hidden store lands last
    warps_apart  some blocks and some warps run ahead, to a barrier or a wait, and others lag
              behind, as `order` says: a barrier that is missing then gives wrong values
    weak_stores  a block's plain stores to global memory stay hidden from others until a fence, a
              release or the end of the kernel. None: where a program's blocks talk to each other
              (`blocks_talk` in translating/waiting.py)
    tiles     the program's language has tiles, and no threads: shared memory is the compiler's, and
              several threads of a block may hold one element (`race_tiles.py`)
    strict    a plain read beside an atomic is a race too, not only a note
    perturb   move approximate results within their documented error
    resident_blocks  how many blocks run together; None: if they may wait for each other, as many
              as the virtual device keeps resident, else as many as run fastest
    registers  of a thread, as an assembler for the device allots them; they limit who is resident.
              None: not known, and then they limit nothing. PTX does not tell
    cooperative  all blocks of the grid may meet, in grid().sync(): they must all be resident
    seconds   a wave that runs longer is called endless
    words     the language in which faults are told
    """

    faults: bool = True
    counters: bool = True
    blocks: Sequence[int] | None = None
    order: Order = "forward"
    seed: int = 0
    warps_apart: bool = False
    weak_stores: bool | None = None
    strict: bool = False
    tiles: bool = False
    perturb: bool = False
    resident_blocks: int | None = None
    registers: int | None = None
    cooperative: bool = False
    seconds: float = 45.0
    words: Vocabulary = CUDA
