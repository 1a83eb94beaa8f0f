"""From a failed pytest item to the text that a learner reads."""

from __future__ import annotations

import copy
import sys

import pytest

from harness.lessons import answers
from harness.running.counting import TABLES
from harness.running.session import Session
from harness.telling import reporting

FULL_STYLES = ("long", "native", "short")  # --tb: someone asks for pytest's own report


def told(
    item: pytest.Item, error: BaseException, session: Session, before: dict[str, str]
) -> str | None:
    """The report of a lesson's failure; None leaves pytest's own.

    `before` holds what was told already, so that one cause is told in full once.
    """
    lesson = session.lesson_of(item.nodeid)
    source = answers.current()
    if lesson is None or source is None or item.config.option.tbstyle in FULL_STYLES:
        return None
    if isinstance(
        error, (pytest.FixtureLookupError, pytest.skip.Exception, pytest.xfail.Exception)
    ):
        return None
    own_words = getattr(error, "learner_report", None)
    tables = _counter_tables(item) if isinstance(error, AssertionError) and not own_words else []
    test = reporting.FailedTest(
        node_id=item.nodeid,
        file=item.path,
        lesson_name=lesson.name,
        task=task_of(item),
        root=source.root,
        options=session.options,
        counters=[line for table in tables for line in table.splitlines()],
    )
    text = reporting.failure_text(error, test, source, _explained(error))
    function = item.nodeid.partition("[")[0]
    kinds = [f"{function}\n{reporting.kind_of_failure(text)}", own_words or text]
    if reporting.is_unwritten(text):
        kinds.append(text.splitlines()[1])  # once a task is enough
    first = next((before[kind] for kind in kinds if kind in before), item.name)
    before.update((kind, item.name) for kind in kinds if kind not in before)
    return text if first == item.name else reporting.short_form(text, test, first)


def report(
    item: pytest.Item, call: pytest.CallInfo[None], text: str | None, loss: str | None
) -> pytest.TestReport:
    """pytest's report of a phase; with `text`, that instead of a traceback.

    pytest's traceback prints every argument, which never ends when one is a tensor on a GPU whose
    kernel hangs: it is not even made then.
    """
    if text is None and loss is not None:
        text = f"{type(call.excinfo.value).__name__}: {call.excinfo.value}" if call.excinfo else ""
    if text is not None:
        call = copy.copy(call)
        body, rerun, command = text.rpartition("\n\nrerun: ")
        told_with_loss = "\n".join(filter(None, [body or command, loss]))
        call.excinfo = told_with_loss + (rerun + command if body else "")  # type: ignore[assignment]
    made = pytest.TestReport.from_item_and_call(item, call)
    # What pytest-xdist carries to the controller along with a report:
    made.lesson_task = task_of(item)  # type: ignore[attr-defined]
    made.lesson_place = (text or "").partition("\n")[0]  # type: ignore[attr-defined]
    made.lesson_repeats = reporting.is_short_form(text or "")  # type: ignore[attr-defined]
    if call.when == "call":
        made.lesson_counters = item.stash.get(TABLES, "")  # type: ignore[attr-defined]
    return made


def task_of(item: pytest.Item) -> int | None:
    """The task that a test judges."""
    marker = item.get_closest_marker("task")
    return int(marker.args[0]) if marker and marker.args else None


def _explained(error: BaseException) -> str | None:
    """A report for an error that CUDA raised some time after a launch."""
    # The module is there only once something was launched on a GPU.
    launches = sys.modules.get("harness.launching.gpu_launch")
    if launches is None or hasattr(error, "learner_report"):
        return None
    explained: str | None = launches.explain(error)
    return explained


def _counter_tables(item: pytest.Item) -> list[str]:
    """The tables of what the test profiled, when it profiled anything."""
    profiling = sys.modules.get("harness.judging.profiling")
    return [] if profiling is None else profiling.counter_tables_of(item)
