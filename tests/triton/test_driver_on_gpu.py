"""Simulator and GPU in one process: the tensors decide, and neither gets the other's code."""

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from harness.launching import launch_settings
from harness.launching.recording import recording
from harness.telling.learner_error import LaunchError

pytestmark = pytest.mark.gpu

N, BLOCK = 1000, 256
GRID = (triton.cdiv(N, BLOCK),)
DEVICES = ("cpu", "cuda", "cpu", "cuda")


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def tensors(device):
    x, y = torch.randn(2, N, generator=torch.Generator().manual_seed(1)).unbind()
    return x.to(device), y.to(device), torch.full((N,), torch.nan, device=device)


def test_the_tensors_decide_launch_by_launch():
    targets = []
    for device in DEVICES:
        x, y, z = tensors(device)
        compiled = add[GRID](x, y, z, N, BLOCK=BLOCK)
        assert torch.equal(z, x + y)
        targets.append(compiled.metadata.target.backend)
        assert ("cubin" in compiled.asm) == (device == "cuda")
    assert targets == ["simulator", "cuda"] * 2
    assert set(add.device_caches) == {"simulator", 0}


def test_the_disk_cache_keeps_them_apart_too():
    for _ in range(2):
        add.device_caches.clear()  # as in a new process
        for device in DEVICES[:2]:
            x, y, z = tensors(device)
            add[GRID](x, y, z, N, BLOCK=BLOCK)
            assert torch.equal(z, x + y)


def test_tensors_of_both_devices_in_one_launch_are_refused():
    x, y, z = tensors("cuda")
    told = r"argument 1 \(x\) lies on cuda:0, argument 2 \(y\) on cpu"
    with pytest.raises(LaunchError, match=told):
        add[GRID](x, y.cpu(), z, N, BLOCK=BLOCK)
    assert z.isnan().all()


@pytest.mark.parametrize("device", DEVICES[:2])
def test_a_grid_of_zero_is_refused_on_both(device):
    x, y, z = tensors(device)
    with pytest.raises(LaunchError, match="a grid of 0 blocks launches nothing"):
        add[(0,)](x, y, z, N, BLOCK=BLOCK)


def test_an_autotuner_measures_on_the_gpu_and_models_without_it():
    @triton.autotune([triton.Config({"BLOCK": b}) for b in (128, 1024)], key=["n"])
    @triton.jit
    def tuned(x, y, z, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    for device in DEVICES:
        x, y, z = tensors(device)
        tuned[lambda c: (triton.cdiv(N, c["BLOCK"]),)](x, y, z, N)
        assert torch.equal(z, x + y)
        first = [times[0] for times in tuned.configs_timings.values()]
        if device == "cuda":
            assert max(first) < 1  # milliseconds
        elif not tuned.cache:
            assert min(first) > 1000  # modelled cycles


def test_a_benchmark_on_the_gpu_measures_milliseconds():
    x, y, z = tensors("cuda")
    assert 0 < triton.testing.do_bench(lambda: add[GRID](x, y, z, N, BLOCK=BLOCK), rep=5) < 1


def test_a_compiled_kernel_is_launched_again_on_its_own_device():
    for device in DEVICES[:2]:
        with launch_settings.changed(device=device):
            x, y, z = tensors(device)
            compiled = add.warmup(x, y, z, N, BLOCK=BLOCK, grid=GRID)
            compiled[(*GRID, 1, 1)](x, y, z, N, BLOCK)
            torch.cuda.synchronize()
            assert torch.equal(z, x + y)


def test_one_compiled_for_the_simulator_refuses_tensors_of_a_gpu():
    with launch_settings.changed(device="cpu"):
        compiled = add.warmup(*tensors("cpu"), N, BLOCK=BLOCK, grid=GRID)
        with pytest.raises(LaunchError, match="was compiled for the simulator"):
            compiled[(*GRID, 1, 1)](*tensors("cuda"), N, BLOCK)


def test_launches_on_the_gpu_are_not_recorded_and_simulated_ones_are():
    with recording() as launches:
        for device in DEVICES:
            add[GRID](*tensors(device), N, BLOCK=BLOCK)
    assert [launch.kernel for launch in launches] == ["add", "add"]


def test_without_tensors_the_sessions_device_decides():
    @triton.jit
    def nothing(n):
        tl.device_assert(n > 0)

    for device, target in [("cpu", "simulator"), ("cuda", "cuda")]:
        with launch_settings.changed(device=device):
            assert nothing[(1,)](3).metadata.target.backend == target


@triton.jit
def product(a, b, c, k, SIZE: tl.constexpr):
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, k, SIZE):
        x = tl.load(a + i * k + start + j)
        total = tl.dot(x, tl.load(b + (start + i) * SIZE + j), total)
    tl.store(c + i * SIZE + j, total)


@pytest.mark.parametrize("device", DEVICES[:2])
def test_too_much_shared_memory_is_told_alike_on_both(device):
    a, b, c = torch.ones(3, 64 * 64, device=device).half().unbind()
    with pytest.raises(LaunchError, match="shared memory"):
        product[(1,)](a, b, c.float(), 64, SIZE=64, num_stages=20)


def test_a_kernel_that_dies_on_the_gpu_is_named_in_its_own_process():
    import subprocess
    import sys
    from pathlib import Path

    program = Path(__file__).with_name("dies_on_gpu.py")
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", f"tests.triton.{program.stem}"],
        capture_output=True,
        text=True,
        cwd=root,
    )
    assert "wild_store failed on the GPU" in done.stderr, done.stderr
