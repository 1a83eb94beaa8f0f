"""`lesson watch` runs a lesson at each save: soon, once, whatever the editor does."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.lessons import integrity
from harness.watching import saves
from harness.watching.saves import Saves
from tests.harness.conftest import MINIATURE

ROOT = Path(__file__).resolve().parents[2]
SOON = 0.5  # seconds from a save to the start of its run
SLOW = 60  # seconds for anything to happen on a loaded machine


class Watching:
    """A watch on a copy of the miniature curriculum, and what its log says."""

    def __init__(self, folder, *words):
        self.root = folder / "course"
        shutil.copytree(MINIATURE, self.root)
        integrity.write_hashes(self.root)
        self.log = folder / "log"
        self.output = folder / "output"
        self.words = words

    def __enter__(self):
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "harness", "watch", "--log", str(self.log), *self.words]
        self.process = subprocess.Popen(
            command,
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "100"},
            stdin=subprocess.DEVNULL,
            stdout=self.output.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def interrupt(self):
        """Ctrl-C, as a terminal sends it: to the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(SLOW)

    def answer(self, lesson="lesson_01", name="host.py"):
        return self.root / "curriculum" / lesson / name

    def solution(self, lesson="lesson_01", name="host.py"):
        return (self.root / "solutions" / lesson / name).read_text()

    def said(self):
        return self.output.read_text(errors="replace")

    def events(self, kind):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def wait_for(self, kind, count):
        """The count-th event of a kind, as soon as it is there."""
        end = time.monotonic() + SLOW
        while len(self.events(kind)) < count:
            assert self.process.poll() is None, f"the watch has ended:\n{self.said()}"
            assert time.monotonic() < end, f"no {kind} number {count}:\n{self.said()}"
            time.sleep(0.02)
        return self.events(kind)[count - 1]

    def after(self, save, *arguments):
        """(the start, the end) of the run that a save brings about."""
        starts, ends = len(self.events("started")), len(self.events("ended"))
        save(*arguments)
        return self.wait_for("started", starts + 1), self.wait_for("ended", ends + 1)


@pytest.fixture(scope="module")
def watching(tmp_path_factory):
    """One watch for several tests: each start costs seconds."""
    with Watching(tmp_path_factory.mktemp("watch")) as found:
        found.wait_for("ended", 1)
        yield found


def write_in_place(path, text):
    path.write_text(text)


def write_in_goes(path, text):
    with path.open("w") as file:
        for line in text.splitlines(keepends=True):
            file.write(line)
            file.flush()
            time.sleep(0.01)


def replace_at_once(path, text):
    other = path.with_name("." + path.name + ".tmp")
    other.write_text(text)
    other.replace(path)


def move_away_and_write(path, text):
    """As vim does: the old file becomes the backup, and a new one takes its name."""
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    time.sleep(0.03)
    path.write_text(text)
    backup.unlink()


EDITORS = [write_in_place, write_in_goes, replace_at_once, move_away_and_write]


@pytest.mark.timeout(200)
@pytest.mark.parametrize("save", EDITORS)
def test_each_save_is_run_once_and_soon(watching, save):
    started, ended = watching.after(save, watching.answer(), f"# {save.__name__}\n")
    assert (started["lesson"], started["saved"]) == ("lesson_01", ["host.py"])
    assert started["seconds_after_save"] < SOON
    assert ended["status"] == 1
    runs = len(watching.events("started"))
    time.sleep(0.5)
    assert len(watching.events("started")) == runs, "one save was run twice"


@pytest.mark.timeout(200)
def test_what_no_learner_saves_starts_no_run(watching):
    runs = len(watching.events("started"))
    folder = watching.answer().parent
    for name in (".host.py.swp", "host.py~", "4913", "notes.txt", "host.py.tmp"):
        (folder / name).write_text("x")
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "host.pyc").write_text("x")
    time.sleep(0.7)
    assert len(watching.events("started")) == runs


@pytest.mark.timeout(200)
def test_a_pass_opens_the_next_lesson_and_both_are_watched(watching):
    _, ended = watching.after(write_in_place, watching.answer(), watching.solution())
    assert ended["status"] == 0
    said = watching.said()
    assert "lesson 01 (Sums) is passed" in said and "next: lesson 02 (Products)" in said
    time.sleep(0.5)
    assert "lesson_01 and lesson_02" in watching.said()
    answer = watching.answer("lesson_02"), watching.solution("lesson_02")
    started, ended = watching.after(write_in_place, *answer)
    assert started["lesson"] == "lesson_02" and started["seconds_after_save"] < SOON
    assert ended["status"] == 0
    started, _ = watching.after(write_in_place, watching.answer("lesson_03"), "")
    assert started["lesson"] == "lesson_03", "lesson 01 is passed and no longer watched"


@pytest.mark.timeout(200)
def test_a_save_during_a_run_starts_it_again_and_ctrl_c_ends_both(tmp_path):
    with Watching(tmp_path) as watching:
        watching.wait_for("ended", 1)
        endless = "import time\ntime.sleep(1000)\n"
        write_in_place(watching.answer(), endless)
        watching.wait_for("started", 2)
        time.sleep(0.3)
        started, ended = watching.after(write_in_place, watching.answer(), watching.solution())
        assert started["seconds_after_save"] < SOON
        assert ended["status"] == 0, "the first run was given up"
        write_in_place(watching.answer(), endless)
        watching.wait_for("started", 4)
        ends_cleanly(watching)


@pytest.mark.timeout(200)
def test_a_polled_watch_passes_options_on(tmp_path):
    with Watching(tmp_path, "--poll", "1", "--", "-k", "add_adds") as watching:
        watching.wait_for("ended", 1)
        assert "= 3 failed" in watching.said()  # of the lesson's five
        started, ended = watching.after(replace_at_once, watching.answer(), watching.solution())
        assert started["seconds_after_save"] < SOON
        assert ended["status"] == 0
        ends_cleanly(watching)


def ends_cleanly(watching):
    assert watching.interrupt() == 0
    said = watching.said()
    assert said.endswith("The watch has ended.\n")
    assert "Traceback" not in said
    until = time.monotonic() + 20  # what was told to end ends in its own time on a busy machine
    with pytest.raises(ProcessLookupError):  # nothing of the group is left
        while time.monotonic() < until:
            os.killpg(watching.process.pid, 0)
            time.sleep(0.05)


@pytest.mark.timeout(200)
def test_a_locked_lesson_is_not_watched(tmp_path):
    with Watching(tmp_path, "2") as watching:
        assert watching.process.wait(SLOW) == 4
        assert "lesson 02 (Products) is locked" in watching.said()


def test_saves_are_seen_even_if_nothing_is_told(tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_text("one")
    looked = Saves()
    looked.follow([path])
    assert looked.look() == []
    path.write_text("three")
    assert looked.look() == [path]
    assert looked.look() == []
    path.unlink()
    assert looked.look() == [path], "a file that stays away is a change too"


def test_a_save_between_two_lists_of_files_is_not_missed(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for path in (one, two):
        path.write_text("before")
    looked = Saves()
    looked.follow([one])
    one.write_text("after it")
    looked.follow([one, two])
    assert looked.look() == [one]


@pytest.mark.parametrize(
    ("mounts", "silent"),
    [
        ("/dev/sda / ext4 rw 0 0\n", False),
        ("/dev/sda / ext4 rw 0 0\nC:\\ /mnt/c 9p rw 0 0\n", True),
        ("/dev/sda / ext4 rw 0 0\nserver:/home /mnt nfs4 rw 0 0\n", True),
        ("server:/ / nfs rw 0 0\n/dev/sda /mnt/c ext4 rw 0 0\n", False),
        ("/dev/sda / ext4 rw 0 0\nhost /mnt/c fuse.sshfs rw 0 0\n", True),
    ],
)
def test_drives_that_report_nothing_are_known(tmp_path, monkeypatch, mounts, silent):
    table = tmp_path / "mounts"
    table.write_text(mounts)
    monkeypatch.setattr(saves, "_MOUNTS", table)
    assert saves.tells_nobody(Path("/mnt/c/course")) is silent
