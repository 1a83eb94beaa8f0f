"""The fixtures as a lesson's test meets them."""

import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judging.poison import is_poisoned
from harness.launching import launch_settings

ROOT = Path(__file__).parents[2]


def test_the_seed_comes_from_the_name_of_the_test(rng, request):
    assert rng.initial_seed() == crc32(request.node.nodeid.encode())
    assert rng.device.type == "cpu"


def test_close_prints_the_seed(rng, close, request):
    with pytest.raises(AssertionError, match=f"seed {rng.initial_seed()}"):
        close(torch.zeros(3), lambda x: x, torch.ones(3))


def test_close_prints_no_seed_where_nothing_was_drawn(close):
    with pytest.raises(AssertionError) as failure:
        close(torch.zeros(3), lambda x: x, torch.ones(3))
    assert "seed" not in str(failure.value)


@pytest.mark.simulated
def test_a_simulated_test_gets_the_simulator(device):
    assert device == torch.device("cpu")
    assert launch_settings.current().device == "cpu"


def test_other_tests_get_the_device_of_the_session(device):
    assert device.type == launch_settings.current().device


def test_fresh_memory_is_poisoned_in_each_test():
    assert is_poisoned(torch.empty(10)).all()


def test_a_test_may_ask_for_plain_memory(unpoisoned):
    torch.zeros(1 << 16).fill_(3.0)
    assert not is_poisoned(torch.empty(1 << 16)).any()


EXAMPLES = []


@given(st.integers(0, 10**9))
def test_hypothesis_runs_few_examples_of_its_one_profile(number):
    EXAMPLES.append(number)
    assert settings().database is None
    assert settings().deadline is None
    assert settings().derandomize
    assert len(EXAMPLES) <= 15


SEEN = {}


@given(st.integers(0, 3))
def test_an_example_replayed_sees_the_same_data(rng, number):
    drawn = torch.rand(3, generator=rng)
    assert torch.equal(SEEN.setdefault("drawn", drawn), drawn)


def test_the_plugin_starts_without_torch_numpy_or_hypothesis():
    heavy = {"torch", "numpy", "hypothesis", "triton", "cupy"}
    code = f"import sys, harness.fixtures; print({heavy!r} & set(sys.modules) or 'light')"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert answer.stdout.strip() == "light", answer.stderr
