"""Sentences for calls that went wrong: recursion without an end, pointers to no function."""

import re

from simulator.faults import FaultKind, KernelFault
from simulator.reading.ptx import Instruction
from simulator.running.lanes import Lanes
from simulator.running.wave import Wave


def spoken(name: str) -> str:
    """A function's name as the source spells it, without its types: _ZN3Box3getEi -> Box::get."""
    found = re.match(r"_ZN?[KV]*(?=\d)", name)
    if not found:
        return name
    parts, rest = [], name[found.end() :]
    while length := re.match(r"\d+", rest):
        end = length.end() + int(length[0])
        parts.append(rest[length.end() : end])
        rest = rest[end:]
        if "N" not in found[0]:
            break
    return "::".join(parts)


def overflow(
    wave: Wave, instruction: Instruction, lanes: Lanes, name: str, depth: int, bytes_: int
) -> KernelFault:
    """The fault of a call that is one too deep; `bytes_` of local memory, if those are too many."""
    place = wave.place(int(lanes.indices()[0]))
    needs = f", with {bytes_:,} bytes of local variables in all" if bytes_ else ""
    return KernelFault(
        FaultKind.STACK_OVERFLOW,
        f"{place} is {depth:,} calls deep and calls {spoken(name)} once more{needs}{_more(lanes)}",
        line=instruction.line,
        expected="Recursion ends: each call comes closer to a case that calls no further.",
        advice="Look at the condition that ends the recursion: does every call come closer to it? "
        "A GPU gives a thread 1 KB of stack unless told otherwise: a loop needs none.",
        place=place,
    )


def bad_pointer(wave: Wave, instruction: Instruction, lanes: Lanes, address: int) -> KernelFault:
    """The fault of a call of what is no function."""
    if address:
        what = f"calls through a pointer that holds {address:#x}, where no function begins"
        advice = (
            "Look where the pointer comes from: an index past a table, an object that was made on "
            "the host (its virtual functions are the host's), or memory that was never written."
        )
    else:
        what = "calls through a null pointer"
        advice = "Set the pointer to a function before the call, in every thread that makes it."
    expected = "The pointer holds the address of a __device__ function."
    return _bad_call(wave, instruction, lanes, what, expected, advice)


def bad_arguments(
    wave: Wave,
    instruction: Instruction,
    lanes: Lanes,
    name: str,
    given: list[int],
    taken: list[int],
) -> KernelFault:
    """The fault of a call that passes other sizes (bytes, of each argument) than are taken."""
    sizes = [" + ".join(map(str, bytes_)) or "no" for bytes_ in (given, taken)]
    what = f"calls {spoken(name)}, which takes {sizes[1]} bytes, with {sizes[0]} bytes"
    expected = "A function is called with the arguments that it takes."
    advice = "Look for a cast: the type of the pointer must be that of the function."
    return _bad_call(wave, instruction, lanes, what, expected, advice)


def _bad_call(
    wave: Wave, instruction: Instruction, lanes: Lanes, what: str, expected: str, advice: str
) -> KernelFault:
    place = wave.place(int(lanes.indices()[0]))
    return KernelFault(
        FaultKind.ILLEGAL_CALL,
        f"{place} {what}{_more(lanes)}",
        line=instruction.line,
        expected=expected,
        advice=advice,
        place=place,
    )


def _more(lanes: Lanes) -> str:
    others = lanes.count - 1
    return f" ({others} more thread{'s do' if others > 1 else ' does'} so too)" if others else ""
