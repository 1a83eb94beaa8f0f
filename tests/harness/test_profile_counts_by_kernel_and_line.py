"""profile runs a call on the simulator, adds up by kernel and line, and says what is missing."""

import numpy as np
import pytest
import torch

from harness import cuda
from harness.judging.mismatch import Mismatch
from harness.judging.profiling import Profiler, counter_tables_of
from simulator import Counters, KernelFault

SOURCE = """\
// Two kernels to count.
extern "C" __global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // c[i] is ours
    if (i < n)
        c[ i ] = a[i] + b[i];
}
extern "C" __global__ void every_eighth(const float* a, float* c) {
    int i = threadIdx.x;
    float x = a[8 * i];
    c[i] = x;
    int unused = 3;
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    (folder / "kernel.cu").write_text(SOURCE)
    return cuda.module(str(folder / "host.py"), "kernel.cu")


@pytest.fixture
def profile(request):
    return Profiler(request.node)


@pytest.fixture
def vec_add(kernels):
    def run(n, launches=1):
        a, b, c = torch.arange(1.0, n + 1), torch.ones(n), torch.zeros(n)
        for _ in range(launches):
            grid = (-(-n // 256),)
            kernels.get_function("vec_add")(grid, (256,), (a, b, c, np.int32(n)))
        return c

    return run


@pytest.fixture
def every_eighth(kernels):
    def run():
        a, c = torch.arange(256.0), torch.zeros(32)
        kernels.get_function("every_eighth")((1,), (32,), (a, c))
        return c

    return run


def test_the_result_of_the_call_is_kept_and_can_be_checked_first(profile, vec_add):
    launches = profile(lambda: vec_add(300))
    assert torch.equal(launches.result, torch.arange(2.0, 302))


def test_a_profile_is_a_list_of_launches(profile, vec_add, every_eighth):
    launches = profile(lambda: (vec_add(300), every_eighth()))
    assert len(launches) == 2
    assert [launch.kernel for launch in launches] == ["vec_add", "every_eighth"]
    assert launches[0].grid == (2, 1, 1)
    assert launches.kernels == ("vec_add", "every_eighth")
    assert "vec_add" in launches and "softmax" not in launches


def test_counters_of_a_kernel_are_those_of_its_launches_together(profile, vec_add):
    once = profile(lambda: vec_add(1024))["vec_add"]
    thrice = profile(lambda: vec_add(1024, launches=3))["vec_add"]
    assert once.counters.global_load_bytes == 2 * 4 * 1024
    assert thrice.counters.global_load_bytes == 3 * 2 * 4 * 1024
    assert thrice.buffers["a"].bytes_read == 3 * 4 * 1024
    assert once.block == (256, 1, 1)
    with pytest.raises(Mismatch, match="launched 3 times"):
        _ = thrice.block


def test_a_line_is_found_by_its_text_whatever_the_spaces(profile, vec_add):
    kernel = profile(lambda: vec_add(1024))["vec_add"]
    line = kernel.line("c[i]")
    assert line.global_store_bytes == 4 * 1024
    assert line.global_load_bytes == 2 * 4 * 1024
    assert kernel.line("c[i] = a[i]") == line


def test_the_same_text_in_another_kernel_of_the_file_is_not_counted(profile, every_eighth):
    kernel = profile(every_eighth)["every_eighth"]
    assert kernel.line("c[i]").global_store_sectors == 4
    assert kernel.line("a[8 * i]").global_load_sectors == 32


def test_an_unknown_text_lists_the_lines_there_are(profile, every_eighth):
    kernel = profile(every_eighth)["every_eighth"]
    with pytest.raises(Mismatch, match=r'no line of every_eighth contains "q\[i\]"') as failure:
        kernel.line("q[i]")
    assert "float x = a[8 * i];" in failure.value.learner_report
    assert "vec_add" not in failure.value.learner_report


def test_a_line_without_instructions_says_so(profile, every_eighth):
    kernel = profile(every_eighth)["every_eighth"]
    with pytest.raises(Mismatch, match="no instruction of every_eighth comes from line 11"):
        kernel.line("int unused")


def test_a_call_that_launches_nothing_fails_in_words(profile):
    with pytest.raises(Mismatch, match="no kernel was launched"):
        profile(lambda: torch.zeros(3))


def test_a_kernel_that_was_not_launched_is_named_with_those_that_were(profile, vec_add):
    launches = profile(lambda: vec_add(3))
    with pytest.raises(Mismatch, match=r"softmax was not launched\n.*vec_add"):
        launches["softmax"]


def test_a_fault_passes_through(profile, kernels):
    def call():
        short = torch.zeros(3)
        kernels.get_function("vec_add")((1,), (32,), (short, short, short, np.int32(30)))

    with pytest.raises(KernelFault):
        profile(call)


def test_the_table_shows_source_counts_and_the_worst_line(profile, every_eighth, request):
    assert counter_tables_of(request.node) == []
    launches = profile(every_eighth)
    assert counter_tables_of(request.node) == []  # not looked at yet
    _ = launches["every_eighth"].counters
    (table,) = counter_tables_of(request.node)
    lines = table.splitlines()
    assert len(lines) <= 25
    assert lines[0].startswith("every_eighth in ")
    assert lines[-1] == (
        "> furthest from the ideal; requested at L1; hits and DRAM are not modelled"
    )
    (worst,) = [line for line in lines[3:-1] if line.startswith(">")]
    assert "float x = a[8 * i];" in worst
    assert worst.split()[-2:] == ["32/4", "8.0×"]  # sectors, and where they would fit
    assert "loads 12% useful, stores 100% useful" in table
    assert "passes" not in lines[2]
    assert "vec_add" not in table


def test_a_long_kernel_still_fits_the_table(tmp_path, profile, request):
    body = "".join(f"    y[{k} * 64 + i] = x[{k} * 64 + 2 * i];\n" for k in range(60))
    source = 'extern "C" __global__ void long_one(const float* x, float* y) {\n'
    source += "    int i = threadIdx.x;\n" + body + "}\n"
    (tmp_path / "kernel.cu").write_text(source)
    kernel = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function("long_one")
    x, y = torch.zeros(64 * 60), torch.zeros(64 * 60)
    assert profile(lambda: kernel((1,), (32,), (x, y)))["long_one"].counters.warps == 1
    (table,) = counter_tables_of(request.node)
    assert len(table.splitlines()) <= 25


def test_a_table_about_some_counters_shows_their_columns_alone(profile, every_eighth, request):
    _ = profile(every_eighth)["every_eighth"].counters
    (table,) = counter_tables_of(request.node, {"global_store_requests"})
    heads = [line.split() for line in table.splitlines()[1:3]]
    assert heads == [["store"], ["line", "requests"]] and "c[i] = x;" in table
    for absent in ("instructions", "load", "sectors", "useful", ">", "a[8 * i]"):
        assert absent not in table
    (loads,) = counter_tables_of(request.node, {"global_load_efficiency"})
    heads = [line.split() for line in loads.splitlines()[1:3]]
    assert heads == [["load", "load"], ["line", "sectors/ideal", "bytes"]]
    assert "loads 12% useful" in loads and "store" not in loads


def test_a_table_of_zeros_is_not_shown(profile, every_eighth, request):
    _ = profile(every_eighth)["every_eighth"].counters
    assert counter_tables_of(request.node, {"shared_load_conflicts", "atomics"}) == []


def test_what_assertions_print_of_a_profile_is_short(profile, every_eighth):
    launches = profile(every_eighth)
    shown = [repr(one) for one in (launches, launches["every_eighth"], launches[0])]
    shown += [repr(launches.counters), repr(Counters(warps=2, blocks=1)), repr(Counters())]
    assert max(map(len, shown)) <= 100
    assert "every_eighth" in shown[0] and "every_eighth" in shown[1]
    assert shown[-2:] == ["Counters(blocks=1, warps=2)", "Counters()"]
    assert "=0" not in shown[3]
