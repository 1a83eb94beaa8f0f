"""How a run begins: from pytest's configuration to a Session, or to the reason why nothing runs.

Reads options and sets the few of pytest's own that follow from ours. Imports nothing heavy.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.launching.nvidia_driver import Driver
from harness.lessons import curriculum, integrity, progress
from harness.lessons.curriculum import Curriculum
from harness.running import closing, devices, locking, session, workers
from harness.running.selection import Refusal, Request, Selection, select
from harness.running.session import Session
from harness.telling.place import shown

FIXTURES = "harness.fixtures"
INFORMS = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow")
PYTEST_REPORT_CHARS = "fE"  # pytest's default for -r
NARROWING = {
    "-k": "keyword",
    "-m": "markexpr",
    "--deselect": "deselect",
    "--last-failed": "lf",
    "--stepwise": "stepwise",
    "--ignore": "ignore",
    "--ignore-glob": "ignore_glob",
}
TEST_RULES = ("python_files", "python_functions", "python_classes", "testpaths", "norecursedirs")


def only_informs(config: pytest.Config) -> bool:
    """Whether this is --help, --version, --fixtures or the like."""
    return any(getattr(config.option, name, None) for name in INFORMS)


def decide(config: pytest.Config, ask: Callable[[], Driver]) -> Session | Refusal:
    """What this command line runs."""
    cwd = config.invocation_params.dir
    answer_folder = _answer_folder(config, cwd)
    if answer_folder is not None and not answer_folder.is_dir():
        return Refusal(f"there is no folder {answer_folder} to take answers from")
    lessons: Curriculum | None = None
    selection: Selection | None = None
    done = progress.Progress()
    if (config.rootpath / curriculum.MANIFEST).is_file():
        try:
            lessons = curriculum.load(config.rootpath)
        except curriculum.CurriculumError as error:
            return Refusal(str(error))
        done = progress.load(lessons.root)
        selected = select(lessons, done, _request(config, answer_folder))
        if isinstance(selected, Refusal):
            return Refusal("\n".join([*done.notes, selected.text]), selected.status)
        selection = selected
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = list(selection.arguments)
            config.args_source = pytest.Config.ArgsSource.ARGS
    try:
        device = devices.choose(config.getoption("--device"), ask, devices.torch_has_cuda)
    except devices.DeviceRefused as error:
        return Refusal(str(error))
    swapped: list[int] = config.getoption("--swap")
    run = Session(
        device=device,
        cwd=cwd,
        curriculum=lessons,
        selection=selection,
        progress=done,
        answers=answer_folder,
        unlocked=config.getoption("--unlocked"),
        options=session.options_to_repeat(
            config.getoption("--device"),
            answer_folder,
            config.getoption("--solutions"),
            cwd,
        ),
        narrowed_by=_narrowed_by(config),
        lines=list(done.notes),
    )
    if lessons is not None and selection is not None and answer_folder is None:
        named = selection.named
        run.parts = session.parts_of_others(
            lessons, lambda row: row.name in named or done.passed(row.id), swapped
        )
        run.swapped = [f"lesson {number:02d}" for number in swapped]
    return run


def arrange_processes(config: pytest.Config, run: Session) -> None:
    """Set pytest-xdist's options where -n does not."""
    if not hasattr(config.option, "numprocesses"):
        return
    wishes = workers.Wishes(
        given=config.option.numprocesses is not None or config.option.dist != "no",
        in_process=config.option.usepdb
        or config.option.capture == "no"
        or config.option.collectonly
        or getattr(config.option, "trace", False),
        solutions=config.getoption("--solutions"),
    )
    number = workers.default(wishes, run.device, workers.cores())
    if number is not None:
        config.option.numprocesses = number
    if run.device.is_gpu and config.option.maxworkerrestart is None:
        config.option.maxworkerrestart = str(workers.RESTARTS)


def arrange_printing(config: pytest.Config, run: Session) -> None:
    """Leave out pytest's list of failures where ours by task says the same in fewer lines."""
    lessons_only = run.selection is not None and run.selection.named and run.answers is None
    if lessons_only and config.option.reportchars == PYTEST_REPORT_CHARS:
        config.option.reportchars = "E"


def distributes(config: pytest.Config) -> bool:
    """Whether this process hands its tests to workers."""
    return getattr(config.option, "dist", "no") != "no" and not config.option.collectonly


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def worker_input(config: pytest.Config) -> dict[str, Any]:
    given: dict[str, Any] = config.workerinput.get("lessons", {})  # type: ignore[attr-defined]
    return given


def worker_output(config: pytest.Config) -> dict[str, Any]:
    output: dict[str, Any] = config.workeroutput  # type: ignore[attr-defined]
    return output


def in_worker(config: pytest.Config) -> Session:
    """Take over what the controller decided."""
    given = worker_input(config)
    kind, name, count = given["device"]
    workers.limit_threads(os.environ)
    if kind == "cuda":
        worker_id = config.workerinput["workerid"]  # type: ignore[attr-defined]
        workers.assign_gpu(os.environ, workers.number(worker_id), count)
    arguments = given["arguments"]
    lessons: Curriculum | None = None
    if arguments is not None:
        lessons = curriculum.load(config.rootpath)
        config.args = list(arguments)
    return Session(
        device=devices.Device(kind, name, count),
        cwd=config.invocation_params.dir,
        curriculum=lessons,
        selection=Selection(tuple(arguments), tuple(given["hidden"])) if arguments else None,
        answers=Path(given["answers"]) if given["answers"] else None,
        parts={lesson: Path(folder) for lesson, folder in given["parts"].items()},
        options=given["options"],
    )


def header(run: Session) -> list[str]:
    """The lines under pytest's own header."""
    lines = [f"device: {run.device.header}"]
    if run.device.note:
        lines.append(f"note: {run.device.note}")
    if run.curriculum is None or run.selection is None:
        return lines
    if run.answers is not None:
        lines.append(f"answers: {shown(run.answers, run.cwd)} (nothing is recorded)")
    elif first := locking.open_lesson(run.curriculum, run.progress):
        door = "every lesson is open (--unlocked, recorded)" if run.unlocked else first.label
        lines.append(f"open: {door}" if not run.unlocked else f"open: {first.label}; {door}")
    else:
        lines.append("open: every lesson is passed")
    if run.swapped:
        lines.append(f"parts from solutions/: {', '.join(run.swapped)} (--swap)")
    if run.answers is None and (run.selection.named or run.selection.whole):
        changed = integrity.check(run.curriculum.root)
        if changed:
            reason = closing.changed_files(run.curriculum.root, changed)
            lines.append(f"this run will not be recorded: {reason}")
    device = "" if run.device.is_gpu else " --device cpu"
    lines.append(f"reproduce: same test, same data (seeded by its name){device and ':' + device}")
    return lines


def register_fixtures(config: pytest.Config) -> None:
    """Add the fixtures of lessons; only in a process that runs tests."""
    manager = config.pluginmanager
    if not manager.has_plugin(FIXTURES) and importlib.util.find_spec(FIXTURES) is not None:
        manager.register(importlib.import_module(FIXTURES), FIXTURES)


def _answer_folder(config: pytest.Config, cwd: Path) -> Path | None:
    if config.getoption("--answers"):
        return Path(os.path.abspath(cwd / config.getoption("--answers")))
    return config.rootpath / "solutions" if config.getoption("--solutions") else None


def _request(config: pytest.Config, answer_folder: Path | None) -> Request:
    given = config.args_source is pytest.Config.ArgsSource.ARGS
    return Request(
        arguments=tuple(config.args) if given else (),
        cwd=config.invocation_params.dir,
        everything_open=config.getoption("--unlocked"),
        answers=answer_folder,
    )


def _narrowed_by(config: pytest.Config) -> str:
    """An option that makes pytest run other tests than the lesson has; such a run never unlocks."""
    overrides = getattr(config.option, "override_ini", None) or []
    rules = [f"-o {text}" for text in overrides if text.partition("=")[0] in TEST_RULES]
    given = [name for name, option in NARROWING.items() if getattr(config.option, option, None)]
    return next(iter([*given, *rules]), "")
