"""A launch on an NVIDIA GPU through CuPy, on torch's current stream. The only file that does."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.launching import launch_settings
from harness.launching.call_site import call_site
from harness.launching.compiler import Compiled
from harness.launching.gpu_errors import async_error, is_sticky, refused_launch
from harness.launching.launch_shape import LaunchShape
from harness.launching.nvidia_driver import MINIMUM_CAPABILITY, MINIMUM_CUDA, MINIMUM_DRIVER
from harness.launching.tensors import is_tensor
from harness.telling.learner_error import EnvironmentFault

_DEFAULT_SHARED_BYTES = 48 * 1024
_STATIC_SHARED, _REGISTERS, _DYNAMIC_SHARED = 1, 4, 8  # CUfunction_attribute
_PATIENCE_SECONDS = 0.002  # poll this long without sleeping: most kernels of a lesson are shorter

_functions: dict[tuple[int, str, str], Any] = {}
recent_launches: deque[tuple[str, Path]] = deque(maxlen=8)


@dataclass(frozen=True, slots=True)
class Gpu:
    index: int
    architecture: str  # "sm_90"
    most_shared_bytes: int  # a block's, with the opt-in


def gpu_of(arguments: Sequence[Any]) -> Gpu:
    """The GPU that holds the tensors; torch's current one if there are none."""
    import torch

    for value in arguments:
        if is_tensor(value):
            return _gpu(value.device.index)
    return _gpu(torch.cuda.current_device())


@cache
def _gpu(index: int) -> Gpu:
    """Look a GPU up once; say plainly what is too old."""
    cupy = _cupy()
    version = cupy.cuda.runtime.driverGetVersion()
    if version < MINIMUM_CUDA:
        raise EnvironmentFault(
            f"the NVIDIA driver is for CUDA {version // 1000}.{version % 1000 // 10}",
            expected=f"driver {MINIMUM_DRIVER} or newer, for CUDA 13",
            advice="update the driver, or run on the simulator: pytest --device cpu",
        )
    device = cupy.cuda.Device(index)
    major, minor = divmod(int(device.compute_capability), 10)
    if (major, minor) < MINIMUM_CAPABILITY:
        raise EnvironmentFault(
            f"GPU {index} has compute capability {major}.{minor}",
            expected="{}.{} or newer (Ampere)".format(*MINIMUM_CAPABILITY),
            advice="run on the simulator: pytest --device cpu",
        )
    most = int(device.attributes["MaxSharedMemoryPerBlockOptin"])
    return Gpu(index, f"sm_{major}{minor}", most)


class GpuKernel:
    """One kernel, loaded onto one GPU."""

    def __init__(
        self, gpu: Gpu, compiled: Compiled, name: str, path: Path, cooperative: bool
    ) -> None:
        self.gpu = gpu
        self.name = name
        self.path = path
        self.cooperative = cooperative
        self._shared_allowed = 0  # dynamic bytes a block, opted in to
        self._function = _function(gpu.index, compiled, name)

    def launch(self, shape: LaunchShape, arguments: Sequence[Any]) -> None:
        """Launch with checked arguments; wait for the end unless the settings say otherwise."""
        __tracebackhide__ = True
        import torch

        if torch.cuda.current_device() != self.gpu.index:
            with torch.cuda.device(self.gpu.index):
                return self.launch(shape, arguments)
        stream = torch._C._cuda_getCurrentRawStream(self.gpu.index)
        if shape.shared_bytes > self._shared_allowed:
            self._allow_shared(shape.shared_bytes)
        try:
            self._function(
                shape.grid,
                shape.block,
                tuple([_passed(value) for value in arguments]),
                shape.shared_bytes,
                _cupy_stream(stream, self.gpu.index),
                self.cooperative,
            )
        except _cupy().cuda.driver.CUDADriverError as error:
            raise refused_launch(error, self.name, shape, self._attribute(_REGISTERS)) from error
        launched(self.name, self.path)

    def _allow_shared(self, dynamic_bytes: int) -> None:
        """More than 48 KiB a block needs an opt-in, once for each kernel."""
        total = self._attribute(_STATIC_SHARED) + dynamic_bytes
        if total > self.gpu.most_shared_bytes:
            raise EnvironmentFault(
                f"{self.name}: {total:,} bytes of shared memory a block",
                where=str(call_site()),
                expected=f"at most {self.gpu.most_shared_bytes:,} on this GPU",
                advice="smaller tiles; the simulator has the limits of compute capability 9.0",
            )
        if total > _DEFAULT_SHARED_BYTES:
            driver = _cupy().cuda.driver
            most = self.gpu.most_shared_bytes - self._attribute(_STATIC_SHARED)
            driver.funcSetAttribute(self._function.ptr, _DYNAMIC_SHARED, most)
        self._shared_allowed = dynamic_bytes

    def _attribute(self, number: int) -> int:
        return int(_cupy().cuda.driver.funcGetAttribute(number, self._function.ptr))


def launched(name: str, path: Path) -> None:
    """Remember a launch on the current stream; wait for its end unless the settings say otherwise.

    Raises GpuFault, which names the kernel, if it dies.
    """
    __tracebackhide__ = True
    import torch

    recent_launches.append((name, path))
    if not launch_settings.current().synchronize or torch.cuda.is_current_stream_capturing():
        return
    stream = torch.cuda.current_stream()
    patience = time.monotonic() + _PATIENCE_SECONDS
    try:  # poll, so that Ctrl-C and a test's time limit still reach a kernel that never ends
        while not stream.query():
            if time.monotonic() > patience:
                time.sleep(0.0005)
    except RuntimeError as error:  # torch's AcceleratorError is one
        raise async_error(error, [(name, path)]) from error


def _function(index: int, compiled: Compiled, name: str) -> Any:
    """Load a kernel once and keep it: unloading would break a graph that is being captured."""
    key = (index, compiled.key, name)
    if key not in _functions:
        with _cupy().cuda.Device(index):
            library = _cupy().cuda.function.Module()
            library.load(compiled.cubin)
            _functions[key] = library.get_function(name)
    return _functions[key]


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A stream of torch's, as CuPy asks for it."""

    address: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address  # version of the protocol, CUstream


@lru_cache(maxsize=64)
def _cupy_stream(address: int, index: int) -> Any:
    """CuPy's view of a stream on GPU `index`, which is the current one."""
    return _cupy().cuda.Stream.from_external(_Foreign(address))


def explain(error: BaseException) -> str | None:
    """A report for an error that CUDA raised some time after a launch, or None if it is no such."""
    if not recent_launches or not is_sticky(error):
        return None
    return async_error(error, list(recent_launches)).learner_report


def _passed(value: Any) -> Any:
    """An address for a tensor, zero for None; NumPy scalars go as they are."""
    if isinstance(value, np.generic):
        return value
    return np.uint64(0) if value is None else np.uint64(value.data_ptr())


@cache
def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise EnvironmentFault(
            f"CuPy cannot be imported: {error}",
            expected="CuPy for CUDA 13, which launches the kernels",
            advice='pip install "cupy-cuda13x>=14.2"',
        ) from error
    return cupy
