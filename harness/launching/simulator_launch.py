"""A launch on the simulator: tensors become its buffers, its faults become reports."""

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
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
_ALIGNMENT = 256  # bytes: where CUDA's allocations, and so storages, begin
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
    cooperative: bool = False,
) -> None:
    """Run a checked launch. Raises KernelFault with `learner_report` set."""
    __tracebackhide__ = True
    from simulator import DoesNotFit, KernelFault, UnknownInstruction, launch

    try:
        launched = launch(
            entry,
            grid=shape.grid,
            block=shape.block,
            arguments=bound(signature.parameters, arguments),
            shared_bytes=shape.shared_bytes,
            settings=_settings(cooperative),
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
    except DoesNotFit as error:
        raise LaunchError(
            f"{signature.kernel}: {error}",
            where=str(call_site()),
            expected="no more blocks than the virtual device keeps resident",
            advice="launch fewer blocks, and let each loop over its share of the work",
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
    """Tensors as pointers into buffers, everything else as it is.

    Each tensor has a buffer of its own, so that its bounds are its own elements: what lies beyond
    belongs to somebody else, though a view's storage may go on. Tensors that overlap share one.
    """
    from simulator import Pointer

    result = list(arguments)
    for together in _overlapping(
        [_Window.of(i, v) for i, v in enumerate(arguments) if is_tensor(v)]
    ):
        first = together[0]
        buffer = _buffer(parameters[first.index], arguments[first.index], together)
        buffer.read_only = all(parameters[w.index].read_only for w in together)
        for window in together:
            result[window.index] = Pointer(buffer, buffer.origin + window.begin - first.begin)
    return result


@dataclass(frozen=True, slots=True)
class _Window:
    """The bytes of a storage that a tensor argument looks at: it is contiguous."""

    index: int  # of the argument
    storage: int  # its address; 0 if it is empty
    begin: int
    end: int

    @classmethod
    def of(cls, index: int, tensor: Any) -> "_Window":
        begin = tensor.storage_offset() * tensor.element_size()
        end = begin + tensor.numel() * tensor.element_size()
        return cls(index, tensor.untyped_storage().data_ptr(), begin, end)


def _overlapping(windows: list[_Window]) -> list[list[_Window]]:
    """Groups that share bytes, directly or through a third, each by rising begin."""
    groups: list[list[_Window]] = []
    end = 0
    for window in sorted(windows, key=lambda w: (w.storage, w.begin, w.index)):
        if window.begin == window.end:
            groups.insert(0, [window])
        elif groups and groups[-1][0].storage == window.storage and window.begin < end:
            groups[-1].append(window)
            end = max(end, window.end)
        else:
            groups.append([window])
            end = window.end
    return groups


def _buffer(parameter: KernelParameter, tensor: Any, together: list[_Window]) -> "Buffer":
    """The bytes of some windows, in place. The caller's tensors keep them alive.

    The buffer begins where the storage is aligned, so that sectors are counted as they lie in it.
    """
    from simulator import Buffer

    begin, end = together[0].begin, max(w.end for w in together)
    origin = begin % _ALIGNMENT
    if end > begin:
        memory: Any = (ctypes.c_uint8 * (end - begin + origin)).from_address(
            together[0].storage + begin - origin
        )
        data = np.frombuffer(memory, dtype=np.uint8)
    else:
        data = np.empty(origin, dtype=np.uint8)
    name = parameter.name or f"argument {parameter.index + 1}"
    dtype = dtype_name(tensor)
    element = np.dtype(_STAND_INS.get(dtype, dtype))
    return Buffer(name, data, element=element, origin=origin)


def _settings(cooperative: bool) -> "Settings":
    from simulator import Settings

    changes = launch_settings.simulator_changes(launch_settings.current())
    changes["counters"] = bool(changes["counters"]) or is_recording()
    return Settings(**changes, cooperative=cooperative)  # type: ignore[arg-type]


def _print(output: str) -> None:
    """What the kernel printed, where Python prints."""
    if output:
        sys.stdout.write(output)
        sys.stdout.flush()
