"""Where an undefined value comes from, found when it matters, and the sentence that says so.

The origin is looked for backwards through the code, along registers and memory that may hold
undefined values: the nearest one that fits what memory has shown.
"""

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import MemoryEvent, Space
from simulator.observing.shared_names import shared_element
from simulator.reading.lines import with_calls
from simulator.reading.operands import read_and_written
from simulator.reading.ptx import Function, Instruction
from simulator.undefined import Matter, Origin, Undefined

if TYPE_CHECKING:
    from simulator.running.undefined import UndefinedValues

_VERBS = {"ld": "reads", "ldu": "reads", "st": "writes", "atom": "updates", "red": "updates"}
_BRANCHES = ("bra", "ret", "exit", "trap", "call")
_LOADS = ("ld", "ldu", "atom", "ldmatrix", "wmma")
_Node = tuple[str, str]  # a function and its register, or a memory: ("", "shared")


@dataclass(frozen=True, slots=True)
class Reading:
    """One element of one lane's access.

    byte  from the beginning of its memory
    size  of an element of the access, in bytes
    """

    event: MemoryEvent
    byte: int
    size: int

    @classmethod
    def of(cls, event: MemoryEvent, place: int, element: int) -> Self:
        """place: the lane's in the set of the access; element: which of its access."""
        size = event.access.element.itemsize
        byte = int(event.addresses.offsets()[place]) + event.offset + element * size
        return cls(event, byte, size)

    def named(self, shared: dict[str, int]) -> str:
        """`partial[3]`"""
        buffer = self.event.buffer
        if buffer is None:
            if self.event.access.space is Space.SHARED:
                return shared_element(shared, self.byte, self.event.access)
            return f"byte {self.byte} of its local memory"
        size = (buffer.element or self.event.access.element).itemsize
        return f"{buffer.name}[{(self.byte - buffer.origin) // size}]"


@dataclass(frozen=True, slots=True)
class Readings:
    """What the lanes of an access have found that nobody has written.

    shadow   [count] or a scalar: not zero where a lane has
    element  which of its access
    """

    event: MemoryEvent
    shadow: Any
    element: int

    def named(self, lane: int) -> str:
        """The element that a lane has read; of others, if it has found none itself."""
        unwritten = np.broadcast_to(self.shadow != 0, (self.event.lanes.count,))
        own = unwritten & (self.event.lanes.indices() == lane)
        place = int(np.argmax(own if own.any() else unwritten))
        return Reading.of(self.event, place, self.element).named({})


def undefined_value(
    values: "UndefinedValues",
    matter: Matter,
    number: int,
    register: str,
    lane: int,
    at: Reading | None,
) -> KernelFault:
    """The fault: a lane lets something hang on an undefined value.

    number    of the instruction where it matters
    register  that holds the value, if one does
    at        what is written or updated there
    """
    instruction = values.run.instructions[number]
    found = _found(values, matter, instruction, register, lane, at)
    place = values.wave.place(lane)
    element = at.named(values.run.entry.shared) if at is not None else ""
    what = f"{place} {_matters(matter, instruction, register, element)}"
    because = _because(found, instruction.line)
    if matter is Matter.UPDATE and found.origin is Origin.MEMORY:
        what, because = f"{place} updates {element}, which nobody has written", ""
    expected, advice = values.wave.words.undefined(found)
    fault = KernelFault(
        FaultKind.UNDEFINED_VALUE,
        f"{what}: {because}" if because else what,
        line=instruction.line,
        expected=expected,
        advice=advice,
        place=place,
    )
    fault.undefined = found
    return fault


def _matters(matter: Matter, instruction: Instruction, register: str, element: str) -> str:
    name, guard = instruction.parts[0], instruction.guard
    if matter is Matter.STORE:
        return f"writes an undefined value to {element}"
    if matter is Matter.ATOMIC:
        return f"updates {element} with an undefined value"
    if matter is Matter.UPDATE:
        return f"updates {element}, which holds an undefined value"
    if matter is Matter.PRINT:
        return "prints an undefined value"
    if matter is Matter.ADDRESS:
        verb = _VERBS.get(name, "accesses memory")
        return f"{verb} at an address that depends on an undefined value"
    if name in _BRANCHES:
        return "branches on an undefined value"
    if guard is not None and guard.register == register:
        return f"{_VERBS.get(name, 'goes on')} or not, as an undefined value says"
    return "meets its warp or its block with an undefined value"


def _because(found: Undefined, line: int) -> str:
    here = found.line is None or found.line == line
    at = "" if found.line is None else with_calls(found.line)
    if found.origin is Origin.VARIABLE:
        if here:
            return "it comes from a variable that the thread never gave a value"
        return f"{at} uses a variable that the thread never gave a value"
    if found.origin is Origin.MASKED_LOAD:
        return f"the load{f' at {at}' if at else ''} leaves it undefined where its mask is false"
    if found.origin is Origin.LOCAL_ARRAY:
        who = "it comes from" if here else f"{at} reads"
        return f"{who} an element of a local array that the thread never gave a value"
    if found.origin is Origin.MEMORY:
        who = "it comes from" if here else f"{at} reads"
        return f"{who} {found.element}, which nobody has written"
    return ""


# ---- the search


def _found(
    values: "UndefinedValues",
    matter: Matter,
    instruction: Instruction,
    register: str,
    lane: int,
    at: Reading | None,
) -> Undefined:
    search = _Search(values, lane)
    if matter is Matter.UPDATE and at is not None and at.event.buffer is not None:
        return Undefined(matter, Origin.MEMORY, instruction.line or None, at.named({}))
    if register:
        start: _Node = (values.run.entry.scope_of(instruction).name, register.removeprefix("!"))
    else:
        start = ("", "local" if matter is Matter.PRINT else "shared")
    origin, line, element = search.from_node(start)
    return Undefined(matter, origin, line, element)


_Found = tuple[Origin, int | None, str]
_NOTHING: _Found = (Origin.UNKNOWN, None, "")


class _Search:
    """Backwards from a register to what nobody has written."""

    def __init__(self, values: "UndefinedValues", lane: int) -> None:
        self._values = values
        self._lane = lane
        self._followed = values.followed
        entry = values.run.entry
        self._steps: list[tuple[Function, Instruction, set[str], set[str]]] = []
        for function in (entry, *entry.functions):
            for instruction in function.instructions:
                read, written = read_and_written(function, instruction)
                self._steps.append((function, instruction, read, written))

    def from_node(self, start: _Node) -> _Found:
        ahead, seen, later = deque([start]), {start}, _NOTHING
        while ahead:
            node = ahead.popleft()
            if node[1] in self._followed.unwritten.get(node[0], ()):
                origin = self._unwritten(node)
                if origin is not None:
                    return origin
            for found, onward in self._behind(node):
                if found is not None and found[0] is not Origin.LOCAL_ARRAY:
                    return found
                if found is not None and later is _NOTHING:
                    later = found  # unless what was stored there was undefined itself
                for following in onward:
                    if following not in seen:
                        seen.add(following)
                        ahead.append(following)
        return later

    def _behind(self, node: _Node) -> "list[tuple[_Found | None, list[_Node]]]":
        """What writes a register or a memory: an origin each, or what is read there."""
        found: list[tuple[_Found | None, list[_Node]]] = []
        for function, instruction, read, written in self._steps:
            parts = instruction.parts
            if node[0] and function.name == node[0] and node[1] in written:
                found.append(self._writes(function, instruction, read))
            elif not node[0] and node[1] in parts or "::" in "".join(parts) and not node[0]:
                if parts[0] in ("st", "atom", "red") or parts[:2] == ("wmma", "store"):
                    found.append((None, self._nodes(function, read)))
                elif parts[0] == "cp":
                    found.append((self._of_copy(instruction), []))
        return found

    def _writes(
        self, function: Function, instruction: Instruction, read: set[str]
    ) -> "tuple[_Found | None, list[_Node]]":
        parts, line = instruction.parts, instruction.line or None
        if self._followed.leaves_out(instruction):
            return (Origin.MASKED_LOAD, line, ""), []
        if parts[0] not in _LOADS or "param" in parts or parts[:2] == ("wmma", "mma"):
            return None, self._nodes(function, read)
        reading = self._values.reading.get(instruction.index)
        if reading is not None:
            return (Origin.MEMORY, line, reading.named(self._lane)), []
        if "global" in parts:
            return None, []
        onward: list[_Node] = []
        if self._followed.shared and "local" not in parts:
            onward.append(("", "shared"))
        if self._followed.local and not {"shared", "shared::cta"} & set(parts):
            return (Origin.LOCAL_ARRAY, line, ""), [*onward, ("", "local")]
        return None, onward

    def _of_copy(self, instruction: Instruction) -> _Found | None:
        line = instruction.line or None
        if self._followed.leaves_out(instruction):
            return Origin.MASKED_LOAD, line, ""
        reading = self._values.reading.get(instruction.index)
        return None if reading is None else (Origin.MEMORY, line, reading.named(self._lane))

    def _nodes(self, function: Function, read: set[str]) -> list[_Node]:
        registers = self._followed.registers[function.name]
        return [(function.name, r) for r in sorted(read & registers)]

    def _unwritten(self, node: _Node) -> _Found | None:
        """A register that some path reads first: masked loads write it, or it is a variable.

        None: masked loads of shared memory do, which only compilers write; what they bring from
        there is looked at.
        """
        uses: list[Instruction] = []
        for function, instruction, read, written in self._steps:
            if function.name != node[0]:
                continue
            masked = instruction.guard is not None and instruction.parts[0] == "ld"
            if masked and node[1] in written:
                if {"shared", "shared::cta"} & set(instruction.parts):
                    return None
                return Origin.MASKED_LOAD, instruction.line or None, ""
            if node[1] in read and instruction.line:
                uses.append(instruction)
        return Origin.VARIABLE, uses[0].line if uses else None, ""
