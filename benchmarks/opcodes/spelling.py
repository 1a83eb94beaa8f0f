"""Every opcode that the simulator's tables serve, spelled as PTX wants it.

Whatever a row or a family takes is listed, legal or not: what ptxas refuses is recorded as refused.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product

from simulator.instructions import comparison
from simulator.instructions.opcodes import BIT_ROWS, FAMILIES, FLOAT_ROWS, INTEGER_ROWS, operation
from simulator.instructions.rows import Row, UnknownInstruction
from simulator.types import FLOATS, INTEGERS

ROUNDINGS = ("rn", "rz", "rm", "rp", "rna", "approx", "full")
CLAMPS = ("sat", "relu", "satfinite")
# Where PTX wants a modifier; what is not here stands where the row has it, before all of these.
_ORDER = ("cc", *ROUNDINGS, "ftz", "NaN", "xorsign", "abs", "sat", "relu", "satfinite")
_PERMUTATIONS = ("f4e", "b4e", "rc8", "rc16", "ecl", "ecr")  # these follow the type
_REAL = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
_CONVERTED = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64")

Found = tuple[str, int, str]  # (opcode, destinations, the row or family that it measures)


def opcodes() -> list[Found]:
    """All of them, each once, rows first."""
    found = [f for row in INTEGER_ROWS + FLOAT_ROWS + BIT_ROWS for f in _of_row(row)]
    for name in FAMILIES:
        # A family without its enumeration is not measured: a test asks that each has one.
        spelled = ENUMERATIONS[name]() if name in ENUMERATIONS else iter(())
        found += [(opcode, n, name) for opcode, n in spelled if _serves(opcode, n)]
    first: dict[tuple[str, int], Found] = {}  # of two rows the first serves
    for opcode, destinations, row in found:
        first.setdefault((opcode, destinations), (opcode, destinations, row))
    return list(first.values())


def row_label(row: Row, type_name: str) -> str:
    return f"{row.instruction} {type_name}"


def _of_row(row: Row) -> Iterator[Found]:
    name, *words = row.instruction.split(".")
    for type_name, more in product(row.types.split(), _choices(row.modifiers.split())):
        modifiers = [*words, *more]
        after = [w for w in modifiers if w in _PERMUTATIONS]
        before = sorted((w for w in modifiers if w not in after), key=_place)
        yield ".".join([name, *before, type_name, *after]), 1, row_label(row, type_name)


def _place(word: str) -> int:
    return _ORDER.index(word) if word in _ORDER else -1


def _choices(modifiers: list[str]) -> Iterator[list[str]]:
    """Every combination with one rounding and one clamp at most."""
    roundings = ["", *(m for m in modifiers if m in ROUNDINGS)]
    clamps = ["", *(m for m in modifiers if m in CLAMPS)]
    others = [("", m) for m in modifiers if m not in (*ROUNDINGS, *CLAMPS)]
    for chosen in product(roundings, clamps, *others):
        yield [word for word in chosen if word]


def _serves(opcode: str, destinations: int) -> bool:
    try:
        operation(opcode, destinations)
    except UnknownInstruction:
        return False
    return True


def _joined(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _comparisons() -> Iterator[tuple[str, str, str]]:
    """(comparison, ".ftz" or nothing, source type)"""
    for source in sorted(INTEGERS - {"b8", "u8", "s8"}):
        for compare in comparison.integer_comparisons(source):
            yield compare, "", source
    for source, compare in product(_REAL, comparison.FLOAT_COMPARISONS):
        yield compare, "", source
        if source in ("f16", "f16x2", "f32"):
            yield compare, "ftz", source


def _set_predicate() -> Iterator[tuple[str, int]]:
    for (compare, ftz, source), combine in product(_comparisons(), ("", *comparison.COMBINATIONS)):
        for destinations in (1, 2):
            yield _joined("setp", compare, combine, ftz, source), destinations


def _set_value() -> Iterator[tuple[str, int]]:
    for (compare, ftz, source), combine in product(_comparisons(), ("", *comparison.COMBINATIONS)):
        for result in comparison.set_results(source):
            yield _joined("set", compare, combine, ftz, result, source), 1


def _select_by_sign() -> Iterator[tuple[str, int]]:
    results = sorted((INTEGERS - {"b8", "u8", "s8"}) | FLOATS)
    for result, (ftz, sign) in product(results, (("", "s32"), ("", "f32"), ("ftz", "f32"))):
        yield _joined("slct", ftz, result, sign), 1


def _has_property() -> Iterator[tuple[str, int]]:
    for test, type_name in product(comparison.TESTS, sorted(FLOATS)):
        yield _joined("testp", test, type_name), 1


def _convert() -> Iterator[tuple[str, int]]:
    for result, source in product(_CONVERTED, repeat=2):
        whole = source in INTEGERS, result in INTEGERS
        roundings: Iterable[str] = ("",) if all(whole) else ("rn", "rz", "rm", "rp")
        if whole == (False, True):
            roundings = ("rni", "rzi", "rmi", "rpi")
        elif whole == (False, False):
            narrower = ("rn", "rz", "rm", "rp") if result != source else ()
            roundings = ("", *narrower, "rni", "rzi", "rmi", "rpi")
        halves = {"f16", "bf16"} & {result, source} and not any(whole)
        clamps: Iterable[str] = (
            ("", "sat", "relu", "satfinite", "relu.satfinite") if halves else ("", "sat")
        )
        flushes = ("",) if all(whole) else ("", "ftz")
        for rounding, flush, clamp in product(roundings, flushes, clamps):
            yield _joined("cvt", rounding, flush, clamp, result, source), 1
    clamps = ("", "relu", "satfinite", "relu.satfinite")
    for pair, rounding, clamp in product(("f16x2", "bf16x2"), ("rn", "rz"), clamps):
        yield _joined("cvt", rounding, clamp, pair, "f32"), 1
    for rounding, clamp in product(("rna", "rn", "rz"), clamps):
        yield _joined("cvt", rounding, clamp, "tf32", "f32"), 1

    for result in ("u16", "s16"):
        yield _joined("cvt.pack.sat", result, "s32"), 1
    for result in ("u8", "s8", "u4", "s4", "u2", "s2"):
        yield _joined("cvt.pack.sat", result, "s32.b32"), 1


def _logic_3() -> Iterator[tuple[str, int]]:
    yield "lop3.b32", 1
    for combine in ("and", "or"):
        yield _joined("lop3", combine, "b32"), 2


def _dot_product() -> Iterator[tuple[str, int]]:
    for a, b in product(("u32", "s32"), repeat=2):
        yield f"dp4a.{a}.{b}", 1


def _dot_product_of_halves() -> Iterator[tuple[str, int]]:
    for part, a, b in product(("lo", "hi"), ("u32", "s32"), ("u32", "s32")):
        yield f"dp2a.{part}.{a}.{b}", 1


def _absolute_differences(name: str) -> Iterator[tuple[str, int]]:
    for a, b, c, more in product(
        ("u32", "s32"), ("u32", "s32"), ("u32", "s32"), ("", "sat", "add")
    ):
        yield _joined(name, a, b, c, more), 1


ENUMERATIONS: dict[str, Callable[[], Iterator[tuple[str, int]]]] = {
    "setp": _set_predicate,
    "set": _set_value,
    "slct": _select_by_sign,
    "testp": _has_property,
    "cvt": _convert,
    "lop3": _logic_3,
    "dp4a": _dot_product,
    "dp2a": _dot_product_of_halves,
    "vabsdiff2": partial(_absolute_differences, "vabsdiff2"),
    "vabsdiff4": partial(_absolute_differences, "vabsdiff4"),
}
