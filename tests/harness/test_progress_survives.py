"""The record of a learner's progress is never lost and never half written."""

import json
import os
import signal
import sys
import time

import pytest

from harness.lessons import progress
from harness.lessons.progress import Pass, Progress, ProgressUnwritable, Record

DONE = Pass("simulator", "2026-01-01T00:00:00+00:00", {"host.py": "1234"}, "5678")


def with_attempts(count):
    """A record large enough to be caught half written."""
    rows = {f"lesson-{i}": Record(attempts=count, hints=("task 1 hint 1",) * 50) for i in range(40)}
    return Progress(rows)


def test_what_is_saved_is_what_is_loaded(tmp_path):
    record = Record(3, "today", ("task 1 hint 2",), "yesterday", (DONE,), ("a",), ("b",), (3, 1))
    progress.save(tmp_path, Progress({"sums": record}))
    assert progress.load(tmp_path) == Progress({"sums": record})


def test_no_record_is_no_progress(tmp_path):
    assert progress.load(tmp_path) == Progress()
    assert list(tmp_path.iterdir()) == []


def test_ids_that_no_lesson_has_are_kept(tmp_path):
    progress.save(tmp_path, Progress({"from-an-older-course": Record(attempts=7)}))
    progress.update(tmp_path, lambda now: now.changed("sums", attempts=1))
    assert progress.load(tmp_path).record("from-an-older-course").attempts == 7


def test_the_first_pass_on_each_device_is_kept():
    later = Pass("simulator", "2027-01-01T00:00:00+00:00")
    gpu = Pass("NVIDIA H200", "2027-01-01T00:00:00+00:00")
    record = Record().with_pass(DONE).with_pass(later).with_pass(gpu)
    assert record.passes == (DONE, gpu)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"version": 1}',
        b"[]",
        b'{"version": 1, "lessons": []}',
        b'{"version": 1, "lessons": {"sums": {"attempts": "many"}}}',
        b'{"version": 1, "lessons": {"sums": {"hints": "one"}}}',
        b'{"version": 1, "lessons": {"sums": {"passes": [{}]}}}',
        b"\xff\xfe\x00",
    ],
)
def test_a_damaged_file_is_set_aside_whole(tmp_path, content):
    (tmp_path / progress.FILE_NAME).write_bytes(content)
    loaded = progress.load(tmp_path)
    (aside,) = tmp_path.glob(f"{progress.FILE_NAME}.corrupt-*")
    assert aside.read_bytes() == content
    assert loaded.records == {} and aside.name in loaded.notes[0]
    assert not (tmp_path / progress.FILE_NAME).exists()


def test_a_second_damaged_file_does_not_replace_the_first(tmp_path):
    for content in (b"one", b"two"):
        (tmp_path / progress.FILE_NAME).write_bytes(content)
        progress.load(tmp_path)
    kept = {path.read_bytes() for path in tmp_path.glob(f"{progress.FILE_NAME}.corrupt-*")}
    assert kept == {b"one", b"two"}


def test_a_newer_file_is_set_aside_whole(tmp_path):
    content = json.dumps({"version": progress.VERSION + 1, "lessons": {}, "more": "to come"})
    (tmp_path / progress.FILE_NAME).write_text(content)
    loaded = progress.load(tmp_path)
    (aside,) = tmp_path.glob(f"{progress.FILE_NAME}.newer-*")
    assert aside.read_text() == content
    assert "was written by a newer version" in loaded.notes[0]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ProgressUnwritable, match="could not be written"):
        progress.save(tmp_path / "no such folder", Progress())
    with pytest.raises(ProgressUnwritable, match="could not be written"):
        progress.update(tmp_path / "no such folder", lambda now: now)


def test_two_writers_lose_nothing(tmp_path):
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            for _ in range(10):
                progress.update(
                    tmp_path,
                    lambda now: now.changed("sums", attempts=now.record("sums").attempts + 1),
                )
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    assert progress.load(tmp_path).record("sums").attempts == 40


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_writer_killed_at_any_moment_leaves_the_old_or_the_new_file(tmp_path):
    path = tmp_path / progress.FILE_NAME
    progress.save(tmp_path, with_attempts(0))
    began = time.perf_counter()
    progress.update(tmp_path, lambda now: with_attempts(0))
    one_write = time.perf_counter() - began
    for kill in range(200):
        child = os.fork()
        if child == 0:
            count = progress.load(tmp_path).record("lesson-0").attempts
            while True:
                count += 1
                progress.update(tmp_path, lambda now, n=count: with_attempts(n))
        time.sleep(one_write * (kill % 20) / 10)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        table = json.loads(path.read_text())
        counts = {row["attempts"] for row in table["lessons"].values()}
        assert len(counts) == 1 and len(table["lessons"]) == 40, "a mixture of two writes"
    progress.update(tmp_path, lambda now: now)
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {progress.FILE_NAME, f"{progress.FILE_NAME}.lock"}, "left-overs stay behind"
