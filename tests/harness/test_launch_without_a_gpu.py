"""What a GPU launch says where the GPU, its driver or the kernel is at fault; no GPU needed."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.launching import gpu_launch
from harness.launching.gpu_errors import async_error, is_sticky, refused_launch
from harness.launching.launch_shape import LaunchShape
from harness.telling.learner_error import EnvironmentFault

LAUNCH = ("vec_add", Path("kernel.cu"))
ILLEGAL = "CUDA error: an illegal memory access was encountered\nCompile with TORCH_USE_CUDA_DSA"


@pytest.fixture
def machine(monkeypatch):
    """Pretend that this machine's driver and GPU are of the given age."""

    def pretend(cuda_version, capability):
        device = SimpleNamespace(
            compute_capability=capability, attributes={"MaxSharedMemoryPerBlockOptin": 232_448}
        )
        runtime = SimpleNamespace(driverGetVersion=lambda: cuda_version)
        cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device=lambda index: device))
        monkeypatch.setattr(gpu_launch, "_cupy", lambda: cupy)
        return gpu_launch._gpu.__wrapped__(0)

    return pretend


def test_a_driver_before_cuda_13_is_told_to_be_too_old(machine):
    with pytest.raises(EnvironmentFault) as raised:
        machine(12_080, "90")
    assert "driver is for CUDA 12.8" in str(raised.value)
    assert "580" in str(raised.value) and "--device cpu" in str(raised.value)


def test_a_gpu_before_ampere_is_told_to_be_too_old(machine):
    with pytest.raises(EnvironmentFault, match="compute capability 7.5"):
        machine(13_000, "75")


@pytest.mark.parametrize(
    "capability, architecture", [("80", "sm_80"), ("90", "sm_90"), ("120", "sm_120")]
)
def test_a_gpu_is_compiled_for_as_it_is(machine, capability, architecture):
    assert machine(13_000, capability).architecture == architecture


def test_an_illegal_address_names_the_kernel_and_the_way_to_the_line():
    report = async_error(RuntimeError(ILLEGAL), [LAUNCH]).learner_report
    assert report.startswith("vec_add failed on the GPU: CUDA error: an illegal memory access")
    assert "outside of every tensor" in report and "--device cpu" in report
    assert "DSA" not in report


def test_only_errors_that_a_kernel_caused_are_explained():
    gpu_launch.recent_launches.append(LAUNCH)
    assert is_sticky(RuntimeError(ILLEGAL))
    assert gpu_launch.explain(RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")) is None
    assert gpu_launch.explain(AssertionError("CUDA graph differs")) is None
    told = gpu_launch.explain(RuntimeError("cudaErrorIllegalAddress: an illegal memory access"))
    assert told is not None and "vec_add" in told


def test_too_many_registers_are_told_with_the_arithmetic():
    shape = LaunchShape((4, 1, 1), (1024, 1, 1), 0)
    error = RuntimeError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested")
    report = refused_launch(error, "vec_add", shape, 200).learner_report
    assert "1,024 threads × 200 registers" in report and "__launch_bounds__(1024)" in report
