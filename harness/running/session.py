"""One run of pytest, as far as lessons go: what was asked, on what, on whose answers, how it went.

Built from plain values; plugin.py only carries facts in and text out.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.lessons import integrity, progress
from harness.lessons.curriculum import Curriculum, Lesson
from harness.lessons.progress import Pass, Progress, ProgressUnwritable
from harness.running import closing
from harness.running.counters_option import CountedKernels
from harness.running.devices import Device
from harness.running.selection import Selection
from harness.running.verdict import WAITING, Judgement, LessonRun, Outcome, Verdict


@dataclass(slots=True)
class Session:
    """The state of one run in the process that decides (the controller, when there are workers)."""

    device: Device
    cwd: Path
    curriculum: Curriculum | None = None  # None: a project without lessons
    selection: Selection | None = None
    progress: Progress = field(default_factory=Progress)
    answers: Path | None = None  # None: the learner's own
    parts: Mapping[str, Path] = field(default_factory=dict)  # lesson → the folder of its part
    swapped: Sequence[str] = ()  # lessons whose part was replaced by --swap
    unlocked: bool = False
    options: Sequence[str] = ()  # of ours, to run a test again
    narrowed_by: str = ""  # an option such as -k, which picks some tests
    runs: dict[str, LessonRun] = field(default_factory=dict)  # by lesson name
    waiting: dict[str, str] = field(default_factory=dict)  # tests left out: what each waits for
    counts: CountedKernels = field(default_factory=CountedKernels)  # of --counters
    lines: list[str] = field(default_factory=list)  # what to say at the end

    def lesson_of(self, node_id: str) -> Lesson | None:
        """The lesson that a node id (relative to the root) belongs to."""
        if self.curriculum is None:
            return None
        parts = node_id.partition("::")[0].split("/")
        if len(parts) < 3 or parts[0] != "curriculum":
            return None
        return self.curriculum.by_name(parts[1])

    def run_of(self, lesson: Lesson) -> LessonRun:
        return self.runs.setdefault(lesson.name, LessonRun())

    def collected(self, kinds: Mapping[str, str], waiting: Mapping[str, str]) -> None:
        """`kinds`: node id → required, stretch or speed; `waiting`: node id → what for.

        Every worker says the same.
        """
        for node_id, kind in (*kinds.items(), *dict.fromkeys(waiting, WAITING).items()):
            if lesson := self.lesson_of(node_id):
                self.run_of(lesson).kinds[node_id] = kind
        self.waiting.update(waiting)

    def ended(
        self,
        node_id: str,
        outcome: Outcome,
        *,
        task: int | None,
        place: str,
        own_place: str,
        not_run: bool,
    ) -> None:
        """Note how a phase of a test ended, the task it judges, and where to edit."""
        if lesson := self.lesson_of(node_id):
            run = self.run_of(lesson)
            run.ended(node_id, outcome)
            if task is not None:
                run.tasks[node_id] = task
            if place:
                run.places.setdefault(node_id, place)
            if own_place:
                run.own_places.setdefault(node_id, own_place)
            if not_run:
                run.not_run.add(node_id)

    def counted(self, node_id: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note what a test's launches counted."""
        if lesson := self.lesson_of(node_id):
            self.counts.add(lesson.name, rows)

    def handed_to_worker(self) -> dict[str, Any]:
        """What a worker needs to know, as plain values."""
        selection = self.selection
        return {
            "arguments": list(selection.arguments) if selection else None,
            "hidden": list(selection.hidden) if selection else [],
            "answers": str(self.answers) if self.answers else None,
            "parts": {name: str(folder) for name, folder in self.parts.items()},
            "options": list(self.options),
            "device": [self.device.kind, self.device.name, self.device.count],
        }

    def close(self, complete: bool) -> None:
        """Judge, record, and gather what to say. `complete`: the run was not interrupted."""
        if self.curriculum is None:
            return
        self.lines.extend(self.counts.lines())
        if self.selection is not None and self.selection.locked:
            self.lines.append(closing.still_locked(self.selection.locked, self.curriculum))
        self.lines.extend(closing.left_out(Counter(self.waiting.values())))
        if self.answers is not None or not complete:
            return
        changed: list[str] | None = None
        for lesson in self.curriculum.lessons:
            run = self.runs.get(lesson.name)
            if run is None or not run.outcomes:
                continue
            verdict = run.judge(self._obstacles(lesson), self._test_files(lesson))
            if verdict.judgement is Judgement.PASSED:
                if changed is None:
                    changed = integrity.check(self.curriculum.root)
                if changed:
                    reason = closing.changed_files(self.curriculum.root, changed)
                    verdict = replace(verdict, judgement=Judgement.WITHHELD, reason=reason)
            self._record(lesson, verdict)

    def _obstacles(self, lesson: Lesson) -> list[str]:
        found = []
        if self.narrowed_by:
            found.append(f"{self.narrowed_by} picks some of its tests")
        if self.selection is None or lesson.name not in self.selection.whole:
            found.append("only a part of it was asked for")
        if self.swapped:
            found.append(f"--swap replaced {', '.join(self.swapped)}")
        return found

    def _test_files(self, lesson: Lesson) -> list[str]:
        return [f"curriculum/{lesson.name}/{path.name}" for path in lesson.test_files()]

    def _record(self, lesson: Lesson, verdict: Verdict) -> None:
        assert self.curriculum is not None
        root = self.curriculum.root
        passed = verdict.judgement is Judgement.PASSED
        already = self.progress.passed(lesson.id)
        new: Pass | None = None
        if passed:
            new = Pass(
                on=self.device.name,
                date=progress.now(),
                hashes=integrity.answer_hashes(root, lesson.name),
                tests=integrity.tests_hash(root, lesson.name),
                by_override=self._jumps(lesson),
            )
        try:
            self.progress = progress.update(
                root,
                lambda now: _after_run(
                    now, lesson, verdict, new, self._jumps(lesson), self.runs[lesson.name]
                ),
            )
        except ProgressUnwritable as error:
            if passed and not already:
                self.lines.extend(closing.unwritable(lesson, str(error)))
                self.progress = _after_run(
                    self.progress, lesson, verdict, new, False, self.runs[lesson.name]
                )
                self._celebrate(lesson)
            return
        self.lines.extend(self.progress.notes)
        if verdict.judgement is Judgement.FAILED:
            self.lines.extend(closing.by_task(self.runs[lesson.name], root, self.cwd))
            self.lines.extend(closing.stuck(lesson, self.progress.record(lesson.id).attempts))
        if passed and not already:
            self._celebrate(lesson)
        if passed:
            self.lines.extend(closing.beyond(self.runs[lesson.name]))
        elif verdict.judgement is Judgement.WITHHELD and not already:
            self.lines.extend(closing.withheld(lesson, verdict.reason, self.cwd))

    def _celebrate(self, lesson: Lesson) -> None:
        assert self.curriculum is not None
        rest = [row for row in self.curriculum.lessons if not self.progress.passed(row.id)]
        following = next((row for row in rest if row.number > lesson.number), None)
        following = following or (rest[0] if rest else None)
        self.lines.extend(
            closing.passed(lesson, following, self.device.name, self.curriculum.root, self.cwd)
        )

    def _jumps(self, lesson: Lesson) -> bool:
        """Whether the lesson runs only because --unlocked opened it."""
        assert self.curriculum is not None
        earlier = [row for row in self.curriculum.lessons if row.number < lesson.number]
        return self.unlocked and any(not self.progress.passed(row.id) for row in earlier)


def _after_run(
    before: Progress,
    lesson: Lesson,
    verdict: Verdict,
    new: Pass | None,
    jumps: bool,
    run: LessonRun,
) -> Progress:
    """The progress with this run in it."""
    record = before.record(lesson.id)
    failing = run.failing_tasks()
    judged = {run.tasks[test] for test in run.outcomes if test in run.tasks}
    attempts = record.attempts if record.passed else record.attempts + 1
    record = replace(
        record,
        attempts=attempts,
        last_run=progress.now(),
        failing=(*failing, *(task for task in record.failing if task not in judged)),
        opened_by_override=record.opened_by_override or (progress.now() if jumps else ""),
        marks=tuple(sorted({*record.marks, *verdict.marks})),
        medals=tuple(sorted({*record.medals, *verdict.medals})),
    )
    return before.with_record(lesson.id, record.with_pass(new) if new else record)


def parts_of_others(
    curriculum: Curriculum, own: Callable[[Lesson], bool], swapped: Sequence[int]
) -> dict[str, Path]:
    """The lessons whose part comes from solutions/: those not yet the learner's, and --swap's."""
    return {
        lesson.name: curriculum.solutions
        for lesson in curriculum.lessons
        if (curriculum.solutions / lesson.name).is_dir()
        and (lesson.number in swapped or not own(lesson))
    }


def options_to_repeat(device: str, answers: Path | None, solutions: bool, cwd: Path) -> list[str]:
    """Our options that a single test needs when it is run again."""
    options = [] if device == "auto" else ["--device", device]
    if solutions:
        options.append("--solutions")
    elif answers is not None:
        options.extend(["--answers", os.path.relpath(answers, cwd)])
    return options
