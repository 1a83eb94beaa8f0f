"""Approximate results moved within their documented error: far enough to notice, and no further."""

import numpy as np
import pytest

from benchmarks.opcodes.formats import FORMATS, PAIRS, numbers
from simulator.instructions.documented_errors import bound_of
from simulator.instructions.opcodes import operation
from simulator.instructions.perturbation import is_approximate, perturbed

OPCODES = [
    "rcp.approx.f32",
    "sqrt.approx.ftz.f32",
    "rsqrt.approx.f32",
    "div.approx.f32",
    "div.full.f32",
    "sin.approx.f32",
    "cos.approx.f32",
    "lg2.approx.f32",
    "ex2.approx.f32",
    "tanh.approx.f32",
    *(f"tanh.approx.{t}" for t in ("f16", "f16x2", "bf16", "bf16x2")),
    *(f"ex2.approx.{t}" for t in ("f16", "f16x2", "ftz.bf16", "ftz.bf16x2")),
]


def operands(what):
    """Numbers 0.01 .. 10, as the type holds them: raw words."""
    x = np.geomspace(0.01, 10, 2000).astype(np.float32)
    type_name = what.operands[0]
    half = PAIRS.get(type_name, type_name)
    if half == "f32":
        return [x, x[::-1].copy()][: len(what.operands)]
    word = (x.view("u4") >> 16).astype("u2") if half == "bf16" else x.astype("f2").view("u2")
    if type_name == half:
        return [word if half == "bf16" else word.view("f2")]
    return [word.astype("u4") | word[::-1].astype("u4") << 16]


@pytest.mark.parametrize("opcode", OPCODES)
def test_results_move_within_the_documented_error(opcode):
    what, bound = operation(opcode), bound_of(opcode)
    (type_name,) = what.results
    given = operands(what)
    words = [f(*given).view(f"u{4 if 'x2' in type_name or type_name == 'f32' else 2}")
             for f in (what.compute, perturbed(opcode, what))]  # fmt: skip
    exact, moved = (numbers(type_name, w) for w in words)
    distance = np.abs(moved - exact)
    fraction = FORMATS[PAIRS.get(type_name, type_name)][1]
    place = np.ldexp(1.0, np.frexp(exact)[1] - 1 - fraction)
    room = {
        "ulp": bound.error * place,
        "relative": bound.error * np.abs(exact),
        "absolute": bound.error,
        "either": bound.error * np.maximum(1, np.abs(exact)),
    }[bound.kind]
    assert (distance <= room + place / 2).all()
    assert (distance > 0).mean() > 0.2


def test_what_is_exact_stays_and_so_do_zero_infinity_and_nan():
    assert not is_approximate("div.rn.f32") and not is_approximate("rcp.approx.ftz.f64")
    special = np.array([0.0, -0.0, np.inf, np.nan], np.float32)
    what = operation("ex2.approx.f32")
    moved = perturbed("ex2.approx.f32", what)(np.float32([-np.inf, np.inf, np.nan]))
    np.testing.assert_array_equal(moved, np.float32([0, np.inf, np.nan]))
    moved = perturbed("sqrt.approx.f32", operation("sqrt.approx.f32"))(special)
    assert moved.view("u4")[:3].tolist() == [0, 1 << 31, 0x7F800000]


def test_a_value_that_all_lanes_share_moves_as_it_does_in_a_lane():
    for opcode in ("sin.approx.f32", "tanh.approx.f16", "ex2.approx.ftz.bf16x2"):
        what = operation(opcode)
        (lanes,) = operands(what)
        compute = perturbed(opcode, what)
        shared = compute(lanes[7])
        assert np.ndim(shared) == 0 and shared.tobytes() == compute(lanes)[7].tobytes()
