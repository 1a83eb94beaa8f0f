"""Where the kernels of tests/triton run: their stored PTX anywhere, or as Triton compiles them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any

import numpy as np
import torch

from tests.triton.cases import Case, Memory, complaints
from tests.triton.stored import as_bytes, launches, place, scalar, simulated, text
from tests.triton.wanted import differ, ulps_apart

_ATTRIBUTES = {"local_bytes": 3, "registers": 4}  # CUfunction_attribute


@dataclass(frozen=True)
class Ran:
    memory: Memory  # on the CPU, after the launches
    facts: list[dict[str, int]] = field(default_factory=list)  # by launch: what the driver made


Machine = Callable[[Case], Ran]


@cache
def _module(subject: str, name: str) -> Any:
    """The stored PTX, assembled by the driver."""
    loaded = import_module("cupy").cuda.function.Module()
    loaded.load(text(subject, name).encode())
    return loaded


def on_gpu(case: Case) -> Ran:
    """Stored launches, through the driver alone."""
    cupy = import_module("cupy")
    before = case.made()
    there = {name: cupy.asarray(as_bytes(tensor)) for name, tensor in before.items()}
    facts = []
    for stored in launches(case):
        kernel = _module(case.subject, stored.ptx).get_function(stored.kernel)
        given = tuple(_given(argument, there) for argument in stored.arguments)
        kernel(stored.grid, (stored.threads, 1, 1), given, stored.shared_bytes)
        attribute = cupy.cuda.driver.funcGetAttribute
        facts.append({name: int(attribute(n, kernel.ptr)) for name, n in _ATTRIBUTES.items()})
    cupy.cuda.runtime.deviceSynchronize()
    return Ran({n: _tensor(cupy.asnumpy(there[n]), before[n]) for n in before}, facts)


def _given(argument: str | None, there: dict[str, Any]) -> np.generic:
    """A parameter as its bytes: addresses are 64-bit numbers, flags are bytes."""
    if argument is None:
        return np.uint64(0)
    if " " in argument:
        value = scalar(argument)
        return np.uint8(value) if isinstance(value, np.bool_) else value
    name, offset = place(argument)
    return np.uint64(int(there[name].data.ptr) + offset)


def _tensor(memory: np.ndarray[Any, Any], like: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(memory.copy()).view(like.dtype).reshape(like.shape)


def on_simulator(case: Case) -> Ran:
    return Ran(simulated(case)[0])


def by_triton(case: Case) -> Ran:
    """Compiled by the installed Triton for the GPU that is there."""
    memory = {name: tensor.cuda() for name, tensor in case.made().items()}
    case.run(memory)
    torch.cuda.synchronize()
    return Ran({name: tensor.cpu() for name, tensor in memory.items()})


def by_triton_here(case: Case) -> Ran:
    import_module("harness.triton_driver")
    memory = case.made()
    case.run(memory)
    return Ran(memory)


MACHINES: dict[str, tuple[Machine, Machine]] = {  # stored PTX, and Triton's own way
    "gpu": (on_gpu, by_triton),
    "simulator": (on_simulator, by_triton_here),
}


def compared(case: Case, stored: Machine, native: Machine) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what is told of a case, outputs that are kept whole: those that may differ in bits).

    outputs            by name: a digest of the machine's bits; how many elements of the simulator's
                       differ, by how many ulps at most, how many are too far apart
    complaints         what is wrong with the machine's memory, by the truth
    native_complaints  the same of kernels that the installed Triton has compiled
    """
    told: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    if launches(case):
        got, ours = stored(case).memory, on_simulator(case).memory
        told["complaints"] = complaints(case, got)
        told["outputs"] = {}
        for name, wanted in case.wanted(case.made()).items():
            told["outputs"][name] = _row(got[name], ours[name], wanted)
            if wanted.apart != 0:
                arrays[f"{case.name}/{name}"] = as_bytes(got[name])
    try:
        told["native_complaints"] = complaints(case, native(case).memory)
        told["native"] = True
    except Exception as error:  # what this version of Triton does not compile is no fault of ours
        told["native_failed"] = f"{type(error).__name__}: {error}"[:300]
    return told, arrays


def digest(tensor: torch.Tensor) -> str:
    return sha256(as_bytes(tensor).tobytes()).hexdigest()[:16]


def _row(got: torch.Tensor, ours: torch.Tensor, wanted: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"digest": digest(got), "elements": got.numel()}
    row["differ"] = int((as_bytes(got) != as_bytes(ours)).reshape(got.numel(), -1).any(1).sum())
    if row["differ"] and got.is_floating_point():
        row["ulps"] = float(ulps_apart(ours, got).max())
    row["outside"] = int(differ(ours, got, wanted).sum())
    return row
