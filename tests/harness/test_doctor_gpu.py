"""The doctor tells a driver that is too old, broken or absent from one that works."""

import ctypes

import pytest

from harness.commands import doctor_gpu
from harness.commands.doctor import Verdict
from harness.launching import nvidia_driver
from harness.launching.nvidia_driver import Driver, Gpu, State, ask_driver

H200 = Gpu("NVIDIA H200", (9, 0), 132, 139 * 2**30, 232448)
V100 = Gpu("Tesla V100", (7, 0), 80, 16 * 2**30, 98304)
READY = Driver(State.READY, version="580.82.07", cuda=13000, gpus=(H200,))


def judged(driver, torch_cuda="13.0"):
    return list(doctor_gpu.judged(driver, torch_cuda))


class Library:
    """A libcuda.so that answers as told."""

    def __init__(self, status=0, cuda=13000, gpus=()):
        self.status, self.cuda, self.gpus = status, cuda, gpus

    def cuInit(self, flags):  # noqa: N802  the driver's own names
        return self.status

    def cuDriverGetVersion(self, number):  # noqa: N802
        number._obj.value = self.cuda

    def cuDeviceGetCount(self, number):  # noqa: N802
        number._obj.value = len(self.gpus)

    def cuDeviceGet(self, device, index):  # noqa: N802
        device._obj.value = index

    def cuDeviceGetName(self, text, size, device):  # noqa: N802
        text.value = self.gpus[device.value].name.encode()

    def cuDeviceTotalMem_v2(self, size, device):  # noqa: N802
        size._obj.value = self.gpus[device.value].memory_bytes

    def cuDeviceGetAttribute(self, number, attribute, device):  # noqa: N802
        gpu = self.gpus[device.value]
        number._obj.value = {
            16: gpu.multiprocessors,
            75: gpu.capability[0],
            76: gpu.capability[1],
            97: gpu.shared_bytes_per_block,
        }[attribute]


def answer(monkeypatch, library):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(nvidia_driver, "_version", lambda: "580.82.07")
    return ask_driver(["libcuda.so.1"])


def test_a_working_driver_tells_its_gpus(monkeypatch):
    driver = answer(monkeypatch, Library(gpus=(H200, V100)))
    assert driver.state is State.READY
    assert driver.gpus == (H200, V100)
    assert driver.cuda_shown == "13.0"


@pytest.mark.parametrize(
    ("library", "state"),
    [
        (Library(status=100), State.NO_GPU),
        (Library(status=34), State.NO_LIBRARY),  # a stub to link with
        (Library(status=803), State.BROKEN),
        (Library(), State.NO_GPU),
    ],
)
def test_a_driver_that_does_not_serve_says_why(monkeypatch, library, state):
    assert answer(monkeypatch, library).state is state


def test_without_a_library_there_is_no_driver():
    assert ask_driver(["libabsent.so.7"]).state is State.NO_LIBRARY


@pytest.mark.parametrize("state", [State.NO_LIBRARY, State.NO_GPU])
def test_a_machine_without_a_gpu_is_no_problem(state):
    [finding] = judged(Driver(state), torch_cuda=None)
    assert finding.verdict is Verdict.OK
    assert "none is needed" in finding.said


def test_a_gpu_is_described():
    driver, gpu = judged(READY)
    assert driver.said == "580.82.07, up to CUDA 13.0"
    assert "NVIDIA H200, compute capability 9.0, 132 SMs" in gpu.said
    assert {driver.verdict, gpu.verdict} == {Verdict.OK}


def test_an_old_driver_is_a_problem_that_names_the_driver_needed():
    old = Driver(State.READY, version="550.54.15", cuda=12040, gpus=(H200,))
    finding = judged(old)[0]
    assert finding.verdict is Verdict.PROBLEM
    assert "550.54.15, up to CUDA 12.4 is too old" in finding.said
    assert "driver 580 or newer" in finding.said
    assert "pytest --device cpu" in finding.advice


def test_a_broken_driver_is_a_problem_that_says_why(monkeypatch):
    finding = judged(answer(monkeypatch, Library(status=803)))[0]
    assert finding.verdict is Verdict.PROBLEM
    assert "reboot" in finding.said


def test_a_gpu_below_compute_capability_8_is_a_problem():
    finding = judged(Driver(State.READY, version="580.1", cuda=13000, gpus=(V100,)))[1]
    assert finding.verdict is Verdict.PROBLEM
    assert "the lessons need compute capability 8.0" in finding.said


def test_a_torch_that_cannot_use_the_gpu_is_warned_about():
    assert "built for the CPU alone" in judged(READY, torch_cuda=None)[-1].said
    assert "built for CUDA 12.8" in judged(READY, torch_cuda="12.8")[-1].said


def test_a_windows_driver_that_programs_do_not_find_is_warned_about():
    hidden = Driver(
        State.READY,
        version="580.1",
        cuda=13000,
        gpus=(H200,),
        library="/usr/lib/wsl/lib/libcuda.so.1",
    )
    finding = judged(hidden)[0]
    assert finding.verdict is Verdict.WARNING
    assert "ldconfig" in finding.advice


@pytest.mark.parametrize("driver", [READY, Driver(State.NO_LIBRARY)])
def test_what_runs_where_is_said_for_this_machine(monkeypatch, tmp_path, driver):
    monkeypatch.setattr(doctor_gpu, "driver", lambda: driver)
    monkeypatch.setattr(doctor_gpu.devices, "torch_has_cuda", lambda: True)
    findings = list(doctor_gpu.what_runs_where(tmp_path))
    said = " ".join(finding.said for finding in findings)
    assert "code of sm_80, limits of sm_90 (132 SMs, 227 KB a block)" in said
    assert ("lesson tests on the NVIDIA H200" in said) == bool(driver.gpus)
    assert ("wait for a GPU" in said) == (not driver.gpus)


def test_what_pytest_refuses_is_a_problem(monkeypatch, tmp_path):
    old = Driver(State.READY, version="550.54.15", cuda=12040, gpus=(H200,))
    monkeypatch.setattr(doctor_gpu, "driver", lambda: old)
    finding = next(iter(doctor_gpu.what_runs_where(tmp_path)))
    assert finding.verdict is Verdict.PROBLEM
    assert finding.advice == "pytest --device cpu"
