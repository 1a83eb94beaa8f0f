"""Do the lanes that a warp instruction's mask names come, and only those?"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault
from simulator.reading.ptx import Instruction
from simulator.running import warp
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave


def check_meeting(wave: Wave, instruction: Instruction, mask: Any, lanes: Lanes) -> None:
    """Each lane's mask must name the lane itself, and only live lanes that are here.

    Lanes that have returned may be named: CUDA asks for the others alone.
    """
    if mask.ndim or mask != warp.EVERY_LANE:
        own = mask >> (lanes.indices() % WARP).astype(np.uint32) & 1
        if not own.all():
            raise _left_out(wave, instruction, int(lanes.indices()[np.argmin(own)]))
    if lanes.index is None or (mask.ndim == 0 and lanes.complete(WARP)):
        return
    here = warp.present(lanes)
    live = warp.as_masks(wave.alive.reshape(-1, WARP))
    if mask.ndim == 0 and not ((live & ~here & mask != 0) & (here != 0)).any():
        return
    warps = lanes.index // WARP
    named = np.broadcast_to(mask, (lanes.count,)) & live[warps]
    missing = named & ~here[warps]
    if not missing.any():
        return
    first = int(np.argmax(missing != 0))
    absent = [k for k in range(WARP) if int(missing[first]) >> k & 1]
    place = wave.place(int(lanes.index[first]))
    raise KernelFault(
        FaultKind.ABSENT_LANES,
        f"{place} waits for lane {absent[0]} of its warp, which never arrives "
        f"({len(absent)} lane{'s' * (len(absent) > 1)} of the mask absent)",
        line=instruction.line,
        expected="Every lane that the mask names executes the same warp instruction.",
        advice="Call it before the lanes part, or name in the mask only those that arrive.",
        place=place,
    )


def sources_left_out(mask: Any, source: NDArray[Any]) -> NDArray[np.bool_] | None:
    """[count] whether a lane reads from one that its own mask does not name; None: no lane does."""
    if mask.ndim == 0 and mask == warp.EVERY_LANE:
        return None
    unnamed: NDArray[np.bool_] = (mask >> source.astype(np.uint32) & 1) == 0
    return unnamed if unnamed.any() else None


def reads_beyond_mask(
    wave: Wave,
    instruction: Instruction,
    unnamed: NDArray[np.bool_],
    source: NDArray[Any],
    lanes: Lanes,
) -> KernelFault:
    """The fault of a lane that reads from one which its own mask does not name.

    Whether that one has returned by then is chance, so it does not matter. Lanes beyond the mask
    give poison in a shuffle up or down: there each lane reads a neighbour, and the last ones of a
    group drop what they get.
    """
    first = int(np.argmax(unnamed))
    place = wave.place(int(lanes.indices()[first]))
    return KernelFault(
        FaultKind.ABSENT_LANES,
        f"{place} reads from lane {int(source[first])} of its warp, which its mask does not name",
        line=instruction.line,
        expected="A shuffle reads from lanes that take part in it: those that the mask names.",
        advice="Name the lane that is read in the mask too, and let it execute the shuffle.",
        place=place,
    )


def check_sources(
    notes: dict[int | None, str],
    mode: str,
    wave: Wave,
    instruction: Instruction,
    source: warp.Sources,
    unnamed: NDArray[np.bool_] | None,
    lanes: Lanes,
) -> None:
    """Lanes may not read from one which their mask names and which is not there.

    A mask may name lanes that have returned: nobody waits for them. But the value of such a lane is
    undefined (CUDA C++ Programming Guide, "Warp shuffle functions"). A shuffle up or down may read
    it and drop it, as sums of groups do: that is noted.
    """
    gone = source.gone
    if gone is not None and unnamed is not None:
        gone = gone & ~unnamed
    if gone is None or not gone.any():
        return
    first = int(np.argmax(gone))
    place = wave.place(int(lanes.indices()[first]))
    reads = f"{place} reads from lane {int(source.lane[first])} of its warp"
    line = instruction.line or None
    returned = wave.thread[source.place[first]] < wave.threads
    if mode not in ("idx", "bfly"):
        if returned and line not in notes:
            at = f" at line {line}" if line else ""
            notes[line] = f"{reads}{at}, which has returned: the value is undefined"
        return
    missing = f"does not exist: the block has {wave.threads} threads"
    advice = "Launch whole warps, or read only from lanes that the block has."
    if returned:
        missing = "has returned"
        advice = "Let every lane come to the shuffle: guard what it reads and writes, not the lane."
    raise KernelFault(
        FaultKind.ABSENT_LANES,
        f"{reads}, which {missing}",
        line=line,
        expected="A shuffle reads from lanes that execute it: any other has no value to give.",
        advice=advice,
        place=place,
    )


def note_absent_votes(
    notes: dict[int | None, str], wave: Wave, instruction: Instruction, mask: Any, lanes: Lanes
) -> None:
    """A vote whose mask names lanes that have returned goes on without them."""
    line = instruction.line or None
    if lanes.index is None or line in notes or (wave.live == wave.threads).all():
        return
    returned = warp.as_masks((~wave.alive & (wave.thread < wave.threads)).reshape(-1, WARP))
    missing = np.broadcast_to(mask, (lanes.count,)) & returned[lanes.index // WARP]
    if not missing.any():
        return
    first = int(np.argmax(missing != 0))
    count = int(missing[first]).bit_count()
    have, they = ("lanes", "they have") if count > 1 else ("lane", "it has")
    notes[line] = (
        f"{count} {have} of the warp of {wave.place(int(lanes.index[first]))} had returned before "
        f"the vote{f' at line {line}' if line else ''}: {they} none"
    )


def _left_out(wave: Wave, instruction: Instruction, lane: int) -> KernelFault:
    place = wave.place(lane)
    return KernelFault(
        FaultKind.ABSENT_LANES,
        f"{place} is lane {lane % WARP} of its warp, which its own mask does not name",
        line=instruction.line,
        expected="A lane that executes a warp instruction is named by the mask it gives.",
        advice="Name every lane that comes here, or keep the others away with an if.",
        place=place,
    )
