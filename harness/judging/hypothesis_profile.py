"""The one Hypothesis profile: the same few examples on each run, and nothing left on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

NAME = "curriculum"
EXAMPLES = 15


def load() -> None:
    """Make the profile the default; it must happen before a test file's `@given` is read."""
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        NAME,
        derandomize=True,
        deadline=None,  # a simulated launch takes as long as it takes
        database=None,
        max_examples=EXAMPLES,
        print_blob=False,
        # Fixtures are stateless between examples, and data for kernels is big and slow to make.
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile(NAME)


@contextmanager
def seeded_for_each_example(generator: torch.Generator) -> Iterator[None]:
    """Start the generator anew for each example, so that an example replayed sees the same data."""
    from hypothesis import register_random

    managed = _Managed(generator, generator.initial_seed())
    register_random(managed)  # Hypothesis keeps it as long as we do
    yield
    del managed


class _Managed:
    """A torch generator with the three methods that Hypothesis asks of a source of chance."""

    def __init__(self, generator: torch.Generator, seed: int) -> None:
        self._generator = generator
        self._seed = seed

    def seed(self, number: int) -> None:
        self._generator.manual_seed(self._seed + number)

    def getstate(self) -> torch.Tensor:
        return self._generator.get_state()

    def setstate(self, state: torch.Tensor) -> None:
        self._generator.set_state(state)
