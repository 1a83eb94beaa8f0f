"""The PTX text of cases: one entry each, the same for both machines.

An entry takes a pointer for each input column, then one for each output. Thread i reads element i
of every column and writes element i of every output; a case of several bodies writes the results
of body k to the stretch k of `case.lanes` elements.
"""

from benchmarks.opcodes.cases import BLOCK, Case
from simulator.types import DTYPES

OPERANDS, RESULTS = "abcdefg", "xyz"


def module(cases: list[Case], target: str) -> tuple[str, list[int]]:
    """(the text of a module with entries k0, k1, …, the line that each entry begins on)."""
    lines = [".version 8.6", f".target {target}", ".address_size 64"]
    begins = []
    for number, case in enumerate(cases):
        begins.append(len(lines) + 1)
        lines += entry(case, f"k{number}").split("\n")
    return "\n".join(lines) + "\n", begins


def entry(case: Case, name: str) -> str:
    types = [name.split(":")[-1] for name in case.inputs]
    pointers = len(case.inputs) + len(case.outputs)
    parameters = ", ".join(f".param .u64 p{k}" for k in range(pointers))
    lines = [f".visible .entry {name}({parameters})", "{"]
    lines += [".reg .b32 %thread, %number, %i;", f".reg .b64 %p<{pointers}>, %wide;"]
    lines += [_declared(letter, t) for letter, t in zip(OPERANDS, types, strict=False)]
    lines += [_declared(letter, t) for letter, t in zip(RESULTS, case.outputs, strict=False)]
    lines += [case.registers] if case.registers else []
    lines += ["mov.u32 %thread, %tid.x;", "mov.u32 %number, %ctaid.x;"]
    lines.append(f"mad.lo.u32 %i, %number, {BLOCK}, %thread;")
    for k, type_name in enumerate((*types, *case.outputs)):
        lines.append(f"ld.param.u64 %p{k}, [p{k}];")
        if k in case.whole:
            continue
        lines.append(f"mul.wide.u32 %wide, %i, {bytes_of(type_name)};")
        lines.append(f"add.s64 %p{k}, %p{k}, %wide;")
    for k, type_name in enumerate(types):
        if k not in case.whole:
            lines += _loaded(OPERANDS[k], type_name, k)
    for number, body in enumerate(case.bodies):
        lines.append(body)
        for k, type_name in enumerate(case.outputs):
            pointer = k + len(case.inputs)
            if pointer not in case.whole:
                offset = number * case.lanes * bytes_of(type_name)
                lines += _stored(RESULTS[k], type_name, f"%p{pointer}+{offset}")
    return "\n".join([*lines, "ret;", "}"])


def bytes_of(type_name: str) -> int:
    """Of one element in memory. A predicate lies there as a word, as does what is 8 bits wide:
    what the instruction does to the rest of a wider register is seen too."""
    return 4 if type_name == "pred" else max(2, DTYPES[type_name].itemsize)


def _declared(letter: str, type_name: str) -> str:
    if type_name == "pred":
        return f".reg .pred %{letter}; .reg .b32 %{letter}w;"
    return f".reg .b{8 * bytes_of(type_name)} %{letter};"


def _loaded(letter: str, type_name: str, pointer: int) -> list[str]:
    if type_name == "pred":
        load = f"ld.global.b32 %{letter}w, [%p{pointer}];"
        return [load, f"setp.ne.u32 %{letter}, %{letter}w, 0;"]
    return [f"ld.global.b{8 * bytes_of(type_name)} %{letter}, [%p{pointer}];"]


def _stored(letter: str, type_name: str, where: str) -> list[str]:
    if type_name == "pred":
        select = f"selp.u32 %{letter}w, 1, 0, %{letter};"
        return [select, f"st.global.b32 [{where}], %{letter}w;"]
    return [f"st.global.b{8 * bytes_of(type_name)} [{where}], %{letter};"]
