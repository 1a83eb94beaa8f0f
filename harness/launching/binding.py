"""Tensors become the simulator's buffers, in place: each has its own elements for bounds."""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.launching.address_tables import address_tables, tensors_at, translated
from harness.launching.fresh_memory import unwritten_bits
from harness.launching.signature import KernelParameter
from harness.launching.tensors import dtype_name, is_tensor

if TYPE_CHECKING:
    from simulator import AddressMap, Buffer, Pointer

_ALIGNMENT = 256  # bytes: where CUDA's allocations, and so storages, begin
_WORD = 4  # bytes


@contextmanager
def bound(
    parameters: Sequence[KernelParameter], arguments: Sequence[Any], memory: "AddressMap"
) -> Iterator[list["Pointer | None | np.generic"]]:
    """Tensors as pointers into buffers, everything else as it is.

    What lies beyond a tensor belongs to somebody else, though a view's storage may go on. Tensors
    that overlap share a buffer. So do those that a table of addresses names: they are in `memory`.
    """
    from simulator import Pointer

    result = list(arguments)
    windows = [
        _window(p.name or f"argument {p.index + 1}", p.index, v, p.read_only)
        for p, v in zip(parameters, arguments, strict=True)
        if is_tensor(v)
    ]
    tables = address_tables(arguments)
    if tables:
        windows += _named_by(tables, parameters)
    virtual: dict[int, int] = {}
    for together in _overlapping(windows):
        first = together[0]
        buffer = _buffer(together)
        for window in together:
            offset = buffer.origin + window.begin - first.begin
            if window.index is not None:
                result[window.index] = Pointer(buffer, offset)
            virtual |= {
                entry: memory.base(buffer) + offset + entry - window.storage - window.begin
                for entry in window.entries
            }
    if tables:
        with translated(tables, virtual):
            yield result
    else:
        yield result


@dataclass(frozen=True, slots=True)
class _Window:
    """The bytes of a storage from a tensor's first element to the end of its last.

    index    of the argument; None for a tensor that a table of addresses names
    entries  the addresses of the tables that mean this window
    """

    name: str
    index: int | None
    tensor: Any
    read_only: bool
    storage: int  # its address; 0 if it is empty
    begin: int
    end: int
    entries: tuple[int, ...] = ()


def _window(
    name: str, index: int | None, tensor: Any, read_only: bool, entries: tuple[int, ...] = ()
) -> _Window:
    begin = tensor.storage_offset() * tensor.element_size()
    end = begin
    if tensor.numel():
        steps = zip(tensor.shape, tensor.stride(), strict=True)
        end += (sum((size - 1) * step for size, step in steps) + 1) * tensor.element_size()
    storage = tensor.untyped_storage().data_ptr()
    return _Window(name, index, tensor, read_only, storage, begin, end, entries)


def _named_by(tables: Sequence[Any], parameters: Sequence[KernelParameter]) -> list[_Window]:
    """The tensors that tables of addresses name: `parts[2]` is what the third entry leads to."""
    windows = []
    entries = {
        entry: f"{parameters[table.index].name}[{place}]"
        for table in reversed(tables)
        for place, entry in reversed([*enumerate(table.entries.tolist())])
    }
    for entry, tensor in tensors_at(set(entries) - {0}).items():
        if tensor.data_ptr() == entry:
            windows.append(_window(entries[entry], None, tensor, False, (entry,)))
        else:  # somewhere inside a storage: its bounds are what is known
            whole = tensor.new_empty(0).set_(tensor.untyped_storage())
            windows.append(_window(entries[entry], None, whole, False, (entry,)))
    return windows


def _overlapping(windows: list[_Window]) -> list[list[_Window]]:
    """Groups that share bytes, directly or through a third, each by rising begin."""
    groups: list[list[_Window]] = []
    end = 0
    for window in sorted(windows, key=lambda w: (w.storage, w.begin, w.index is None)):
        if window.begin == window.end:
            groups.insert(0, [window])
        elif groups and groups[-1][0].storage == window.storage and window.begin < end:
            groups[-1].append(window)
            end = max(end, window.end)
        else:
            groups.append([window])
            end = window.end
    return groups


def _buffer(together: list[_Window]) -> "Buffer":
    """The bytes of some windows, in place. The caller's tensors keep them alive.

    The buffer begins where the storage is aligned, so that sectors are counted as they lie in it,
    and ends with a whole word: allocators give no less.
    """
    from simulator import Buffer

    first, end = together[0], max(w.end for w in together)
    origin = first.begin % _ALIGNMENT
    padding = 0
    if end > first.begin:
        padding = -end % _WORD
        memory: Any = (ctypes.c_uint8 * (end + padding - first.begin + origin)).from_address(
            first.storage + first.begin - origin
        )
        data = np.frombuffer(memory, dtype=np.uint8)
    else:
        data = np.empty(origin, dtype=np.uint8)
    element, opaque = _element(first.tensor)
    return Buffer(
        first.name,
        data,
        element=element,
        read_only=all(w.read_only for w in together),
        origin=origin,
        padding=padding,
        opaque=opaque,
        unwritten=unwritten_bits(first.storage),
    )


def _element(tensor: Any) -> "tuple[np.dtype[Any], bool]":
    """A tensor's dtype; where NumPy has none of that name, what holds its bits, and True."""
    try:
        return np.dtype(dtype_name(tensor)), False
    except TypeError:  # bfloat16 and those of 8 bits
        return np.dtype(f"u{tensor.element_size()}"), True
