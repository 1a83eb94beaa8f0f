"""--counters: what every simulated launch of a test counted, printed when the run is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

TABLES = pytest.StashKey[str]()


@contextmanager
def counted(item: pytest.Item) -> Iterator[None]:
    """Count what happens inside, and keep the tables with the test."""
    from harness.judging.profiling import Profile
    from harness.launching import launch_settings
    from harness.launching.recording import recording

    launches = []
    try:
        with launch_settings.changed(counters=True), recording() as launches:
            yield
    finally:
        profile = Profile(launches, None)
        for kernel in profile.kernels:
            profile[kernel]  # tables are made of the kernels that someone looked at
        item.stash[TABLES] = "\n\n".join(str(table) for table in profile.tables())
