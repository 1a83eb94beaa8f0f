"""The curriculum keeps its own rules: files, sizes, and who may import whom."""

import ast
import re
import sys

import pytest

from harness.lessons.readme_hints import hints_of
from harness.stubs.regions import answer_lines, regions_of, tasks_of
from tests.curriculum.lesson_runs import CURRICULUM, LESSONS, ROOT, solution_files

ROOMS = ("curriculum", "solutions", "harness", "simulator", "references", "tests", "benchmarks")
README_LINES = range(80, 201)
ANSWER_LINES = 150  # what a learner writes in one lesson
REQUIRED_TASKS = 7  # five, or up to seven where they are tiny
FILE_LINES = 400  # 300 is the aim


def python_files(room):
    return sorted(path for path in (ROOT / room).rglob("*.py") if "__pycache__" not in path.parts)


def imported(path):
    """The dotted names that a file imports, wherever in it the import stands."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports by dots"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def outside(path, allowed):
    """The imports of a file that are neither the standard library nor allowed."""
    tops = {name.split(".")[0] for name in imported(path)}
    return sorted(tops - set(allowed) - set(sys.stdlib_module_names))


def strangers(room, allowed):
    found = {path.relative_to(ROOT): outside(path, allowed) for path in python_files(room)}
    return {str(path): names for path, names in found.items() if names}


def test_the_simulator_knows_numpy_and_nothing_else():
    assert strangers("simulator", {"simulator", "numpy"}) == {}


def test_references_stand_alone():
    assert strangers("references", {"references", "torch", "safetensors", "numpy"}) == {}


def test_the_harness_never_looks_back_at_lessons():
    rooms = {"curriculum", "solutions", "references", "tests", "benchmarks"}
    found = {
        str(path.relative_to(ROOT)): sorted(tops)
        for path in python_files("harness")
        if (tops := {name.split(".")[0] for name in imported(path)} & rooms)
        # A lesson's list of pictures shows the lesson's figures.
        and not (path.match("harness/drawing/lesson_*.py") and tops == {"references"})
    }
    assert found == {}


def test_cupy_is_imported_where_kernels_are_compiled_and_launched_only():
    users = [
        path.relative_to(ROOT).as_posix()
        for room in ("curriculum", "solutions", "harness", "simulator", "references")
        for path in python_files(room)
        if any(name.split(".")[0] == "cupy" for name in imported(path))
    ]
    assert len(users) <= 2, users


@pytest.mark.parametrize("room", ["curriculum", "solutions"])
def test_lessons_reach_the_simulator_only_through_the_harness(room):
    rooms = {"solutions", "simulator", "tests", "benchmarks"}
    found = {
        str(path.relative_to(ROOT)): sorted(tops)
        for path in python_files(room)
        if (tops := {name.split(".")[0] for name in imported(path)} & rooms)
    }
    assert found == {}


@pytest.mark.parametrize("room", ["curriculum", "solutions"])
def test_no_lesson_imports_a_later_one(room):
    for path in python_files(room):
        here = re.search(r"lesson_(\d+)", str(path.relative_to(ROOT)))
        later = [
            name
            for name in imported(path)
            if here and (there := re.search(r"curriculum\.lesson_(\d+)", name))
            if int(there[1]) > int(here[1])
        ]
        assert not later, f"{path.relative_to(ROOT)} imports {later}"


@pytest.mark.parametrize("room", ROOMS)
def test_no_file_outgrows_its_question(room):
    files = [*python_files(room), *(ROOT / room).rglob("*.cu")]
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert {path: lines for path, lines in sizes.items() if lines > FILE_LINES} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_no_file_has_a_name_that_says_nothing(room):
    empty = {"utils", "common", "helpers", "base", "misc"}
    assert [str(path) for path in python_files(room) if path.stem in empty] == []


# --- Each lesson ----------------------------------------------------------------------------------


def decorated_tests(lesson):
    """(name, the markers' names, the task) of each test of a lesson."""
    for path in (ROOT / "curriculum" / lesson).glob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            texts = [ast.unparse(decorator) for decorator in node.decorator_list]
            markers = {m[1] for text in texts if (m := re.match(r"pytest\.mark\.(\w+)", text))}
            judged = [re.match(r"pytest\.mark\.task\((\d+)\)", text) for text in texts]
            numbers = [match[1] for match in judged if match]
            yield node.name, markers, int(numbers[0]) if numbers else None


def required_tasks(lesson):
    optional = {"stretch", "speed"}
    return {task for _, markers, task in decorated_tests(lesson) if not markers & optional}


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_its_files(lesson):
    folder = ROOT / "curriculum" / lesson
    assert (folder / "README.md").is_file()
    assert (folder / f"test_{lesson}.py").is_file()
    names = solution_files(lesson)
    assert "tradeoff.py" in names
    assert {"kernel.cu", "kernel.py"} & set(names), "a lesson has a kernel, however small"
    assert [name for name in names if not (folder / name).is_file()] == []


def test_each_folder_is_in_the_list_of_lessons():
    for room in ("curriculum", "solutions"):
        folders = {path.name for path in (ROOT / room).glob("lesson_*") if any(path.iterdir())}
        assert folders <= set(LESSONS), room


def test_the_list_of_lessons_is_complete():
    numbers = [lesson.number for lesson in CURRICULUM.lessons]
    assert numbers == list(range(1, len(numbers) + 1))
    for lesson in CURRICULUM.lessons:
        assert lesson.id and lesson.part and lesson.idea and lesson.tradeoff, lesson.title
        assert 30 <= lesson.minutes <= 180, lesson.title


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_readme_is_read_in_one_sitting(lesson):
    text = (ROOT / "curriculum" / lesson / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) in README_LINES
    assert not re.search(r"\bsimply\b", text, re.IGNORECASE)
    edited = [name for name, answer in solution_files(lesson).items() if tasks_of(answer)]
    assert [name for name in edited if name not in text] == [], "files not named"


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_required_task_has_a_hint(lesson):
    text = (ROOT / "curriculum" / lesson / "README.md").read_text(encoding="utf-8")
    hinted = {hint.task for hint in hints_of(text)}
    assert required_tasks(lesson) - {None} <= hinted


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_asks_for_no_more_than_an_evening(lesson):
    written = 0
    for text in solution_files(lesson).values():
        lines = text.splitlines()
        written += sum(answer_lines(region, lines) for region in regions_of(text))
    assert 0 < written <= ANSWER_LINES
    assert 1 <= len(required_tasks(lesson) - {None}) <= REQUIRED_TASKS


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_test_judges_a_task_that_exists(lesson):
    known = {t.number for text in solution_files(lesson).values() for t in tasks_of(text)}
    for name, _, task in decorated_tests(lesson):
        assert task is None or task in known, f"{name} judges task {task}"
    assert {task for _, _, task in decorated_tests(lesson)} - {None} == known


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_kernel_is_counted_on_the_simulator(lesson):
    counted = [
        name
        for name, markers, _ in decorated_tests(lesson)
        if "simulated" in markers and not markers & {"stretch", "speed", "gpu"}
    ]
    assert counted, "no required test is marked simulated"


def test_tests_import_only_what_is_installed_with_the_course():
    rooms = {"harness", "simulator", "references", "curriculum", "tests", "benchmarks"}
    base = {"numpy", "torch", "triton", "cupy", "typer", "rich", "watchfiles"}
    testing = {"pytest", "xdist", "hypothesis", "mpmath"}
    assert strangers("tests", rooms | base | testing) == {}
