"""What an H200's tensor cores gave for the same PTX (`benchmarks/record_tensor_results.py`)."""

import json
from pathlib import Path

import pytest

from benchmarks.tensor_results.comparing import bound_in_units
from benchmarks.tensor_results.matrices import GEMMS, WMMA
from benchmarks.tensor_results.registers import loads
from tests.simulator.fragments.products import spellings, types_of

RECORDING = Path(__file__).parents[2] / "benchmarks" / "results" / "tensor_h200.json"
RECORDED = json.loads(RECORDING.read_text())


def type_and_steps(family, name):
    """(type of d, instructions in a row) of a recorded comparison."""
    if family == "mma":
        return types_of(name.split()[0])[0], 1
    if family == "wmma":
        kernel = next(kernel for kernel in WMMA if name.startswith(f"{kernel}_"))
        return WMMA[kernel][1], 2 if WMMA[kernel][0] == "tf32" else 1
    _, total, (_, _, k), _, _, depth = GEMMS[name.split()[0]]
    return total, -(-k // depth)


@pytest.mark.parametrize("family", ["mma", "wmma", "gemm"])
def test_sums_are_as_far_from_the_hardware_as_the_bound_says_and_no_further(family):
    assert RECORDED["device"] == "NVIDIA H200"
    for row in RECORDED[family]:
        type_, steps = type_and_steps(family, row["name"])
        assert row["apart_in_units"] <= bound_in_units(type_, steps), row["name"]
        assert row["not_finite_differs"] == row.get("nan_bits_differ", 0) == 0, row["name"]
        assert row["elements"] >= 64


def test_the_simulator_is_nearer_to_the_truth_than_the_hardware():
    for family in ("mma", "wmma", "gemm"):
        for row in RECORDED[family]:
            assert row["simulator_error_in_units"] <= row["gpu_error_in_units"] + 1, row["name"]


def test_each_register_of_a_load_is_the_hardware_s():
    assert [row["name"] for row in RECORDED["fragments"]] == [name for name, _, _ in loads()]
    assert all(row["differing"] == 0 for row in RECORDED["fragments"])


def test_every_product_was_compared():
    recorded = {row["name"].split()[0] for row in RECORDED["mma"]}
    assert recorded >= set(spellings())
    assert {row["name"].split()[0] for row in RECORDED["gemm"]} == set(GEMMS)
