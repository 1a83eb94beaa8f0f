"""Kernels compile once, from text, wherever they lie; without a disk they compile each time."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.launching import compiler, ptx_cache
from harness.launching.compiler import compile_file

SOURCE = 'extern "C" __global__ void f(float* a) {{ a[0] = {value}; }}\n'
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def cache(empty_kernel_cache, monkeypatch):
    """An empty cache, on disk and in memory."""
    monkeypatch.setattr(compiler, "_memory", {})
    return empty_kernel_cache


@pytest.fixture
def compilations(monkeypatch):
    """Counts real compilations."""
    counted = []
    real = compiler._Program.compile

    def count(program, flags):
        counted.append(flags)
        return real(program, flags)

    monkeypatch.setattr(compiler._Program, "compile", count)
    return counted


def write(folder, value=1, name="kernel.cu"):
    path = folder / name
    path.write_text(SOURCE.format(value=value), encoding="utf-8")
    return path


def test_an_unchanged_file_compiles_once(tmp_path, cache, compilations):
    path = write(tmp_path)
    assert compile_file(path) is compile_file(path)
    assert len(compilations) == 1


def test_another_process_finds_the_file_compiled(tmp_path, cache, compilations, monkeypatch):
    path = write(tmp_path)
    first = compile_file(path)
    monkeypatch.setattr(compiler, "_memory", {})  # as a new process starts
    assert compile_file(path) == first
    assert len(compilations) == 1


def test_the_compilers_own_cache_is_left_out(tmp_path, cache, monkeypatch):
    """Beside a driver NVRTC has one, which gives no log: no warnings, no account of registers."""
    real, given = compiler._nvrtc(), []

    class Listening:
        def __getattr__(self, name):
            return getattr(real, name)

        def compileProgram(self, program, options):
            given.append(options)
            return real.compileProgram(program, options)

    monkeypatch.setattr(compiler, "_nvrtc", Listening)
    compile_file(write(tmp_path), "sm_80")
    assert given and all("--no-cache" in options for options in given)


@pytest.mark.parametrize("change", ["source", "options", "architecture", "header"])
def test_whatever_goes_into_a_kernel_is_in_its_key(tmp_path, cache, compilations, change):
    (tmp_path / "tile.h").write_text("#define TILE 1\n")
    path = tmp_path / "kernel.cu"
    path.write_text('#include "tile.h"\n' + SOURCE.format(value="TILE"))
    before = compile_file(path)
    if change == "source":
        path.write_text('#include "tile.h"\n' + SOURCE.format(value="TILE + 1"))
    if change == "header":
        (tmp_path / "tile.h").write_text("#define TILE 2\n")
    options = ("-DN=1",) if change == "options" else ()
    architecture = "compute_90" if change == "architecture" else "compute_80"
    assert compile_file(path, architecture, options).key != before.key
    assert len(compilations) == 2


def test_a_file_cut_short_on_disk_is_compiled_anew(tmp_path, cache, compilations, monkeypatch):
    path = write(tmp_path)
    stored = cache / compile_file(path).key
    stored.write_bytes(stored.read_bytes()[:40])
    monkeypatch.setattr(compiler, "_memory", {})
    assert "f_param_0" in compile_file(path).ptx
    assert len(compilations) == 2


def test_machine_code_survives_the_disk(tmp_path, cache, monkeypatch):
    path = write(tmp_path)
    first = compile_file(path, "sm_90")
    monkeypatch.setattr(compiler, "_memory", {})
    assert first.cubin[:4] == b"\x7fELF"
    assert compile_file(path, "sm_90").cubin == first.cubin


def test_a_full_disk_costs_the_cache_and_one_line(tmp_path, cache, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ptx_cache.tempfile, "mkstemp", full)
    for value in (1, 2, 3):
        assert ".entry f" in compile_file(write(tmp_path, value)).ptx
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "No space left on device" in told
    assert ptx_cache.notices() == (told.strip(),)
    assert list(cache.iterdir()) == []


def test_without_any_folder_kernels_compile_all_the_same(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(ptx_cache, "cache_folder", lambda: None)
    assert ".entry f" in compile_file(write(tmp_path)).ptx


def test_the_cache_moves_to_the_users_folder_where_the_repository_is_read_only(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    inside = REPOSITORY / ".cache" / "kernels"
    real = ptx_cache._takes_files
    monkeypatch.setattr(ptx_cache, "_takes_files", lambda f: f != inside and real(f))
    found = ptx_cache.cache_folder.__wrapped__()
    assert found is not None and found.is_relative_to(tmp_path)


def test_nothing_unfinished_is_left_behind(tmp_path, cache):
    compile_file(write(tmp_path))
    assert [file.name for file in cache.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["two words", "Übung 第三課", "it's"])
def test_a_path_with_any_letters_compiles(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    compiled = compile_file(write(folder, name="kérnel file.cu"))
    assert ".loc\t1 1 " in compiled.ptx  # lines of the learner's file are those of file 1
    assert '.file\t1 "' in compiled.ptx


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_bytes(b"\xef\xbb\xbf// \r\n" + SOURCE.format(value=1).encode())
    assert ".loc\t1 2 " in compile_file(path).ptx


def test_the_ptx_shows_no_trace_of_the_question_about_types(tmp_path):
    compiled = compile_file(write(tmp_path))
    assert "lesson_signature" not in compiled.ptx
    assert compiled.ptx.count(".entry") == 1
    assert compiled.signatures["f"].startswith("_Z16lesson_signature")


def test_a_kernel_that_only_seems_to_be_there_does_no_harm(tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_text("#if 0\n__global__ void ghost(float* a) {}\n#endif\n" + SOURCE.format(value=1))
    assert ".entry f" in compile_file(path).ptx


def test_every_header_that_lessons_use_is_found(tmp_path):
    headers = ["cuda_fp16.h", "cuda_bf16.h", "mma.h", "cooperative_groups.h", "cuda/atomic"]
    path = tmp_path / "kernel.cu"
    path.write_text("".join(f"#include <{h}>\n" for h in headers) + SOURCE.format(value=1))
    assert ".entry f" in compile_file(path).ptx


def test_importing_the_module_imports_neither_torch_nor_cupy_nor_triton():
    code = (
        "import sys; from harness import cuda;"
        "print([m for m in ('torch', 'cupy', 'triton') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
