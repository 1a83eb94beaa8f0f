"""CPU tensors run on the simulator, in place, with faults told at the learner's line."""

import numpy as np
import pytest
import torch

from harness import cuda
from harness.launching import launch_settings
from harness.launching.recording import recording
from harness.telling.learner_error import LaunchError
from simulator import FaultKind, KernelFault

SOURCE = """\
#include <cuda_bf16.h>
extern "C" __global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void one_too_far(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) a[i] = 1.0f;
}
extern "C" __global__ void before_the_start(float* a) { a[-1] = 1.0f; }
extern "C" __global__ void cheat(const float* a, float* b) { ((float*)a)[0] = b[0]; }
extern "C" __global__ void greet(int n) {
    if (threadIdx.x < 2) printf("lane %d of %d\\n", threadIdx.x, n);
}
extern "C" __global__ void nullable(const float* a, int* is_null) { is_null[0] = a == nullptr; }
extern "C" __global__ void twice(__nv_bfloat16* x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] = __float2bfloat16(2 * __bfloat162float(x[threadIdx.x]));
}
extern "C" __global__ void dynamic(int* out) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void static_too(int* out) {
    __shared__ int s[1024];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[0];
}
extern "C" __global__ void three(const float* a, const float* none, const float* b, float* c) {
    c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
extern "C" __global__ void wide(const float* x, float* y, int from) {
    ((float4*)y)[threadIdx.x] = ((const float4*)(x + from))[threadIdx.x];
}
extern "C" __global__ void sign(int* order) { order[blockIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("simulated")
    (path / "kernel.cu").write_text(SOURCE)
    return path


@pytest.fixture
def kernel(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return cuda.module(str(folder / "host.py"), "kernel.cu").get_function


def floats(n):
    return torch.arange(n, dtype=torch.float32)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1000])
def test_results_land_in_the_callers_tensor(kernel, n):
    a, b, c = floats(n), floats(n) * 3, torch.full((n,), torch.nan)
    kernel("vec_add")((-(-n // 256),), (256,), (a, b, c, np.int32(n)))
    torch.testing.assert_close(c, a + b, rtol=0, atol=0)


def test_a_fault_is_told_in_four_parts_at_the_learners_line(kernel):
    a = floats(100)
    with pytest.raises(KernelFault) as raised:
        kernel("one_too_far")((1,), (128,), (a, np.int32(100)))
    assert raised.value.kind is FaultKind.OUT_OF_BOUNDS
    report = raised.value.learner_report
    assert report.startswith("out of bounds: thread 100 of block 0 writes a[100]")
    assert "  kernel.cu:8    if (i <= n) a[i] = 1.0f;" in report
    assert "one_too_far <<<1, 128>>>" in report
    assert "test_launch_simulated.py:" in report
    assert "\nexpected  " in report and "\ntry       " in report
    assert len(report.splitlines()) <= 25


def test_a_write_to_a_const_input_is_a_fault(kernel):
    with pytest.raises(KernelFault) as raised:
        kernel("cheat")((1,), (1,), (floats(4), floats(4)))
    assert raised.value.kind is FaultKind.WRITE_TO_CONST
    assert "const float* a" in SOURCE.splitlines()[raised.value.line - 1]


def test_memory_that_a_writable_pointer_shares_is_no_const_input(kernel):
    a = floats(8)
    kernel("cheat")((1,), (1,), (a[:5], a[4:]))
    assert a[0] == 4


def test_a_const_input_is_one_though_its_storage_holds_an_output_too(kernel):
    a = floats(8)
    with pytest.raises(KernelFault) as raised:
        kernel("cheat")((1,), (1,), (a[:4], a[4:]))
    assert raised.value.kind is FaultKind.WRITE_TO_CONST


def test_two_tensors_of_one_storage_see_each_others_writes(kernel):
    a = floats(8)
    kernel("vec_add")((1,), (4,), (a[:4], a[:4], a[4:], np.int32(4)))
    assert a.tolist() == [0, 1, 2, 3, 0, 2, 4, 6]


def test_the_bounds_are_the_tensors_own_elements_and_not_its_storages(kernel):
    """An element beyond a view is somebody else's: reading it is a wrong index that works."""
    a = floats(8)
    for tensor in (a, a[1:]):
        with pytest.raises(KernelFault, match=r"writes a\[-1\]; a has [78] elements"):
            kernel("before_the_start")((1,), (1,), (tensor,))
    with pytest.raises(KernelFault, match=r"writes a\[4\]; a has 4 elements"):
        kernel("one_too_far")((1,), (32,), (a[:4], np.int32(4)))
    assert a.tolist() == list(range(8))


def test_rows_of_one_tensor_have_bounds_and_names_of_their_own(kernel):
    a, b, c = torch.rand(3, 1000)
    with pytest.raises(KernelFault, match=r"reads [ab]\[1000\]; [ab] has 1000 elements"):
        kernel("vec_add")((8,), (128,), (a, b, c, np.int32(1001)))
    with pytest.raises(KernelFault, match=r"writes a\[1000\]; a has 1000 elements"):
        kernel("one_too_far")((8,), (128,), (c, np.int32(1000)))


def test_tensors_that_overlap_reach_as_far_as_both(kernel):
    """One storage, two views of it that share an element: neither end is somebody else's."""
    a, c = floats(8), torch.zeros(5)
    kernel("vec_add")((1,), (8,), (a[:5], a[3:], c, np.int32(5)))
    assert c.tolist() == [3, 5, 7, 9, 11]
    with pytest.raises(KernelFault, match=r"reads a\[8\]; a has 8 elements"):
        kernel("vec_add")((1,), (8,), (a[:5], a[3:], c, np.int32(6)))


def test_an_empty_tensor_keeps_no_two_apart_that_overlap(kernel):
    a, c = floats(8), torch.zeros(5)
    kernel("three")((1,), (5,), (a[:5], a[3:3], a[3:], c))
    assert c.tolist() == [3, 5, 7, 9, 11]
    with pytest.raises(KernelFault, match=r"reads a\[8\]; a has 8 elements"):
        kernel("three")((1,), (6,), (a[:5], a[3:3], a[3:], torch.zeros(6)))


@pytest.mark.parametrize(("first", "sectors"), [(0, 4), (1, 5), (7, 5), (8, 4), (100, 5)])
def test_sectors_are_counted_where_a_view_lies_in_its_storage(kernel, first, sectors):
    x, y = floats(256), torch.zeros(32)
    with recording() as launches:
        kernel("vec_add")((1,), (32,), (x[first : first + 32], y, y, np.int32(32)))
    assert launches[0].launched.counters.global_load_sectors == sectors + 4
    assert y.tolist() == x[first : first + 32].tolist()


@pytest.mark.parametrize("first", [1, 3, 4, 68])
def test_wide_accesses_are_aligned_as_in_the_storage(kernel, first):
    x, y = floats(128), torch.zeros(8)
    ahead = -first % 4  # elements up to the first whole float4
    view = x[first : first + 8 + ahead]
    kernel("wide")((1,), (2,), (view, y, np.int32(ahead)))
    assert y.tolist() == view[ahead:].tolist()
    if ahead:
        with pytest.raises(KernelFault, match="16 bytes at byte 0 of x") as raised:
            kernel("wide")((1,), (2,), (view, y, np.int32(0)))
        assert raised.value.kind is FaultKind.MISALIGNED


def test_a_tensor_without_elements_has_no_bytes_to_touch(kernel):
    kernel("vec_add")((1,), (32,), (floats(0), floats(0), floats(0), np.int32(0)))
    with pytest.raises(KernelFault, match="out of bounds"):
        kernel("one_too_far")((1,), (32,), (floats(0), np.int32(0)))


def test_none_arrives_as_a_null_pointer(kernel):
    out = torch.zeros(1, dtype=torch.int32)
    kernel("nullable")((1,), (1,), (None, out))
    assert out.item() == 1
    kernel("nullable")((1,), (1,), (floats(1), out))
    assert out.item() == 0


def test_bfloat16_travels_bit_for_bit(kernel):
    x = torch.tensor([1.0, -2.5, 300.0], dtype=torch.bfloat16)
    kernel("twice")((1,), (32,), (x, np.int32(3)))
    assert x.tolist() == [2.0, -5.0, 600.0]


def test_dynamic_shared_memory_is_sized_by_the_launch(kernel):
    out = torch.zeros(64, dtype=torch.int32)
    kernel("dynamic")((1,), (64,), (out,), shared_mem=4 * 64)
    assert out.tolist() == list(range(63, -1, -1))
    with pytest.raises(KernelFault, match="out of bounds"):
        kernel("dynamic")((1,), (64,), (out,), shared_mem=4 * 63)


def test_static_and_dynamic_shared_memory_count_together(kernel):
    out = torch.zeros(1, dtype=torch.int32)
    kernel("static_too")((1,), (32,), (out,), shared_mem=227 * 1024 - 4096)
    with pytest.raises(LaunchError, match="beside 4,096 of fixed size"):
        kernel("static_too")((1,), (32,), (out,), shared_mem=227 * 1024)


def test_printf_prints_where_python_prints(kernel, capsys):
    with launch_settings.changed(device="cpu"):  # no tensor decides here
        kernel("greet")((1,), (32,), (np.int32(7),))
    assert capsys.readouterr().out == "lane 0 of 7\nlane 1 of 7\n"


def test_an_unknown_instruction_names_itself_and_the_learners_line(tmp_path):
    (tmp_path / "kernel.cu").write_text(
        'extern "C" __global__ void k(int* out) {\n'
        '    asm volatile("frobnicate.u32 %0, 1;" : "=r"(out[0]));\n}\n'
    )
    kernel = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function("k")
    with pytest.raises(LaunchError) as raised:
        kernel((1,), (1,), (torch.zeros(1, dtype=torch.int32),))
    assert "no instruction frobnicate.u32" in str(raised.value)
    assert "kernel.cu:2    asm volatile(" in str(raised.value)


def test_recording_collects_launches_with_counters(kernel, folder):
    n = 64
    a, c = floats(n), floats(n)
    with recording() as launches:
        kernel("vec_add")((2,), (32,), (a, a, c, np.int32(n)))
        kernel("one_too_far")((1, 1), (32,), (c, np.int32(n - 1)))
    kernel("vec_add")((2,), (32,), (a, a, c, np.int32(n)))
    assert [launch.kernel for launch in launches] == ["vec_add", "one_too_far"]
    first = launches[0]
    assert (first.path, first.grid, first.block) == (folder / "kernel.cu", (2, 1, 1), (32, 1, 1))
    assert first.launched.counters.global_store_bytes == 4 * n
    assert first.launched.lines[4].global_store_requests == 2


def test_recordings_nest(kernel):
    c = floats(1)
    with recording() as outer:
        kernel("one_too_far")((1,), (1,), (c, np.int32(0)))
        with recording() as inner:
            kernel("one_too_far")((1,), (1,), (c, np.int32(0)))
    assert (len(outer), len(inner)) == (2, 1)


def test_settings_reach_the_simulator_and_end_with_the_with(kernel):
    order = torch.zeros(4, dtype=torch.int32)
    with launch_settings.changed(blocks=[1, 3]):
        kernel("sign")((4,), (1,), (order,))
    assert order.tolist() == [0, 1, 0, 1]
    kernel("sign")((4,), (1,), (order,))
    assert order.tolist() == [1, 1, 1, 1]


def test_options_reach_the_compiler(tmp_path):
    (tmp_path / "kernel.cu").write_text(
        'extern "C" __global__ void k(int* out) { out[0] = TILE; }\n'
    )
    out = torch.zeros(1, dtype=torch.int32)
    for tile in (4, 8):
        module = cuda.module(str(tmp_path / "host.py"), "kernel.cu", (f"-DTILE={tile}",))
        module.get_function("k")((1,), (1,), (out,))
        assert out.item() == tile


def test_a_file_beside_the_kernel_may_be_included(tmp_path):
    (tmp_path / "tile.cuh").write_text("__device__ int twice(int x) {\n  return 2 * x;\n}\n")
    (tmp_path / "kernel.cu").write_text(
        '#include "tile.cuh"\n\n\n'
        'extern "C" __global__ void k(int* out) {\n  out[twice(1)] = 1;\n}\n'
    )
    module = cuda.module(str(tmp_path / "host.py"), "kernel.cu")
    with pytest.raises(KernelFault) as raised:
        module.get_function("k")((1,), (1,), (torch.zeros(1, dtype=torch.int32),))
    assert raised.value.line == 5


def test_resources_are_the_assemblers_account(kernel):
    for architecture in ("sm_80", "sm_90"):
        found = kernel("static_too").resources(architecture)
        assert found.shared_bytes == 4096
        assert 0 < found.registers < 64
        assert found.spill_store_bytes == 0
