"""All programs, subject by subject."""

from tests.simulator.programs import (
    asynchronous,
    atomics,
    barriers,
    bounds,
    cooperative,
    departures,
    flags,
    grids,
    hazards,
    locks,
    pipelines,
    scopes,
    shuffles,
    tiles,
    undefined,
    warps,
    widths,
)

MODULES = (
    tiles, hazards, warps, shuffles, barriers, widths, bounds, atomics, locks,
    flags, pipelines, scopes, grids, cooperative, asynchronous, departures, undefined,
)  # fmt: skip
PROGRAMS = {program.name: program for module in MODULES for program in module.SUBJECT.programs}
