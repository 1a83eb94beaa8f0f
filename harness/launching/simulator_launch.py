"""A launch on the simulator: torch storages become its buffers, its faults become reports."""

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.launching import launch_settings
from harness.launching.call_site import call_site, shown_path
from harness.launching.compiler import Compiled
from harness.launching.fault_report import FaultyLaunch, fault_report, source_line
from harness.launching.launch_shape import LaunchShape
from harness.launching.recording import LaunchRecord, is_recording, record, recording
from harness.launching.signature import KernelParameter, Signature
from harness.launching.tensors import dtype_name, is_tensor
from harness.telling.learner_error import LaunchError

if TYPE_CHECKING:
    from simulator import Buffer, Entry, Module, Pointer, Settings

__all__ = ["launch_on_simulator", "parsed", "recording"]

_modules: dict[str, "Module"] = {}
# Dtypes that NumPy lacks, as what holds their bits.
_STAND_INS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


def parsed(compiled: Compiled) -> "Module":
    """The simulator's reading of a compiled file, kept in memory."""
    from simulator import parse

    if compiled.key not in _modules:
        _modules[compiled.key] = parse(compiled.ptx)
    return _modules[compiled.key]


def launch_on_simulator(
    entry: "Entry",
    signature: Signature,
    shape: LaunchShape,
    arguments: Sequence[Any],
    path: Path,
) -> None:
    """Run a checked launch. Raises KernelFault with `learner_report` set."""
    __tracebackhide__ = True
    from simulator import KernelFault, UnknownInstruction, launch

    try:
        launched = launch(
            entry,
            grid=shape.grid,
            block=shape.block,
            arguments=bound(signature.parameters, arguments),
            shared_bytes=shape.shared_bytes,
            settings=_settings(),
        )
    except KernelFault as fault:
        _print(getattr(fault, "output", ""))
        faulty = FaultyLaunch(signature.kernel, path, shape.grid, shape.block, str(call_site()))
        vars(fault)["learner_report"] = fault_report(fault, faulty)
        raise
    except UnknownInstruction as error:
        raise LaunchError(
            f"the simulator has no instruction {error.opcode}",
            where=source_line(path, error.line),
            expected="PTX as the compiler writes it for compute capability 8.0",
            advice="check the spelling of inline assembly; newer instructions need a GPU",
        ) from error
    except Exception as error:  # a bug of the simulator's: its own traceback says where
        error.add_note(f"while the simulator ran {signature.kernel} of {shown_path(path)}")
        raise
    _print(launched.output)
    record(
        LaunchRecord(signature.kernel, path, shape.grid, shape.block, shape.shared_bytes, launched)
    )


def bound(
    parameters: Sequence[KernelParameter], arguments: Sequence[Any]
) -> list["Pointer | None | np.generic"]:
    """Tensors as pointers into one buffer for each storage; everything else as it is."""
    from simulator import Pointer

    sharing: dict[tuple[int, int], list[int]] = {}  # storage -> arguments that look at it
    for index, value in enumerate(arguments):
        if is_tensor(value):
            sharing.setdefault(_storage_key(value, index), []).append(index)
    buffers: dict[tuple[int, int], Buffer] = {}
    for key, indices in sharing.items():
        buffer = _buffer(parameters[indices[0]], arguments[indices[0]])
        buffer.read_only = all(parameters[i].read_only for i in indices)
        buffer.origin = min(_offset(arguments[i]) for i in indices)
        buffers[key] = buffer
    result: list[Pointer | None | np.generic] = []
    for index, value in enumerate(arguments):
        if is_tensor(value):
            result.append(Pointer(buffers[_storage_key(value, index)], _offset(value)))
        else:
            result.append(value)
    return result


def _offset(tensor: Any) -> int:
    """Of the first element in its storage, in bytes."""
    return int(tensor.storage_offset() * tensor.element_size())


def _storage_key(tensor: Any, index: int) -> tuple[int, int]:
    address = tensor.untyped_storage().data_ptr()
    return (address, 0) if address else (0, index)  # empty storages have no address to share


def _buffer(parameter: KernelParameter, tensor: Any) -> "Buffer":
    """The bytes of a whole storage, in place. The caller's tensor keeps them alive."""
    from simulator import Buffer

    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if size:
        memory = (ctypes.c_uint8 * size).from_address(storage.data_ptr())
        data = np.frombuffer(memory, dtype=np.uint8)
    else:
        data = np.empty(0, dtype=np.uint8)
    name = parameter.name or f"argument {parameter.index + 1}"
    dtype = dtype_name(tensor)
    element = np.dtype(_STAND_INS.get(dtype, dtype))
    return Buffer(name, data, element=element)


def _settings() -> "Settings":
    from simulator import Settings

    changes = launch_settings.simulator_changes(launch_settings.current())
    changes["counters"] = bool(changes["counters"]) or is_recording()
    return Settings(**changes)  # type: ignore[arg-type]


def _print(output: str) -> None:
    """What the kernel printed, where Python prints."""
    if output:
        sys.stdout.write(output)
        sys.stdout.flush()
