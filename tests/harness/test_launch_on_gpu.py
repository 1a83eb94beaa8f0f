"""The same launches on a GPU: torch's stream, errors that name the kernel, Ctrl-C that works."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch

from harness import cuda
from harness.launching import launch_settings
from harness.telling.learner_error import LaunchError

pytestmark = pytest.mark.gpu

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = """\
#include <cooperative_groups.h>
#include <cuda_bf16.h>
struct Pair { float x; int n; };
extern "C" __global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void every_kind(float* out, const float* nothing, bool flag, short small,
                                      long long wide, double precise, Pair pair) {
    out[0] = flag; out[1] = small; out[2] = wide; out[3] = precise;
    out[4] = pair.x; out[5] = pair.n; out[6] = nothing == nullptr;
}
extern "C" __global__ void dynamic(int* out, int n) {
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;
    __syncthreads();
    out[0] = s[n - 1];
}
extern "C" __global__ void grid_wide(int* x) {
    x[blockIdx.x] = blockIdx.x;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) for (unsigned i = 1; i < gridDim.x; ++i) x[0] += x[i];
}
extern "C" __global__ void greedy(float* x) {
    float y[200];
    #pragma unroll
    for (int i = 0; i < 200; ++i) y[i] = x[i * 7];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 200; ++i) x[i] = y[i] * y[199 - i];
}
extern "C" __global__ void wild(float* x) { x[1ll << 40] = 1; }
extern "C" __global__ void endless(volatile int* x) { while (x[0] == 0) {} }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("on gpu é")
    (path / "kernel.cu").write_text(SOURCE)
    return path


@pytest.fixture
def kernel(folder):
    return cuda.module(str(folder / "host.py"), "kernel.cu").get_function


def floats(n):
    return torch.arange(n, dtype=torch.float32, device="cuda")


@pytest.mark.parametrize("n", [1, 255, 256, 257, 100_003])
def test_results_land_in_the_callers_tensor(kernel, n):
    a, c = floats(n), torch.full((n,), torch.nan, device="cuda")
    kernel("vec_add")((-(-n // 256),), (256,), (a, a * 3, c, np.int32(n)))
    torch.testing.assert_close(c, a * 4, rtol=0, atol=0)


def test_every_kind_of_scalar_arrives(kernel):
    out = torch.zeros(7, device="cuda")
    pair = np.array([(2.5, 7)], dtype=[("x", "f4"), ("n", "i4")])[0]
    arguments = (out, None, np.bool_(True), np.int16(-3), np.int64(2**20), np.float64(0.5), pair)
    kernel("every_kind")((1,), (1,), arguments)
    assert out.tolist() == [1, -3, 2**20, 0.5, 2.5, 7, 1]


def test_more_than_48_kib_of_shared_memory_needs_no_ceremony(kernel):
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    for n in (100, 20_000, 24_000):
        kernel("dynamic")((1,), (256,), (out, np.int32(n)), shared_mem=4 * n)
        assert out.item() == n - 1


def test_a_launch_goes_to_torchs_current_stream_and_into_its_graphs(kernel):
    n = 1000
    a, c = floats(n), torch.zeros(n, device="cuda")
    kernel("vec_add")((4,), (256,), (a, a, c, np.int32(n)))
    c.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel("vec_add")((4,), (256,), (a, a, c, np.int32(n)))
    assert c.sum().item() == 0
    graph.replay()
    torch.testing.assert_close(c, a * 2)


def test_a_cooperative_kernel_waits_for_the_whole_grid(folder):
    module = cuda.module(str(folder / "host.py"), "kernel.cu", enable_cooperative_groups=True)
    x = torch.zeros(64, dtype=torch.int32, device="cuda")
    module.get_function("grid_wide")((64,), (32,), (x,))
    assert x[0].item() == sum(range(64))


def test_too_many_registers_are_told_as_such(kernel):
    with pytest.raises(LaunchError) as raised:
        kernel("greedy")((1,), (1024,), (floats(2000),))
    assert "registers" in str(raised.value)


def test_a_cpu_tensor_among_cuda_tensors_is_named(kernel):
    a = floats(8)
    with pytest.raises(LaunchError) as raised:
        kernel("vec_add")((1,), (32,), (a, a.cpu(), a, np.int32(8)))
    assert "argument 1 (a) lies on cuda:0, argument 2 (b) on cpu" in str(raised.value)


def test_arguments_are_checked_as_on_the_simulator(kernel):
    a, n = floats(8), 8
    with pytest.raises(LaunchError) as raised:
        kernel("vec_add")((1,), (32,), (a, a, a, n))
    assert "np.int32(n)" in str(raised.value)


def run(folder, body, **arguments):
    """Run a snippet in a process of its own: these launches lose their CUDA context."""
    code = f"""
import signal, sys
import torch
from harness import cuda
from harness.launching import gpu_launch, launch_settings
x = torch.zeros(8, dtype=torch.{arguments.pop("dtype", "float32")}, device="cuda")
get = cuda.module({str(folder / "host.py")!r}, "kernel.cu").get_function
{textwrap.dedent(body)}
"""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_an_illegal_address_names_the_kernel_and_the_way_to_the_line(folder):
    process = run(
        folder,
        """
        try:
            get("wild")((1,), (1,), (x,))
        except Exception as error:
            print(error.learner_report)
        """,
    )
    told = process.communicate(timeout=60)[0]
    assert "wild failed on the GPU" in told and "illegal memory access" in told
    assert "--device cpu" in told


def test_an_error_that_comes_late_names_the_last_launches(folder):
    process = run(
        folder,
        """
        launch_settings.configure(synchronize=False)
        get("wild")((1,), (1,), (x,))
        try:
            x.cpu()
        except Exception as error:
            print(gpu_launch.explain(error))
        """,
    )
    assert "wild failed on the GPU" in process.communicate(timeout=60)[0]


@pytest.mark.parametrize("name", ["SIGINT", "SIGALRM"])
def test_an_endless_kernel_can_be_interrupted(folder, name):
    process = run(
        folder,
        f"""
        import os
        def told(number, frame):
            print("interrupted", flush=True)
            os._exit(3)
        signal.signal(signal.{name}, told)
        print("ready", flush=True)
        get("endless")((1,), (1,), (x,))
        """,
        dtype="int32",
    )
    assert process.stdout.readline() == "ready\n"
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        process.send_signal(getattr(signal, name))
    assert process.communicate(timeout=20)[0] == "interrupted\n"
    assert process.returncode == 3


def test_without_tensors_the_settings_decide(folder):
    (folder / "hello.cu").write_text('extern "C" __global__ void hello() { printf("hello\\n"); }')
    hello = cuda.module(str(folder / "host.py"), "hello.cu").get_function("hello")
    with launch_settings.changed(device="cuda"):
        hello((1,), (1,), ())


def test_what_was_taken_once_is_still_checked_where_it_differs(kernel):
    """A repeated launch skips the checks; whatever differs from it must not."""
    n = 64
    a, c = floats(n), torch.zeros(n, device="cuda")
    vec_add = kernel("vec_add")
    for _ in range(3):
        vec_add((2,), (32,), (a, a, c, np.int32(n)))
    for wrong in (
        (a, a.cpu(), c, np.int32(n)),
        (a, a.double(), c, np.int32(n)),
        (a, torch.zeros(n, 2, device="cuda")[:, 0], c, np.int32(n)),
        (a, a, c, n),
        (a, a, c, np.int64(n)),
        (a, a, c),
    ):
        with pytest.raises(LaunchError):
            vec_add((2,), (32,), wrong)
    with pytest.raises(LaunchError):
        vec_add((0,), (32,), (a, a, c, np.int32(n)))
    cpu = a.cpu()
    vec_add((2,), (32,), (cpu, cpu, cpu, np.int32(n)))
    torch.testing.assert_close(cpu, (a * 2).cpu())
