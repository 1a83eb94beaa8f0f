"""Whether a program's blocks may wait for each other, or read what others have stored."""

from collections.abc import Iterable, Sequence

from simulator.reading.operands import read_and_written
from simulator.reading.ptx import Entry, Instruction
from simulator.translating.control_flow import BasicBlock
from simulator.types import DTYPES

_SEES_OTHERS = frozenset(("atom", "volatile", "acquire", "relaxed"))
_FENCES = frozenset(("membar", "fence"))
_FOR_SOME = frozenset(("cta", "cluster"))  # fences of less than the device
_LOADS = frozenset(("ld", "ldu"))
_GLOBAL = frozenset((*_LOADS, "st", "atom", "red", "wmma"))  # may access global memory
_OWN_SPACES = frozenset(("shared", "local"))  # that no other block can write
_NEVER_OWN = frozenset(("global", "param", "const"))
_NEVER_GLOBAL = _OWN_SPACES | {"param", "const"}


def waits_for_blocks(
    entry: Entry, instructions: Sequence[Instruction], blocks: Sequence[BasicBlock]
) -> bool:
    """Whether a loop looks at memory for what another block may write there.

    It reads global memory so that it sees others' writes, by an atomic or a strong load, and does
    something with what it read: a histogram's atomics, whose results nobody uses, wait for none.
    """
    for block in blocks:
        if block.loop is None or not block.loop.may_wait:
            continue
        seen: set[str] = set()
        used: set[str] = set()
        for member in block.loop.members:
            for instruction in instructions[blocks[member].first : blocks[member].end]:
                parts = set(instruction.parts)
                read, written = read_and_written(entry, instruction)
                used |= read
                if parts & _SEES_OTHERS and not parts & _OWN_SPACES:
                    seen |= written
        if seen & used:
            return True
    return False


def blocks_talk(entry: Entry, instructions: Sequence[Instruction]) -> bool:
    """Whether a block may read what another one stored plainly, in the same launch.

    It stores plainly to global memory and loads from there, and it asks how far others are: by a
    fence of the device, or by an atomic whose old value, on whatever way, leads to a branch (the
    block that comes last adds up what all have stored). Loads that the compiler knows to be of
    constant data (.nc) are none.
    """
    outside = [i for i in instructions if _reaches_global(i)]
    plain = [i for i in outside if not _SEES_OTHERS & set(i.parts)]
    stores = any(i.parts[0] == "st" for i in plain)
    loads = any(i.parts[0] in _LOADS and "nc" not in i.parts for i in outside)
    if not (stores and loads):
        return False
    fenced = any(i.parts[0] in _FENCES and not _FOR_SOME & set(i.parts) for i in instructions)
    return fenced or _atomics_steer(entry, instructions)


def _atomics_steer(entry: Entry, instructions: Sequence[Instruction]) -> bool:
    """Whether what an atomic on global memory returns leads to a branch, or to any guard."""
    told: set[str] = set()
    flows = [(i, *read_and_written(entry, i)) for i in instructions]
    for instruction, _, written in flows:
        if instruction.parts[0] == "atom" and _reaches_global(instruction):
            told |= written
    in_memory, size = False, -1  # it may be passed on through the block's own memory
    while size != len(told) + in_memory:
        size = len(told) + in_memory
        for instruction, read, written in flows:
            name, own = instruction.parts[0], not _NEVER_OWN & set(instruction.parts)
            if read & told and own and name in ("st", "atom", "red"):
                in_memory = True
            if read & told or (in_memory and own and name in _LOADS):
                told |= written
    return any(i.guard is not None and i.guard.register in told for i in instructions)


def _reaches_global(instruction: Instruction) -> bool:
    parts = instruction.parts
    return parts[0] in _GLOBAL and not _NEVER_GLOBAL & set(parts)


def smallest_access(instructions: Iterable[Instruction]) -> int:
    """Bytes of the smallest element that an access to global memory reads or writes; at most 8."""
    found = [i.parts[-1] for i in instructions if _reaches_global(i)]
    return min((DTYPES[t].itemsize if t in DTYPES else 1 for t in found), default=8)
