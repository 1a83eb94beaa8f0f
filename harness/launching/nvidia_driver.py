"""What the NVIDIA driver says of itself and its GPUs, asked without torch or CuPy."""

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

LIBRARIES = ("libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1")
MINIMUM_CUDA = 13000  # what cuDriverGetVersion says for CUDA 13.0
MINIMUM_CAPABILITY = (8, 0)
MINIMUM_DRIVER = "580"  # the first whose CUDA is 13.0

_ERRORS = {
    3: "CUDA is not initialised",
    46: "the GPU is in use by another process, exclusively",
    100: "no GPU",
    101: "the GPU that CUDA_VISIBLE_DEVICES names does not exist",
    304: "the operating system refused a call (in a container: was it started with --gpus all?)",
    802: "the GPU is not ready yet (on NVLink servers: is nvidia-fabricmanager running?)",
    803: "the driver's kernel module and its library have different versions (reboot)",
    804: "this GPU does not support the forward-compatibility package",
    999: "an unknown error (dmesg may say more; a reboot often helps)",
}
_STUB, _NO_DEVICE = 34, 100
_MULTIPROCESSORS, _CAPABILITY_MAJOR, _CAPABILITY_MINOR, _SHARED_PER_BLOCK = 16, 75, 76, 97


class State(Enum):
    NO_LIBRARY = auto()  # no driver here
    NO_GPU = auto()  # a driver, and no GPU that it may use
    BROKEN = auto()  # a driver that does not start
    READY = auto()


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    shared_bytes_per_block: int


@dataclass(frozen=True, slots=True)
class Driver:
    state: State
    reason: str = ""
    version: str = ""  # 580.82.07, where the machine tells it
    cuda: int = 0  # 13000 is CUDA 13.0
    gpus: tuple[Gpu, ...] = ()
    library: str = ""  # the name under which it was found

    @property
    def cuda_shown(self) -> str:
        return f"{self.cuda // 1000}.{self.cuda % 1000 // 10}"

    @property
    def is_too_old(self) -> bool:
        return 0 < self.cuda < MINIMUM_CUDA


def ask_driver(libraries: Sequence[str] = LIBRARIES) -> Driver:
    """Load the driver's library and ask; creates no context and takes no memory of the GPU."""
    for library in libraries:
        try:
            cuda = ctypes.CDLL(library)
        except OSError:
            continue
        return replace(_answer(cuda), library=library)
    return Driver(State.NO_LIBRARY)


def _answer(cuda: ctypes.CDLL) -> Driver:
    number, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    version = _version()
    status = cuda.cuInit(0)
    if status == _STUB:  # a toolkit's stand-in for linking, not a driver
        return Driver(State.NO_LIBRARY)
    if status == _NO_DEVICE:
        return Driver(State.NO_GPU, _ERRORS[_NO_DEVICE], version, number.value)
    if status != 0:
        reason = _ERRORS.get(status, "see cudaError_enum in the CUDA driver API")
        return Driver(State.BROKEN, f"error {status}: {reason}", version, number.value)
    cuda.cuDeviceGetCount(ctypes.byref(count))
    gpus = tuple(_gpu(cuda, index) for index in range(count.value))
    return Driver(State.READY if gpus else State.NO_GPU, "", version, number.value, gpus)


def _gpu(cuda: ctypes.CDLL, index: int) -> Gpu:
    device = ctypes.c_int()
    cuda.cuDeviceGet(ctypes.byref(device), index)
    name = ctypes.create_string_buffer(128)
    cuda.cuDeviceGetName(name, len(name), device)
    memory = ctypes.c_size_t()
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device)
        return value.value

    return Gpu(
        name=name.value.decode(errors="replace"),
        capability=(attribute(_CAPABILITY_MAJOR), attribute(_CAPABILITY_MINOR)),
        multiprocessors=attribute(_MULTIPROCESSORS),
        memory_bytes=memory.value,
        shared_bytes_per_block=attribute(_SHARED_PER_BLOCK),
    )


def _version() -> str:
    """The driver's own number: from NVML, else from the kernel module."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        text = ctypes.create_string_buffer(96)
        nvml.nvmlInit_v2()
        if nvml.nvmlSystemGetDriverVersion(text, len(text)) == 0:
            return text.value.decode(errors="replace")
    except (OSError, AttributeError):
        pass
    try:
        told = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", told)
    return found[1] if found else ""
