"""What a session or a test may change about launches; the plugin and fixtures set it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    device: str = "cpu"  # for launches without a tensor: "cpu" is the simulator, or "cuda"
    synchronize: bool = True  # on a GPU: wait for each launch, so that its error names it
    # The simulator's own settings, by its names.
    faults: bool = True
    counters: bool = False
    perturb: bool = False
    order: str = "forward"
    seed: int = 0
    blocks: Sequence[int] | None = None
    warps_apart: bool = False
    weak_stores: bool | None = None
    resident_blocks: int | None = None
    seconds: float = 45.0  # a wave of blocks that runs longer is called endless


_current = LaunchSettings()
_OWN = {"device", "synchronize"}


def current() -> LaunchSettings:
    return _current


def configure(**changes: object) -> None:
    """Change settings for the rest of the session."""
    global _current
    _current = replace(_current, **changes)  # type: ignore[arg-type]


@contextmanager
def changed(**changes: object) -> Iterator[LaunchSettings]:
    """Change settings inside a `with`: `changed(order="shuffled", seed=3)`."""
    global _current
    before = _current
    configure(**changes)
    try:
        yield _current
    finally:
        _current = before


def simulator_changes(settings: LaunchSettings) -> dict[str, object]:
    """The simulator's settings that differ from our defaults, by name."""
    default = LaunchSettings()
    return {
        f.name: getattr(settings, f.name)
        for f in fields(settings)
        if f.name not in _OWN
        and (
            f.name in ("faults", "counters")
            or getattr(settings, f.name) != getattr(default, f.name)
        )
    }
