"""`kernel[grid](...)`: which device, which grids, which arguments; what comes back."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from harness.launching import launch_settings
from harness.telling.learner_error import LaunchError
from harness.triton_driver.triton_internals import driver_config, knobs

pytestmark = pytest.mark.simulated

N, BLOCK = 1000, 256
GRID = (triton.cdiv(N, BLOCK),)


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@pytest.fixture
def xyz(rng):
    x, y = torch.randn(2, N, generator=rng).unbind()
    return x, y, torch.full((N,), torch.nan)


def report_of(launch):
    with pytest.raises(LaunchError) as caught:
        launch()
    return str(caught.value)


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
def test_any_number_of_warps_gives_the_same_result(xyz, warps):
    x, y, z = xyz
    add[GRID](x, y, z, N, BLOCK=BLOCK, num_warps=warps)
    assert torch.equal(z, x + y)


def test_a_grid_may_be_a_function_of_the_constants(xyz):
    x, y, z = xyz
    add[lambda constants: (triton.cdiv(N, constants["BLOCK"]),)](x, y, z, N, BLOCK=128)
    assert torch.equal(z, x + y)


def test_arguments_may_be_named(xyz):
    x, y, z = xyz
    add[GRID](n=N, z=z, y=y, x=x, BLOCK=BLOCK)
    assert torch.equal(z, x + y)


@triton.jit
def where_am_i(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out + at, 100 * z + 10 * y + x)


def test_a_grid_has_up_to_three_dimensions():
    out = torch.full((2, 3, 4), -1)
    where_am_i[(4, 3, 2)](out)
    z, y, x = torch.meshgrid(torch.arange(2), torch.arange(3), torch.arange(4), indexing="ij")
    assert torch.equal(out, 100 * z + 10 * y + x)


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        ((0,), "a grid of 0 blocks launches nothing, and CUDA refuses it"),
        ((3, 0), "a grid of 3 × 0 blocks launches nothing"),
        (lambda _: (0,), "a grid of 0 blocks launches nothing"),
        ((-1,), "the grid holds -1, a negative number"),
        (4, "the grid is 4, not a tuple"),
        ((2.5,), "the grid holds 2.5, a float"),
        ((1, 1, 1, 1), "the grid has 4 dimensions"),
        ((1, 65_536), "the grid's y is 65,536"),
    ],
)
def test_a_grid_that_cuda_refuses_is_refused_at_the_launch(xyz, grid, says):
    x, y, z = xyz
    report = report_of(lambda: add[grid](x, y, z, N, BLOCK=BLOCK))
    assert f"add: {says}" in report
    assert "report_of(lambda: add[grid](x, y, z, N, BLOCK=BLOCK))" in report
    assert z.isnan().all()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (np.zeros(N, np.float32), "argument 2 (y) is a NumPy array"),
        (np.int32(3), "argument 2 (y) is np.int32(3)"),
        ([1.0, 2.0], "argument 2 (y) is a list of Python"),
        ("mean", "argument 2 (y) is 'mean', a str"),
        (torch.float32, "argument 2 (y) is torch.float32, a dtype"),
        ((1, [2]), "argument 2 (y[1]) is a list of Python"),
    ],
)
def test_what_no_kernel_can_be_given_is_refused_by_name(xyz, wrong, says):
    x, _, z = xyz
    report = report_of(lambda: add[GRID](x, wrong, z, N, BLOCK=BLOCK))
    assert f"add: {says}" in report
    assert "report_of(lambda: add[GRID](x, wrong, z, N, BLOCK=BLOCK))" in report


def test_tensors_on_several_devices_are_refused_by_name(xyz):
    x, y, z = xyz
    report = report_of(lambda: add[GRID](x, y.to("meta"), z, N, BLOCK=BLOCK))
    assert "argument 2 (y) lies on meta" in report


@triton.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x = tl.load(a + i * K + k[None, :])
    tl.store(c + i * N + j, tl.dot(x, tl.load(b + k[:, None] * N + j)))


def test_a_block_has_227_kib_of_shared_memory_as_on_compute_capability_9():
    a, b, c = torch.ones(256, 256).half(), torch.ones(256, 128).half(), torch.empty(256, 128)
    compiled = product[(1,)](a, b, c, 256, 128, 256, num_warps=8)
    assert 163 * 1024 < compiled.metadata.shared <= 227 * 1024  # more than 8.0 has
    assert torch.equal(c, torch.full((256, 128), 256.0))


@triton.jit
def mark(out):
    tl.store(out + tl.program_id(0), 1)


def test_a_cooperative_grid_must_be_resident_as_a_whole():
    out = torch.zeros(100_000)
    mark[(1000,)](out, launch_cooperative_grid=True)
    assert out.sum() == 1000
    report = report_of(lambda: mark[(100_000,)](out, launch_cooperative_grid=True))
    assert "a cooperative launch of 100,000 blocks" in report


@triton.jit(noinline=True)
def scaled(value, by):
    return value * by + 1


@triton.jit
def call(x, out):
    tl.store(out, scaled(tl.load(x), 3.0) + scaled(tl.load(x + 1), 2.0))


def test_functions_that_stay_functions_are_called():
    out = torch.empty(1)
    call[(1,)](torch.tensor([5.0, 7.0]), out)
    assert out.item() == 16 + 15


def test_empty_tensors_may_be_passed(xyz):
    x, y, z = xyz
    nothing = torch.empty(0)
    add[(1,)](nothing, nothing, nothing, 0, BLOCK=BLOCK)


def test_without_tensors_the_sessions_device_runs_the_kernel():
    @triton.jit
    def nothing(n):
        tl.device_assert(n > 0)

    with launch_settings.changed(device="cpu"):
        compiled = nothing[(1,)](3)
    assert compiled.metadata.target.backend == "simulator"


def test_a_launch_returns_the_compiled_kernel_with_its_texts(xyz):
    x, y, z = xyz
    compiled = add[GRID](x, y, z, N, BLOCK=BLOCK)
    text = compiled.asm["ptx"]
    text = text if isinstance(text, str) else text.decode()
    assert ".target sm_80" in text and ".visible .entry add(" in text
    assert {"ttir", "ttgir", "llir", "ptx"} <= set(compiled.asm) and "cubin" not in compiled.asm
    assert compiled.metadata.num_warps == 4


def test_a_warmup_compiles_and_does_not_launch(xyz):
    x, y, z = xyz
    compiled = add.warmup(x, y, z, N, BLOCK=BLOCK, grid=GRID)
    assert ".entry add" in str(compiled.asm["ptx"]) and z.isnan().all()
    assert add.warmup(torch.float32, torch.float32, torch.float32, N, BLOCK=BLOCK, grid=GRID)


def test_a_compiled_kernel_can_be_launched_again(xyz):
    x, y, z = xyz
    compiled = add.warmup(x, y, z, N, BLOCK=BLOCK, grid=GRID)
    compiled[(*GRID, 1, 1)](x, y, z, N, BLOCK)
    assert torch.equal(z, x + y)


def test_hooks_of_launches_hear_of_each_once(xyz):
    x, y, z = xyz
    heard = []

    def before(metadata):
        heard.append((metadata.get()["name"], bool(z.isnan().all())))

    def after(metadata):
        heard.append((metadata.get()["name"], bool(z.isnan().any())))

    hooks = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    hooks[0].add(before)
    hooks[1].add(after)
    try:
        add[GRID](x, y, z, N, BLOCK=BLOCK)
    finally:
        hooks[0].remove(before)
        hooks[1].remove(after)
    assert heard == [("add", True), ("add", False)]


def test_hooks_before_a_run_get_the_arguments(xyz):
    x, y, z = xyz
    seen = []

    @triton.jit
    def fill(z, value, BLOCK: tl.constexpr):
        tl.store(z + tl.arange(0, BLOCK), value)

    fill.add_pre_run_hook(lambda *args, **kwargs: seen.append((args[1], kwargs["BLOCK"])))
    fill[(1,)](z, 3.0, BLOCK=128)
    assert seen == [(3.0, 128)]


def test_both_kinds_of_target_compile_in_one_process():
    from triton.compiler import make_backend

    from harness.triton_driver.triton_internals import GPUTarget

    ours, nvidias = (make_backend(GPUTarget(n, 80, 32)) for n in ("simulator", "cuda"))
    assert type(ours).__module__.startswith("harness.")
    assert type(nvidias).__module__ == "triton.backends.nvidia.compiler"
    assert ours.hash() != nvidias.hash()


def test_a_kernel_is_kept_by_device_and_no_gpu_has_ours(xyz):
    x, y, z = xyz
    add[GRID](x, y, z, N, BLOCK=BLOCK)
    assert all(device == "simulator" for device in add.device_caches)


def test_properties_of_the_device_are_the_virtual_ones():
    driver = driver_config.active
    properties = driver.utils.get_device_properties(driver.get_current_device())
    assert properties["multiprocessor_count"] == 132 and properties["max_shared_mem"] == 227 * 1024
    assert str(driver.get_active_torch_device()) == "cpu"
