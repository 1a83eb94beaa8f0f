"""Tensor-core instructions on registers alone, for all warps of a set of lanes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.tensor_products import Product
from simulator.reading.ptx import Instruction
from simulator.running.lanes import Lanes
from simulator.running.tensor_checks import check_whole_warps
from simulator.running.warp import EVERY_LANE

if TYPE_CHECKING:
    from simulator.running.execution import Execution

Array = NDArray[Any]
_ALL = np.uint32(EVERY_LANE)
_TILE = 8  # rows and columns, of halves: a warp holds one in a register


@dataclass(frozen=True, slots=True)
class Chosen:
    """The lanes that a guard lets through.

    place  of them among all `count`, or None: all of them
    """

    lanes: Lanes
    place: NDArray[np.intp] | None
    count: int

    def part(self, value: Any) -> Any:
        """What they have of [count] or a scalar."""
        return value if value.ndim == 0 or self.place is None else value[self.place]

    def spread(self, value: Array) -> Array:
        """[count], zero in the others."""
        full = np.zeros(self.count, value.dtype)
        full[self.place] = value
        return full


def chosen(lanes: Lanes, guard: Any) -> Chosen:
    if guard is None or guard.all():
        return Chosen(lanes, None, lanes.count)
    mask = np.broadcast_to(guard, (lanes.count,))
    return Chosen(lanes.select(mask), np.flatnonzero(mask), lanes.count)


def meet(run: "Execution", instruction: Instruction, lanes: Lanes) -> None:
    """All 32 lanes of each warp are here: what such an instruction begins with."""
    check_whole_warps(run.wave, instruction, lanes)
    run.meet(instruction.index, _ALL, lanes)


def transposed(word: Array) -> Array:
    """[count], the 8 x 8 halves that the lanes of each warp hold, transposed."""
    tiles = np.ascontiguousarray(word).view(np.uint16).reshape(-1, _TILE, _TILE)
    turned: Array = np.ascontiguousarray(tiles.transpose(0, 2, 1)).view(np.uint32).reshape(-1)
    return turned


class WarpProduct:
    """mma.sync or wmma.mma."""

    def __init__(self, instruction: Instruction, product: Product) -> None:
        self.instruction, self.product = instruction, product

    def multiply(
        self,
        run: "Execution",
        a: Sequence[Any],
        b: Sequence[Any],
        c: Sequence[Any],
        lanes: Lanes,
        guard: Any,
    ) -> tuple[Array, ...]:
        """The registers of d, each [count]; of lanes that the guard leaves out, zero."""
        some = chosen(lanes, guard)
        if some.place is not None:
            a, b, c = ([some.part(word) for word in words] for words in (a, b, c))
        meet(run, self.instruction, some.lanes)
        product, count = self.product, some.lanes.count
        kept = run.memory.cache.matrices
        left = kept.get(product.a, count, a, lambda: product.left(a, count))
        right = kept.get(product.b, count, b, lambda: product.right(b, count))
        made = product.of(left, right, c, count)
        return made if some.place is None else tuple(some.spread(word) for word in made)


class WarpTranspose:
    """movmatrix.sync.aligned.m8n8.trans.b16"""

    def __init__(self, instruction: Instruction) -> None:
        self.instruction = instruction

    def turn(self, run: "Execution", word: Any, lanes: Lanes, guard: Any) -> Array:
        """[count]; of lanes that the guard leaves out, zero."""
        some = chosen(lanes, guard)
        meet(run, self.instruction, some.lanes)
        turned = transposed(np.broadcast_to(some.part(word), (some.lanes.count,)))
        return turned if some.place is None else some.spread(turned)
