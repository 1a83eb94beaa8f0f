"""What an H200 said of every row of the tables: benchmarks/results/opcodes_h200.json.

A row that is added needs a new recording (`python -m benchmarks.record_opcodes`, on a GPU): until
then its opcodes are missing here, and this fails.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from benchmarks.opcodes.formats import FORMATS, PAIRS
from benchmarks.opcodes.recording import all_cases
from benchmarks.opcodes.spelling import row_label
from simulator.instructions.opcodes import BIT_ROWS, FAMILIES, FLOAT_ROWS, INTEGER_ROWS

RECORDING = Path(__file__).parents[2] / "benchmarks" / "results" / "opcodes_h200.json"
OPERANDS = 100_000  # of each opcode, at least
ROWS = [
    *(row_label(row, t) for row in INTEGER_ROWS + FLOAT_ROWS + BIT_ROWS for t in row.types.split()),
    *FAMILIES,
]


@cache
def recording():
    return json.loads(RECORDING.read_text(encoding="utf-8"))


@cache
def measured():
    return {row["name"]: row for row in recording()["rows"]}


@cache
def refused():
    return {name: words for words, names in recording()["refused"].items() for name in names}


def test_it_was_an_h200_under_a_driver_of_cuda_13():
    assert "H200" in recording()["device"]
    assert int(recording()["versions"]["driver"].split(".")[0]) >= 580


def test_every_opcode_of_the_tables_was_measured_or_refused_by_ptxas():
    names = [case.name for case in all_cases()]
    missing = [name for name in names if name not in measured() and name not in refused()]
    assert missing == []


@pytest.mark.parametrize("row", ROWS)
def test_every_row_was_measured_on_enough_operands(row):
    """At every type that it names: a type whose opcodes ptxas all refuses has no place in a row."""
    found = [m for m in measured().values() if m["row"] == row]
    assert found
    assert min(m.get("operands", 0) for m in found) >= OPERANDS


def test_nothing_failed_or_differed():
    """Exact instructions bit for bit, but for which NaN a NaN is; approximate ones within the
    error that the PTX ISA documents."""
    wrong = {
        name: row.get("failed") or row["examples"][0]
        for name, row in measured().items()
        if row.get("failed") or row["differing"]
    }
    assert wrong == {}


APPROXIMATE = [case for case in all_cases() if case.bound is not None]


@pytest.mark.parametrize("case", APPROXIMATE, ids=lambda case: case.name)
def test_the_largest_error_of_an_approximation_is_within_the_documented_one(case):
    if case.name in refused():
        assert case.name not in measured()
        return
    row = measured()[case.name]
    assert row["bound"]["error"] == case.bound.error
    assert row["operands"] - row["outside"] >= OPERANDS
    # The simulator's own rounding counts too: half a unit in the last place.
    fraction = FORMATS[PAIRS.get(case.outputs[0], case.outputs[0])][1]
    half_a_place = 0.5 if case.bound.kind == "ulp" else 2.0 ** -(fraction + 1)
    assert row["max_error"] <= case.bound.error + half_a_place


# Where a NaN's bits may differ from the hardware's: see float_arithmetic.py.
UNMODELLED = {"add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "abs", "neg"}


def test_only_plain_arithmetic_and_float64_give_another_nan_than_the_hardware():
    told = [row for row in measured().values() if row.get("nan_payload_differs")]
    strange = [
        row["name"]
        for row in told
        if "f64" not in row["name"]
        and not (row["row"].split()[0] in UNMODELLED and row["row"].split()[1] == "f32")
    ]
    assert strange == []
