"""The miniature curriculum: three small lessons on which the plugin is tried, in its own folder."""

import json
import shutil
from pathlib import Path

import pytest

from harness.launching import ptx_cache
from harness.lessons import integrity, progress
from harness.lessons.progress import Pass

collect_ignore = ["miniature"]
MINIATURE = Path(__file__).parent / "miniature"
UNUSED_PLUGINS = ("-pno:cacheprovider", "-pno:hypothesispytest", "-pno:anyio")  # each costs time
IDS = {1: "sums", 2: "products", 3: "powers"}


class Lessons:
    """A copy of the miniature, and what a learner does with it."""

    def __init__(self, pytester, monkeypatch):
        self.root = pytester.path
        self.pytester = pytester
        self.monkeypatch = monkeypatch
        shutil.copytree(MINIATURE, self.root, dirs_exist_ok=True)
        integrity.write_hashes(self.root)

    def run(self, *arguments, device="cpu"):
        """pytest in this process; the simulator unless a test says otherwise."""
        options = ["--device", device] if device else []
        return self.pytester.runpytest_inprocess(*UNUSED_PLUGINS, *arguments, *options)

    def go_to(self, folder):
        self.monkeypatch.chdir(self.root / folder)

    def file(self, name):
        return self.root / "curriculum" / name

    def edit(self, name, old, new):
        path = self.file(name)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def solve(self, *numbers):
        """Write our answer into the learner's files."""
        for number in numbers:
            name = f"lesson_{number:02d}"
            shutil.copytree(self.root / "solutions" / name, self.file(name), dirs_exist_ok=True)

    def passed(self, *numbers):
        """Record lessons as passed, with our answers in place."""
        self.solve(*numbers)
        done = Pass(on="simulator", date="2026-01-01T00:00:00+00:00")
        for number in numbers:
            progress.update(self.root, lambda now, n=number: now.changed(IDS[n], passes=(done,)))

    def recorded(self):
        """The numbers of the lessons that the record holds as passed."""
        path = self.root / progress.FILE_NAME
        rows = json.loads(path.read_text())["lessons"] if path.is_file() else {}
        return {n for n, key in IDS.items() if rows.get(key, {}).get("passes")}

    def record(self, number):
        return progress.load(self.root).record(IDS[number])


@pytest.fixture
def lessons(pytester, monkeypatch):
    return Lessons(pytester, monkeypatch)


@pytest.fixture
def empty_kernel_cache(tmp_path, monkeypatch):
    """The folder of a kernel cache on disk that holds nothing, and of which nothing was told."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(ptx_cache, "cache_folder", lambda: folder)
    monkeypatch.setattr(ptx_cache, "_notices", [])
    return folder


@pytest.fixture
def said():
    """The output of a run as one text."""
    return lambda result: result.stdout.str() + result.stderr.str()
