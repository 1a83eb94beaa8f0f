"""What each arithmetic instruction of PTX computes: one row for each family.

A row maps the values of all lanes to those of all lanes. Rows never ask about types: operands come
viewed as the type that the row names, so `.s32` arrives as int32 and `.u32` as uint32. A row names
a function of ours only where PTX and NumPy disagree, and that function says how.
"""

import functools
from collections.abc import Callable

import numpy as np

from simulator.instructions import bit_arithmetic as bit
from simulator.instructions import comparison, conversion, dot_product, packed_differences
from simulator.instructions import float_arithmetic as real
from simulator.instructions import float_rounding as rounding
from simulator.instructions import half_arithmetic as half
from simulator.instructions import integer_arithmetic as integer
from simulator.instructions.rows import Compute, Operation, Row, Spelling, Unit, UnknownInstruction
from simulator.types import DTYPES, FLOATS, HALVES, PAIRS

__all__ = ["Operation", "Unit", "UnknownInstruction", "operation"]

ALU, FMA, SFU = Unit.ALU, Unit.FMA, Unit.SFU
# The types of a row: one name for each set that occurs.
SINT = "s16 s32 s64"
INT = "u16 s16 u32 s32 u64 s64"
SHORT, WORD, LONG = "u16 s16 u32 s32", "u32 s32", "u32 s32 u64 s64"
PAIR, RELU = "u16x2 s16x2", "s32 s16x2"
BITS, WORDS = "b16 b32 b64", "b32 b64"
REAL, F16, BF16 = "f32 f64", "f16 f16x2", "bf16 bf16x2"
HALF = f"{F16} {BF16}"
FLOAT, SINGLE = f"{REAL} {HALF}", f"f32 {HALF}"
LOGIC, SHIFT, CHOICE = f"pred {BITS}", f"{BITS} {INT}", f"{BITS} {INT} {REAL}"
ROUND = "rn rz rm rp ftz"

# fmt: off
INTEGER_ROWS = (
    #   instruction       types  operands  result  NumPy, or what differs from it      unit
    Row("add",            INT,   "T T",    "T", np.add,                                ALU),
    Row("add.sat",        "s32", "T T",    "T", integer.add_saturated,                 ALU),
    Row("sub",            INT,   "T T",    "T", np.subtract,                           ALU),
    Row("sub.sat",        "s32", "T T",    "T", integer.subtract_saturated,            ALU),
    Row("mul.lo",         INT,   "T T",    "T", np.multiply,                           FMA),
    Row("mul.hi",         INT,   "T T",    "T", integer.multiply_high,                 FMA),
    Row("mul.wide",       SHORT, "T T",    "W", integer.multiply_wide,                 FMA),
    Row("mul24.lo",       WORD,  "T T",    "T", integer.multiply_24_low,               FMA),
    Row("mul24.hi",       WORD,  "T T",    "T", integer.multiply_24_high,              FMA),
    Row("mad.lo",         INT,   "T T T",  "T", integer.multiply_add,                  FMA),
    Row("mad.hi",         INT,   "T T T",  "T", integer.multiply_add_high,             FMA),
    Row("mad.hi.sat",     "s32", "T T T",  "T", integer.multiply_add_high_saturated,   FMA),
    Row("mad.wide",       SHORT, "T T W",  "W", integer.multiply_add_wide,             FMA),
    Row("mad24.lo",       WORD,  "T T T",  "T", integer.multiply_add_24_low,           FMA),
    Row("mad24.hi",       WORD,  "T T T",  "T", integer.multiply_add_24_high,          FMA),
    Row("mad24.hi.sat",   "s32", "T T T",  "T", integer.multiply_add_24_saturated,     FMA),
    Row("sad",            INT,   "T T T",  "T", integer.sum_of_absolute_differences,   ALU),
    Row("div",            INT,   "T T",    "T", integer.divide,                        ALU),
    Row("rem",            INT,   "T T",    "T", integer.remainder,                     ALU),
    Row("abs",            SINT,  "T",      "T", np.absolute,                           ALU),
    Row("neg",            SINT,  "T",      "T", np.negative,                           ALU),
    Row("min",            INT,   "T T",    "T", np.minimum,                            ALU),
    Row("max",            INT,   "T T",    "T", np.maximum,                            ALU),
    Row("min.relu",       RELU,  "T T",    "T", integer.minimum_rectified,             ALU),
    Row("max.relu",       RELU,  "T T",    "T", integer.maximum_rectified,             ALU),
    Row("add",            PAIR,  "T T",    "T", np.add,                                ALU),
    Row("min",            PAIR,  "T T",    "T", np.minimum,                            ALU),
    Row("max",            PAIR,  "T T",    "T", np.maximum,                            ALU),
    # One carry flag for each lane: the last result of .cc, the last operand of addc, subc, madc.
    Row("add.cc",         LONG,  "T T",    "T", integer.add_carry_out,                 ALU),
    Row("addc",           LONG,  "T T",    "T", integer.add_carry_in,                  ALU),
    Row("addc.cc",        LONG,  "T T",    "T", integer.add_carry,                     ALU),
    Row("sub.cc",         LONG,  "T T",    "T", integer.subtract_borrow_out,           ALU),
    Row("subc",           LONG,  "T T",    "T", integer.subtract_borrow_in,            ALU),
    Row("subc.cc",        LONG,  "T T",    "T", integer.subtract_borrow,               ALU),
    Row("mad.lo.cc",      LONG,  "T T T",  "T", integer.multiply_add_carry_out,        FMA),
    Row("mad.hi.cc",      LONG,  "T T T",  "T", integer.multiply_add_high_carry_out,   FMA),
    Row("madc.lo",        LONG,  "T T T",  "T", integer.multiply_add_carry_in,         FMA),
    Row("madc.hi",        LONG,  "T T T",  "T", integer.multiply_add_high_carry_in,    FMA),
    Row("madc.lo.cc",     LONG,  "T T T",  "T", integer.multiply_add_carry,            FMA),
    Row("madc.hi.cc",     LONG,  "T T T",  "T", integer.multiply_add_high_carry,       FMA),
)
FLOAT_ROWS = (
    #   instruction  types   operands  result  NumPy, or what differs  unit  modifiers it takes
    Row("add",       REAL,   "T T",    "T", np.add,                    FMA, f"{ROUND} sat"),
    Row("add",       HALF,   "T T",    "T", np.add,                    FMA, "rn ftz sat"),
    Row("sub",       REAL,   "T T",    "T", np.subtract,               FMA, f"{ROUND} sat"),
    Row("sub",       HALF,   "T T",    "T", np.subtract,               FMA, "rn ftz sat"),
    Row("mul",       REAL,   "T T",    "T", np.multiply,               FMA, f"{ROUND} sat"),
    Row("mul",       HALF,   "T T",    "T", np.multiply,               FMA, "rn ftz sat"),
    Row("mad",       REAL,   "T T T",  "T", real.fused_multiply_add,   FMA, f"{ROUND} sat"),
    Row("fma",       REAL,   "T T T",  "T", real.fused_multiply_add,   FMA, f"{ROUND} sat"),
    Row("fma",       F16,    "T T T",  "T", half.fused,                FMA, "rn ftz sat relu"),
    Row("fma",       BF16,   "T T T",  "T", half.bfloat_fused,         FMA, "rn relu"),
    Row("div",       REAL,   "T T",    "T", np.divide,                 FMA, f"{ROUND} approx full"),
    Row("rcp.approx.ftz", "f64", "T", "T", real.reciprocal_upper, SFU),
    Row("rsqrt.approx.ftz", "f64", "T", "T", real.reciprocal_root_upper, SFU),
    Row("rcp",       REAL,   "T",      "T", real.reciprocal,           SFU, f"{ROUND} approx"),
    Row("sqrt",      REAL,   "T",      "T", np.sqrt,                   SFU, f"{ROUND} approx"),
    Row("rsqrt",     REAL,   "T",      "T", real.reciprocal_root,      SFU, "ftz approx"),
    Row("ex2",       SINGLE, "T",      "T", real.exponential_2,        SFU, "ftz approx"),
    Row("lg2",       "f32",  "T",      "T", real.logarithm_2,          SFU, "ftz approx"),
    Row("sin",       "f32",  "T",      "T", real.sine,                 SFU, "ftz approx"),
    Row("cos",       "f32",  "T",      "T", real.cosine,               SFU, "ftz approx"),
    Row("tanh",      SINGLE, "T",      "T", real.hyperbolic_tangent,   SFU, "approx"),
    Row("abs",       FLOAT,  "T",      "T", np.absolute,               ALU, "ftz"),
    Row("neg",       FLOAT,  "T",      "T", np.negative,               ALU, "ftz"),
    Row("min",       FLOAT,  "T T",    "T", real.minimum,              ALU, "ftz"),
    Row("max",       FLOAT,  "T T",    "T", real.maximum,              ALU, "ftz"),
    Row("min.NaN",   SINGLE, "T T",    "T", real.minimum_or_nan,       ALU, "ftz"),
    Row("max.NaN",   SINGLE, "T T",    "T", real.maximum_or_nan,       ALU, "ftz"),
    Row("min.xorsign.abs", SINGLE, "T T", "T", real.XORSIGN_MINIMUM, ALU, "ftz"),
    Row("max.xorsign.abs", SINGLE, "T T", "T", real.XORSIGN_MAXIMUM, ALU, "ftz"),
    Row("min.NaN.xorsign.abs", SINGLE, "T T", "T", real.XORSIGN_MINIMUM_OR_NAN, ALU, "ftz"),
    Row("max.NaN.xorsign.abs", SINGLE, "T T", "T", real.XORSIGN_MAXIMUM_OR_NAN, ALU, "ftz"),
    Row("copysign",  REAL,   "T T",    "T", real.copy_sign,            ALU),
)
BIT_ROWS = (
    #   instruction       types   operands       result  NumPy, or what differs from it  unit
    Row("and",            LOGIC,  "T T",         "T",    np.bitwise_and,                 ALU),
    Row("or",             LOGIC,  "T T",         "T",    np.bitwise_or,                  ALU),
    Row("xor",            LOGIC,  "T T",         "T",    np.bitwise_xor,                 ALU),
    Row("not",            LOGIC,  "T",           "T",    np.invert,                      ALU),
    Row("cnot",           BITS,   "T",           "T",    integer.is_zero,                ALU),
    Row("shl",            BITS,   "T u32",       "T",    bit.shift_left,                 ALU),
    Row("shr",            SHIFT,  "T u32",       "T",    bit.shift_right,                ALU),
    Row("shf.l.wrap",     "b32",  "T T u32",     "T",    bit.funnel_left_wrap,           ALU),
    Row("shf.l.clamp",    "b32",  "T T u32",     "T",    bit.funnel_left_clamp,          ALU),
    Row("shf.r.wrap",     "b32",  "T T u32",     "T",    bit.funnel_right_wrap,          ALU),
    Row("shf.r.clamp",    "b32",  "T T u32",     "T",    bit.funnel_right_clamp,         ALU),
    Row("bfe",            LONG,   "T u32 u32",   "T",    bit.extract_field,              ALU),
    Row("bfi",            WORDS,  "T T u32 u32", "T",    bit.insert_field,               ALU),
    Row("bmsk.wrap",      "b32",  "u32 u32",     "T",    bit.mask_wrap,                  ALU),
    Row("bmsk.clamp",     "b32",  "u32 u32",     "T",    bit.mask_clamp,                 ALU),
    Row("szext.wrap",     WORD,   "T u32",       "T",    bit.extend_wrap,                ALU),
    Row("szext.clamp",    WORD,   "T u32",       "T",    bit.extend_clamp,               ALU),
    Row("fns",            "b32",  "T u32 s32",   "T",    bit.find_nth_set,               ALU),
    Row("bfind",          LONG,   "T",           "u32",  bit.find_highest_bit,           ALU),
    Row("bfind.shiftamt", LONG,   "T",           "u32",  bit.shift_to_highest_bit,       ALU),
    Row("brev",           WORDS,  "T",           "T",    bit.reverse_bits,               ALU),
    Row("clz",            WORDS,  "T",           "u32",  bit.count_leading_zeros,        ALU),
    Row("popc",           WORDS,  "T",           "u32",  bit.population_count,           ALU),
    Row("prmt",           "b32",  "T T u32",     "T",    bit.permute_bytes,              ALU),
    Row("prmt.f4e",       "b32",  "T T u32",     "T",    bit.permute_forward,            ALU),
    Row("prmt.b4e",       "b32",  "T T u32",     "T",    bit.permute_backward,           ALU),
    Row("prmt.rc8",       "b32",  "T T u32",     "T",    bit.replicate_byte,             ALU),
    Row("prmt.rc16",      "b32",  "T T u32",     "T",    bit.replicate_half,             ALU),
    Row("prmt.ecl",       "b32",  "T T u32",     "T",    bit.clamp_left,                 ALU),
    Row("prmt.ecr",       "b32",  "T T u32",     "T",    bit.clamp_right,                ALU),
    Row("selp",           CHOICE, "T T pred",    "T",    comparison.select,              ALU),
)
# fmt: on

# What serves .rz .rm .rp of the float rows: the nearest float64, and the sign of what it lost.
EXACT: dict[str, Callable[..., rounding.Exact]] = {
    "add": rounding.exact_sum,
    "sub": rounding.exact_difference,
    "mul": rounding.exact_product,
    "mad": rounding.exact_fused,
    "fma": rounding.exact_fused,
    "div": rounding.exact_quotient,
    "rcp": rounding.exact_reciprocal,
    "sqrt": rounding.exact_square_root,
}

# Instructions of several types, or whose modifiers choose what is computed.
FAMILIES: dict[str, Callable[[Spelling], Operation]] = {
    "setp": comparison.set_predicate,
    "set": comparison.set_value,
    "slct": comparison.select_by_sign,
    "testp": comparison.has_property,
    "cvt": conversion.convert,
    "lop3": bit.logic_3_family,
    "dp4a": dot_product.dot_product,
    "dp2a": dot_product.dot_product,
    "vabsdiff2": packed_differences.absolute_differences,
    "vabsdiff4": packed_differences.absolute_differences,
}


def _by_name_and_type() -> dict[tuple[str, str], list[Row]]:
    index: dict[tuple[str, str], list[Row]] = {}
    for row in INTEGER_ROWS + FLOAT_ROWS + BIT_ROWS:
        for type_name in row.types.split():
            index.setdefault((row.name, type_name), []).append(row)
    return index


INDEX = _by_name_and_type()


@functools.cache
def operation(opcode: str, destinations: int = 1) -> Operation:
    """The operation that an opcode names; UnknownInstruction if no row serves it."""
    spelling = Spelling.of(opcode, destinations)
    if spelling.name in FAMILIES:
        return FAMILIES[spelling.name](spelling)
    if len(spelling.types) == 1 and destinations == 1:
        (type_name,) = spelling.types
        for row in INDEX.get((spelling.name, type_name), []):
            if row.serves(spelling.modifiers):
                return _operation_of(row, spelling.modifiers, type_name)
    raise spelling.unknown()


def _operation_of(row: Row, modifiers: frozenset[str], type_name: str) -> Operation:
    operands, results = row.signature(type_name)
    unit = Unit.DOUBLE if type_name == "f64" and row.unit is FMA else row.unit
    compute = _modified(row, modifiers, type_name)
    carry_in = row.name in ("addc", "subc", "madc")
    return Operation(compute, operands, results, unit, carry_in, carry_out="cc" in modifiers)


def _modified(row: Row, modifiers: frozenset[str], type_name: str) -> Compute:
    """The row's function, with the rounding and the clamps that the opcode names around it."""
    compute = row.compute
    if type_name in PAIRS:
        return integer.in_pairs(compute, PAIRS[type_name])
    if type_name in HALVES:
        return half.in_half(compute, type_name, modifiers)
    direction = next(iter(modifiers & {"rz", "rm", "rp"}), "rn")
    exact = None if modifiers & {"approx", "full"} else EXACT.get(row.name)
    if direction != "rn":
        compute = rounding.rounded(EXACT[row.name], DTYPES[type_name], direction)
    if "ftz" in modifiers and type_name == "f32":  # in float64 nothing is flushed
        compute = real.flushed(compute, exact, direction)
    if "sat" in modifiers and type_name in FLOATS:
        compute = real.saturated(compute)
    return compute
