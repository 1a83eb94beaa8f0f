"""What passes a lesson and what does not, told without running a test."""

import pytest

from harness.running.verdict import REQUIRED, SPEED, STRETCH, WAITING, Judgement, LessonRun, Outcome

FILE = "curriculum/lesson_01/test_lesson_01.py"
OTHER = "curriculum/lesson_01/test_lesson_01_gpu.py"
PASSED, FAILED, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED


def judged(outcomes, kinds=None, obstacles=(), files=(FILE,)):
    run = LessonRun()
    run.kinds.update({f"{FILE}::{name}": kind for name, kind in (kinds or {}).items()})
    run.kinds.update(dict.fromkeys((f"{FILE}::a", f"{FILE}::b"), REQUIRED))
    for name, outcome in outcomes:
        run.ended(f"{FILE}::{name}", outcome)
    return run.judge(obstacles, files)


def test_all_required_tests_pass_a_lesson():
    assert judged([("a", PASSED), ("b", PASSED)]).judgement is Judgement.PASSED


def test_nothing_run_is_nothing():
    assert judged([]).judgement is Judgement.NOTHING


@pytest.mark.parametrize(
    ("outcomes", "judgement"),
    [
        ([("a", PASSED)], Judgement.WITHHELD),
        ([("a", PASSED), ("b", SKIPPED)], Judgement.WITHHELD),
        ([("a", PASSED), ("b", FAILED)], Judgement.FAILED),
        ([("a", PASSED), ("b", PASSED), ("b", FAILED)], Judgement.FAILED),  # its teardown
        ([("a", PASSED), ("b", PASSED), ("unknown", FAILED)], Judgement.FAILED),
    ],
)
def test_less_is_not_enough(outcomes, judgement):
    assert judged(outcomes).judgement is judgement


def test_stretch_and_speed_never_block_and_are_kept():
    kinds = {"s[1]": STRETCH, "s[2]": STRETCH, "t[1]": STRETCH, "t[2]": STRETCH, "fast": SPEED}
    outcomes = [(test, PASSED) for test in ("a", "b", *kinds) if test != "t[2]"]
    outcomes.append(("t[2]", FAILED))
    verdict = judged(outcomes, kinds)
    assert verdict.judgement is Judgement.PASSED
    assert (verdict.marks, verdict.medals) == (("s",), ("fast",))


def test_an_obstacle_withholds_the_pass_and_gives_the_reason():
    verdict = judged([("a", PASSED), ("b", PASSED)], obstacles=["-k picks some of its tests"])
    assert (verdict.judgement, verdict.reason) == (
        Judgement.WITHHELD,
        "-k picks some of its tests",
    )


def test_every_test_file_takes_part():
    both = [("a", PASSED), ("b", PASSED)]
    assert judged(both, files=(FILE, OTHER)).judgement is Judgement.WITHHELD


def test_a_test_file_that_only_waits_for_a_gpu_takes_part():
    run = LessonRun()
    run.kinds.update({f"{FILE}::a": REQUIRED, f"{OTHER}::g": WAITING})
    run.ended(f"{FILE}::a", PASSED)
    assert run.judge([], [FILE, OTHER]).judgement is Judgement.PASSED


def test_a_lesson_without_required_tests_cannot_be_passed():
    run = LessonRun()
    run.kinds[f"{FILE}::s"] = STRETCH
    run.ended(f"{FILE}::s", PASSED)
    assert run.judge([], [FILE]).reason == "no required test was collected"
