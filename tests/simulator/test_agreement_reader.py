"""What Nsight Compute prints becomes integers, launch by launch, and nothing else does."""

import json

import pytest

from benchmarks.counter_ncu import BY_OPCODE, METRICS, Launch, available, read_csv
from benchmarks.record_counters import as_json, recorded
from tests.simulator.agreement.cases import cases

LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
HEAD = '"ID","Process ID","Kernel Name","Block Size","CC"'
TABLE = f"""==PROF== Connected to process 4711 (python3)
{HEAD},"{LOADS}","{SECTORS}","{BY_OPCODE}"
"","","","","","request","sector","inst"
"1","4711","copy_floats","(256, 1, 1)","9.0","313","1,251","4,000"
"0","4711","vec_add","(256, 1, 1)","9.0","62,502","n/a","1,500,012"
==PROF== Disconnected from process 4711
"""
DETAILS = f"""{HEAD},"{BY_OPCODE}"
"","","","","","inst"
"0","4711","vec_add","(256, 1, 1)","9.0","1,500,012 (LDG: 62,502; BAR: 8; EXIT: 31,251)"
"1","4711","copy_floats","(256, 1, 1)","9.0","4,000"
"""


def test_launches_come_in_the_order_in_which_they_ran():
    assert [launch.kernel for launch in read_csv(TABLE)] == ["vec_add", "copy_floats"]


def test_thousands_have_separators_and_what_is_not_there_is_no_zero():
    first, second = read_csv(TABLE)
    assert first.values == {LOADS: 62502}
    assert second.values == {LOADS: 313, SECTORS: 1251}


def test_opcodes_come_from_the_other_table():
    first, second = read_csv(TABLE, DETAILS)
    assert first.opcodes == {"LDG": 62502, "BAR": 8, "EXIT": 31251}
    assert second.opcodes == {}
    assert read_csv(TABLE)[0].opcodes == {}


def test_a_signature_behind_the_name_is_left_out():
    table = TABLE.replace('"vec_add"', '"vec_add(const float *, float *, int)"')
    assert read_csv(table)[0].kernel == "vec_add"


@pytest.mark.parametrize("text", ["", "==ERROR== No kernels were profiled.\n"])
def test_no_table_is_no_launch(text):
    assert read_csv(text) == []


def test_metrics_that_the_tool_does_not_list_are_not_asked_for():
    asked, missing = available([LOADS.removesuffix(".sum"), "sm__cycles_active"])
    assert asked == [LOADS]
    assert set(missing) == set(METRICS) - {LOADS}


def test_a_recording_of_what_is_missing_leaves_the_rest_as_it_was():
    """New metrics come last, so that the values recorded before stand in their old places."""
    first, second, third = cases()[:3]
    head = {"device": "NVIDIA H200", "recorded": "today"}
    facts = {case.name: {"registers": 8} for case in (first, second, third)}
    launches = [Launch(case.kernel, {LOADS: 7, SECTORS: 9}, {"LDG": 7}) for case in (first, third)]
    before = recorded(None, [first, third], launches, facts, [LOADS], ["gone"], head)
    text = as_json(before)
    merged = recorded(
        before, [second], launches[:1], facts, [BY_OPCODE, SECTORS, LOADS], [], head | {"x": "y"}
    )
    assert merged["metrics"] == [LOADS, SECTORS]
    assert list(merged["cases"]) == [first.name, second.name, third.name]
    assert merged["cases"][second.name]["values"] == [7, 9]
    old = {line.rstrip(",") for line in text.splitlines() if "fingerprint" in line}
    assert len(old) == 2
    assert old < {line.rstrip(",") for line in as_json(merged).splitlines()}
    assert json.loads(as_json(merged)) == merged
