"""What Triton's compiler refuses is told at the learner's line, with advice that fits."""

import inspect
import re
import warnings
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401  (registers the driver)
from harness.telling.learner_error import LaunchError
from harness.triton_driver.compile_errors import TritonCompileError, without_a_grid
from tests.triton.programs import uncompilable_python, uncompilable_tiles  # noqa: F401
from tests.triton.programs.refused import REFUSED

X = torch.ones(1 << 16)
FILE = r"uncompilable_(?:python|tiles)\.py"


def report_of(kernel):
    with pytest.raises(TritonCompileError) as raised:
        kernel[(1,)](X, X.clone(), 5, BLOCK=16)
    return raised.value.learner_report


@pytest.mark.parametrize("name", REFUSED)
def test_the_report_names_the_line_of_the_mistake_and_what_to_try(name, capfd):
    kernel, what, advice = REFUSED[name]
    report = report_of(kernel)
    first, *rest = report.splitlines()
    place = re.match(rf".*{FILE}:(\d+)(?::\d+)?: (.*)$", first)
    lines = Path(inspect.getfile(kernel.fn)).read_text(encoding="utf-8").splitlines()
    assert lines[int(place[1]) - 1].rstrip().endswith("# error"), report
    assert what in place[2], report
    assert (advice in report.partition("\ntry ")[2]) if advice else True, report
    calls = [int(line) for line in re.findall(rf"called from .*{FILE}:(\d+)", report)]
    assert all(lines[line - 1].rstrip().endswith("# called") for line in calls), report
    assert bool(calls) == ("# called" in inspect.getsource(kernel.fn)), report
    assert len(report.splitlines()) <= 12, report
    assert not re.search(r"(language|compiler|runtime)/\w+\.py", report), "a frame of Triton's"
    assert capfd.readouterr() == ("", "")


def test_a_line_may_be_told_of_but_a_caret_stands_under_the_mistake():
    kernel, _, _ = REFUSED["exp_of_half"]
    lines = report_of(kernel).splitlines()
    caret = next(k for k, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret - 1][lines[caret].index("^") :].startswith("tl.exp(v)")


def test_hints_are_shown_only_where_they_fit():
    @triton.jit
    def of_no_known_kind(x, y, n, BLOCK: tl.constexpr):
        tl.atomic_add(y.to(tl.pointer_type(tl.int16)), 1)

    report = report_of(of_no_known_kind)
    assert "atomic_add does not support int16" in report
    assert "try" not in report and "expected" not in report


def test_a_kernel_inside_of_a_test_is_told_at_its_own_columns():
    @triton.jit
    def nested(x, y, n, BLOCK: tl.constexpr):
        tl.store(y, missing)  # noqa: F821

    first = report_of(nested).splitlines()[0]
    line = inspect.getsourcelines(nested.fn)[1] + 2
    assert f"test_compile_errors.py:{line}:21: missing is not defined" in first


def test_what_triton_warns_of_and_compiles_all_the_same_is_not_shown(capfd):
    @triton.jit
    def and_between_tiles(x, y, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        inside = (at > 2) and (at < n)
        tl.store(y + at, tl.load(x + at, mask=inside, other=0.0))

    y = torch.zeros(16)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        and_between_tiles[(1,)](X, y, 5, BLOCK=16)
    assert y.tolist() == [0, 0, 0, 1, 1] + [0] * 11
    assert not caught
    assert capfd.readouterr() == ("", "")


@triton.jit
def _fine(x, y, n, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), tl.load(x) * n)


@pytest.mark.parametrize(
    "launch, says",
    [
        (lambda: _fine[(1,)](X, X, BLOCK=16), "_fine: n is missing"),
        (lambda: _fine[(1,)](X, X, 5), "_fine: BLOCK is missing"),
        (lambda: _fine[(1,)](X, X, 5, 16, 17), "_fine: 5 arguments for 4 parameters"),
        (lambda: _fine[(1,)](X, X, 5, BLOK=16), "it has no parameter BLOK: is BLOCK meant?"),
        (lambda: _fine[(1,)](X, X, 5, 16, BLOCK=16), "BLOCK is given twice"),
        (lambda: _fine[(1,)](X, X, 5, BLOCK=16, nwarps=2), "it has no parameter nwarps"),
        (lambda: _fine[(1,)](X, X, 5, BLOCK=16, num_warps=3), "_fine: num_warps=3"),
        (lambda: _fine[(1,)](X.to(torch.complex64), X, 5, BLOCK=16), "torch.complex64 tensors"),
        (lambda: _fine[(1,)](X, X, 1 << 70, BLOCK=16), "an integer of more than 64 bits"),
    ],
)
def test_wrong_arguments_are_told_at_the_launch_with_the_kernels_parameters(launch, says):
    with pytest.raises(LaunchError) as raised:
        launch()
    report = raised.value.learner_report
    assert says in report.splitlines()[0]
    assert "test_compile_errors.py:" in report
    assert "_fine(x, y, n, BLOCK: tl.constexpr)" in report or "num_warps is" in report


def test_a_number_in_a_pointers_place_is_told_at_the_line_that_loads():
    with pytest.raises(TritonCompileError) as raised:
        _fine[(1,)](3, X, 5, BLOCK=16)
    assert "tl.load of x, which is no pointer (x is a number in this launch)" in str(raised.value)


def test_tiles_that_do_not_fit_into_shared_memory_are_told_with_both_numbers():
    @triton.jit
    def whole_matrices(x, y, SIDE: tl.constexpr):
        at = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
        a = tl.load(x + at)
        tl.store(y + at, tl.dot(a, a))

    with pytest.raises(LaunchError) as raised:
        whole_matrices[(1,)](X, X.clone(), SIDE=256)
    report = raised.value.learner_report
    assert re.search(r"needs [\d,]+ bytes of shared memory; there are 232,448", report)
    assert "num_stages" in report


def test_a_kernel_called_like_a_function_is_told_to_take_a_grid():
    with pytest.raises(RuntimeError) as raised:
        _fine(X, X, 5, BLOCK=16)
    assert "kernel[grid](arguments …)" in without_a_grid(raised.value)
    assert without_a_grid(RuntimeError("something else")) is None
