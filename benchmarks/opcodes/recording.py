"""One batch of cases, measured: rows of the recording."""

import traceback
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.opcodes.arithmetic import arithmetic_cases, immediate_cases
from benchmarks.opcodes.assembly import Assembled, assemble
from benchmarks.opcodes.atomic_cases import atomic_cases
from benchmarks.opcodes.cases import Case
from benchmarks.opcodes.columns import columns_of
from benchmarks.opcodes.comparing import Compared, compare
from benchmarks.opcodes.machines import Machine, Simulated, blank_outputs
from benchmarks.opcodes.warp_cases import warp_cases

Row = dict[str, Any]


def all_cases() -> list[Case]:
    cases = arithmetic_cases() + immediate_cases() + warp_cases() + atomic_cases()
    names = [case.name for case in cases]
    if len(set(names)) != len(names):
        raise ValueError("two cases of one name")
    return cases


def record(cases: list[Case], machine: Machine, architecture: str) -> list[Row]:
    """A row for each case: measured, refused by ptxas, or failed with what Python said."""
    modules, refused = assemble(cases, architecture)
    rows = [
        {"name": case.name, "row": case.row, "refused": refused[case.name]}
        for case in cases
        if case.name in refused
    ]
    for assembled in modules:
        rows += _measure(assembled, machine)
    return rows


def _measure(assembled: Assembled, machine: Machine) -> list[Row]:
    simulated = Simulated()
    simulated.load(assembled)
    machine.load(assembled)
    rows = []
    for number, case in enumerate(assembled.cases):
        row: Row = {"name": case.name, "row": case.row}
        if assembled.target != "sm_80":
            row["target"] = assembled.target
        try:
            row |= _told(case, measure(number, case, simulated, machine))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{where.name}:{where.lineno}"
            row["failed"] = f"{type(error).__name__}: {error} ({place})"
        rows.append(row)
    return rows


def measure(number: int, case: Case, simulated: Machine, machine: Machine) -> Compared:
    inputs = columns_of(case)
    outputs = blank_outputs(case, inputs)
    theirs = machine.run(number, case, [*inputs, *outputs])
    ours = simulated.run(number, case, [*inputs, *outputs])
    if case.compare == "old values":
        ours, theirs = (sorted_by_slot(inputs, each) for each in (ours, theirs))
    return compare(case, inputs, ours, theirs)


def sorted_by_slot(inputs: list[NDArray[Any]], outputs: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Old values in rising order at each slot, for who came first is chance."""
    memory, old = outputs
    return [memory, old[np.lexsort((old, inputs[0]))]]


def _told(case: Case, compared: Compared) -> Row:
    row: Row = {"operands": compared.operands, "equal": compared.equal}
    row["differing"] = compared.differing
    if compared.nan_payload_differs:
        row["nan_payload_differs"] = compared.nan_payload_differs
        row["nan_example"] = compared.nan_example
    if case.bound is not None:
        row["bound"] = {"kind": case.bound.kind, "error": case.bound.error}
        if case.bound.low or case.bound.high != float("inf"):
            row["bound"] |= {"low": case.bound.low, "high": case.bound.high}
        row["outside"] = compared.outside
        row["max_ulp"], row["max_error"] = compared.max_ulp, compared.max_error
    if compared.examples:
        row["examples"] = compared.examples[:3]
    return row
