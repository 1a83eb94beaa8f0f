"""Recorded measurements: the points that a trade-off has to predict.

`references/measured/<gpu>.json` is written on a GPU by `benchmarks/record_sweeps.py`:

    {"device": "NVIDIA H200", "recorded": "2026-11-30", "versions": {"torch": "2.11", …},
     "sweeps": {"working_set": [{"bytes": 16777216, "gigabytes_per_second": 8400.0}, …], …}}

A sweep is a list of points, a point a dictionary of numbers with their units in the keys.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "measured"

Point = dict[str, Any]


class MeasurementMissing(LookupError):
    """A measurement that nobody has recorded yet: which one, and how to record it."""


@cache
def recording(gpu: str = "h200") -> dict[str, Any]:
    """All that one GPU recorded: device, versions and sweeps."""
    path = FOLDER / f"{gpu}.json"
    if not path.exists():
        raise MeasurementMissing(
            f"references/measured/{path.name} is not there: nothing is recorded for {gpu}.\n"
            f"  On a machine with that GPU run: python benchmarks/record_sweeps.py"
        )
    recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return recorded


def sweep(name: str, gpu: str = "h200") -> list[Point]:
    """The points of one sweep, in the order in which they were recorded."""
    sweeps: dict[str, list[Point]] = recording(gpu).get("sweeps", {})
    if not sweeps.get(name):
        known = ", ".join(sorted(sweeps)) or "none"
        raise MeasurementMissing(
            f"references/measured/{gpu}.json holds no points of the sweep '{name}' "
            f"(it holds: {known}).\n"
            f"  On a machine with that GPU run: python benchmarks/record_sweeps.py --sweep {name}"
        )
    return sweeps[name]
