"""The cases of the agreement: which stored kernel is launched, and how."""

import tomllib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from simulator import Buffer, Pointer, Settings, launch, parse
from tests.simulator.agreement.recipes import Argument, made

FOLDER = Path(__file__).parent
# What ptxas does to a kernel and no PTX shows. Predicated loads are none of it: a warp of which all
# lanes are switched off asks memory for nothing, and no counter here counts it.
REASONS = ("aggregated atomics", "if-conversion")


@dataclass(frozen=True)
class Case:
    name: str
    family: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    recipes: tuple[str, ...]
    shared_bytes: int = 0  # dynamic
    different: str | None = None  # one of REASONS where the counters may differ

    @property
    def ptx(self) -> Path:
        return FOLDER / f"{self.family}.ptx"

    def arguments(self) -> list[Argument]:
        """Made anew: a launch changes them."""
        return [made(recipe) for recipe in self.recipes]


@cache
def cases() -> tuple[Case, ...]:
    """In the order of the file, which is the order of the recorded launches."""
    families = tomllib.loads((FOLDER / "cases.toml").read_text(encoding="utf-8"))
    return tuple(
        Case(
            name=entry["name"],
            family=family,
            kernel=entry.get("kernel", entry["name"]),
            grid=_three(entry["grid"]),
            block=_three(entry["block"]),
            recipes=tuple(entry["arguments"]),
            shared_bytes=entry.get("shared_bytes", 0),
            different=entry.get("different"),
        )
        for family, entries in families.items()
        for entry in entries
    )


def fingerprint(case: Case) -> str:
    """Changes with the stored PTX and with what is launched: a recording belongs to one of them."""
    launch_ = repr((case.kernel, case.grid, case.block, case.recipes, case.shared_bytes))
    return sha256(case.ptx.read_bytes() + launch_.encode()).hexdigest()[:12]


def simulated(case: Case):
    """(what the launch counted, its arguments after it)."""
    arguments = case.arguments()
    given = [
        Pointer(Buffer(f"argument {number}", a.value.view(np.uint8), a.value.dtype))
        if isinstance(a.value, np.ndarray)
        else a.value
        for number, a in enumerate(arguments)
    ]
    entry = _entries(case.ptx)[case.kernel]
    launched = launch(entry, case.grid, case.block, given, case.shared_bytes, Settings())
    return launched.counters, arguments


@cache
def _entries(ptx: Path):
    return parse(ptx.read_text(encoding="utf-8")).entries


def _three(sizes):
    return tuple(sizes) + (1,) * (3 - len(sizes))
