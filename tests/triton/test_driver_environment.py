"""Triton's environment variables and its cache on disk, each in a process of its own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import harness.triton_driver  # noqa: F401
from harness.triton_driver.disk_cache import DiskCache, look_through

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import os, torch, triton, triton.language as tl
import harness.triton_driver
from triton import knobs

@triton.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 7.0)

x = torch.zeros(32)
compiled = fill[(1,)](x, BLOCK=32)
text = compiled.asm["ptx"]
text = text if isinstance(text, str) else text.decode()
print(x.sum().item(), ".loc" in text, ".target sm_80" in text, type(fill).__name__)
print(knobs.cache.dir)
"""


def run(tmp_path, first="", **variables):
    """A small program in a process of its own, `first` on its first line."""
    path = tmp_path / "program.py"
    path.write_text(first + PROGRAM)
    cleared = {k: v for k, v in os.environ.items() if not k.startswith("TRITON_")}
    here = os.pathsep.join([str(ROOT), *sys.path])
    environment = {**cleared, "PYTHONPATH": here, **variables}
    return subprocess.run(
        [sys.executable, str(path)], env=environment, capture_output=True, text=True, cwd=tmp_path
    )


DISTURBING = {
    "TRITON_INTERPRET": "1",
    "TRITON_DISABLE_LINE_INFO": "1",
    "TRITON_STORE_BINARY_ONLY": "1",
    "TRITON_OVERRIDE_ARCH": "sm90",
}


def test_variables_that_would_disturb_are_ignored_and_named(tmp_path):
    done = run(tmp_path, "import harness.triton_driver", **DISTURBING)
    assert done.stdout.startswith("224.0 True True JITFunction\n"), done.stderr
    ignored = [line.partition(" is ignored: ")[0] for line in done.stderr.splitlines()]
    assert ignored == [*DISTURBING]


def test_a_triton_that_interprets_already_is_refused_in_words(tmp_path):
    done = run(tmp_path, TRITON_INTERPRET="1")
    assert done.returncode
    assert "TRITON_INTERPRET is set, and Triton has been imported" in done.stderr


def test_nothing_is_said_where_nothing_disturbs(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines()[1] == str(ROOT / ".cache" / "triton")


def test_a_cache_that_takes_nothing_stops_nobody(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = run(tmp_path, TRITON_CACHE_DIR=str(blocked))
    assert done.stdout.startswith("224.0 True True JITFunction\n"), done.stderr
    assert "kernels compile anew each run" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def stored(key):
    files = DiskCache(key)
    group = {name: files.put("{}", name) for name in ("kernel.ptx", "kernel.json")}
    files.put_group("kernel.json", group)
    return group


@pytest.mark.parametrize("name", ["kernel.ptx", "kernel.json", "__grp__kernel.json"])
def test_an_entry_that_was_cut_short_counts_as_none(tmp_path, monkeypatch, name):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    group = stored("key")
    assert DiskCache("key").get_group("kernel.json") == group
    (tmp_path / "key" / name).write_text("")
    assert DiskCache("key").get_group("kernel.json") is None
    (tmp_path / "key" / name).unlink()
    assert DiskCache("key").get_group("kernel.json") is None


def test_using_an_entry_marks_it_as_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    stored("key")
    os.utime(tmp_path / "key", (1, 1))
    DiskCache("key").get_group("kernel.json")
    assert time.time() - (tmp_path / "key").stat().st_mtime < 600


def entry(folder, name, days, size=10):
    (folder / name).mkdir()
    (folder / name / "kernel.ptx").write_bytes(b"x" * size)
    used = time.time() - days * 24 * 3600
    os.utime(folder / name, (used, used))


def names(folder):
    return sorted(p.name for p in folder.iterdir() if p.is_dir())


def test_what_nobody_used_for_a_month_goes_and_the_rest_stays(tmp_path):
    entry(tmp_path, "recent", 1)
    entry(tmp_path, "old", 31)
    look_through(tmp_path)
    assert names(tmp_path) == ["recent"]


def test_it_looks_once_a_day(tmp_path):
    look_through(tmp_path)
    entry(tmp_path, "old", 31)
    look_through(tmp_path)
    assert names(tmp_path) == ["old"]
    look_through(tmp_path, time.time() + 25 * 3600)
    assert names(tmp_path) == []


def test_beyond_its_size_the_least_recently_used_go(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.triton_driver.disk_cache._MOST_BYTES", 250)
    for days in (3, 1, 2):
        entry(tmp_path, f"used {days} days ago", days, 100)
    look_through(tmp_path)
    assert names(tmp_path) == ["used 1 days ago", "used 2 days ago"]
