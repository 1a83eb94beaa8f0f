"""A copy (cp.async) that some lanes have started: which bytes it moves, and for whom."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access, Copy, Kind, Space
from simulator.reading.ptx import Instruction
from simulator.running.lanes import Lanes


class CopyInstruction:
    """A cp.async as it stands in the code.

    size         bytes for each lane: 4, 8 or 16
    destination  its access to shared memory
    """

    def __init__(self, instruction: Instruction, size: int) -> None:
        self.instruction = instruction
        self.size = size
        self.destination = self._access(Space.SHARED, Kind.STORE, size)
        self.source = self._access(Space.GLOBAL, Kind.LOAD, size)
        self._narrow: dict[int, Access] = {}

    def _access(self, space: Space, kind: Kind, size: int) -> Access:
        word = min(size, 8)
        return Access(
            self.instruction,
            space,
            kind,
            np.dtype(f"u{word}"),
            size // word,
            strong=False,
            reads=kind is Kind.LOAD,
            copies=True,
        )

    def loads(self, valid: int) -> list[tuple[Access, int]]:
        """The loads that bring the first `valid` bytes, 1 .. size, and how far behind each begins.

        Each is as wide as its place is aligned: 8, then 4, then 2, then 1 byte.
        """
        if valid == self.size:
            return [(self.source, 0)]
        found, begin = [], 0
        for width in (8, 4, 2, 1):
            if valid & width:
                if width not in self._narrow:
                    self._narrow[width] = self._access(Space.GLOBAL, Kind.LOAD, width)
                found.append((self._narrow[width], begin))
                begin += width
        return found


@dataclass(frozen=True, slots=True)
class Part:
    """Lanes of a copy that copy the same number of bytes.

    mask  [lanes of the copy] which they are; None: all
    """

    mask: NDArray[np.bool_] | None
    valid: int
    lanes: Lanes
    source: Any  # base addresses [lanes.count], or one


@dataclass(slots=True)
class Underway:
    """A copy, or the lanes of one, that nobody has waited for yet.

    valid  bytes that come from the source, [lanes.count] or one number; the others are zero
    group  of the lane, counted from its first: [lanes.count] or one number
    """

    what: CopyInstruction
    told: Copy
    to: Any
    to_offset: int
    source: Any
    source_offset: int
    valid: Any
    lanes: Lanes
    group: Any

    def select(self, mask: NDArray[np.bool_], lanes: Lanes) -> "Underway":
        """Only those for which the mask [lanes.count] holds: `lanes`."""
        return Underway(
            self.what,
            self.told,
            part_of(self.to, mask),
            self.to_offset,
            part_of(self.source, mask),
            self.source_offset,
            part_of(self.valid, mask),
            lanes,
            part_of(self.group, mask),
        )

    def parts(self) -> list[Part]:
        """Who copies how many bytes; not those who copy none."""
        valid = self.valid
        if valid.ndim and (valid == valid[0]).all():
            valid = valid[0]
        if valid.ndim == 0:
            return [Part(None, int(valid), self.lanes, self.source)] if valid else []
        found = []
        for size in np.flatnonzero(np.bincount(valid)).tolist():
            if size:
                mask = valid == size
                found.append(Part(mask, size, self.lanes.select(mask), part_of(self.source, mask)))
        return found


def part_of(values: Any, mask: NDArray[np.bool_]) -> Any:
    """What some lanes have of values [count]; a number is the same for all."""
    return values if values.ndim == 0 else values[mask]
