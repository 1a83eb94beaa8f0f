"""What a warp must agree on before a tensor-core instruction, and the faults where it does not.

These instructions are `.aligned`: all 32 lanes of a warp execute the same one, none has returned,
and a matrix in memory has one address and one stride for all of them. Hardware looks at none of it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault
from simulator.reading.ptx import Instruction
from simulator.running.lanes import WARP, Lanes
from simulator.running.memory import Memory
from simulator.running.wave import Wave


def check_whole_warps(wave: Wave, instruction: Instruction, lanes: Lanes) -> None:
    """Each warp that has a lane here has all 32."""
    if lanes.complete(WARP):
        return
    assert lanes.index is not None
    present = np.zeros(wave.size, bool)
    present[lanes.index] = True
    rows = present.reshape(-1, WARP)
    warp = int(np.argmax(rows.any(axis=1) & ~rows.all(axis=1)))
    missing = np.flatnonzero(~rows[warp])
    first = warp * WARP + int(missing[0])
    count = f" ({len(missing)} of its 32 lanes are missing)" if len(missing) > 1 else ""
    place = wave.place(warp * WARP + int(np.argmax(rows[warp])))
    if int(wave.thread[first]) >= wave.threads:
        why = "does not exist: the block is no multiple of 32 threads"
        advice = "Launch blocks of whole warps, and let whole warps skip what they have no part in."
    elif not wave.alive[first]:
        why = "has returned"
        advice = "Let no lane return before it: guard what the lane must not touch, not the lane."
    else:
        why = "is elsewhere"
        advice = "Move it out of the if, or make the condition the same for all lanes of a warp."
    raise KernelFault(
        FaultKind.DIVERGENT_WARP,
        f"{place} executes {spoken(instruction)} without lane {missing[0]} of its warp, which {why}"
        f"{count}",
        line=instruction.line,
        expected="All 32 lanes of a warp execute a tensor-core instruction together.",
        advice=advice,
        place=place,
    )


def check_one_for_the_warp(
    wave: Wave, instruction: Instruction, values: Any, what: str, memory: Memory, lanes: Lanes
) -> None:
    """values  [count] or a scalar: the addresses or the strides that the lanes give"""
    if values.ndim == 0:
        return
    rows = values.reshape(-1, WARP)
    differs = rows != rows[:, :1]
    if not differs.any():
        return
    first = int(np.argmax(differs))
    own, others = values[first], rows[first // WARP, 0]
    if what == "address":
        given = f"{_named(memory, own)}, and lane 0 gives {_named(memory, others)}"
    else:
        given = f"{int(own)}, and lane 0 gives {int(others)}"
    place = wave.place(int(lanes.indices()[first]))
    raise KernelFault(
        FaultKind.DIVERGENT_WARP,
        f"{place}, lane {first % WARP} of its warp, gives {spoken(instruction)} the {what} {given}",
        line=instruction.line,
        expected=f"All 32 lanes of a warp give the same {what}: the matrix belongs to the warp.",
        advice="Make it of the warp's number, threadIdx.x / 32, and not of the lane's.",
        place=place,
    )


def check_matrix_is_aligned(
    wave: Wave, instruction: Instruction, address: NDArray[Any], to: int, memory: Memory,
    lanes: Lanes,
) -> None:  # fmt: skip
    """address  [count]; to  a power of two, in bytes"""
    wrong = (address & address.dtype.type(to - 1)) != 0
    if not wrong.any():
        return
    first = int(np.argmax(wrong))
    place = wave.place(int(lanes.indices()[first]))
    raise KernelFault(
        FaultKind.MISALIGNED,
        f"{place} gives {spoken(instruction)} a matrix that begins at "
        f"{_named(memory, address[first])}, which is no multiple of {to} bytes",
        line=instruction.line,
        expected=f"This matrix begins at a multiple of {to} bytes (PTX ISA, Matrix Storage for "
        "WMMA).",
        advice="Let tiles begin at multiples of their own size, and shared arrays have "
        "__align__(32).",
        place=place,
    )


def check_stride(
    wave: Wave, instruction: Instruction, stride: Any, bits: int, to: int, lanes: Lanes
) -> None:
    """stride  of elements of so many bits; to  bytes of which it must be a multiple"""
    wrong = np.atleast_1d(stride.astype(np.int64) * bits % (8 * to) != 0)
    if not wrong.any():
        return
    first = int(np.argmax(wrong))
    place = wave.place(int(lanes.indices()[first]))
    given = int(np.atleast_1d(stride)[first])
    raise KernelFault(
        FaultKind.MISALIGNED,
        f"{place} gives {spoken(instruction)} rows that are {given} elements apart, "
        f"{given * bits / 8:g} bytes",
        line=instruction.line,
        expected=f"ldm is a multiple of {to} bytes, {8 * to // bits} elements of this type.",
        advice="Pad the rows of the array to a multiple of that.",
        place=place,
    )


def spoken(instruction: Instruction) -> str:
    """Its name as the learner may know it."""
    parts = instruction.parts
    if parts[0] == "wmma":
        return {"load": "load_matrix_sync", "store": "store_matrix_sync", "mma": "mma_sync"}[
            parts[1]
        ]
    return parts[0]


def _named(memory: Memory, address: Any) -> str:
    """An address as buffer[index], or as a byte of shared memory."""
    found = memory.map.find(int(address))
    if found is None:
        return f"byte {int(address) & 0xFFFF_FFFF} of shared memory"
    buffer, base = found
    byte = int(address) - base - buffer.origin
    size = 1 if buffer.element is None else buffer.element.itemsize
    return f"{buffer.name}[{byte // size}]" + (f" + {byte % size} bytes" if byte % size else "")
