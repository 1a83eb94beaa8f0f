"""Each lesson rejects its stub and its wrong answers, each for its reason; right ones pass."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.curriculum.lesson_runs import (
    LESSONS,
    ROOT,
    answer_folder,
    id_of,
    lesson_tests,
    run,
    solution_files,
    solution_without,
    stub,
    tasks,
)

HERE = Path(__file__).parent
LEAST_WRONG, LEAST_RIGHT, SAME_LINES = 6, 2, 6


def wrong_answers(lesson):
    path = HERE / "wrong" / f"{lesson}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))["wrong"] if path.is_file() else []


def right_answers(lesson):
    folder = HERE / "right" / lesson
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def wrong_files(lesson, wrong):
    """The solution with one edit, or with one file replaced as a whole."""
    files = solution_files(lesson)
    if "whole" in wrong:
        files[wrong["file"]] = (HERE / "wrong" / lesson / wrong["whole"]).read_text("utf-8")
        return files
    places = files[wrong["file"]].count(wrong["find"])
    assert places == 1, f"`find` fits {places} places of {wrong['file']}"
    files[wrong["file"]] = files[wrong["file"]].replace(wrong["find"], wrong["replace"])
    return files


@cache
def rejection(lesson, index):
    """What the named test says about a wrong answer; None if it lets it pass."""
    wrong = wrong_answers(lesson)[index]
    answers = answer_folder(scratch(), lesson, wrong_files(lesson, wrong))
    outcomes = run(answers, [id_of(lesson, wrong["test"])])
    assert outcomes, f"there is no test {wrong['test']}"
    return next((outcome.text for outcome in outcomes if not outcome.passed), None)


@cache
def stub_outcomes(lesson):
    return run(answer_folder(scratch(), lesson, stub(lesson)), lesson_tests(lesson))


def every_test_passed(outcomes):
    assert outcomes, "nothing ran"
    failed = [f"{outcome.test}\n{outcome.text}" for outcome in outcomes if not outcome.passed]
    if failed:
        pytest.fail("\n\n".join(failed), pytrace=False)


_scratch = []


def scratch():
    return _scratch[-1]


@pytest.fixture(autouse=True)
def _scratch_folder(tmp_path):
    _scratch.append(tmp_path)
    yield
    _scratch.pop()


def each(items):
    """(lesson, item) for every lesson, named for the report."""
    return [
        pytest.param(lesson, item, id=f"{lesson}: {name}")
        for lesson in LESSONS
        for item, name in items(lesson)
    ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "lesson, index",
    each(lambda lesson: [(i, w["name"]) for i, w in enumerate(wrong_answers(lesson))]),
)
def test_a_wrong_answer_is_rejected_for_its_reason(lesson, index):
    wrong = wrong_answers(lesson)[index]
    text = rejection(lesson, index)
    assert text is not None, f"{wrong['test']} lets it pass"
    assert re.search(wrong["match"], text), f"the failure does not say so:\n{text}"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_reason_fits_no_other_fault_and_no_stub(lesson):
    every = wrong_answers(lesson)
    blank = {outcome.test: outcome.text for outcome in stub_outcomes(lesson)}
    confused = []
    for wrong in every:
        if re.search(wrong["match"], blank.get(wrong["test"], "")):
            confused.append(f"{wrong['name']}: its reason fits the stub, too")
        for other, text in ((o, rejection(lesson, i)) for i, o in enumerate(every)):
            if other["fault"] != wrong["fault"] and text and re.search(wrong["match"], text):
                confused.append(f"{wrong['name']}: its reason fits `{other['name']}`, too")
    assert not confused, "\n".join(confused)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_enough_wrong_and_right_answers(lesson):
    names = [wrong["name"] for wrong in wrong_answers(lesson)]
    assert len(names) == len(set(names)) and len(names) >= LEAST_WRONG
    assert len(right_answers(lesson)) >= LEAST_RIGHT


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "lesson, folder", each(lambda lesson: [(path, path.name) for path in right_answers(lesson)])
)
def test_a_right_answer_of_another_hand_passes(lesson, folder):
    files = {path.name: path.read_text("utf-8") for path in folder.iterdir() if path.is_file()}
    outcomes = run(answer_folder(scratch(), lesson, files), lesson_tests(lesson))
    every_test_passed(outcomes)


@pytest.mark.parametrize(
    "lesson, folder", each(lambda lesson: [(path, path.name) for path in right_answers(lesson)])
)
def test_a_right_answer_looks_nothing_like_the_solution(lesson, folder):
    def windows(text):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return {tuple(lines[at : at + SAME_LINES]) for at in range(len(lines) - SAME_LINES + 1)}

    ours = set().union(*(windows(text) for text in solution_files(lesson).values()))
    for path in folder.iterdir():
        if path.is_file():
            shared = ours & windows(path.read_text("utf-8"))
            assert not shared, f"{path.name} shares with the solution:\n" + "\n".join(shared.pop())


@pytest.mark.timeout(300)
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_task_is_passed_by_the_stub(lesson):
    judged = [outcome for outcome in stub_outcomes(lesson) if outcome.task is not None]
    assert {outcome.task for outcome in judged} == set(tasks(lesson)), "a task has no test"
    assert [outcome.test for outcome in judged if outcome.passed] == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "lesson, task", each(lambda lesson: [(n, f"task {n}") for n in tasks(lesson)])
)
def test_the_solution_without_one_task_fails_and_names_it(lesson, task):
    answers = answer_folder(scratch(), lesson, solution_without(lesson, task))
    outcomes = run(answers, lesson_tests(lesson), task)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    assert failed, f"every test of task {task} passes without it"
    assert any(re.search(rf"\btask {task}\b", outcome.text) for outcome in failed), failed[0].text


@pytest.mark.timeout(300)
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_solution_passes(lesson):
    outcomes = run(ROOT / "solutions", lesson_tests(lesson))
    every_test_passed(outcomes)
