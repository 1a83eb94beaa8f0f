"""The pytest plugin: options and hooks in the order in which pytest calls them.

Every hook is thin: the policy is in the modules it names. Nothing here, and nothing these modules
import, loads NumPy or torch: a locked lesson is refused first.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.launching import launch_notes, launch_settings, nvidia_driver
from harness.lessons import answer_module, answers
from harness.running import counters_option, gpu_faults, left_out, opening, workers
from harness.running.listener import Listener
from harness.running.selection import Refusal
from harness.running.session import Session
from harness.running.stopped_tasks import StoppedTasks, is_time_limit

SESSION = pytest.StashKey[Session]()
WORDS = pytest.StashKey[Path]()  # where workers leave their last words
LEFT_OUT = pytest.StashKey[left_out.LeftOut]()
STOPPED = pytest.StashKey[StoppedTasks]()
TOLD = pytest.StashKey[dict[str, str]]()  # a failure's text → the test that told it in full


def session_of(config: pytest.Config) -> Session:
    """The run that `config` belongs to: its device, answers and lessons."""
    return config.stash[SESSION]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lessons")
    group.addoption(
        "--solutions",
        action="store_true",
        help="run on solutions/; without a path, all of tests/ and curriculum/ (-n auto)",
    )
    group.addoption("--answers", metavar="DIR", help="run on the answers in DIR/lesson_NN")
    group.addoption(
        "--device",
        choices=["auto", "cpu", "cuda"],
        default="auto",
        help="cpu: the simulator; cuda: the GPU; auto (default): the GPU if there is one",
    )
    group.addoption("--unlocked", action="store_true", help="open every lesson; the record says so")
    group.addoption(
        "--swap",
        action="append",
        type=int,
        default=[],
        metavar="NN",
        help="use the solution of lesson NN where a later lesson builds on it",
    )
    group.addoption("--speed", action="store_true", help="run speed tests too (on a GPU)")
    group.addoption(
        "--counters", action="store_true", help="print what each simulated launch counted"
    )
    group.addoption(
        "--perturb",
        action="store_true",
        help="move approximate functions within their documented error (simulator)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Decide what runs, and refuse what is locked before anything heavy is imported."""
    if opening.only_informs(config):
        return None
    if opening.is_worker(config):
        config.stash[SESSION] = opening.in_worker(config)
        return None
    decided = opening.decide(config, nvidia_driver.ask_driver)
    if isinstance(decided, Refusal):
        print(decided.text, file=sys.stdout if decided.status == 0 else sys.stderr)
        return decided.status
    config.stash[SESSION] = decided
    opening.arrange_processes(config, decided)
    opening.arrange_printing(config, decided)
    return None


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TOLD] = {}
    config.stash[LEFT_OUT] = left_out.LeftOut()
    config.stash[STOPPED] = StoppedTasks()
    session = config.stash.get(SESSION, None)
    if session is None:
        return
    if session.curriculum is not None:
        scope = answers.answers_from(session.answers, session.curriculum.root, session.parts)
        _for_this_run(config, scope)
    settings = launch_settings.changed(
        device=session.device.kind, perturb=config.getoption("--perturb")
    )
    _for_this_run(config, settings)
    if opening.is_worker(config):
        config.stash[WORDS] = Path(opening.worker_input(config)["word_folder"])
        config.stash[STOPPED].folder = config.stash[WORDS]
    elif opening.distributes(config):
        folder = Path(tempfile.mkdtemp(prefix="lessons-"))
        config.stash[WORDS] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        return
    opening.register_fixtures(config)


def _for_this_run(config: pytest.Config, scope: AbstractContextManager[object]) -> None:
    """Enter `scope` now and leave it when the run is over."""
    stack = contextlib.ExitStack()
    stack.enter_context(scope)
    config.add_cleanup(stack.close)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    session = config.stash.get(SESSION, None)
    return workers.automatic(session.device, workers.cores()) if session else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a new worker what the controller decided."""
    config: pytest.Config = node.config
    if SESSION in config.stash:
        node.workerinput["lessons"] = {
            **session_of(config).handed_to_worker(),
            "word_folder": str(config.stash[WORDS]),
        }


def pytest_report_header(config: pytest.Config) -> list[str]:
    session = config.stash.get(SESSION, None)
    return opening.header(session) if session else []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    session = config.stash.get(SESSION, None)
    if session is None or session.curriculum is None or session.selection is None:
        return None
    lesson = session.curriculum.by_name(collection_path.name)
    hidden = lesson is not None and lesson.name in session.selection.hidden
    return True if hidden and lesson and collection_path == lesson.folder else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Answers that are broken are told while their tests run, not here."""
    answer_module.collecting(True)
    try:
        report = yield
    finally:
        answer_module.collecting(False)
    session = collector.config.stash.get(SESSION, None)
    error = getattr(report, "call", None)
    if session is not None and report.failed and error is not None and error.excinfo:
        stand_in = left_out.failed_import_as_test(collector, error.excinfo.value, session)
        if stand_in is not None:
            return pytest.CollectReport(collector.nodeid, "passed", None, list(stand_in))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class,
) -> Generator[None, Any, Any]:
    """Leave out what this machine cannot run."""
    made = yield
    config = collector.config
    session = config.stash.get(SESSION, None)
    if session is None:
        return made
    return left_out.runnable(
        made, session.device, config.getoption("--speed"), config.stash[LEFT_OUT]
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note all there is before -k, -m or --deselect take some away."""
    session = config.stash.get(SESSION, None)
    if session is None:
        return
    kinds = {item.nodeid: left_out.kind(item) for item in items if session.lesson_of(item.nodeid)}
    waiting = config.stash[LEFT_OUT].reasons
    session.collected(kinds, waiting)
    if opening.is_worker(config):
        opening.worker_output(config)["lessons"] = {"kinds": kinds, "waiting": waiting}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    stash, session = item.config.stash, session_of(item.config)
    ended_late = partial(stash[STOPPED].note, item, session)
    launch_notes.forget()
    with gpu_faults.hold(item, session.device, stash.get(WORDS, None), ended_late):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    session = session_of(item.config)
    item.config.stash[STOPPED].refuse(item, session)
    wanted = session.lesson_of(item.nodeid) and item.config.getoption("--counters")
    with counters_option.counted(item) if wanted else contextlib.nullcontext():
        yield
    if session.device.is_gpu:
        gpu_faults.settle()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> pytest.TestReport | None:
    """Tell a lesson's failure in a learner's words; None leaves it to pytest."""
    from harness.telling import failed_test as telling  # not needed to refuse a locked lesson

    session = session_of(item.config)
    error = call.excinfo.value if call.excinfo is not None else None
    loss = gpu_faults.loss(error, session.device) if error is not None else None
    stash = item.config.stash
    text = telling.told(item, error, session, stash[TOLD]) if error else None
    if error is not None and is_time_limit(error):
        stash[STOPPED].note(item, session, (text or "").partition("\n")[0])
    report = telling.report(item, call, text, loss)
    if loss is not None:
        gpu_faults.abandon(item, report.longreprtext, loss, stash.get(WORDS, None))
    return report


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    gpu_faults.leave_stuck_gpu(config)


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport, sched: Any) -> None:
    words = sched.config.stash.get(WORDS, None)
    left = workers.last_word(words, crashitem) if words else None
    report.longrepr = left or gpu_faults.crash_text(crashitem)
    report.location = (*report.location[:2], crashitem.partition("::")[2])  # heads its failure


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take in what a worker collected."""
    output = getattr(node, "workeroutput", {}).get("lessons")
    if output:
        session_of(node.config).collected(output["kinds"], output["waiting"])


def pytest_sessionstart(session: pytest.Session) -> None:
    run = session.config.stash.get(SESSION, None)
    if run is not None and not opening.is_worker(session.config):
        session.config.pluginmanager.register(Listener(run), "lessons-listener")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    run = session.config.stash.get(SESSION, None)
    if run is not None and not opening.is_worker(session.config):
        run.close(complete=int(exitstatus) in (0, 1))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    session = config.stash.get(SESSION, None)
    if session is not None and session.lines:
        terminalreporter.write_line("")
        for line in session.lines:
            terminalreporter.write_line(line)
