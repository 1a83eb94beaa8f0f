"""The names of the tensor-core instructions taken apart, and what hardware makes of each.

Shapes and types are those of compute capability 8.0. Which hardware instructions a product becomes
is what NVIDIA's assembler makes of it for 9.0, the device whose limits and counts are ours.
"""

from dataclasses import dataclass
from functools import cache

from simulator.instructions.rows import UnknownInstruction
from simulator.instructions.tensor_fragments import BITS, Fragment, Shape, accumulator, operand
from simulator.reading.ptx import Instruction

_HALF_SHAPES = ("m16n8k8", "m16n8k16")
_BYTE_SHAPES = ("m8n8k16", "m16n8k16", "m16n8k32")
_NIBBLE_SHAPES = ("m8n8k32", "m16n8k32", "m16n8k64")
_LARGE_SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")
_SHAPES = {
    "mma": {
        "f16": _HALF_SHAPES,
        "bf16": _HALF_SHAPES,
        "tf32": ("m16n8k4", "m16n8k8"),
        "f64": ("m8n8k4",),
        "s8": _BYTE_SHAPES,
        "u8": _BYTE_SHAPES,
        "s4": _NIBBLE_SHAPES,
        "u4": _NIBBLE_SHAPES,
        "b1": ("m8n8k128", "m16n8k128", "m16n8k256"),
    },
    "wmma": {
        "f16": _LARGE_SHAPES,
        "bf16": _LARGE_SHAPES,
        "tf32": ("m16n16k8",),
        "f64": ("m8n8k4",),
        "s8": _LARGE_SHAPES,
        "u8": _LARGE_SHAPES,
        "s4": ("m8n8k32",),
        "u4": ("m8n8k32",),
        "b1": ("m8n8k128",),
    },
}
_INTEGERS = ("s8", "u8", "s4", "u4", "b1")
_ACCUMULATORS = {  # by the type of a
    "f16": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f64": ("f64",),
} | dict.fromkeys(_INTEGERS, ("s32",))
_ALIKE = {"s8": "u8", "u8": "u8", "s4": "u4", "u4": "u4"}  # these may meet in one product
_ONE_LAYOUT = ("s4", "u4", "b1")  # a by rows, b by columns
_SAYS_NOTHING = frozenset(("sync", "aligned", "rn", "popc"))


@dataclass(frozen=True, slots=True)
class ProductOpcode:
    """d = a b + c, as mma.sync or wmma.mma.

    a, b, c, d  the types of their elements
    saturates   to the ends of s32, where it would wrap
    combine     of two bits: "and" or "xor"; "" for numbers
    wide        whether it is wmma's
    """

    shape: Shape
    a: str
    b: str
    c: str
    d: str
    saturates: bool
    combine: str
    wide: bool

    @property
    def fragments(self) -> tuple[Fragment, Fragment, Fragment, Fragment]:
        """Of d, a, b, c."""
        return (
            accumulator(self.shape, self.d),
            operand("a", self.shape, self.a, copies_of(self.wide, self.a, self.shape, "a")),
            operand("b", self.shape, self.b, copies_of(self.wide, self.b, self.shape, "b")),
            accumulator(self.shape, self.c),
        )

    @property
    def issued(self) -> int:
        """How many tensor-core instructions hardware issues for it."""
        elements = self.shape.m * self.shape.n
        each = min(elements, 16 * 8)  # of one of them
        in_two_steps = self.wide and self.a == "tf32"  # along k
        made_of_others = self.a in ("s4", "u4") or self.combine == "xor"  # 9.0 has none of these
        return elements // each * (2 if in_two_steps or made_of_others else 1)

    @property
    def float_operations(self) -> int:
        """Of a warp: 2 for each product that is added; none where they are integers."""
        shape = self.shape
        return 0 if self.a in _INTEGERS else 2 * shape.m * shape.n * shape.k


@dataclass(frozen=True, slots=True)
class MatrixOpcode:
    """wmma.load or wmma.store of one matrix."""

    which: str  # "a", "b", "c", "d"
    shape: Shape
    type: str
    by_rows: bool  # or by columns, in memory

    @property
    def fragment(self) -> Fragment:
        if self.which in "cd":
            return accumulator(self.shape, self.type)
        copies = copies_of(True, self.type, self.shape, self.which)
        return operand(self.which, self.shape, self.type, copies)

    @property
    def line(self) -> int:
        """Elements of a row, or of a column, that lie side by side."""
        return self.fragment.columns if self.by_rows else self.fragment.rows


def copies_of(wide: bool, type_: str, shape: Shape, which: str) -> int:
    """wmma's halves come in 8 registers always, as on the first device that had them."""
    if not wide or type_ != "f16":
        return 1
    return 8 // operand(which, shape, type_).registers


@cache
def _shape(name: str) -> Shape:
    m, rest = name[1:].split("n")
    n, k = rest.split("k")
    return Shape(int(m), int(n), int(k))


def product(instruction: Instruction) -> ProductOpcode:
    """Of an mma or a wmma.mma. Raises UnknownInstruction."""
    wide = instruction.parts[0] == "wmma"
    parts = instruction.parts[2 if wide else 1 :]
    name = _one(instruction, [part for part in parts if part[0] == "m" and "k" in part])
    types = [part for part in parts if part in BITS]
    layouts = [part for part in parts if part in ("row", "col")]
    rest = set(parts) - {name, *types, *layouts} - _SAYS_NOTHING
    if wide and len(types) == 2:
        types[1:1] = ["f16", "f16"]
    if len(types) != 4 or len(layouts) != 2 or not {"sync", "aligned"} <= set(parts):
        raise UnknownInstruction(instruction.opcode)
    d, a, b, c = types
    known = name in _SHAPES[instruction.parts[0]].get(a, ())
    alike = a == b or (a in _ALIKE and _ALIKE[a] == _ALIKE.get(b))
    if not known or not alike or not {c, d} <= set(_ACCUMULATORS[a]):
        raise UnknownInstruction(instruction.opcode)
    if layouts != ["row", "col"] and (not wide or a in _ONE_LAYOUT):
        raise UnknownInstruction(instruction.opcode)
    combine = _one(instruction, sorted(rest & {"and", "xor"})) if a == "b1" else ""
    saturates = "satfinite" in rest and a in _INTEGERS and a != "b1"
    if rest - {combine} - ({"satfinite"} if saturates else set()):
        raise UnknownInstruction(instruction.opcode)
    return ProductOpcode(_shape(name), a, b, c, d, saturates, combine, wide)


def matrix(instruction: Instruction) -> MatrixOpcode:
    """Of a wmma.load or a wmma.store. Raises UnknownInstruction."""
    _, direction, which, *parts = instruction.parts
    name = _one(instruction, [part for part in parts if part[0] == "m" and "k" in part])
    layout = _one(instruction, [part for part in parts if part in ("row", "col")])
    type_ = parts[-1]
    rest = set(parts) - {name, layout, type_, "global", "shared", "shared::cta"}
    operands = _SHAPES["wmma"]
    if which in "ab" and direction == "load":
        known = name in operands.get(type_, ())
        known = known and (type_ not in _ONE_LAYOUT or (layout == "row") == (which == "a"))
    elif (direction, which) in (("load", "c"), ("store", "d")):
        known = any(name in shapes and type_ in _ACCUMULATORS[a] for a, shapes in operands.items())
    else:
        known = False
    if not known or rest != {"sync", "aligned"}:
        raise UnknownInstruction(instruction.opcode)
    return MatrixOpcode(which, _shape(name), type_, layout == "row")


def is_product(instruction: Instruction) -> bool:
    """Whether it multiplies matrices."""
    return instruction.parts[0] == "mma" or instruction.parts[:2] == ("wmma", "mma")


def _one(instruction: Instruction, found: list[str]) -> str:
    if len(found) != 1:
        raise UnknownInstruction(instruction.opcode)
    return found[0]
