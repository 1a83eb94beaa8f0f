"""From a failed pytest item to the text that a learner reads."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Sequence

import pytest

from harness.judging.counter_columns import COUNTERS
from harness.launching import launch_notes
from harness.lessons import answers
from harness.lessons.answers import Source
from harness.running.counters_option import COUNTED
from harness.running.session import Session
from harness.running.stopped_tasks import NotRun, task_of
from harness.telling import reporting
from harness.telling.asked import in_failing_assert
from harness.telling.failure import FailedTest, Frame, first_leaf, frames_of
from harness.telling.headline import headline
from harness.telling.taught import in_taught_words, words_after

OWN_PLACE = pytest.StashKey[str]()  # where the test's own task stands
STACKS = re.compile(r"^~+ Stack of .*", re.MULTILINE | re.DOTALL)  # pytest-timeout, of threads
MOST_NOTES = 2
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
    error = first_leaf(error)
    frames = list(frames_of(error, item.path, source))
    words = _explained(error) or _without_a_grid(error) or getattr(error, "learner_report", None)
    test = FailedTest(
        node_id=item.nodeid,
        file=item.path,
        lesson_name=lesson.name,
        task=task_of(item),
        root=source.root,
        options=session.options,
        counters=[] if words else _counter_lines(item, error, frames),
        notes=_notes(error, source, lesson.name),
    )
    first_line = headline(error, frames, test, source, words or "")
    item.stash[OWN_PLACE] = first_line.own_place
    text = reporting.failure_text(error, frames, test, first_line.text or lesson.name, words)
    function = item.nodeid.partition("[")[0]
    kinds = [f"{function}\n{reporting.kind_of_failure(text)}", words or text]
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
    not_run = call.excinfo is not None and isinstance(call.excinfo.value, NotRun)
    if text is None and loss is not None:
        text = f"{type(call.excinfo.value).__name__}: {call.excinfo.value}" if call.excinfo else ""
    if text is not None:
        call = copy.copy(call)
        body, rerun, command = text.rpartition("\n\nrerun: ")
        told_with_loss = "\n".join(filter(None, [body or command, loss]))
        call.excinfo = told_with_loss + (rerun + command if body else "")  # type: ignore[assignment]
    made = pytest.TestReport.from_item_and_call(item, call)
    if call.excinfo is not None:
        made.sections = [(name, STACKS.sub("", said)) for name, said in made.sections]
    # What pytest-xdist carries to the controller along with a report:
    made.lesson_task = task_of(item)  # type: ignore[attr-defined]
    made.lesson_place = (text or "").partition("\n")[0]  # type: ignore[attr-defined]
    made.lesson_own_place = item.stash.get(OWN_PLACE, "")  # type: ignore[attr-defined]
    made.lesson_not_run = not_run  # type: ignore[attr-defined]
    made.lesson_repeats = reporting.is_short_form(text or "")  # type: ignore[attr-defined]
    if call.when == "call":
        made.lesson_counters = item.stash.get(COUNTED, [])  # type: ignore[attr-defined]
    return made


def _explained(error: BaseException) -> str | None:
    """A report for an error that CUDA raised some time after a launch."""
    # The module is there only once something was launched on a GPU.
    launches = sys.modules.get("harness.launching.gpu_launch")
    if launches is None or hasattr(error, "learner_report"):
        return None
    explained: str | None = launches.explain(error)
    return explained


def _without_a_grid(error: BaseException) -> str | None:
    """A report for a kernel of Triton's that was called like a function."""
    triton = sys.modules.get("harness.triton_driver.compile_errors")
    told: str | None = triton.without_a_grid(error) if triton is not None else None
    return told


def _notes(error: BaseException, source: Source, lesson_name: str) -> list[str]:
    """What the simulator noted, where a result is wrong and does not say so itself."""
    if not isinstance(error, AssertionError):
        return []
    later, said = words_after(source.root, lesson_name), str(error)
    notes = [note for note in launch_notes.kept() if note.partition(": ")[2] not in said]
    return [f"  note     {note}" for note in notes if in_taught_words(note, later)][:MOST_NOTES]


def _counter_lines(item: pytest.Item, error: BaseException, frames: Sequence[Frame]) -> list[str]:
    """The tables of what the test profiled, when its assert is about counters."""
    profiling = sys.modules.get("harness.judging.profiling")
    if profiling is None or not isinstance(error, AssertionError):
        return []
    named = in_failing_assert(frames) & COUNTERS
    tables = profiling.counter_tables_of(item, named) if named else []
    return [line for table in tables for line in table.splitlines()]
