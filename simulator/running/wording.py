"""Sentences for addresses that went wrong: who, which element, of how many."""

import math

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import Access, Kind, Space
from simulator.running.addresses import Addresses
from simulator.running.buffers import Buffer
from simulator.running.wave import Wave
from simulator.vocabulary import Outside

_VERB = {Kind.LOAD: "reads", Kind.STORE: "writes", Kind.ATOMIC: "updates"}


def out_of_bounds(
    wave: Wave,
    access: Access,
    known: Addresses,
    offset: int,
    found: tuple[Buffer, int] | None,
    limit: int,
    around: bool = False,
) -> KernelFault:
    """The fault of the first lane whose access leaves its buffer.

    found   the buffer that the lowest address aims at and its base, in global memory
    limit   bytes of the block's shared or the thread's local memory
    around  an aligned word is looked at for one element in it: outside if no byte of it is inside
    """
    addresses = known.signed.reshape(-1).astype(np.int64) + offset
    verb = _VERB[access.kind]
    if access.space in (Space.SHARED, Space.LOCAL):
        bad = (addresses < 0) | (addresses + access.bytes > limit)
        first = int(np.argmax(bad))
        owner = "block's shared" if access.space is Space.SHARED else "thread's local"
        where = f"byte {addresses[first]} of its {owner} memory, which has {limit} bytes"
        advice = "Compare the index with the array's size, and the launch's shared bytes with both."
    elif found is None:
        first, bad = int(np.argmin(addresses)), addresses < 0  # looked for, and found nowhere
        null = 0 <= addresses[first] < 1 << 20
        where = "through a null pointer" if null else "at an address that belongs to no tensor"
        advice = "Check which pointer this is, and that the launch passes it in that place."
    else:
        buffer, base = found
        begin, end = base + buffer.origin, base + buffer.bytes - buffer.padding
        slack = access.bytes - 1 if around else 0
        bad = (addresses + slack < begin) | (addresses + access.bytes > end + slack)
        first = int(np.argmax(bad))
        size = (buffer.element or access.element).itemsize
        index = (int(addresses[first]) - begin) // size
        count = (end - begin) // size
        plural = "" if count == 1 else "s"
        more = access.bytes // size - 1  # elements beyond the first
        if 0 <= index < count and not wave.words.wide_accesses:
            index, more = count, 0  # nobody asked for several: the first that is outside counts
        after = f" and the {more} after it" if more > 0 and 0 <= index < count else ""
        where = f"{buffer.name}[{index}]{after}; {buffer.name} has {count} element{plural}"
        if 0 <= index < count:
            advice = f"The first of the {more + 1} lies inside, the last does not: guard the last."
        else:
            place = wave.place(_lane(known, first))
            outside = Outside(
                index,
                count,
                len(np.unique(addresses[bad])),
                spare=math.prod(wave.grid) * math.prod(wave.block) > count,
                last=place.block == tuple(blocks - 1 for blocks in wave.grid),
                own=index == place.block[0] * wave.block[0] + place.thread[0],
            )
            advice = wave.words.outside(outside)
    place = wave.place(_lane(known, first))
    how_many = int(bad.sum()) if found or access.space in (Space.SHARED, Space.LOCAL) else 1
    places = len(np.unique(addresses[bad])) if how_many > 1 else 1
    others = wave.words.more(how_many - 1, places - 1)
    return KernelFault(
        FaultKind.OUT_OF_BOUNDS,
        f"{place} {verb} {where}{others}",
        line=access.instruction.line,
        expected="Every index lies in 0 .. elements - 1.",
        advice=advice,
        place=place,
    )


def _lane(known: Addresses, position: int) -> int:
    return int(known.lanes.indices()[position])


def misaligned(
    wave: Wave,
    access: Access,
    known: Addresses,
    offset: int,
    found: tuple[Buffer, int] | None,
    first: int,
) -> KernelFault:
    """The fault of a lane whose address is no multiple of the access's size."""
    address = int(known.signed.reshape(-1)[first]) + offset
    place = wave.place(int(known.lanes.indices()[first]))
    name = "memory" if found is None else found[0].name
    byte, begins = address, ""
    if found is not None:
        start = found[1] + found[0].origin
        byte, past = address - start, start % access.bytes
        begins = f", which itself begins {past} bytes past a multiple of {access.bytes}" * (
            past > 0
        )
    return KernelFault(
        FaultKind.MISALIGNED,
        f"{place} {_VERB[access.kind]} {access.bytes} bytes at byte {byte} of {name}{begins}",
        line=access.instruction.line,
        expected=f"An access of {access.bytes} bytes starts at a multiple of {access.bytes} bytes.",
        advice=wave.words.misaligned,
        place=place,
    )
