"""The active driver: hands each question to the simulator's driver or to the GPU's own.

A launch says where it runs (`running_on`); outside of launches the session's device decides. What
belongs to a device already, such as a compiled kernel, stays with it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

from harness.launching import launch_settings
from harness.telling.learner_error import EnvironmentFault
from harness.triton_driver.backend import NAME
from harness.triton_driver.driver import DEVICE, SimulatorDriver
from harness.triton_driver.triton_internals import backends

_device: ContextVar[str | None] = ContextVar("device of the launch", default=None)


@contextmanager
def running_on(device: str) -> Iterator[None]:
    """Inside the `with`, Triton's active driver is that of "cpu" or "cuda"."""
    token = _device.set(device)
    try:
        yield
    finally:
        _device.reset(token)


class ChoosingDriver:
    """Whatever it does not define itself is asked of the driver that is chosen now."""

    def __init__(self) -> None:
        self._simulator = SimulatorDriver()
        self.utils = _Utilities(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.chosen, name)

    @property
    def chosen(self) -> Any:
        device = _device.get() or launch_settings.current().device
        return self._simulator if device == "cpu" else self.gpu

    @cached_property
    def gpu(self) -> Any:
        """The driver that Triton would have chosen without us."""
        for name, backend in backends.items():
            if name != NAME and backend.driver.is_active():
                return backend.driver()
        raise EnvironmentFault(
            "Triton finds no GPU",
            expected="an NVIDIA GPU that torch sees too, for launches on it",
            advice="pytest --device cpu runs on the simulator",
        )

    def launcher_cls(self, src: Any, metadata: Any) -> Any:
        """The launcher for a compiled kernel, of the driver that it was compiled for."""
        if metadata.target.backend == NAME:
            return self._simulator.launcher_cls(src, metadata)
        with running_on("cuda"):
            return self.gpu.launcher_cls(src, metadata)

    def get_current_stream(self, device: Any) -> Any:
        return self.of_device(device).get_current_stream(device)

    def get_benchmarker(self) -> Any:
        """An autotuner asks once and keeps it: what it gets chooses at each call."""
        return self._benchmark

    def of_device(self, device: Any) -> Any:
        return self._simulator if device == DEVICE else self.gpu

    def _benchmark(self, kernel_call: Any, **options: Any) -> Any:
        return self.chosen.get_benchmarker()(kernel_call, **options)


class _Utilities:
    """`driver.utils`, by the device or the module in question."""

    def __init__(self, owner: ChoosingDriver) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._owner.chosen.utils, name)

    def load_binary(self, name: str, binary: Any, shared_bytes: int, device: Any) -> Any:
        utilities = self._owner.of_device(device).utils
        return utilities.load_binary(name, binary, shared_bytes, device)

    def unload_module(self, module: Any) -> None:
        if isinstance(module, int):  # a handle of CUDA's
            self._owner.gpu.utils.unload_module(module)

    def get_device_properties(self, device: Any) -> Any:
        return self._owner.of_device(device).utils.get_device_properties(device)
