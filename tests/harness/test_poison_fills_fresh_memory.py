"""Fresh memory holds poison; all other memory is left alone."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from harness.judging.poison import PARTIAL_ABOVE, Poison, is_poisoned

TYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16,
    torch.int64, torch.int32, torch.int16,
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "fresh",
    [
        lambda dtype: torch.empty(100, dtype=dtype),
        lambda dtype: torch.empty((10, 10), dtype=dtype).new_empty(100),
        lambda dtype: torch.empty_like(torch.zeros(10, 10, dtype=dtype)),
        lambda dtype: torch.empty_like(torch.zeros(10, 10, dtype=dtype).T),
        lambda dtype: torch.empty_strided((10, 10), (1, 10), dtype=dtype),
        lambda dtype: torch.empty_permuted((2, 50), (1, 0), dtype=dtype),
        lambda dtype: torch.zeros(1, dtype=dtype).new_empty_strided((50, 2), (1, 50)),
    ],
)
def test_every_way_of_asking_for_memory_gets_poison(dtype, fresh):
    with Poison():
        x = fresh(dtype)
    assert is_poisoned(x).all()
    if dtype.is_floating_point:
        assert x.isnan().all()


def test_bytes_and_bools_hold_a_value_that_is_neither_zero_nor_one():
    with Poison():
        assert (torch.empty(9, dtype=torch.uint8) == 0xCD).all()
        assert (torch.empty(9, dtype=torch.bool).view(torch.uint8) == 0xCD).all()


def test_complex_numbers_are_poisoned_in_both_parts():
    with Poison():
        x = torch.empty(9, dtype=torch.complex64)
    assert x.real.isnan().all() and x.imag.isnan().all()
    assert is_poisoned(x).all()


def test_memory_with_promised_values_is_left_alone():
    with Poison():
        assert not torch.zeros(100).any()
        assert torch.ones(100).all()
        assert torch.equal(torch.arange(5) + 1, torch.tensor([1, 2, 3, 4, 5]))
        assert torch.equal(torch.full((3,), 2.0), torch.tensor([2.0, 2.0, 2.0]))
        out = torch.zeros(3)
        assert torch.empty(3, out=out) is out
        assert not out.any()


def test_ordinary_nan_is_no_poison():
    x = torch.full((4,), torch.nan)
    assert not is_poisoned(x).any()
    assert not is_poisoned(torch.zeros(1) / torch.zeros(1)).any()


def test_nothing_and_meta_tensors_are_accepted():
    with Poison():
        torch.empty(0)
        torch.empty(3, device="meta")


def test_a_giant_is_poisoned_at_both_ends_and_in_each_stretch_without_being_committed():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Poison():
        x = torch.empty(1 << 31, dtype=torch.uint8)
    assert x.nbytes > PARTIAL_ABOVE
    assert x[0] == x[-1] == x[5 << 20] == 0xCD
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB
    assert grown < 128 << 10


def test_torch_compile_still_captures_one_graph():
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    with Poison():
        result = torch.compile(lambda x: x * 2 + 1, backend=backend)(torch.ones(3))
    assert torch.equal(result, torch.full((3,), 3.0))
    assert len(graphs) == 1


def test_the_profiler_sees_no_operator_of_ours():
    with Poison(), torch.profiler.profile(acc_events=True) as profiler:
        torch.empty(100)
    names = {event.name for event in profiler.events() if event.name.startswith("aten")}
    assert names == {"aten::empty"}


def test_autograd_works_under_poison():
    x = torch.ones(3, requires_grad=True)
    with Poison():
        (x * x).sum().backward()
    assert torch.equal(x.grad, torch.full((3,), 2.0))


def test_poison_does_not_make_each_run_wait_for_torch_compile():
    code = (
        "import sys, torch; from harness.judging.poison import Poison\n"
        "with Poison(): torch.empty(3)\n"
        "print('torch._dynamo' in sys.modules)"
    )
    root = Path(__file__).parents[2]
    answer = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert answer.stdout.strip() == "False", answer.stderr
