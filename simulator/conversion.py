"""Conversions between types. NumPy's `astype` neither saturates nor rounds as PTX asks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.float_arithmetic import flush, rectify, saturate
from simulator.float_rounding import ZERO, Exact, directed, two_sum, wide
from simulator.half_arithmetic import READ, to_bfloat, to_odd_float
from simulator.rows import Compute, Operation, Spelling, Unit
from simulator.types import DTYPES, FLOATS, HALVES, INTEGERS, Values, choose, unsigned

Convert = Callable[[Values], Values]

LARGEST = {"f16": 65504.0, "bf16": 2.0**128 - 2.0**120}  # the finite ends, for .satfinite
# fmt: off
TO_WHOLE: dict[str, Convert] = {
    "rni": np.rint,   # ties to even
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
DIRECTED = ("rz", "rm", "rp")
ACCEPTED = TO_WHOLE.keys() | {"rn", *DIRECTED, "rna", "sat", "ftz", "relu", "satfinite"}
# fmt: on


def convert(spelling: Spelling) -> Operation:
    """`cvt.rounding.ftz.sat.result.source`, or `cvt.rn.f16x2.f32 d, high, low`."""
    if len(spelling.types) != 2 or not spelling.modifiers <= ACCEPTED:
        raise spelling.unknown()
    result, source = spelling.types
    if result in ("f16x2", "bf16x2") and source == "f32":
        return Operation(_pack(spelling), ("f32", "f32"), (result,), Unit.CONVERT)
    if result == "tf32":
        return Operation(_to_tf32(spelling), ("f32",), ("f32",), Unit.CONVERT)
    if not {result, source} <= INTEGERS | FLOATS | {"f16", "bf16"}:
        raise spelling.unknown()
    compute = CONVERSIONS[source in INTEGERS, result in INTEGERS](spelling)
    return Operation(compute, (source,), (result,), Unit.CONVERT)


def _integer_to_integer(spelling: Spelling) -> Compute:
    """Sign- or zero-extend by the source's type, or drop the upper bits; `.sat` clamps instead."""
    to, source = DTYPES[spelling.types[0]], DTYPES[spelling.types[1]]
    if "sat" not in spelling.modifiers:
        return lambda a: a.astype(to)
    low = source.type(max(np.iinfo(to).min, np.iinfo(source).min))
    high = source.type(min(np.iinfo(to).max, np.iinfo(source).max))
    return lambda a: np.clip(a, low, high).astype(to)


def _float_to_integer(spelling: Spelling) -> Compute:
    """Round to a whole number, then clamp to the integer's range. NaN becomes 0, or for float64
    sources and 64-bit results the number whose only set bit is the highest."""
    result, source = spelling.types
    to = DTYPES[result]
    whole = TO_WHOLE[spelling.one_of(TO_WHOLE)]
    read = _reader(spelling)
    lowest, highest = np.iinfo(to).min, np.iinfo(to).max
    of_nan = 1 << (8 * to.itemsize - 1) if source == "f64" or to.itemsize == 8 else 0
    nan_value = np.array(of_nan, f"u{to.itemsize}").view(to)
    beyond = np.float64(highest) if to.itemsize == 8 else np.float64(highest) + 1
    inside = np.nextafter(beyond, 0) if to.itemsize == 8 else np.float64(highest)

    def compute(a: Values) -> Values:
        number = whole(wide(read(a)))
        clamped = np.fmin(np.fmax(number, np.float64(lowest)), inside).astype(to)
        if to.itemsize == 8:  # float64 has no 2**63 - 1
            clamped = choose(number >= beyond, to.type(highest), clamped)
        nan = number != number
        return choose(nan, nan_value, clamped) if nan.any() else clamped

    return compute


def _integer_to_float(spelling: Spelling) -> Compute:
    result, source = spelling.types
    mode = _mode(spelling)
    if mode == "rn" and result in FLOATS and not spelling.modifiers & {"sat"}:
        to = DTYPES[result]
        return lambda a: a.astype(to)
    finish = _finisher(spelling, result)
    if DTYPES[source].itemsize < 8:
        return lambda a: finish(wide(a), ZERO)

    def compute(a: Values) -> Values:  # 64 bits: the halves are exact in float64, the sum is not
        low = a & a.dtype.type(0xFFFFFFFF)
        return finish(*two_sum(wide(a - low), wide(low)))

    return compute


def _float_to_float(spelling: Spelling) -> Compute:
    result, source = spelling.types
    read = _reader(spelling)
    whole = spelling.modifiers & TO_WHOLE.keys()
    if whole:
        to_whole = TO_WHOLE[spelling.one_of(TO_WHOLE)]
        reader = read
        read = lambda a: to_whole(reader(a))  # noqa: E731
    plain = not spelling.modifiers & {"sat", "relu", "ftz", *DIRECTED, "satfinite"}
    if plain and result == "bf16":
        return lambda a: to_bfloat(_single(read(a)))
    if plain:
        to = DTYPES[result]
        return lambda a: read(a).astype(to)
    finish = _finisher(spelling, result)
    return lambda a: finish(wide(read(a)), ZERO)


def _single(values: Values) -> Values:
    """To float32, in the way that a second rounding, to bf16, cannot notice."""
    return values if values.dtype.itemsize <= 4 else to_odd_float(values, ZERO)


def _mode(spelling: Spelling) -> str:
    modes = spelling.modifiers & {"rn", *DIRECTED}
    if "rna" in spelling.modifiers or len(modes) > 1:
        raise spelling.unknown()
    return next(iter(modes), "rn")


def _reader(spelling: Spelling) -> Convert:
    source = spelling.types[-1]
    if source in HALVES:
        return READ[source]
    if "ftz" in spelling.modifiers and source == "f32":
        return flush
    return lambda a: a


def _finisher(spelling: Spelling, result: str) -> Callable[[Values, Values], Values]:
    """What clamps a float64 (and what it lost) and rounds it to the result's type."""
    clamps: list[Convert] = []
    if "satfinite" in spelling.modifiers and result not in LARGEST:
        raise spelling.unknown()
    if "sat" in spelling.modifiers:
        clamps.append(saturate)
    if "relu" in spelling.modifiers:
        clamps.append(rectify)
    if "satfinite" in spelling.modifiers:
        largest = np.float64(LARGEST[result])
        clamps.append(lambda value: np.clip(value, -largest, largest))
    narrow = _narrow(spelling, result, _mode(spelling))
    if "ftz" in spelling.modifiers and result == "f32":
        rounded = narrow
        narrow = lambda exact: flush(rounded(exact))  # noqa: E731

    def finish(value: Values, lost: Values) -> Values:
        for clamp in clamps:
            clamped = clamp(value)
            value, lost = clamped, choose(clamped == value, lost, ZERO)
        return narrow((value, lost))

    return finish


def _narrow(spelling: Spelling, result: str, mode: str) -> Callable[[Exact], Values]:
    if result == "bf16":
        if mode == "rn":
            return lambda exact: to_bfloat(to_odd_float(*exact))
        if mode == "rz":
            return lambda exact: _upper_half(directed(exact, DTYPES["f32"], "rz"))
        raise spelling.unknown()
    dtype = DTYPES[result]
    if mode == "rn":
        # Only a 64-bit integer loses anything in float64, and then it is too large for an f16.
        return lambda exact: exact[0].astype(dtype)
    return lambda exact: directed(exact, dtype, mode)


def _upper_half(values: Values) -> Values:
    upper = (unsigned(values) >> np.uint32(16)).astype(np.uint16)
    nan = values != values
    return choose(nan, np.uint16(0x7FFF), upper)


def _pack(spelling: Spelling) -> Compute:
    """The first operand goes to the upper half."""
    half = "f16" if spelling.types[0] == "f16x2" else "bf16"
    one = _float_to_float(
        Spelling(spelling.opcode, spelling.name, spelling.modifiers, (half, "f32"))
    )

    def compute(high: Values, low: Values) -> Values:
        upper, lower = (unsigned(one(x)).astype(np.uint32) for x in (high, low))
        return upper << np.uint32(16) | lower

    return compute


def _to_tf32(spelling: Spelling) -> Compute:
    """tf32 is float32 with 10 fraction bits: 13 fewer. `.rna` rounds ties away from zero."""
    mode = spelling.one_of(("rna", "rn", "rz"))
    if len(spelling.modifiers) > 1:
        raise spelling.unknown()

    def compute(a: Values) -> Values:
        word: Any = unsigned(a)
        if mode == "rna":
            word = word + np.uint32(0x1000)
        elif mode == "rn":
            word = word + (np.uint32(0xFFF) + (word >> np.uint32(13) & np.uint32(1)))
        rounded = (word & np.uint32(0xFFFFE000)).view(np.float32)
        return choose(np.isfinite(a), rounded, a)

    return compute


# By whether the source and the result are integers.
CONVERSIONS: dict[tuple[bool, bool], Callable[[Spelling], Compute]] = {
    (True, True): _integer_to_integer,
    (True, False): _integer_to_float,
    (False, True): _float_to_integer,
    (False, False): _float_to_float,
}


def convert_address(spelling: Spelling) -> Operation:
    """`cvta`: one address means the same in every space here."""
    if len(spelling.types) != 1:
        raise spelling.unknown()
    return Operation(lambda a: a, spelling.types, spelling.types, Unit.ALU)
