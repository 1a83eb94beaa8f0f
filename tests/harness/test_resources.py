"""Registers, spills, shared bytes and occupancy of a file, from real compiles for many GPUs."""

import re

import pytest

from harness import cuda
from harness.launching import compiler, ptx_cache
from harness.launching.compile_errors import CompileError
from harness.launching.resources import Resources, resources
from harness.telling.learner_error import LaunchError

# 40 sums that live at once are more than 32 registers hold. They differ from thread to thread: what
# all threads of a warp share, Blackwell keeps in its uniform registers.
SOURCE = """__device__ __noinline__ float last(const float* x, int n)
{
    float kept[40];
    for (int i = 0; i < 40; ++i) kept[i] = x[i * n];
    return kept[n % 40];
}

template <int SUMS>
__device__ void many(const float* x, float* y, int n)
{
    x += threadIdx.x;
    y += threadIdx.x;
    float sums[SUMS] = {};
    for (int i = 0; i < n; ++i)
        #pragma unroll
        for (int k = 0; k < SUMS; ++k) sums[k] = sums[k] * x[i] + x[i + k];
    #pragma unroll
    for (int k = 0; k < SUMS; ++k) y[k * n] = sums[k];
}

extern "C" __global__ void sums(const float* x, float* y, int n) { many<40>(x, y, n); }
extern "C" __global__ void sums_too(const float* x, float* y, int n) { many<8>(x, y, n); }
extern "C" __global__ void __launch_bounds__(1024) crowded(const float* x, float* y, int n)
{
    many<80>(x, y, n);
}
extern "C" __global__ void tile(const float* x, float* y)
{
    __shared__ float kept[77];
    __shared__ char flag[3];
    kept[threadIdx.x] = x[threadIdx.x];
    flag[threadIdx.x % 3] = 1;
    __syncthreads();
    y[threadIdx.x] = kept[76 - threadIdx.x] + flag[threadIdx.x % 3];
}
extern "C" __global__ void calls(const float* x, float* y, int n) { y[0] = last(x, n); }
__global__ void mangled(float* y, int n) { y[n] = 1; }
__global__ void twice(float* y) { y[0] = 1; }
__global__ void twice(int* y) { y[0] = 1; }
template <typename T> __global__ void either(T* y) { y[0] = 1; }
template __global__ void either<float>(float*);
"""
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_limit_of_registers_is_paid_in_spills(path, architecture):
    free = resources(path, "sums", architecture)
    tight = resources(path, "sums", architecture, ("--maxrregcount=32",))
    tightest = resources(path, "sums", architecture, ("--maxrregcount=16",))
    assert (free.spill_store_bytes, free.spill_load_bytes, free.stack_bytes) == (0, 0, 0)
    assert free.registers > 40
    assert tight.registers <= 32 and tight.spill_store_bytes > 0 and tight.spill_load_bytes > 0
    # ptxas raises a limit that is too low for any kernel.
    assert tightest.registers <= 24
    assert tightest.spill_store_bytes > tight.spill_store_bytes
    assert tightest.stack_bytes > tight.stack_bytes > 0


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_launch_bounds_in_the_source_limit_registers(path, architecture):
    found = resources(path, "crowded", architecture)
    assert found.registers == 64  # 65,536 over 1,024
    assert found.spill_store_bytes > 0
    assert found.maximum_threads == 1024
    assert found.occupancy(1024).blocks == 1


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_shared_bytes_and_barriers_are_exact(path, architecture):
    found = resources(path, "tile", architecture)
    assert found.shared_bytes == 77 * 4 + 3
    assert found.barriers == 1
    assert found.stack_bytes == 0
    assert resources(path, "sums", architecture).shared_bytes == 0
    assert resources(path, "sums", architecture).barriers == 0


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_kernel_of_a_file_has_an_account_of_its_own(path, architecture):
    many, few = (resources(path, name, architecture) for name in ("sums", "sums_too"))
    assert many.registers > few.registers + 20
    assert (many.kernel, few.kernel) == ("sums", "sums_too")
    # The function that it calls has an account in the log as well, with nothing on its stack.
    assert resources(path, "calls", architecture).stack_bytes >= 40 * 4


def test_kernels_are_found_by_their_plain_and_by_their_mangled_names(path):
    assert resources(path, "mangled").kernel == "_Z7mangledPfi"
    assert resources(path, "_Z7mangledPfi") == resources(path, "mangled")
    assert resources(path, "either").kernel == "_Z6eitherIfEvPT_"
    assert resources(path, "_Z5twicePi").kernel == "_Z5twicePi"


def test_a_name_of_several_kernels_is_asked_for_by_the_mangled_ones(path):
    with pytest.raises(LaunchError) as raised:
        resources(path, "twice")
    assert "has 2 kernels twice" in raised.value.what
    assert raised.value.expected == "one of _Z5twicePf, _Z5twicePi"


def test_a_kernel_that_is_not_there_is_told_with_those_that_are(path):
    with pytest.raises(LaunchError) as raised:
        resources(path, "sum_two")
    assert "has no kernel sum_two" in raised.value.what
    for name in ("calls", "crowded", "mangled", "sums", "sums_too", "tile"):
        assert re.search(rf"\b{name}\b", raised.value.expected)


@pytest.mark.parametrize("architecture", ["sm_42", "compute_90", "90", "hopper", "sm_90b", ""])
def test_an_architecture_that_is_unknown_is_told_with_those_that_are_known(path, architecture):
    with pytest.raises(LaunchError) as raised:
        resources(path, "sums", architecture)
    assert repr(architecture) in raised.value.what
    for known in ARCHITECTURES:
        assert f"{known}," in f"{raised.value.expected},"


def test_a_file_that_does_not_compile_points_at_its_line(tmp_path):
    (tmp_path / "kernel.cu").write_text('extern "C" __global__ void f(int* y)\n{\n  y[0] = z;\n}\n')
    with pytest.raises(CompileError) as raised:
        resources(tmp_path / "kernel.cu", "f")
    assert raised.value.complaints[0].line == 3


def test_the_account_is_kept_on_disk(path, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(ptx_cache, "cache_folder", lambda: folder)
    monkeypatch.setattr(compiler, "_memory", {})
    first = resources(path, "sums", "sm_89")
    monkeypatch.setattr(compiler, "_memory", {})  # as a new process starts

    def refuse(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(compiler._Program, "compile", refuse)
    assert resources(path, "sums", "sm_89") == first
    assert resources(path, "tile", "sm_89").shared_bytes == 311  # one compile serves all kernels


@pytest.mark.parametrize(
    ("architecture", "blocks", "limit"),
    [("sm_75", 4, "warps"), ("sm_80", 8, "warps"), ("sm_90", 8, "warps"), ("sm_120", 6, "warps")],
)
def test_a_small_kernel_fills_each_architecture(path, architecture, blocks, limit):
    found = resources(path, "tile", architecture).occupancy(256)
    assert found.blocks == blocks
    assert limit in [resource.value for resource in found.limited_by]


def test_occupancy_counts_static_and_dynamic_shared_bytes_and_barriers(path):
    tile = resources(path, "tile")
    assert tile.occupancy(128, 113 * 1024 - 1024).blocks == 2
    assert tile.occupancy(128, 113 * 1024).blocks == 1  # without the 311 of fixed size, 2 would fit
    assert tile.occupancy(128, carveout=0).blocks < tile.occupancy(128).blocks
    with pytest.raises(ValueError, match=r"1024.*at most 512.*__launch_bounds__"):
        Resources("f", "sm_90", 32, 0, 0, 0, 0, 0, 512).occupancy(1024)


def test_suffixes_of_an_architecture_are_kept(path):
    found = resources(path, "tile", "sm_90a")
    assert found.architecture == "sm_90a"
    assert found.occupancy(1024).blocks == 2


def test_a_kernel_of_a_lesson_tells_its_resources(path):
    module = cuda.module(str(path.parent / "host.py"), "kernel.cu", ("--maxrregcount=64",))
    kernel = module.get_function("sums")
    assert kernel.resources() == resources(path, "sums", "sm_90", ("--maxrregcount=64",))
    assert kernel.resources("sm_80", ("--maxrregcount=32",)).spill_store_bytes > 0
