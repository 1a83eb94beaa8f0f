"""The fixtures of a lesson's tests. Nothing here imports torch before a test asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from harness.judging.profiling import Profiler
from harness.launching import launch_settings

if TYPE_CHECKING:
    import torch

    from harness.judging.comparison import Close


@pytest.fixture
def device(_simulated_tests_stay_off_the_gpu: None) -> torch.device:
    """Where the test's tensors live: "cuda", or "cpu" for the simulator."""
    import torch

    return torch.device(launch_settings.current().device)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Iterator[torch.Generator]:
    """Random numbers that depend on the test's own name alone; a generator on the CPU."""
    import torch

    generator = torch.Generator().manual_seed(seed_of(request.node))
    if not getattr(request.function, "is_hypothesis_test", False):
        yield generator
        return
    from harness.judging import hypothesis_profile

    with hypothesis_profile.seeded_for_each_example(generator):
        yield generator


@pytest.fixture
def profile(request: pytest.FixtureRequest) -> Profiler:
    """`launches = profile(lambda: host.vec_add(a, b))`: run on the simulator and count."""
    return Profiler(request.node)


@pytest.fixture
def close(request: pytest.FixtureRequest) -> Close:
    """`close(got, oracle, *inputs)`; `close.equal(got, want)`; `close.function(f, oracle, …)`."""
    from harness.judging.comparison import Close

    return Close(seed_of(request.node) if "rng" in request.fixturenames else None)


@pytest.fixture
def unpoisoned() -> None:
    """Ask for this where fresh memory must stay as it is: a test that counts operators or time."""


@pytest.fixture(autouse=True)
def _simulated_tests_stay_off_the_gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests marked `simulated` launch on the simulator, also where there is a GPU."""
    if request.node.get_closest_marker("simulated") is None:
        yield
        return
    with launch_settings.changed(device="cpu"):
        yield


@pytest.fixture(autouse=True)
def _poisoned_fresh_memory(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever torch.empty returns holds poison, in tests that use torch."""
    if "torch" not in sys.modules or "unpoisoned" in request.fixturenames:
        yield
        return
    from harness.judging.poison import Poison

    with Poison():  # type: ignore[no-untyped-call]  # torch does not type it
        yield


def seed_of(item: pytest.Item) -> int:
    """A seed from the test's id: the same on each machine, in each order."""
    return crc32(item.nodeid.encode())


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Load the Hypothesis profile before the first test file that uses Hypothesis is imported."""
    if b"hypothesis" in module_path.read_bytes():
        from harness.judging import hypothesis_profile

        hypothesis_profile.load()
