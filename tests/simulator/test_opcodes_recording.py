"""The measurement of opcodes against a GPU: a machine that is wrong must be found out."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.opcodes.assembly import assemble, ptxas
from benchmarks.opcodes.cases import Case
from benchmarks.opcodes.columns import columns_of
from benchmarks.opcodes.comparing import compare
from benchmarks.opcodes.formats import numbers
from benchmarks.opcodes.machines import Simulated
from benchmarks.opcodes.recording import all_cases, record
from benchmarks.opcodes.spelling import ENUMERATIONS
from benchmarks.record_opcodes import machine_facts, summary, written
from simulator.instructions.documented_errors import Bound
from simulator.instructions.opcodes import FAMILIES

try:
    ptxas()
    WITHOUT_PTXAS = False
except FileNotFoundError:
    WITHOUT_PTXAS = True
needs_ptxas = pytest.mark.skipif(WITHOUT_PTXAS, reason="needs ptxas, of CUDA or of Triton")

LANES = 1024


def case_named(name):
    (found,) = (case for case in all_cases() if case.name == name)
    return replace(found, lanes=LANES // len(found.bodies) * len(found.bodies))


class Wrong(Simulated):
    """A machine whose results are the simulator's but for some lanes."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def run(self, number, case, arrays):
        outputs = super().run(number, case, arrays)
        self.change(outputs)
        return outputs


def recorded(names, change=lambda outputs: None):
    rows = record([case_named(name) for name in names], Wrong(change), "sm_90")
    return {row["name"]: row for row in rows}


@needs_ptxas
@pytest.mark.parametrize(
    "name",
    [
        "add.s32",
        "fma.rn.ftz.f32",
        "setp.lt.and.s32 p|q",
        "cvt.rzi.u8.f32",
        "shfl.sync.up.b32 p",
        "redux.sync.max.s32 diverged",
        "atom.global.cas.b32 alone",
        "atom.shared.add.f32 meeting",
        "red.shared.min.s64 meeting",
    ],
)
def test_the_right_machine_is_equal_and_one_wrong_bit_is_found(name):
    row = recorded([name])[name]
    assert (row["operands"], row["equal"], row["differing"]) == (LANES, LANES, 0)

    def flip(outputs):
        outputs[0][7] ^= 1

    row = recorded([name], flip)[name]
    assert row["differing"] == 1
    (example,) = row["examples"]
    assert int(example["gpu"][0], 16) == int(example["simulator"][0], 16) ^ 1
    assert len(example["inputs"]) >= 1


@needs_ptxas
def test_a_wrong_old_value_is_found_though_its_order_is_chance():
    name = "atom.global.add.u32 meeting"

    def swapped(outputs):
        outputs[1][:] = outputs[1][::-1]  # other lanes saw what these have seen

    def wrong(outputs):
        outputs[1][3] += 1

    slots = columns_of(case_named(name))[0]
    partner = int(np.flatnonzero(slots == slots[0])[1])

    def exchanged(outputs):
        outputs[1][[0, partner]] = outputs[1][[partner, 0]]

    assert recorded([name], exchanged)[name]["differing"] == 0
    assert recorded([name], wrong)[name]["differing"] >= 1
    assert recorded([name], swapped)[name]["differing"] >= 1


@needs_ptxas
def test_what_ptxas_refuses_is_told_in_its_words_and_takes_nothing_else_along():
    good = case_named("add.s32")
    bad = replace(good, name="bad", bodies=("add.f99 %x, %a, %b;",))
    worse = replace(good, name="worse", bodies=("frobnicate %x, %a, %b;",))
    newer = case_named("add.rn.bf16")
    modules, refused = assemble([bad, good, worse, newer], "sm_90")
    assert [(m.target, [c.name for c in m.cases]) for m in modules] == [
        ("sm_80", ["add.s32"]),
        ("sm_90", ["add.rn.bf16"]),
    ]
    assert refused.keys() == {"bad", "worse"}
    assert "frobnicate" in refused["worse"]
    rows = record([bad, good], Simulated(), "sm_90")
    assert {row["name"]: "refused" in row for row in rows} == {"bad": True, "add.s32": False}


@needs_ptxas
def test_a_case_that_fails_does_not_take_the_others_along():
    def refuse(outputs):
        if outputs[0].dtype == np.uint64:
            raise MemoryError("no room")

    rows = recorded(["add.s32", "add.s64"], refuse)
    assert rows["add.s32"]["differing"] == 0
    assert "MemoryError: no room" in rows["add.s64"]["failed"]


def a_case(bound, type_name="f32"):
    return Case("x", "x", ("",), (type_name,), (type_name,), lanes=4, bound=bound)


def floats(*values):
    return np.array(values, np.float32).view(np.uint32)


def test_an_error_within_the_documented_one_is_measured_and_not_held_against_it():
    inputs = [floats(1, 2, 3, 4)]
    ours, theirs = floats(1, 2, 3, np.inf), floats(1, 2, 3, np.inf)
    theirs[1] += 2
    told = compare(a_case(Bound("ulp", 2)), inputs, [ours], [theirs])
    assert (told.differing, told.max_ulp, told.max_error, told.equal) == (0, 2, 2.0, 3)
    theirs[2] += 3
    told = compare(a_case(Bound("ulp", 2)), inputs, [ours], [theirs])
    assert (told.differing, told.max_ulp) == (1, 3)


def test_an_infinity_or_a_nan_has_no_room_for_error():
    inputs, ours = [floats(1, 2, 3, 4)], floats(1, np.inf, np.nan, 0)
    for lane, value in ((1, 3e38), (2, np.inf), (1, -np.inf), (0, np.nan)):
        theirs = ours.copy()
        theirs[lane] = floats(value)[0]
        assert compare(a_case(Bound("relative", 0.1)), inputs, [ours], [theirs]).differing == 1


def test_operands_beyond_the_documented_range_are_counted_and_not_judged():
    inputs, ours = [floats(1, 100, 200, 4)], floats(1, 1, 1, 1)
    theirs = floats(1, 5, 6, 1)
    told = compare(a_case(Bound("absolute", 0.1, 0, 10)), inputs, [ours], [theirs])
    assert (told.differing, told.outside) == (0, 2)


def test_a_nan_of_other_bits_is_neither_equal_nor_differing():
    inputs = [floats(1, 2, 3, 4)]
    ours = np.array([0x7FC00000, 0x7FFFFFFF, 0, 0], np.uint32)
    theirs = np.array([0x7FFFFFFF, 0x7FFFFFFF, 0, 0], np.uint32)
    told = compare(a_case(None), inputs, [ours], [theirs])
    assert (told.equal, told.differing, told.nan_payload_differs) == (3, 0, 1)
    assert told.nan_example["gpu"] == ["0x7fffffff"]
    halves = [np.array([word, 0, 0, 0], np.uint32) for word in (0x3C007E00, 0x3C007FFF)]
    told = compare(a_case(None, "f16x2"), inputs, [halves[0]], [halves[1]])
    assert (told.differing, told.nan_payload_differs) == (0, 1)
    halves[1][0] ^= 0x10000  # the other half is a number, and wrong
    told = compare(a_case(None, "f16x2"), inputs, [halves[0]], [halves[1]])
    assert (told.differing, told.nan_payload_differs) == (1, 0)


def test_columns_hold_all_pairs_of_special_floats_and_meet_at_the_smallest_normal():
    case = case_named("mul.f32")
    a, b = columns_of(replace(case, lanes=1 << 17))
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    special = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 1, 0x007FFFFF]
    special += [0x00800000, 0x7F7FFFFF, 0x3F800000, 0xBF800000]
    assert {(x, y) for x in special for y in special} <= pairs
    with np.errstate(all="ignore"):
        products = np.abs(numbers("f32", a) * numbers("f32", b))
    beside = np.abs(products / 2.0**-126 - 1) < 2.0**-22
    assert beside.sum() > 1000
    below, above = (products[beside] < 2.0**-126).sum(), (products[beside] > 2.0**-126).sum()
    assert min(below, above) > 300


def test_a_16_bit_operand_that_stands_alone_takes_every_value():
    (a,) = columns_of(replace(case_named("neg.f16"), lanes=1 << 17))
    assert len(np.unique(a)) == 1 << 16


@needs_ptxas
def test_the_recording_is_json_and_the_summary_tells_what_is_wrong():
    def flip(outputs):
        outputs[0][7] ^= 1

    rows = list(recorded(["add.s32", "add.sat.f64", "sub.s32"], flip).values())
    told = json.loads(written(machine_facts("simulator"), rows))
    assert {row["name"]: row["differing"] for row in told["rows"]} == {"add.s32": 1, "sub.s32": 1}
    assert sum(told["refused"].values(), []) == ["add.sat.f64"]
    text = summary(rows)
    assert "DIFFERS add.s32: 1 of 1024" in text


def test_every_family_of_the_table_says_which_opcodes_it_has():
    assert ENUMERATIONS.keys() == FAMILIES.keys()
