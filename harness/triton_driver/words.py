"""What the simulator finds, in Triton's words: programs and elements, not blocks and threads."""

from simulator import Vocabulary
from simulator.undefined import Origin, Undefined
from simulator.vocabulary import Coordinate, Outside, Told, short

_WRAP = 1 << 32  # what an int32 loses when it overflows
_FAR = -(1 << 28)  # elements: nobody subtracts as much by mistake


class TritonWords(Vocabulary):
    block, blocks = "program", "programs"
    tells_of_threads = False
    wide_accesses = False
    every_thread = "every program"

    # ---- who

    def place(self, block: Coordinate, thread: Coordinate) -> str:
        return f"program {short(block)}"

    def neighbour(self, thread: Coordinate) -> str:
        return "another element of the same program"

    def count(self, threads: int, blocks: int) -> str:
        return f"{blocks} program{'s' * (blocks > 1)}"

    def more(self, threads: int, places: int) -> str:
        return " (and other elements of this access are outside too)" if places else ""

    def and_more(self, count: int) -> str:
        return ""

    # ---- addresses

    def outside(self, found: Outside) -> str:
        if found.index < 0 and (found.index + _WRAP < found.count or found.index < _FAR):
            return (
                f"The offset has wrapped: in int32 it is {found.index + _WRAP} - 2^32. Multiply in "
                "64 bits: pid.to(tl.int64) * stride."
            )
        if found.index < 0:
            return "The offset is negative: give the access a mask, mask=offsets >= 0."
        if found.index == found.count and found.places == 1:
            return "One past the end: does the mask say offsets <= n where offsets < n is meant?"
        if found.last:
            return (
                "The last program's tile reaches past the end: give the access a mask, "
                "mask=offsets < n."
            )
        return (
            "This is not the last program: look at how the offsets are made, then at the mask= of "
            "this access."
        )

    misaligned = (
        "Triton has taken the pointer for one of the type it was passed as: check the view's "
        "storage offset, and the type that the pointer was cast to."
    )

    # ---- races

    race_expected = (
        "Where one program writes, no other one reads or writes, unless by atomics: programs have "
        "no order."
    )

    def together(self) -> Told:
        return (
            "several elements of one tl.store go to the same address, and which of them stays is "
            "not defined",
            "Give each element an offset of its own, or add them up with tl.atomic_add.",
        )

    def in_a_warp(self, between: str) -> Told:
        return self.in_a_block(between, shared_atomic=False)

    def in_a_block(self, between: str, shared_atomic: bool) -> Told:
        return (
            "they are elements of one program in different threads, and no tl.debug_barrier() "
            f"stands {between}",
            f"Put tl.debug_barrier() {between}, or hand the values on in registers: keep what "
            "tl.load gave.",
        )

    def in_two_blocks(self) -> Told:
        return (
            "they are two programs, and programs have no order within a launch",
            "Let each program keep to its own elements, use tl.atomic_add, or write partial "
            "results that a second launch adds up.",
        )

    def atomic_of_a_block(self) -> Told:
        return (
            'they are two programs, and an atomic with scope="cta" is one only within its own',
            'Leave scope= out: it is "gpu" then.',
        )

    def lost_update(self) -> Told:
        return (
            "both programs load it, and each stores what it made of what it loaded: an update that "
            "comes between is lost",
            "Update in one step: tl.atomic_add(pointer, value). Or store partial results apart and "
            "add them up in a second launch.",
        )

    def relaxed(self, line: str) -> Told:
        return (
            f'the atomic of {line} is relaxed (sem="relaxed"): it orders nothing around it',
            'Leave sem= out, it is "acq_rel" then; or sem="acquire" where a lock is taken or a '
            'flag looked at, sem="release" where it is given back or raised.',
        )

    def no_acquire(self, line: str) -> Told:
        return (
            f"a flag that tells of it was seen, but with no acquire before {line}",
            'Look at the flag with an atomic that acquires: sem="acquire" or "acq_rel", which is '
            "what they do without sem=.",
        )

    def narrow_fence(self, line: str) -> Told:
        return (
            f"what follows the access {line} releases it to its own program only",
            'Leave scope= out of the atomic that raises the flag: it is "gpu" then.',
        )

    def no_release(self, line: str) -> Told:
        return (
            f"they are two programs, and no atomic that releases comes between {line} and a flag "
            "that would tell of it",
            "Raise the flag, or give the lock back, with tl.atomic_xchg(flag, value), which "
            'releases unless sem="relaxed"; tl.store does not.',
        )

    def beside_an_atomic(self) -> str:
        return (
            "A plain tl.load beside an atomic may be out of date: look with volatile=True or with "
            "tl.atomic_add(pointer, 0)"
        )

    # ---- waiting

    nobody_left = (
        "Ask which program should write it, and whether that program can have started yet."
    )
    ring_expected = "No program keeps what another one waits for while it waits itself."
    not_resident = (
        "Let a program wait only for those of a lower id, launch no more programs than are "
        "resident, or take the ids from a counter: tl.atomic_add(counter, 1)."
    )

    # ---- undefined values

    def undefined(self, found: Undefined) -> Told:
        return _UNDEFINED.get(found.origin) or super().undefined(found)

    # ---- the program's own word

    def assertion(self, condition: str) -> str:
        return f'tl.device_assert(…, "{condition}")'

    assertion_advice = "Print the values in it: tl.device_print."


_UNDEFINED: dict[Origin, Told] = {
    Origin.MASKED_LOAD: (
        "What a masked tl.load gives outside of its mask is undefined.",
        "Give the load other=: 0.0 before a sum, float('-inf') before a maximum; or keep the rest "
        "out with tl.where(mask, tile, 0.0).",
    ),
    Origin.MEMORY: (
        "Fresh memory holds anything: torch.empty promises no zeros.",
        "Begin with torch.zeros, or let a tl.store come before the first tl.load or atomic.",
    ),
}

TRITON = TritonWords()
