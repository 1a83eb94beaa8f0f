"""One active driver for two devices: each question reaches the driver that it belongs to."""

from types import SimpleNamespace

import pytest

import harness.triton_driver  # noqa: F401
from harness.launching import launch_settings
from harness.telling.learner_error import EnvironmentFault
from harness.triton_driver.choosing_driver import ChoosingDriver, running_on
from harness.triton_driver.launcher import Launcher
from harness.triton_driver.triton_internals import GPUTarget, backends, driver_config


@pytest.fixture
def driver():
    """The choosing driver beside a GPU's that only says that it was asked."""
    chooser = ChoosingDriver()
    utilities = SimpleNamespace(
        load_binary=lambda *given: ("GPU loads", given),
        unload_module=lambda module: unloaded.append(module),
        get_device_properties=lambda device: {"device": device},
        launch="GPU's C function",
    )
    unloaded = []
    chooser.gpu = SimpleNamespace(
        utils=utilities,
        unloaded=unloaded,
        launcher_cls=lambda src, metadata: ("GPU's launcher", driver_config.active is chooser),
        get_current_device=lambda: 0,
        get_current_stream=lambda device: 4711,
        get_current_target=lambda: GPUTarget("cuda", 90, 32),
        get_benchmarker=lambda: lambda call, **options: ("measured", options),
        get_device_capability=lambda device: (9, 0),
    )
    before = driver_config.active
    driver_config.set_active(chooser)
    yield chooser
    driver_config.set_active(before)


def metadata(target):
    return SimpleNamespace(target=GPUTarget(target, 80, 32))


CODE = SimpleNamespace(__code__=SimpleNamespace(co_filename="k.py"))
SOURCE = SimpleNamespace(fn=SimpleNamespace(arg_names=(), fn=CODE), signature={})


def test_outside_of_launches_the_sessions_device_decides(driver):
    for device, target in [("cpu", "simulator"), ("cuda", "cuda")]:
        with launch_settings.changed(device=device):
            assert driver.get_current_target().backend == target


def test_a_launch_decides_for_itself_and_leaves_no_trace(driver):
    with launch_settings.changed(device="cpu"):
        with running_on("cuda"):
            assert driver.get_current_device() == 0
            with running_on("cpu"):
                assert driver.get_current_device() == "simulator"
            assert driver.get_current_device() == 0
        assert driver.get_current_device() == "simulator"


def test_what_only_the_gpus_driver_knows_is_asked_of_it(driver):
    with running_on("cuda"):
        assert driver.get_device_capability(0) == (9, 0)
        assert driver.utils.launch == "GPU's C function"
    with running_on("cpu"), pytest.raises(AttributeError):
        driver.get_device_capability(0)


def test_a_compiled_kernel_stays_with_its_device_wherever_it_is_asked(driver):
    for asked_on in ("cpu", "cuda"):
        with running_on(asked_on):
            assert type(driver.launcher_cls(SOURCE, metadata("simulator"))) is Launcher
            assert driver.launcher_cls(SOURCE, metadata("cuda")) == ("GPU's launcher", True)
            assert driver.utils.load_binary("k", b"cubin", 0, 0)[0] == "GPU loads"
            assert driver.get_current_stream(0) == 4711
            assert driver.get_current_stream("simulator") == 0
            assert driver.utils.get_device_properties(1) == {"device": 1}
            assert driver.utils.get_device_properties("simulator")["multiprocessor_count"] == 132


def test_only_handles_of_cuda_are_given_back_to_it(driver):
    driver.utils.unload_module(object())
    driver.utils.unload_module(7)
    assert driver.gpu.unloaded == [7]


def test_a_benchmarker_that_an_autotuner_keeps_follows_the_device(driver):
    with running_on("cpu"):
        kept = driver.get_benchmarker()
        assert kept(lambda: None, quantiles=(0.5, 0.2)) == [0, 0]
    with running_on("cuda"):
        assert kept(lambda: None, quantiles=(0.5,)) == ("measured", {"quantiles": (0.5,)})


def test_without_a_gpu_its_driver_is_missed_in_words(monkeypatch):
    for backend in backends.values():
        monkeypatch.setattr(backend.driver, "is_active", lambda: False)
    with running_on("cuda"), pytest.raises(EnvironmentFault, match="Triton finds no GPU"):
        ChoosingDriver().get_current_device()


def test_triton_would_choose_the_simulator_only_where_there_is_no_gpu(monkeypatch):
    ours = backends["simulator"].driver
    others = [b.driver for name, b in backends.items() if name != "simulator"]
    for other in others:
        monkeypatch.setattr(other, "is_active", lambda: False)
    assert ours.is_active()
    monkeypatch.setattr(others[0], "is_active", lambda: True)
    assert not ours.is_active()
