"""Undefined values of one wave: what the generated code asks and tells, and where they matter.

The code follows them through registers (`translating/shadows.py`); what memory holds of them is
known to `undefined_memory.py`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.definedness import is_defined, settled, spread
from simulator.observing.events import Access, MemoryEvent, Space
from simulator.reading.operands import elements
from simulator.running.lanes import Lanes
from simulator.running.memory import joined
from simulator.running.undefined_memory import Shadow, ShadowMemory, Shadows
from simulator.running.undefined_words import Reading, undefined_value
from simulator.undefined import Matter

if TYPE_CHECKING:
    from simulator.running.execution import Execution
    from simulator.translating.definedness import Followed


class UndefinedValues(ShadowMemory):
    """What the generated code calls.

    silent  nobody wants to be told: another wave is only tried
    """

    def __init__(self, followed: "Followed", silent: bool = False) -> None:
        super().__init__(followed)
        self.silent = silent
        self._printing = 0

    def attach(self, run: "Execution") -> None:
        """Serve the code of this wave from now on."""
        self.run = run
        self.wave = run.wave
        run.undefined = self

    def silently(self, run: "Execution") -> None:
        """Serve a wave that is only tried."""
        other = UndefinedValues(self.followed, silent=True)
        other.wave_started(run.wave)
        other.attach(run)

    # ---- where it matters

    def decides(self, number: int, register: str, shadow: Shadow, lanes: Lanes, _: Any) -> None:
        """A branch, a guard, or whom a warp instruction names."""
        self._check(Matter.DECISION, number, register, shadow, lanes, None)

    def points(self, number: int, register: str, shadow: Shadow, lanes: Lanes, guard: Any) -> None:
        """An address, for the lanes that take part."""
        self._check(Matter.ADDRESS, number, register, shadow, lanes, guard)

    def joined(
        self, name: str, written: dict[str, np.dtype[Any]], registers: Any, lanes: Lanes
    ) -> None:
        """Lanes come from the arms of a branch that only compute: see `undecided.py`.

        name     of who has taken it on an undefined value
        written  shadows of what the arms write
        """
        unsure = registers.read(name, lanes, np.dtype(bool))
        if is_defined(unsure):
            return
        registers.write(name, np.bool_(False), lanes)
        if unsure.any():
            for shadow, dtype in written.items():
                before = registers.read(shadow, lanes, dtype)
                registers.write(shadow, before | spread(unsure, dtype), lanes)

    def printing(self, number: int) -> None:
        self._printing = number

    def printed(self, lane: int, offset: int, size: int) -> None:
        """A lane prints `size` bytes of its local memory."""
        start = lane * self.wave.local_stride + offset
        if self.followed.local and self.of_local().data[start : start + size].any():
            self._tell(Matter.PRINT, self._printing, "", lane)

    def store(
        self, access: Access, base: Any, offset: int, shadows: Shadows, lanes: Lanes, guard: Any
    ) -> None:
        """Values are about to be stored, perhaps to global memory, where all must be defined."""
        for event, parts in self.events(access, base, offset, shadows, lanes, guard):
            if event.access.space is not Space.GLOBAL:
                continue
            for k, shadow in enumerate(parts):
                if not is_defined(shadow) and shadow.any():
                    place = int(np.argmax(np.broadcast_to(shadow != 0, (event.lanes.count,))))
                    register = elements(access.instruction.operands[1])[k]
                    self._tell_at(Matter.STORE, event, place, k, register)

    def update(
        self,
        access: Access,
        base: Any,
        offset: int,
        shadows: Shadows,
        lanes: Lanes,
        guard: Any,
        exchanges: bool,
    ) -> Shadows:
        """An atomic is about to update memory; the shadow of what it gives back.

        exchanges  what was there does not matter, until somebody uses it
        """
        sources = access.instruction.operands[-len(shadows) :]
        for k, shadow in enumerate(shadows):
            for event, (part,) in self.events(access, base, offset, (shadow,), lanes, guard):
                if not is_defined(part) and part.any():
                    place = int(np.argmax(np.broadcast_to(part != 0, (event.lanes.count,))))
                    self._tell_at(Matter.ATOMIC, event, place, 0, sources[k])
        held = self.load(access, base, offset, lanes, guard)
        if is_defined(held[0]) or not held[0].any():
            return (settled(held[0]),)
        if not exchanges:
            for event, (part,) in self.events(access, base, offset, held, lanes, guard):
                if not is_defined(part) and part.any():
                    place = int(np.argmax(np.broadcast_to(part != 0, (event.lanes.count,))))
                    self._tell_at(Matter.UPDATE, event, place, 0, "")
        self.mark(access, base, offset, (held[0].dtype.type(0),), lanes, guard)
        return held

    def _check(
        self, matter: Matter, number: int, register: str, shadow: Shadow, lanes: Lanes, guard: Any
    ) -> None:
        if is_defined(shadow):
            return
        bad = shadow != 0 if guard is None else (shadow != 0) & guard
        if bad.any():
            place = int(np.argmax(np.broadcast_to(bad, (lanes.count,))))
            self._tell(matter, number, register, int(lanes.indices()[place]))

    def _tell_at(
        self, matter: Matter, event: MemoryEvent, place: int, element: int, register: str
    ) -> None:
        lane = int(event.lanes.indices()[place])
        number = event.access.instruction.index
        self._tell(matter, number, register, lane, Reading.of(event, place, element))

    def _tell(
        self, matter: Matter, number: int, register: str, lane: int, at: Reading | None = None
    ) -> None:
        if not self.silent:
            raise undefined_value(self, matter, number, register, lane, at)

    # ---- matrices

    def matrix(self, access: Any, count: int, zero: Any, *rest: Any) -> Shadows:
        """The shadows of the registers that a wmma.load or ldmatrix fills: `count` of them."""
        if self.shared is None and not self.followed.sources.fresh:
            return (zero,) * count
        return tuple(settled(word) for word in access.load(self.shadowed, *rest))

    @property
    def shadowed(self) -> "_Shadowed":
        """For instructions on matrices: a run whose memory is the shadow."""
        return _Shadowed(self)


class _Shadowed:
    """Stands in for the run where an instruction moves a matrix: what is moved are shadows."""

    def __init__(self, values: UndefinedValues) -> None:
        self._values = values
        self.wave = values.wave
        self.memory = self
        self.map = values.run.memory.map

    def meet(self, number: int, mask: Any, lanes: Lanes) -> None:
        """They have met, or are about to."""

    def load(self, access: Access, base: Any, offset: int, lanes: Lanes, guard: Any) -> Shadows:
        held = self._values.load(access, base, offset, lanes, guard)
        return tuple(np.array(np.broadcast_to(shadow, (lanes.count,))) for shadow in held)

    def load_whole(self, access: Access, base: Any, offset: int, lanes: Lanes) -> NDArray[Any]:
        return joined(self._values.load(access, base, offset, lanes, None), access, lanes.count)

    def store(
        self, access: Access, base: Any, offset: int, shadows: Shadows, lanes: Lanes, guard: Any
    ) -> None:
        self._values.store(access, base, offset, shadows, lanes, guard)
        self._values.mark(access, base, offset, shadows, lanes, guard)
