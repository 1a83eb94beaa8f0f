"""Lesson 04, further on: a gather, whose sectors depend on the data."""

import pytest
import torch

from curriculum.lesson_04 import host, tradeoff
from harness.judging.data import spread
from references import access_patterns

LENGTH = 5000  # of x


def drawn(n, rng):
    """n indices into x, some of them alike."""
    return torch.randint(0, LENGTH, (n,), generator=rng).to(torch.int32)


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 255, 256, 257, 1009])
def test_every_index_finds_its_element(n, device, rng, close):
    x, indices = spread(LENGTH, rng=rng, device=device), drawn(n, rng).to(device)
    found = close.function(host.gather, access_patterns.gathered, x, indices)
    close.equal(found, access_patterns.gathered(x, indices))


@pytest.mark.stretch
@pytest.mark.task(7)
def test_a_negative_index_finds_nan(device, rng, close):
    x = spread(LENGTH, rng=rng, device=device)
    indices = torch.tensor([3, -1, LENGTH - 1, -(2**31), 0, 0], dtype=torch.int32, device=device)
    close.equal(host.gather(x, indices), access_patterns.gathered(x, indices))


ORDERS = {
    "in order": lambda indices: torch.arange(len(indices), dtype=torch.int32),
    "sorted": lambda indices: indices.sort().values,
    "shuffled": lambda indices: indices,
    "all alike": lambda indices: torch.full_like(indices, 77),
    "some negative": lambda indices: torch.where(indices % 3 == 0, -1, indices),
}


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
@pytest.mark.parametrize("order", ORDERS)
def test_the_sectors_of_a_gather_follow_from_its_indices(order, rng, profile, close):
    x, indices = spread(LENGTH, rng=rng), ORDERS[order](drawn(1024, rng))
    launches = profile(lambda: host.gather(x, indices))
    close.equal(launches.result, access_patterns.gathered(x, indices))
    counters = launches["gather"].counters
    counted = counters.global_load_sectors - 1024 // 8  # the indices themselves lie side by side
    predicted = tradeoff.gather_sectors(indices.tolist())
    said = f"1024 indices, {order}"
    assert predicted == counted, f"{said}: {predicted} sectors predicted, {counted} counted"
    stored = counters.global_store_sectors
    assert stored == 1024 // 8, f"{said}: the stores touch {stored} sectors, not {1024 // 8}"
