"""What a learner reads of the counters of kernels with one well-known fault each."""

import re

import numpy as np
import pytest
import torch

from harness import cuda
from harness.judging.counter_columns import COUNTERS
from harness.judging.counter_report import CounterTable
from harness.judging.profiling import Profiler, counter_tables_of
from simulator import Counters, Traffic
from simulator.observing.counters import NAMES

SOURCE = """\
extern "C" __global__ void strided(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[8 * i % n];
}
extern "C" __global__ void transpose(const float* x, float* y) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = x[32 * threadIdx.y + threadIdx.x];
    __syncthreads();
    y[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void odd(const float* x, float* y, int n) {
    float v = x[threadIdx.x];
    if (threadIdx.x % 2)
        for (int k = 0; k < n; ++k) v = v * v + 1.0f;
    y[threadIdx.x] = v;
}
extern "C" __global__ void histogram(const int* x, int* bins) {
    __shared__ int own[8];
    if (threadIdx.x < 8) own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[x[threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
extern "C" __global__ void pick(const int* index, float* y) {
    float own[16];
    for (int k = 0; k < 16; ++k) own[k] = k * threadIdx.x;
    y[threadIdx.x] = own[index[threadIdx.x]];
}
extern "C" __global__ void good(const float* a, const float* b, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
"""
CLOSING = "requested at L1; hits and DRAM are not modelled"


def launches(get):
    """{kernel: a launch of it}"""
    f, i = torch.zeros(1024), torch.zeros(256, dtype=torch.int32)
    y = torch.zeros(1024)
    return {
        "strided": lambda: get("strided")((4,), (256,), (f, y, np.int32(1024))),
        "transpose": lambda: get("transpose")((1,), (32, 32), (f, y)),
        "odd": lambda: get("odd")((1,), (256,), (f, y, np.int32(50))),
        "histogram": lambda: get("histogram")((1,), (256,), (i, torch.zeros_like(i)[:8])),
        "pick": lambda: get("pick")((1,), (256,), (torch.arange(256).int() % 16, y)),
        "good": lambda: get("good")((4,), (256,), (f, f, y)),
    }


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    (folder / "kernel.cu").write_text(SOURCE)
    return cuda.module(str(folder / "host.py"), "kernel.cu")


@pytest.fixture
def table(module, request, monkeypatch):
    """The table of one kernel, with everything or about some counters."""
    monkeypatch.setenv("COLUMNS", "80")

    def made(kernel, named=None):
        launch = launches(module.get_function)[kernel]
        _ = Profiler(request.node)(launch)[kernel].counters
        (text,) = counter_tables_of(request.node, named)
        return text

    return made


def marked(text):
    return [line for line in text.splitlines() if re.match(r">\s+\d", line)]


@pytest.mark.parametrize(
    ("kernel", "code", "figures", "saying"),
    [
        (
            "strided",
            "c[i] = a[8 * i % n];",
            "1024/128 8.0×",
            "line 3 loads 1024 sectors of 32 bytes; the bytes it uses fill 128",
        ),
        (
            "transpose",
            "y[32 * threadIdx.y",
            "1024/32 32.0×",
            "line 9 takes 1024 passes through the banks of shared memory; without conflicts 32",
        ),
        ("odd", "if (threadIdx.x % 2)", "8 of 8", "line 13 sends the lanes of a warp both ways"),
        (
            "histogram",
            "atomicAdd(&own[x[thread",
            "256/8 32.0×",
            "line 21: of a warp's lanes 32 want the same address, on average, and take turns",
        ),
        ("pick", "for (int k = 0; k < 16;", "512", "line 27 moves 512 sectors of local memory"),
    ],
)
def test_the_line_at_fault_is_marked_with_its_figures_and_what_they_mean(
    table, kernel, code, figures, saying
):
    text = table(kernel)
    assert [line for line in marked(text) if code in line and figures in line], text
    assert saying in text
    assert text.splitlines()[-1] == f"> furthest from the ideal; {CLOSING}"


def test_a_kernel_without_fault_has_no_mark_and_no_saying(table):
    text = table("good")
    assert "256/256" in text and "128/128" in text and "×" not in text
    assert "loads 100% useful, stores 100% useful, 2.0 loads under way at each wait" in text
    assert marked(text) == [] and "line 33 " not in text
    assert text.splitlines()[-1] == CLOSING


@pytest.mark.parametrize("kernel", ["strided", "transpose", "odd", "histogram", "pick", "good"])
def test_a_table_fits_a_screen(table, kernel):
    lines = table(kernel).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines[1:])) <= 100


def test_a_wider_terminal_shows_more_of_a_long_line(tmp_path, monkeypatch):
    long = "c[blockIdx.x * blockDim.x + threadIdx.x] = " + " + ".join(f"a[{k}]" for k in range(20))
    (tmp_path / "kernel.cu").write_text(f"    {long};\n")
    counters = Counters(warp_instructions=9)
    table = CounterTable("long_one", tmp_path / "kernel.cu", {1: counters}, counters)
    monkeypatch.setenv("COLUMNS", "80")
    assert f"  {long[:40]}" in str(table) and f"{long};" not in str(table)
    monkeypatch.setenv("COLUMNS", "250")
    assert f"  {long};  " in str(table)


@pytest.mark.parametrize(
    ("kernel", "named", "shown"),
    [
        ("transpose", "shared_load_conflicts", ["load bank", "conflicts", " 992 ", "1024/32"]),
        ("odd", "execution_efficiency", ["active", "lanes", "%", "divergent", "8 of 8"]),
        ("odd", "fma_instructions", ["fma", "instructions", "400"]),
        ("odd", "float_operations", ["float", "operations", "12800"]),
        ("histogram", "atomic_lanes", ["atomic", "updates", "264"]),
        ("histogram", "hottest_updates", ["one address: 256 in shared memory and 1 in"]),
        ("histogram", "atomic_contention", ["turns/ideal", "256/8", "1 in bins"]),
        ("good", "loads_in_flight", ["waits", "for loads", "2.0 loads under way at each wait"]),
        ("pick", "local_load_bytes", ["local", "bytes", "1024"]),
        ("transpose", "barriers", ["block", "barriers", "32"]),
    ],
)
def test_what_a_test_asks_about_has_a_column(table, kernel, named, shown):
    text = table(kernel, {named})
    assert [words for words in shown if words not in text] == [], text


def test_whatever_can_be_counted_can_be_asked_about():
    properties = {name for name, one in vars(Counters).items() if isinstance(one, property)}
    asked = (set(NAMES) | properties) - {"blocks", "warps", "threads"}
    of_buffers = set(Traffic.__dataclass_fields__) - {"bytes_read", "bytes_written"}
    assert asked | of_buffers == COUNTERS
