"""Verdicts on kernels that never end: their report, and that it is proven in no time."""

import time

import pytest

from simulator import FaultKind
from tests.simulator.compiled import fault


@pytest.fixture(autouse=True)
def quick():
    """The verdict is proven; nobody waits for a time limit."""
    began = time.process_time()
    yield
    assert time.process_time() - began < 5


def deadlock(kernel, grid, block, *arguments, **settings):
    """The lines of the report."""
    found = fault(kernel, grid, block, *arguments, **settings)
    assert found.kind is FaultKind.DEADLOCK, found
    return [line.strip() for line in found.what.split("\n")], found
