"""The words of a language for what the simulator finds: CUDA's here, and what others may change.

The simulator knows blocks, threads and barriers. A front end whose language has programs and tiles
derives from Vocabulary and hands an instance over in `Settings.words`.
"""

from dataclasses import dataclass

from simulator.undefined import Origin, Undefined

Coordinate = tuple[int, int, int]  # x, y, z


def short(coordinate: Coordinate) -> str:
    """(104, 0, 0) is written 104; a true 2-D or 3-D coordinate keeps its parts."""
    x, y, z = coordinate
    if (y, z) == (0, 0):
        return str(x)
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


@dataclass(frozen=True, slots=True)
class Outside:
    """An index outside of its buffer.

    places of the instruction that are outside
    spare  the launch has more threads than the buffer has elements
    last   the thread is in the last block
    own    the index is the number of the thread in the grid, along x
    """

    index: int
    count: int
    places: int
    spare: bool
    last: bool
    own: bool = False


class Advice(str):
    """What to try, or what is expected; `instead`: the same for somebody who knows less."""

    instead: str

    def __new__(cls, text: str, instead: str = "") -> "Advice":
        made = super().__new__(cls, text)
        made.instead = instead
        return made


Told = tuple[str, str]  # why, and what to try


_FAR = 1 << 28  # elements: nobody subtracts as much by mistake
_READ_FIRST = Advice(
    "Read into a variable, then __syncthreads(), then write; or give each thread elements of its "
    "own.",
    instead="Give each thread elements of its own.",
)
_APART = "No thread reads or writes an element that another one writes."


class Vocabulary:
    """CUDA's words."""

    block, blocks = "block", "blocks"
    tells_of_threads = True  # a program says what each thread does
    wide_accesses = True  # several elements in one access are something that the program says
    every_thread = "every thread"

    # ---- who

    def place(self, block: Coordinate, thread: Coordinate) -> str:
        return f"thread {short(thread)} of block {short(block)}"

    def neighbour(self, thread: Coordinate) -> str:
        """Another thread of the block that was named last."""
        return f"thread {short(thread)} of the same block"

    def more(self, threads: int, places: int) -> str:
        """How many other threads do so too, at how many other places; nothing if none."""
        return f" ({threads} more threads of this instruction do so too)" if threads else ""

    def count(self, threads: int, blocks: int) -> str:
        """Threads, and the blocks that they are in, as a number of whom the program knows."""
        return f"{threads} thread{'s' * (threads > 1)}"

    def and_more(self, count: int) -> str:
        """How many others are in the same case; nothing if none."""
        return f" (and {count} more threads)" if count else ""

    # ---- addresses

    def outside(self, found: Outside) -> str:
        """What to try: a missing guard only where the launch has threads to spare."""
        if found.index < -_FAR:
            return "An int has overflowed: it ends at 2^31 - 1. Compute the index in long long."
        if found.index < 0:
            return (
                "The index is negative: either something was subtracted, or it was read from "
                "memory, where a negative number stood."
            )
        if not found.spare:
            return (
                "There are no more threads than elements. If each takes one, work the index out by "
                "hand for thread 0 of block 1; if each takes several, guard every one of them."
            )
        if found.index == found.count and found.places == 1:
            if found.own:
                return "One past the end: is the guard i <= n where i < n is meant?"
            return "One past the end: which bound, or which guard, lets the index be the size?"
        if found.last and found.own:
            return "The last block reaches past the end: guard the access with if (i < n)."
        if found.last:
            return "The last block reaches past the end: let its loop, or a guard, end at the size."
        return (
            "This is not the last block: look at how the index is made before you look at the "
            "guard."
        )

    misaligned = "Check the pointer that was cast to the wider type, and the view it came from."

    # ---- races

    race_expected: str = Advice(
        "Where one thread writes and another one reads or writes, a barrier stands between, or a "
        "flag with its fences.",
        instead=_APART,
    )

    def together(self) -> Told:
        """Both execute the same instruction at the same time."""
        return (
            "both execute the same instruction",
            Advice(
                "Give each thread an element of its own, or update it with an atomic.",
                instead="Give each thread an element of its own.",
            ),
        )

    def in_a_warp(self, between: str) -> Told:
        return (
            "they are lanes of one warp, which need not run in lock step:\n"
            f"no __syncwarp() stands {between}",
            Advice(
                f"Put __syncwarp() {between}, or __syncthreads() where other warps take part."
                if "line" in between
                else "Read into a variable, then __syncwarp(), then write. If all of them add to "
                "one element, update it with an atomic.",
                instead=self.in_a_block(between, shared_atomic=False)[1],
            ),
        )

    def in_a_block(self, between: str, shared_atomic: bool) -> Told:
        more = "An atomic orders nothing around it. " if shared_atomic else ""
        if "line" not in between:
            return (
                f"no __syncthreads() stands {between}",
                Advice(
                    f"{more}Read into a variable, then __syncthreads(), then write. If all of them "
                    "add to one element, update it with an atomic.",
                    instead=_READ_FIRST,
                ),
            )
        return (
            f"no __syncthreads() stands {between}",
            Advice(
                f"{more}Put __syncthreads() {between}, where all threads of the block come by.",
                instead="Give each thread elements of its own.",
            ),
        )

    def in_two_blocks(self) -> Told:
        return (
            "they are in two blocks, and blocks have no order within a launch",
            Advice(
                "Let each block keep to its own elements, use an atomic, or cut the kernel in two: "
                "a new launch comes after all of the last one.",
                instead="Let each block keep to its own elements, or cut the kernel in two: a new "
                "launch comes after all of the last one.",
            ),
        )

    def atomic_of_a_block(self) -> Told:
        return (
            "they are in two blocks, and an atomic of block scope is one only among the threads of "
            "its own block",
            "Let both name the device as their scope.",
        )

    def lost_update(self) -> Told | None:
        """Two blocks read an element and write it back; None: the words for any two blocks."""
        return None

    def relaxed(self, line: str) -> Told | None:
        """Blocks talk by atomics that order nothing, the first of them at a line."""
        return None

    def no_acquire(self, line: str) -> Told:
        """The reader has seen a flag, and has not acquired what it tells of."""
        return (
            "a flag that tells of it was seen, but no __threadfence() stands between that "
            f"look and {line}",
            "Put __threadfence() behind the look at the flag, before the data is read.",
        )

    def narrow_fence(self, line: str) -> Told:
        """The writer's last fence is one of its block only."""
        return (
            f"the fence behind the access {line} orders it for its own block only, and they are in "
            "two",
            "Use __threadfence(), which reaches all blocks, or a scope of the device.",
        )

    def no_release(self, line: str) -> Told:
        """The writer has no fence behind what it wrote."""
        return (
            f"they are in two blocks, and no __threadfence() stands between {line} and a flag that "
            "would tell of it",
            "Write the data, then __threadfence(), then raise the flag; behind the look at the "
            "flag, __threadfence() again.",
        )

    def beside_an_atomic(self) -> str:
        return (
            "A plain read beside an atomic may be out of date, and the compiler may keep it: read "
            "through volatile"
        )

    # ---- waiting

    endless = "Look at the loop's step: which variable should change here, and does it?"
    nobody_left = "Ask who should write it, and whether that thread can have started yet."
    ring_expected = "No thread keeps what another one waits for while it waits itself."
    not_resident = (
        "Launch no more blocks than are resident, or let each wait only for those that start "
        "before it."
    )

    # ---- undefined values

    def undefined(self, found: Undefined) -> Told:
        """What should have been, and what to try, by where the value comes from."""
        return _UNDEFINED[found.origin]

    # ---- the program's own word

    def assertion(self, condition: str) -> str:
        return f"assert({condition})"

    assertion_advice = "Print the values in it from this thread, with printf before the assert."


_UNDEFINED: dict[Origin, Told] = {
    Origin.VARIABLE: (
        "A variable holds what its register held before, until it is given a value.",
        "Give it a value where it is declared, as in float sum = 0.0f; or on every way to its use.",
    ),
    Origin.MASKED_LOAD: (
        "A masked load promises nothing to those that its mask leaves out.",
        "Say what they get instead, or keep their values out of the result.",
    ),
    Origin.LOCAL_ARRAY: (
        "An array of a thread holds anything until it is written.",
        "Give its elements values where it is declared, as in float sum[4] = {}; or write each "
        "before it is read.",
    ),
    Origin.MEMORY: (
        "Fresh memory holds anything: torch.empty promises nothing.",
        "Fill it before the launch (torch.zeros), or let the kernel write it before it reads it. "
        "If it is an output, look at the order of the arguments.",
    ),
    Origin.UNKNOWN: (
        "What a result hangs on was given a value.",
        "Follow the value back: which part of it was never written?",
    ),
}
CUDA = Vocabulary()
