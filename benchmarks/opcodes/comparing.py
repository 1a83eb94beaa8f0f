"""Two machines' results side by side: bit for bit, or within a documented error."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.opcodes.cases import Case
from benchmarks.opcodes.formats import FORMATS, PAIRS, numbers
from simulator.instructions.documented_errors import Bound

Words = NDArray[Any]


@dataclass(slots=True)
class Compared:
    """nan_payload_differs  both are NaN, in other bits: neither equal nor differing
    outside               of the range that the document speaks of: not judged
    max_error             in units of the bound; max_ulp in units of the last place
    """

    operands: int = 0
    equal: int = 0
    differing: int = 0
    nan_payload_differs: int = 0
    outside: int = 0
    max_ulp: int | None = None
    max_error: float | None = None
    examples: list[dict[str, Any]] = field(default_factory=list)
    nan_example: dict[str, Any] | None = None


def compare(case: Case, inputs: list[Words], ours: list[Words], theirs: list[Words]) -> Compared:
    """ours: the simulator's; theirs: the GPU's. Arrays of words [bodies * lanes]."""
    told = Compared(operands=case.results)
    wrong = np.zeros(case.results, bool)
    payload = np.zeros(case.results, bool)
    same = np.ones(case.results, bool)
    outside = np.zeros(case.results, bool)
    for type_name, a, b in zip(case.outputs, ours, theirs, strict=True):
        differs = a != b
        nans = differs & _both_nan(type_name, a, b)
        differs &= ~nans
        if case.bound is not None:
            outside |= _outside(case, inputs)
            differs = _beyond(case.bound, type_name, a, b, outside, differs, told)
        wrong |= differs
        payload |= nans
        same &= a == b
    payload &= ~wrong
    told.differing += int(wrong.sum())
    told.nan_payload_differs = int(payload.sum())
    told.equal = int(same.sum())
    told.outside = int(outside.sum())
    for where in _first(np.flatnonzero(wrong)):
        told.examples.append(_example(case, inputs, ours, theirs, where))
    for where in np.flatnonzero(payload)[:1].tolist():
        told.nan_example = _example(case, inputs, ours, theirs, where)
    return told


def _first(places: NDArray[np.intp]) -> list[int]:
    """Not the first ones: those from all over say more."""
    return [int(places[k]) for k in sorted({0, len(places) // 2, len(places) - 1}) if len(places)]


def _example(
    case: Case, inputs: list[Words], ours: list[Words], theirs: list[Words], where: int
) -> dict[str, Any]:
    body, lane = divmod(where, case.lanes)
    told: dict[str, Any] = {"inputs": [hex(int(column[lane])) for column in inputs]}
    if len(case.bodies) > 1:
        told["body"] = case.bodies[body]
    for name, results in (("gpu", theirs), ("simulator", ours)):
        told[name] = [hex(int(result[where])) for result in results]
    return told


def _both_nan(type_name: str, a: Words, b: Words) -> Words:
    if type_name in PAIRS and PAIRS[type_name] in FORMATS:
        of = PAIRS[type_name]
        halves = [(x.astype(np.uint32).view(np.uint16).reshape(-1, 2)) for x in (a, b)]
        alike = (halves[0] == halves[1]) | (_is_nan(of, halves[0]) & _is_nan(of, halves[1]))
        every: Words = alike.all(axis=1)
        return every
    if type_name not in FORMATS:
        return np.zeros(len(a), bool)
    both: Words = _is_nan(type_name, a) & _is_nan(type_name, b)
    return both


def _is_nan(type_name: str, words: Words) -> Words:
    bits, fraction = FORMATS[type_name]
    infinity = (1 << (bits - 1)) - (1 << fraction)
    magnitude = words & words.dtype.type((1 << (bits - 1)) - 1)
    nan: Words = magnitude > words.dtype.type(infinity)
    return nan


# ---- approximate instructions


def _outside(case: Case, inputs: list[Words]) -> Words:
    bound = case.bound
    if bound is None or (bound.low == 0 and bound.high == float("inf")):
        return np.zeros(case.results, bool)
    size = np.abs(numbers(case.inputs[-1].split(":")[-1], inputs[-1]))
    within = (size >= bound.low) & (size <= bound.high)
    # NaN, infinity and zero have documented results of their own.
    settled = ~np.isfinite(size) | (size == 0)
    outside: Words = ~(within | settled)
    return outside


def _beyond(
    bound: Bound,
    type_name: str,
    ours: Words,
    theirs: Words,
    outside: Words,
    differs: Words,
    told: Compared,
) -> Words:
    """Where the GPU's result is further from the simulator's, which is the true one rounded, than
    the document and that rounding allow. A relative error of a subnormal result is taken relative
    to the smallest normal number: below it the last place gets no finer."""
    of = PAIRS.get(type_name, type_name)
    a, b = numbers(type_name, ours), numbers(type_name, theirs)
    fraction = FORMATS[of][1]
    smallest = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}[of]
    exponent = np.maximum(np.frexp(np.where(np.isfinite(a), a, 0))[1] - 1, smallest)
    last_place = np.ldexp(1.0, exponent - fraction)
    with np.errstate(all="ignore"):
        distance = np.abs(b - a)
        size = np.maximum(np.abs(a), 2.0**smallest)
        relative = distance / size
        allowed = {
            "ulp": bound.error * last_place,
            "relative": bound.error * size,
            "absolute": np.full(a.shape, bound.error),
            "either": np.maximum(bound.error, bound.error * size),
        }[bound.kind] + last_place / 2
        judged = np.isfinite(a) & np.isfinite(b)
        inside = judged & ~(outside if a.ndim == 1 else outside[:, None])
        if inside.any():
            units = {"ulp": distance / last_place, "relative": relative, "absolute": distance}
            errors = units.get(bound.kind, np.minimum(distance, relative))[inside]
            told.max_error = max(told.max_error or 0.0, float(np.nanmax(errors)))
            told.max_ulp = max(told.max_ulp or 0, int((distance / last_place)[inside].max()))
        fails = np.where(judged, distance > allowed, ~((a == b) | (np.isnan(a) & np.isnan(b))))
    if fails.ndim == 2:
        fails = fails.any(axis=1)
    beyond: Words = differs & fails & ~outside
    return beyond
