"""Which tests of a file become part of a run, and of what kind each is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.lessons.answer_module import AnswerError
from harness.running.devices import Device
from harness.running.session import Session
from harness.running.verdict import REQUIRED, SPEED, STRETCH


@dataclass(slots=True)
class LeftOut:
    """The tests that this run cannot serve: what each waits for, by node id."""

    reasons: dict[str, str] = field(default_factory=dict)


def kind(item: pytest.Item) -> str:
    """What a test counts for."""
    if item.get_closest_marker("speed"):
        return SPEED
    return STRETCH if item.get_closest_marker("stretch") else REQUIRED


def waits_for(item: pytest.Item, device: Device, speed_wanted: bool) -> str | None:
    """What this run lacks for a test, as closing.left_out names it."""
    if item.get_closest_marker("speed"):
        if speed_wanted:
            return None if device.is_gpu else "gpu"
        return "speed" if device.is_gpu else "speed_gpu"
    return "gpu" if item.get_closest_marker("gpu") and not device.is_gpu else None


def runnable(made: Any, device: Device, speed_wanted: bool, left_out: LeftOut) -> Any:
    """What pytest made of one name in a file, without the tests that this run cannot serve."""
    if not isinstance(made, list):
        return made
    kept = []
    for item in made:
        reason = waits_for(item, device, speed_wanted) if isinstance(item, pytest.Item) else None
        if reason is None:
            kept.append(item)
        else:
            left_out.reasons[item.nodeid] = reason
    return kept


class BrokenImport(pytest.Item):
    """A test file that could not be read because an answer file that it uses is broken."""

    error: BaseException

    def runtest(self) -> None:
        raise self.error

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, 0, self.name


def failed_import_as_test(
    collector: pytest.Collector, call_error: BaseException | None, session: Session
) -> list[pytest.Item] | None:
    """The one failed test that stands for a lesson's test file which cannot be read."""
    if call_error is None or session.lesson_of(collector.nodeid) is None:
        return None
    answer_error = next(_answer_errors(call_error), None)
    if answer_error is None:
        return None
    item: BrokenImport = BrokenImport.from_parent(collector, name="the file is read")
    item.error = answer_error
    return [item]


def _answer_errors(error: BaseException | None) -> Iterator[AnswerError]:
    while error is not None:
        if isinstance(error, AnswerError):
            yield error
        error = error.__cause__ or error.__context__
