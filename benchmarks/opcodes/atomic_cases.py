"""The cases of atomic updates: each address for one lane alone, and many lanes on one.

Where lanes meet, their order is chance. So every lane brings the same value to an address, and old
values are compared sorted; or they bring different ones, and only what is left in memory counts.
Floats that meet are small whole numbers: their sums are exact in every order.
"""

from itertools import product

from benchmarks.opcodes.cases import Case
from benchmarks.opcodes.entries import bytes_of
from simulator.types import HALVES

OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas")
TYPES = (
    *("b16", "b32", "u32", "s32", "b64", "u64", "s64"),
    *("f16", "f16x2", "bf16", "bf16x2", "f32", "f64"),
)
_COMMUTING = ("add", "min", "max", "and", "or", "xor")
_FLOATS = HALVES | {"f32", "f64"}


def atomic_cases() -> list[Case]:
    found = []
    for space, operation, type_name in product(("global", "shared"), OPERATIONS, TYPES):
        if type_name == "b16" and operation != "cas":
            continue
        if (type_name in _FLOATS and operation not in ("add", "min", "max", "exch")) or (
            operation in ("and", "or", "xor", "cas") and type_name[0] != "b"
        ):
            continue
        found += _cases(space, operation, type_name)
    return found


def _cases(space: str, operation: str, type_name: str) -> list[Case]:
    words = ["noftz"] if type_name in HALVES and operation != "exch" else []
    opcode = ".".join(["atom", space, operation, *words, type_name])
    meets = "few" if space == "global" else "near"
    values = [type_name]
    each = [f"each {meets}:{type_name}"]
    if operation == "cas":
        values = [f"expected own:{type_name}", type_name]
        each = [f"expected {meets}:{type_name}", *each]
    begin = f"{'small' if type_name in _FLOATS else 'begin'}:{type_name}"
    found = [
        _case(f"{opcode} alone", opcode, ("own:u32", f"begin:{type_name}", *values)),
        _case(f"{opcode} meeting", opcode, (f"{meets}:u32", begin, *each), "old values"),
    ]
    if operation not in ("exch", "cas"):
        red = opcode.replace("atom", "red")
        inputs = ("own:u32", f"begin:{type_name}", *values)
        found.append(_case(f"{red} alone", red, inputs))
        if operation in _COMMUTING:
            inputs = (f"{meets}:u32", begin, f"small:{type_name}")
            found.append(_case(f"{red} meeting", red, inputs))
    return found


def _case(name: str, opcode: str, inputs: tuple[str, ...], compare: str = "bits") -> Case:
    type_name, returns = inputs[1].split(":")[1], opcode.startswith("atom")
    size = bytes_of(type_name)
    memory = len(inputs)
    operands = ", ".join(f"%{letter}" for letter in "cd"[: len(inputs) - 2])
    target = "%y, " if returns else ""
    if ".shared." in opcode:
        bits = 8 * size
        body = (
            f".shared .align 8 .b8 slots[{256 * size}]; "
            f"mul.wide.u32 %wide, %i, {size}; add.s64 %where, %p{memory}, %wide; "
            f"mov.u32 %base, slots; mad.lo.u32 %mine, %thread, {size}, %base; "
            f"ld.global.b{bits} %kept, [%where]; st.shared.b{bits} [%mine], %kept; bar.sync 0; "
            f"and.b32 %slot, %a, 255; mad.lo.u32 %slot, %slot, {size}, %base; "
            f"{opcode} {target}[%slot], {operands}; bar.sync 0; "
            f"ld.shared.b{bits} %kept, [%mine]; st.global.b{bits} [%where], %kept;"
        )
        registers = f".reg .b64 %where; .reg .b32 %base, %mine, %slot; .reg .b{bits} %kept;"
    else:
        body = (
            f"mul.wide.u32 %wide, %a, {size}; add.s64 %where, %p{memory}, %wide; "
            f"{opcode} {target}[%where], {operands};"
        )
        registers = ".reg .b64 %where;"
    outputs = (type_name, type_name) if returns else (type_name,)
    whole = (1, memory)
    row = f"{opcode.split('.')[0]} {type_name}"
    return Case(
        name, row, (body,), inputs, outputs, registers=registers, whole=whole, compare=compare
    )
