"""Which device is chosen, how many processes run, and what one that dies leaves behind."""

import os

import pytest

from harness.launching.nvidia_driver import Driver, Gpu, State
from harness.running import closing, devices, workers
from harness.running.devices import Device, DeviceRefused
from harness.running.workers import Wishes

H200 = Gpu("NVIDIA H200", (9, 0), 132, 141 << 30, 232448)
READY = Driver(State.READY, cuda=13000, gpus=(H200, H200))
GPUS = Device("cuda", "NVIDIA H200", count=2)
SIMULATOR = devices.simulator()


def chosen(wanted, driver, torch_has_cuda=True):
    return devices.choose(wanted, lambda: driver, lambda: torch_has_cuda)


def test_a_gpu_is_used_when_there_is_one():
    device = chosen("auto", READY)
    assert (device.kind, device.name, device.count) == ("cuda", "NVIDIA H200", 2)
    assert device.header == "NVIDIA H200 (sm_90, driver for CUDA 13.0)"


@pytest.mark.parametrize("state", [State.NO_LIBRARY, State.NO_GPU])
def test_without_a_gpu_it_is_the_simulator(state):
    assert chosen("auto", Driver(state)) == SIMULATOR
    with pytest.raises(DeviceRefused, match="no GPU found .* needs --device cpu"):
        chosen("cuda", Driver(state))


def test_an_old_driver_is_said_and_not_simulated_in_silence():
    old = Driver(State.READY, cuda=12040, gpus=(H200,))
    for wanted in ("auto", "cuda"):
        with pytest.raises(DeviceRefused) as refused:
            chosen(wanted, old)
        assert str(refused.value) == (
            "driver too old (12.4); CUDA 13 needs driver ≥ 580; "
            "running on the simulator needs --device cpu"
        )
    assert chosen("cpu", old) == SIMULATOR


def test_a_driver_that_does_not_start_is_said():
    with pytest.raises(DeviceRefused, match="does not start: error 803"):
        chosen("auto", Driver(State.BROKEN, "error 803", cuda=13000))


def test_an_old_gpu_is_said():
    turing = Gpu("Tesla T4", (7, 5), 40, 16 << 30, 65536)
    with pytest.raises(DeviceRefused, match="Tesla T4 has compute capability 7.5; 8.0 is"):
        chosen("auto", Driver(State.READY, cuda=13000, gpus=(turing,)))


def test_a_torch_without_cuda_is_noted():
    assert "built without CUDA" in chosen("auto", READY, torch_has_cuda=False).note
    with pytest.raises(DeviceRefused, match="built without CUDA"):
        chosen("cuda", READY, torch_has_cuda=False)


def test_the_simulator_is_asked_of_no_driver():
    def fails():
        raise AssertionError("asked")

    assert devices.choose("cpu", fails, fails) == SIMULATOR


@pytest.mark.parametrize(
    ("given", "in_process", "solutions", "device", "expected"),
    [
        (False, False, False, SIMULATOR, None),  # no workers without a GPU
        (False, False, False, GPUS, 1),  # one, which a broken context does not outlive
        (False, True, False, GPUS, None),  # -s, --pdb
        (True, False, True, GPUS, None),  # -n decides
        (False, False, True, SIMULATOR, 64),
        (False, False, True, GPUS, 16),  # eight a GPU
        (False, True, True, SIMULATOR, None),
    ],
)
def test_the_number_of_workers(given, in_process, solutions, device, expected):
    assert workers.default(Wishes(given, in_process, solutions), device, 64) == expected


def test_there_is_always_a_core():
    assert 1 <= workers.cores() <= (os.cpu_count() or 1)


def test_workers_share_the_gpus_that_the_run_may_use():
    environment = {}
    workers.assign_gpu(environment, 3, 2)
    assert environment == {"CUDA_VISIBLE_DEVICES": "1"}
    environment = {"CUDA_VISIBLE_DEVICES": "4,6"}
    workers.assign_gpu(environment, 2, 2)
    assert environment == {"CUDA_VISIBLE_DEVICES": "4"}
    assert [workers.number(name) for name in ("gw0", "gw12", "master")] == [0, 12, 0]


def test_a_worker_has_one_thread():
    environment = {"OMP_NUM_THREADS": "16"}
    workers.limit_threads(environment)
    assert set(environment.values()) == {"1"}


def test_the_last_word_of_a_process_is_heard_once(tmp_path):
    workers.leave_word(tmp_path, "a.py::test_one", "gone")
    assert workers.last_word(tmp_path, "a.py::test_other") is None
    assert workers.last_word(tmp_path, "a.py::test_one") == "gone"
    assert workers.last_word(tmp_path, "a.py::test_one") is None


def test_what_waits_is_said_in_one_line_each():
    assert closing.left_out({"gpu": 3, "speed": 1, "speed_gpu": 0}) == [
        "3 tests wait for a GPU",
        "1 test waits for --speed",
    ]
