"""tl.device_print and tl.device_assert."""

import re

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from simulator import KernelFault

pytestmark = pytest.mark.simulated


@triton.jit
def tell(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_print("value:", tl.load(x + i), i)


def test_a_print_tells_program_index_and_value(capfd):
    x = torch.arange(32.0) / 4
    tell[(2,)](x, BLOCK=32, num_warps=1)
    lines = capfd.readouterr().out.splitlines()
    want = [
        f"pid ({p}, 0, 0) idx ({i:2d}) value: (operand {k}) {text}"
        for p in range(2)
        for k in range(2)
        for i in range(32)
        for text in [f"{i / 4:f}" if k == 0 else f"{i}"]
    ]
    squeezed = [" ".join(line.replace("( ", "(").split()) for line in lines]
    assert sorted(squeezed) == sorted(" ".join(w.replace("( ", "(").split()) for w in want)


@triton.jit
def print_scalar(n):
    tl.device_print("n", n)


def test_each_thread_prints_a_scalar_as_on_a_gpu(capfd):
    print_scalar[(1,)](42, num_warps=2)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 64 and {line.split(":")[1].strip() for line in lines} == {"42"}


@triton.jit(debug=True)
def check(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(i < n, "outside of the row")
    tl.store(x + i, 1.0)


def test_an_assertion_that_holds_is_silent(capfd):
    x = torch.zeros(256)
    check[(2,)](x, 256, BLOCK=128)
    assert x.all() and capfd.readouterr().out == ""


def test_one_that_fails_says_its_message_its_line_and_the_program():
    with pytest.raises(KernelFault) as caught:
        check[(2,)](torch.zeros(256), 200, BLOCK=128)
    report = caught.value.learner_report
    assert "outside of the row" in report and "program 1" in report
    assert re.search(r"test_driver_prints.py:\d+    tl.device_assert\(i < n", report)
    assert "check[(2,)](torch.zeros(256), 200, BLOCK=128)" in report


def test_without_debug_an_assertion_costs_nothing_and_says_nothing():
    @triton.jit
    def unchecked(x, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.device_assert(i < n, "outside of the row")
        tl.store(x + i, 1.0)

    compiled = unchecked[(1,)](torch.zeros(128), 1, BLOCK=128)
    assert "__assertfail" not in str(compiled.asm["ptx"])
    with pytest.raises(KernelFault, match="outside of the row"):
        unchecked[(1,)](torch.zeros(128), 1, BLOCK=128, debug=True)


def test_a_static_assertion_fails_while_compiling():
    @triton.jit
    def even(x, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK % 64 == 0, "BLOCK must be a multiple of 64")
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    with pytest.raises(Exception, match="BLOCK must be a multiple of 64"):
        even[(1,)](torch.zeros(128), BLOCK=32)
