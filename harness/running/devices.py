"""Which device the tests run on, found out without importing torch.

The driver's own library answers in milliseconds. A machine whose GPU cannot be used as it is gets
one line that says why; it is never simulated in silence.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.launching.nvidia_driver import MINIMUM_CAPABILITY, Driver

SIMULATOR = "simulator"
REMEDY = "running on the simulator needs --device cpu"


class DeviceRefused(Exception):
    """The wanted device cannot be used; the text is one line that says why."""


@dataclass(frozen=True, slots=True)
class Device:
    """The device that unmarked tests run on."""

    kind: str  # "cpu" or "cuda", as torch says
    name: str  # what a record says: "simulator" or the GPU's name
    count: int = 0  # GPUs
    details: str = ""
    note: str = ""  # one line for the header, when something deserves to be known

    @property
    def is_gpu(self) -> bool:
        return self.kind == "cuda"

    @property
    def header(self) -> str:
        return f"{self.name} ({self.details})" if self.details else self.name


def simulator(note: str = "") -> Device:
    return Device("cpu", SIMULATOR, details="virtual sm_90, code of sm_80", note=note)


def choose(wanted: str, ask: Callable[[], Driver], torch_has_cuda: Callable[[], bool]) -> Device:
    """The device for --device auto, cpu or cuda; raises DeviceRefused."""
    if wanted == "cpu":
        return simulator()
    driver = ask()
    broken = driver.state.name == "BROKEN"
    if driver.is_too_old and (driver.gpus or broken):
        raise DeviceRefused(
            f"driver too old ({driver.cuda_shown}); CUDA 13 needs driver ≥ 580; {REMEDY}"
        )
    if not driver.gpus:
        if broken:
            raise DeviceRefused(f"the GPU driver does not start: {driver.reason}; {REMEDY}")
        if wanted == "cuda":
            raise DeviceRefused(f"no GPU found ({driver.reason or 'no driver'}); {REMEDY}")
        return simulator()
    gpu = driver.gpus[0]
    if gpu.capability < MINIMUM_CAPABILITY:
        capability = ".".join(map(str, gpu.capability))
        raise DeviceRefused(
            f"{gpu.name} has compute capability {capability}; 8.0 is the least; {REMEDY}"
        )
    if not torch_has_cuda():
        if wanted == "cuda":
            raise DeviceRefused(f"this torch is built without CUDA; {REMEDY}")
        return simulator(f"{gpu.name} is not used: this torch is built without CUDA")
    details = f"sm_{gpu.capability[0]}{gpu.capability[1]}, driver for CUDA {driver.cuda_shown}"
    return Device("cuda", gpu.name, count=len(driver.gpus), details=details)


def torch_has_cuda() -> bool:
    """Whether the installed torch was built with CUDA, read from its version file."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return False
    try:
        text = Path(spec.submodule_search_locations[0], "version.py").read_text(encoding="utf-8")
    except OSError:
        return True  # an unusual build: let torch speak for itself
    return re.search(r"^cuda[^=\n]*=\s*None", text, re.MULTILINE) is None
