"""`lesson watch`: run a lesson, and again whenever one of its answer files is saved."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from harness.lessons import curriculum, integrity, progress
from harness.lessons.curriculum import Lesson
from harness.running import locking
from harness.telling.invocation import typed
from harness.watching.ready import Interpreter
from harness.watching.saves import Saves, saved_at, tells_nobody, woken

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
_GRACE_SECONDS = 3.0  # for pytest to say what Ctrl-C interrupted


def watch_command(
    root: Path,
    cwd: Path,
    lesson: Lesson | None,
    arguments: Sequence[str] = (),
    *,
    poll: bool = False,
    log: Path | None = None,
) -> int:
    """Watch until Ctrl-C; the exit status.

    lesson     None: the one that is open, and from each pass on the one that it opens
    arguments  more of pytest's
    poll       look at the files' folder instead of asking the system to tell
    log        a file to which each run adds a line of JSON
    """
    path, done = curriculum.load(root), progress.load(root)
    first = locking.open_lesson(path, done)
    if lesson is None and first is None:
        print("Every lesson is passed. Name one to watch it:  " + typed("watch 5"))
        return 0
    locked = [] if "--unlocked" in arguments else locking.locked_lessons(path, done)
    if lesson and first and lesson in locked:
        print(locking.refusal(lesson, first, cwd), file=sys.stderr)
        return 4
    chosen = lesson or first
    assert chosen is not None
    watched = _Watch(root, cwd, chosen, lesson is None, tuple(arguments), log)
    try:
        watched.until_interrupted(poll or tells_nobody(root))
    except KeyboardInterrupt:
        watched.interpreter.end(_GRACE_SECONDS if watched.running else 0.0)
        print("\nThe watch has ended.")
    return 0


@dataclass(slots=True)
class _Watch:
    """The state of one watch: what it watches, and the run in progress."""

    root: Path
    cwd: Path
    lesson: Lesson  # that was run last
    follows: bool  # whether it goes on to the lesson that a pass opens
    arguments: tuple[str, ...]
    log: Path | None
    lessons: list[Lesson] = field(default_factory=list)  # whose files are looked at
    saves: Saves = field(default_factory=Saves)
    running: bool = False
    interpreter: Interpreter = field(init=False)
    _started: float = 0.0

    def until_interrupted(self, poll: bool) -> None:
        self.interpreter = Interpreter(self.cwd)
        self.lessons = [self.lesson]
        self.saves.follow(self._files())
        self._run([])
        while True:
            watched = list(self.lessons)
            for _ in woken([lesson.folder for lesson in watched], poll):
                if saved := self.saves.look():
                    self._run(saved)
                elif self.running:
                    self._notice_the_end()
                if self.lessons != watched:
                    break

    def _files(self) -> list[Path]:
        names = integrity.editable_files(self.root)
        return [lesson.folder / n for lesson in self.lessons for n in names.get(lesson.name, [])]

    def _run(self, saved: Sequence[Path]) -> None:
        if self.running:  # of what has been overwritten
            self.interpreter.end()
            self.interpreter = Interpreter(self.cwd)
        if saved:
            self.lesson = next(row for row in self.lessons if row.folder == saved[-1].parent)
        if sys.stdout.isatty():
            print(_CLEAR, end="")
        names = ", ".join(path.name for path in saved)
        typer.secho(f"{self.lesson.label}{names and ': saved ' + names}", bold=True)
        sys.stdout.flush()
        self.interpreter.run([str(self.lesson.folder), *self.arguments])
        self._started = time.time()
        self.running = True
        written = saved_at(saved)
        after = round(self._started - written, 3) if written else None
        self._note("started", saved=[p.name for p in saved], seconds_after_save=after)

    def _notice_the_end(self) -> None:
        status = self.interpreter.status()
        if status is None:
            return
        self.interpreter.end()
        self.running = False
        seconds = round(time.time() - self._started, 3)
        lessons = [self.lesson]
        opened = locking.open_lesson(curriculum.load(self.root), progress.load(self.root))
        if self.follows and opened and opened not in lessons:
            lessons.append(opened)
        self.lessons = lessons
        self.saves.follow(self._files())
        self._note("ended", status=status, seconds=seconds)
        self.interpreter = Interpreter(self.cwd)  # gets ready while the learner reads
        names = dict.fromkeys(path.name for path in self._files())
        where = " and ".join(lesson.name for lesson in lessons)
        typer.secho(f"watching {', '.join(names)} in {where}; Ctrl-C ends", dim=True)
        sys.stdout.flush()

    def _note(self, event: str, **values: object) -> None:
        if self.log is not None:
            line = json.dumps({"event": event, "lesson": self.lesson.name, **values})
            with self.log.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
