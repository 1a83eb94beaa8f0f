"""Conversions between types. NumPy's `astype` neither saturates nor rounds as PTX asks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.instructions import narrow_conversion
from simulator.instructions.float_arithmetic import NAN, flush, has_nan
from simulator.instructions.float_rounding import ZERO, Exact, directed, two_sum, wide
from simulator.instructions.half_arithmetic import (
    BFLOAT_NAN,
    CLAMPS,
    LOWER_HALF,
    READ,
    from_bfloat,
    to_bfloat,
    to_odd_float,
)
from simulator.instructions.half_conversion import HALF_NAN, to_half
from simulator.instructions.rows import Compute, Operation, Spelling, Unit
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
# The NaN that conversions write; float64's is float32's, widened.
NANS: dict[str, Any] = {
    "f16": HALF_NAN,
    "bf16": BFLOAT_NAN,
    "f32": NAN,
    "f64": np.uint64(0x7FFFFFFFE0000000).view(np.float64),
}
# Here NumPy's casts do with a NaN what the hardware does.
KEPT_BY_NUMPY = {("f32", "f64"), ("f16", "f64"), ("bf16", "f64"), ("f64", "f32"), ("f64", "f64")}
# Conversions that are copies of bits, whatever rounding they name.
MOVES: dict[tuple[str, str], Compute] = {
    ("f32", "f32"): np.positive,
    ("f64", "f64"): np.positive,
    ("bf16", "f32"): from_bfloat,
}
SEEN = TO_WHOLE.keys() | {"ftz", "sat"}  # what makes more of them


def convert(spelling: Spelling) -> Operation:
    """`cvt.rounding.ftz.sat.result.source`, `cvt.rn.f16x2.f32 d, high, low`, or `cvt.pack`."""
    if "pack" in spelling.modifiers:
        return narrow_conversion.pack_integers(spelling)
    if len(spelling.types) != 2 or not spelling.modifiers <= ACCEPTED:
        raise spelling.unknown()
    result, source = spelling.types
    if result in ("f16x2", "bf16x2") and source == "f32":
        return Operation(_pack(spelling), ("f32", "f32"), (result,), Unit.CONVERT)
    if result == "tf32":
        return narrow_conversion.to_tf32(spelling)
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
    unit = [lambda a: np.clip(a, 0, 1)] if "sat" in spelling.modifiers else []
    if mode == "rn" and result in FLOATS:
        return _chained(*unit, lambda a: a.astype(DTYPES[result]))
    narrow = _narrow(spelling, result, mode)
    if DTYPES[source].itemsize < 8:
        return _chained(*unit, lambda a: narrow((wide(a), ZERO)))

    def exactly(a: Values) -> Exact:  # the halves are exact in float64, their sum is not
        low = a & a.dtype.type(0xFFFFFFFF)
        return two_sum(wide(a - low), wide(low))

    return _chained(*unit, exactly, narrow)


def _float_to_float(spelling: Spelling) -> Compute:
    """NaN apart: which one comes out is a matter of its own."""
    result, source = spelling.types
    steps: list[Compute] = [_reader(spelling)]
    if spelling.modifiers & TO_WHOLE.keys():
        steps.append(TO_WHOLE[spelling.one_of(TO_WHOLE)])
    steps += _clamps(spelling, result)
    mode = _mode(spelling)
    if (source, result) in MOVES and not spelling.modifiers & SEEN:
        return MOVES[source, result]
    if mode != "rn":
        narrow = _narrow(spelling, result, mode)
        steps.append(lambda a: narrow((wide(a), ZERO)))
    elif result == "bf16":
        steps += [_single, to_bfloat]
    elif result == "f16":
        steps.append(to_half)
        if source != "f64" and not spelling.modifiers & CLAMPS.keys():
            return _chained(*steps)  # with the NaN of NANS
    elif result != source:
        steps.append(lambda a: a.astype(DTYPES[result]))
    if "ftz" in spelling.modifiers and result == "f32":
        steps.append(flush)
    return _with_nan(_chained(*steps), spelling)


def _with_nan(convert_numbers: Compute, spelling: Spelling) -> Compute:
    """Gives NaN operands the NaN that an H200 gives: one for each type of result. float64 and what
    is made of it keep their upper bits instead, with the bit that says quiet."""
    result, source = spelling.types
    flushes = source == "f32" and "ftz" in spelling.modifiers
    if "sat" in spelling.modifiers or ((source, result) in KEPT_BY_NUMPY and not flushes):
        return convert_numbers
    read = READ.get(source, np.positive)
    # A NaN stays one, but in a clamp; bf16 is held as bits.
    in_result = result != "bf16" and not spelling.modifiers & CLAMPS.keys()

    def compute(a: Values) -> Values:
        numbers = convert_numbers(a)
        if in_result and result == "f32" and not has_nan(numbers):
            return numbers
        nan = np.isnan(numbers if in_result else read(a))
        if not nan.any():
            return numbers
        if source == "f64":
            return choose(nan, _payload(a, result), numbers)
        return choose(nan, NANS[result], numbers)

    return compute


def _payload(a: Values, result: str) -> Values:
    """A float64 NaN as a half: sign, quiet bit, and the highest of its other bits."""
    word = unsigned(a)
    fraction = 10 if result == "f16" else 7
    quiet = np.uint64(1 << (fraction - 1))
    upper = word >> np.uint64(52 - fraction) & np.uint64((1 << fraction) - 1) | quiet
    infinity = np.uint64((0x7FFF >> fraction) << fraction)
    half = (word >> np.uint64(48) & np.uint64(0x8000) | infinity | upper).astype(np.uint16)
    return half.view(DTYPES[result])


def _chained(*steps: Compute) -> Compute:
    def compute(a: Values) -> Values:
        for step in steps:
            a = step(a)
        return a

    return compute


def _mode(spelling: Spelling) -> str:
    modes = spelling.modifiers & {"rn", *DIRECTED}
    if "rna" in spelling.modifiers or len(modes) > 1:
        raise spelling.unknown()
    return next(iter(modes), "rn")


def _reader(spelling: Spelling) -> Convert:
    source = spelling.types[-1]
    if source in HALVES:
        return READ[source]
    # Of an f16 result an H200 rounds up from a subnormal that .ftz should have made zero.
    if "ftz" in spelling.modifiers and source == "f32" and spelling.types[0] != "f16":
        return flush
    return lambda a: a


def _clamps(spelling: Spelling, result: str) -> list[Compute]:
    clamps = [clamp for name, clamp in CLAMPS.items() if name in spelling.modifiers]
    if "satfinite" in spelling.modifiers:
        if result not in LARGEST:
            raise spelling.unknown()
        largest = LARGEST[result]
        clamps.append(lambda a: np.clip(a, a.dtype.type(-largest), a.dtype.type(largest)))
    return clamps


def _single(values: Values) -> Values:
    """To float32, in the way that a second rounding, to bf16, cannot notice."""
    return values if values.dtype.itemsize <= 4 else to_odd_float(values, ZERO)


def _narrow(spelling: Spelling, result: str, mode: str) -> Callable[[Exact], Values]:
    """What rounds a float64 (and what it lost) to the result's type."""
    if result == "bf16":
        if mode == "rn":
            return lambda exact: to_bfloat(to_odd_float(*exact))
        return lambda exact: _upper_half(directed(exact, DTYPES["f32"], mode), mode)
    dtype = DTYPES[result]
    if mode == "rn":
        # Only a 64-bit integer loses anything in float64, and then it is too large for an f16.
        return lambda exact: exact[0].astype(dtype)
    return lambda exact: directed(exact, dtype, mode)


def _upper_half(values: Values, mode: str) -> Values:
    """float32, which was rounded the same way, to bf16: cut, and a step on where that falls short.
    A NaN must not lose the bits that make it one."""
    word = unsigned(values)
    upper = word >> np.uint32(16)
    if mode != "rz":
        away = np.signbit(values) if mode == "rm" else ~np.signbit(values)
        upper = upper + (away & ((word & LOWER_HALF) != 0))
    return choose(values != values, BFLOAT_NAN, upper.astype(np.uint16))


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


# By whether the source and the result are integers.
CONVERSIONS: dict[tuple[bool, bool], Callable[[Spelling], Compute]] = {
    (True, True): _integer_to_integer,
    (True, False): _integer_to_float,
    (False, True): _float_to_integer,
    (False, False): _float_to_float,
}
