"""Which instructions look at the aligned word around an element that is narrower.

Where hardware has no atomic update of 2 bytes, a compiler compares and swaps the 4 bytes around
them; the neighbour's are written back as they were. At the end of a tensor it may have none.
"""

from weakref import WeakKeyDictionary

from simulator.reading.operands import address
from simulator.reading.ptx import Entry, Instruction

_FOUND: "WeakKeyDictionary[Entry, frozenset[int]]" = WeakKeyDictionary()


def words_around(entry: Entry) -> frozenset[int]:
    """The indices of the swaps of 4 bytes, and of the loads through the same register."""
    found = _FOUND.get(entry)
    if found is None:
        code = [*entry.instructions, *(i for f in entry.functions for i in f.instructions)]
        swaps = [i for i in code if _is_swap(i)]
        registers = {_pointer(i) for i in swaps}
        loads = [i for i in code if _is_load(i) and _pointer(i) in registers]
        found = _FOUND[entry] = frozenset(i.index for i in (*swaps, *loads))
    return found


def _is_swap(instruction: Instruction) -> bool:
    parts = instruction.parts
    return parts[0] == "atom" and "cas" in parts and parts[-1] == "b32"


def _is_load(instruction: Instruction) -> bool:
    parts = instruction.parts
    return parts[0] == "ld" and parts[-1] == "b32" and "{" not in instruction.operands[0]


def _pointer(instruction: Instruction) -> str:
    return address(instruction.operands[1]).base
