"""What the simulator has made of PTX is kept on disk: by content, whole or not at all."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from harness import cuda
from harness.launching import kept_modules, ptx_cache
from simulator import parse
from simulator.storing import encode, programs_of
from simulator.translating import program
from tests.simulator.compiled import ptx_of

SOURCE = """extern "C" __global__ void doubled(float* a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= 2.0f;
}
extern "C" __global__ void cleared(float* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 0.0f; }
"""


@pytest.fixture
def cache(empty_kernel_cache, monkeypatch):
    """An empty cache, on disk and in memory."""
    forget(monkeypatch)
    return empty_kernel_cache


def forget(monkeypatch):
    """As a new process starts."""
    monkeypatch.setattr(kept_modules, "_modules", {})


@pytest.fixture
def translations(monkeypatch):
    """The names of the entries that are really translated."""
    names = []
    real = program.Generator

    def count(entry, *arguments):
        names.append(entry.name)
        return real(entry, *arguments)

    monkeypatch.setattr(program, "Generator", count)
    return names


def launch(tmp_path, name="doubled"):
    (tmp_path / "kernel.cu").write_text(SOURCE, encoding="utf-8")
    a = torch.arange(100, dtype=torch.float32)
    kernel = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function(name)
    kernel((1,), (128,), (a, np.int32(100)))
    expected = torch.arange(100) * 2.0 if name == "doubled" else torch.zeros(100)
    torch.testing.assert_close(a, expected, rtol=0, atol=0)


def test_a_new_process_neither_reads_nor_translates(tmp_path, cache, translations, monkeypatch):
    launch(tmp_path)
    assert translations == ["doubled"]
    forget(monkeypatch)
    monkeypatch.setattr("simulator.parse", lambda text: pytest.fail("read again"))
    launch(tmp_path)
    assert translations == ["doubled"]


def test_a_kernel_that_is_launched_later_is_added(tmp_path, cache, translations, monkeypatch):
    launch(tmp_path)
    launch(tmp_path, "cleared")
    forget(monkeypatch)
    launch(tmp_path)
    launch(tmp_path, "cleared")
    assert translations == ["doubled", "cleared"]


def test_other_sources_of_the_simulator_make_it_anew(tmp_path, cache, translations, monkeypatch):
    launch(tmp_path)
    forget(monkeypatch)
    monkeypatch.setattr("simulator.storing.fingerprint", lambda: bytes(32))
    launch(tmp_path)
    assert translations == ["doubled", "doubled"]


@pytest.mark.parametrize("damage", [lambda d: d[:500], lambda d: b"", lambda d: d[:-1] + b"?"])
def test_a_damaged_file_is_made_anew(tmp_path, cache, translations, monkeypatch, damage):
    launch(tmp_path)
    for path in cache.iterdir():
        if not path.read_bytes().startswith(b"{"):  # the compiler's own begin so
            path.write_bytes(damage(path.read_bytes()))
    forget(monkeypatch)
    launch(tmp_path)
    assert translations == ["doubled", "doubled"]
    forget(monkeypatch)
    launch(tmp_path)
    assert translations == ["doubled", "doubled"]  # and kept again


def test_without_a_disk_kernels_run(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(ptx_cache, "cache_folder", lambda: None)
    launch(tmp_path)


def test_readers_beside_writers_see_all_of_it_or_nothing(cache):
    module = parse(ptx_of(SOURCE))
    for entry in module.entries.values():
        program.program_of(entry)
    data = encode(module)

    def write(_):
        ptx_cache.store("one", data)

    def read(_):
        found = ptx_cache.load("one")
        return found is None or found == data

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, k) for k in range(30)]
        assert all(pool.map(read, range(200)))
        for done in writing:
            done.result()
    assert programs_of(module) == 2
