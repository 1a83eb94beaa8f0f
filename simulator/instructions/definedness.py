"""Which bits of a result are undefined, from those of its operands: a rule for each instruction.

A *shadow* is an unsigned integer as wide as the value that it goes with, whose ones are the bits
that nobody has given a value (a bool for a predicate); [count], or one scalar for all lanes. The
rules are those that Valgrind's memcheck made known (Seward and Nethercote, "Using Valgrind to
detect undefined value errors with bit-precision", 2005): bits that only move, or meet others bit by
bit, are followed one by one, and arithmetic makes all of an element undefined or none of it.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from simulator.instructions.comparison import select
from simulator.instructions.rows import Compute, Operation
from simulator.types import DTYPES, INTEGERS, Values, choose

Rule = Callable[[Sequence[Values], Sequence[Values]], tuple[Values, ...]]  # values, shadows

_BY_BITS = frozenset(("and", "or", "xor", "not", "lop3"))
# Operands that say where bits go; all others are those bits.
_MOVES = {
    "shl": (1,), "shr": (1,), "shf": (2,), "bfe": (1, 2), "bfi": (2, 3), "brev": (), "prmt": (2,),
}  # fmt: skip
_PAIRS = frozenset(("f16x2", "bf16x2", "u16x2", "s16x2"))
_ORDERED = INTEGERS | {"u16x2", "s16x2", "f16x2", "bf16x2"}  # of which the bits are known apart
_EXPONENTS = {"f16x2": 0x7C00, "bf16x2": 0x7F80}
_HALF, _LOW = 16, 0xFFFF


def shadow_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """How the shadow of a value is held."""
    return dtype if dtype.kind == "b" else np.dtype(f"u{dtype.itemsize}")


def is_defined(shadow: Values) -> bool:
    """Whether it is the one scalar that says so; an array may say so too."""
    return bool(shadow.ndim == 0 and not shadow)


def settled(shadow: Values) -> Values:
    """The same, as a scalar where all lanes are defined: that costs nothing from here on."""
    return shadow if shadow.ndim == 0 or shadow.any() else shadow.dtype.type(0)


def spread(undefined: Values, dtype: np.dtype[Any]) -> Values:
    """A shadow of all bits or none, from a bool for each lane."""
    if dtype.kind == "b":
        return undefined
    return undefined.astype(dtype) * dtype.type(np.iinfo(dtype).max)


def rule_of(opcode: str, what: Operation) -> Rule:
    """The rule of an arithmetic instruction."""
    name, *parts = opcode.split(".")
    results = [shadow_type(DTYPES[r]) for r in what.results]
    if what.carry_out:
        results.append(np.dtype(bool))
    if name in _BY_BITS and len(results) == 1:
        rule = _by_bits(what.compute)
    elif name in ("add", "sub") and _are_integers(what, parts):
        rule = _added(what)
    elif name in ("min", "max") and len(parts) == 1 and parts[0] in _ORDERED:
        rule = _one_of_two(what)
    elif name in _MOVES:
        rule = _moved(what, _MOVES[name])
    elif name == "cvt" and _only_moves(what, parts):
        rule = _moved(what, ())
    elif name in ("selp", "slct"):
        rule = _chosen(what)
    elif name in ("setp", "set") and len(what.operands) == 3:
        rule = _compared(parts, results)
    elif what.results[0] in _PAIRS:
        rule = _in_halves(len(what.operands) == 2 and name == "cvt")
    else:
        rule = _all_or_nothing(results)
    return _unless_defined(rule, results)


def _unless_defined(rule: Rule, results: list[np.dtype[Any]]) -> Rule:
    defined = tuple(dtype.type(0) for dtype in results)

    def quick(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        if all(shadow.ndim == 0 and not shadow for shadow in shadows):
            return defined
        return rule(values, shadows)

    return quick


def _any(shadows: Sequence[Values]) -> Values:
    """Whether any operand has an undefined bit: a bool for each lane, or one for all."""
    found: Values = np.bool_(False)
    for shadow in shadows:
        if not is_defined(shadow):
            found = found | (shadow != 0)
    return found


def _all_or_nothing(results: list[np.dtype[Any]]) -> Rule:
    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        undefined = _any(shadows)
        return tuple(spread(undefined, dtype) for dtype in results)

    return rule


def _by_bits(compute: Compute) -> Rule:
    """A result's bit is undefined if it changes with an undefined bit: x & 0 does not."""

    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        before, differs = compute(*values), None
        unsure = [not is_defined(shadow) for shadow in shadows]
        for flips in product(*((False, True) if u else (False,) for u in unsure)):
            if any(flips):
                tried = [
                    v ^ s if flip else v for v, s, flip in zip(values, shadows, flips, strict=True)
                ]
                change = before ^ compute(*tried)
                differs = change if differs is None else differs | change
        return (settled(differs),)

    return rule


def _added(what: Operation) -> Rule:
    """A carry goes upwards: what lies below the lowest undefined bit stays defined. Those above are
    undefined where the least and the greatest of all possible sums differ."""
    (result,) = (shadow_type(DTYPES[r]) for r in what.results)
    sign = what.compute is np.subtract

    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        (a, b), (x, y) = (v.view(result) for v in values), shadows
        least, greatest = (b & ~y, b | y)
        if sign:
            low, high = (a & ~x) - greatest, (a | x) - least
        else:
            low, high = (a & ~x) + least, (a | x) + greatest
        return (settled((low ^ high) | x | y),)

    return rule


def _one_of_two(what: Operation) -> Rule:
    """The smaller or the greater of two: bits that both have alike are known."""
    (result,) = (shadow_type(DTYPES[r]) for r in what.results)
    halves = _in_halves(packs=False) if what.results[0] in _PAIRS else _all_or_nothing([result])
    exponent = _EXPONENTS.get(what.results[0])

    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        a, b = (v.view(result) for v in values)
        (unsure,) = halves(values, shadows)
        differ = shadows[0] | shadows[1] | (a ^ b)
        if exponent is not None:  # of two NaNs neither comes out
            differ = differ | _may_be_nan(a | shadows[0], exponent) & _may_be_nan(
                b | shadows[1], exponent
            )
        return (settled(unsure & differ),)

    return rule


def _may_be_nan(word: Values, exponent: int) -> Values:
    """All ones in each half of a word whose exponent is, or may be, all ones."""
    found: Values = np.uint32(0)
    for shift in (0, _HALF):
        highest = np.uint32(exponent << shift)
        ones = np.uint32(_LOW << shift)
        found = found | choose((word & highest) == highest, ones, np.uint32(0))
    return found


def _are_integers(what: Operation, parts: Sequence[str]) -> bool:
    wrapping = not {"sat", "cc", "relu"} & set(parts)
    return wrapping and {*what.operands, *what.results} <= INTEGERS


def _moved(what: Operation, places: tuple[int, ...]) -> Rule:
    """Bits go elsewhere, some of them to several places; where to must be known."""
    (result,) = (shadow_type(DTYPES[r]) for r in what.results)
    types = [DTYPES[t] for t in what.operands]

    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        given = [
            values[k] if k in places else shadows[k].view(types[k]) for k in range(len(values))
        ]
        moved = what.compute(*given).view(result)
        astray = _any([shadows[k] for k in places])
        return (settled(moved | spread(astray, result)),)

    return rule


def _only_moves(what: Operation, parts: Sequence[str]) -> bool:
    """Whether a conversion keeps bits as they are: between integers, without a clamp."""
    integers = {*what.operands, *what.results} <= INTEGERS
    return integers and not {"sat", "pack"} & set(parts)


def _chosen(what: Operation) -> Rule:
    """The shadow of the side that is taken; nobody knows which if the predicate is undefined."""
    (result,) = (shadow_type(DTYPES[r]) for r in what.results)
    sign = DTYPES[what.operands[2]]

    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        holds = values[2] if sign.kind == "b" else values[2] >= 0
        one, other = np.broadcast_arrays(shadows[0], shadows[1])
        taken = select(one, other, holds)
        return (settled(taken.view(result)[()] | spread(_any(shadows[2:]), result)),)

    return rule


def _compared(parts: Sequence[str], results: list[np.dtype[Any]]) -> Rule:
    """`a cmp b` joined with a predicate that may settle it alone: false and …, true or …."""
    settles = {"and": False, "or": True}.get(next((p for p in parts if p in ("and", "or")), ""))

    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        undefined = _any(shadows)
        if settles is not None:
            alone = (values[2] == settles) & ~shadows[2]
            undefined = undefined & ~alone
        return tuple(settled(spread(undefined, dtype)) for dtype in results)

    return rule


def _in_halves(packs: bool) -> Rule:
    """Packed pairs: each half has a rule of its own. packs: two operands, the upper half first."""
    word = np.dtype(np.uint32)
    upper = np.uint32(_LOW << _HALF)

    def rule(values: Sequence[Values], shadows: Sequence[Values]) -> tuple[Values, ...]:
        if packs:
            high, low = (_any([shadow]) for shadow in shadows)
        else:
            wide = [shadow.astype(word) for shadow in shadows]
            high, low = _any([w & upper for w in wide]), _any([w & np.uint32(_LOW) for w in wide])
        return (choose(high, upper, np.uint32(0)) | choose(low, np.uint32(_LOW), np.uint32(0)),)

    return rule
