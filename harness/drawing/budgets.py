"""What an SM has to give, and how many blocks of a kernel it holds before something runs out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.drawing.canvas import BLUE, INK, ON_PAINT, RED, Canvas
from simulator.occupancy import (
    KIB,
    REGISTERS_PER_SM,
    Resource,
    architecture_of,
    occupancy,
)

_LEFT, _WIDE, _HIGH, _STEP = 150.0, 470.0, 22.0, 32.0


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel at a block size."""

    says: str
    threads: int
    registers: int
    shared_bytes: int = 0
    architecture: str = "sm_90"


def budgets(title: str, launches: Sequence[Launch]) -> Canvas:
    """Four bars for each launch; each resident block fills a piece of all four."""
    canvas = Canvas(title)
    y = 18.0
    for launch in launches:
        y = _budget(canvas, y, launch) + 30
    return canvas


def _budget(canvas: Canvas, y: float, launch: Launch) -> float:
    sm = architecture_of(launch.architecture)
    found = occupancy(launch.architecture, launch.threads, launch.registers, 0, launch.shared_bytes)
    warps = f"{found.warps} of {sm.warps_per_sm} warps"
    blocks = "1 block" if found.blocks == 1 else f"{found.blocks} blocks"
    canvas.heading(y, launch.says, f"{blocks}, {warps}: {100 * found.fraction:.3g} %")
    top = y + 20
    bars: tuple[tuple[Resource, int, int, Callable[[int], str]], ...] = (
        (Resource.WARPS, -(-launch.threads // 32), sm.warps_per_sm, str),
        (Resource.BLOCKS, 1, sm.blocks_per_sm, str),
        (Resource.REGISTERS, found.registers_per_block, REGISTERS_PER_SM, "{:,}".format),
        (
            Resource.SHARED_MEMORY,
            found.shared_bytes_per_block,
            sm.shared_bytes_per_sm,
            _in_kib,
        ),
    )
    for k, (resource, each, budget, shown) in enumerate(bars):
        row = top + k * _STEP
        limits = resource in found.limited_by
        colour = RED if limits else BLUE
        canvas.text(_LEFT - 10, row + _HIGH / 2, f"{resource.value}", anchor="end", bold=limits)
        piece = _WIDE * each / budget
        for block in range(found.blocks):
            x = _LEFT + block * piece
            canvas.rectangle(x + 0.75, row, max(piece - 1.5, 1), _HIGH, colour, outline=None)
            if piece >= 20:
                canvas.text(x + piece / 2, row + _HIGH / 2, str(block), colour=ON_PAINT, size=12)
        canvas.rectangle(_LEFT, row, _WIDE, _HIGH)
        used = f"{shown(each * found.blocks)} of {shown(budget)}"
        canvas.text(_LEFT + _WIDE + 10, row + _HIGH / 2, used, anchor="start", size=12, colour=INK)
    return top + 3 * _STEP + _HIGH


def _in_kib(bytes_: int) -> str:
    return f"{bytes_ / KIB:g} KiB"
