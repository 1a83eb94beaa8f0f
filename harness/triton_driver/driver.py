"""The simulator's driver: what Triton asks of a device, answered for the virtual one."""

from typing import Any

from harness.triton_driver import modelled_time
from harness.triton_driver.backend import NAME, TARGET, WARP
from harness.triton_driver.launcher import Launcher
from harness.triton_driver.loading import entry_of
from harness.triton_driver.triton_internals import DriverBase, backends

DEVICE = NAME  # a device id that no GPU has: Triton keys compiled kernels by it
_STREAM = 0  # there is one, and launches on it are over when they return
_SHARED_BYTES = 227 * 1024
_THREADS = 1024


class SimulatorDriver(DriverBase):  # type: ignore[misc]  # Triton has no types
    """Runs kernels of the target "simulator" on CPU tensors."""

    def __init__(self) -> None:
        self.utils = Utilities()
        self.launcher_cls = Launcher

    @classmethod
    def is_active(cls) -> bool:
        """Whether Triton should choose it by itself: where there is no GPU."""
        return not any(b.driver.is_active() for name, b in backends.items() if name != NAME)

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> Any:
        return TARGET

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_current_device(self) -> str:
        return DEVICE

    def set_current_device(self, device: Any) -> None:
        pass

    def get_current_stream(self, device: Any) -> int:
        return _STREAM

    def get_benchmarker(self) -> Any:
        return modelled_time.benchmark

    def get_device_interface(self) -> Any:
        return modelled_time.DeviceInterface

    def get_empty_cache_for_benchmark(self) -> None:
        """The memory that a benchmark writes to empty the L2 cache: none is modelled."""

    def clear_cache(self, cache: None) -> None:
        pass


class Utilities:
    """`driver.utils`."""

    def load_binary(
        self, name: str, ptx: str | bytes, shared_bytes: int, device: Any
    ) -> tuple[Any, Any, int, int, int]:
        """(module, function, registers, spills, most threads a block); PTX tells no registers."""
        entry = entry_of(name, ptx)
        return entry, entry, 0, 0, entry.maximum_threads or _THREADS

    def unload_module(self, module: Any) -> None:
        pass

    def set_printf_fifo_size(self, size_in_bytes: int) -> None:
        """What a kernel prints is not limited here."""

    def get_device_properties(self, device: Any) -> dict[str, int]:
        return {
            "max_shared_mem": _SHARED_BYTES,
            "max_num_regs": 65_536,
            "multiprocessor_count": modelled_time.MULTIPROCESSORS,
            "warpSize": WARP,
            "sm_clock_rate": 1_980_000,  # kHz
            "mem_clock_rate": 3_201_000,  # kHz
            "mem_bus_width": 6144,  # bits
        }
