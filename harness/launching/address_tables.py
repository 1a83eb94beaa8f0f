"""Tables of addresses: a kernel given `torch.tensor([t.data_ptr() for t in tensors])` follows them.

The simulator's memory has addresses of its own. While a kernel runs, a table therefore holds those
of the tensors that it names; afterwards it is as before. The tensors are found among those alive.
"""

import ctypes
import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.launching.tensors import dtype_name, is_tensor

_HIGHEST = 1 << 47  # no process on a 64-bit machine has memory above
_SMALL = 1 << 32
_MOST = 1 << 16  # entries of a table


@dataclass(frozen=True, slots=True)
class AddressTable:
    """An argument that holds addresses.

    index    of the argument
    entries  int64 [entries], the tensor's own memory
    """

    index: int
    entries: NDArray[np.int64]


def address_tables(arguments: Sequence[Any]) -> list[AddressTable]:
    """The integer tensors whose every element, zeros apart, may be an address."""
    lowest = _lowest()
    found = []
    for index, value in enumerate(arguments):
        if not is_tensor(value) or dtype_name(value) not in ("int64", "uint64"):
            continue
        if not 0 < value.numel() <= _MOST or not value.is_contiguous():
            continue
        memory: Any = (ctypes.c_int64 * value.numel()).from_address(value.data_ptr())
        entries = np.frombuffer(memory, dtype=np.int64)
        named = entries[entries != 0]
        if named.size and named.min() >= lowest and named.max() < _HIGHEST:
            found.append(AddressTable(index, entries))
    return found


def tensors_at(addresses: set[int]) -> dict[int, Any]:
    """The live tensor that begins at each address, the largest of several; else one around it.

    Nothing where most of the addresses lead nowhere.
    """
    torch = sys.modules["torch"]
    exact: dict[int, Any] = {}
    around: dict[int, Any] = {}
    wanted = np.sort(np.array(list(addresses), np.int64))
    for tensor in _live_tensors(torch):
        begin = tensor.data_ptr()
        if begin in addresses:
            if begin not in exact or tensor.numel() > exact[begin].numel():
                exact[begin] = tensor
            continue
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
        if start < _SMALL:  # a number as small as this may be inside of one by chance
            continue
        first, last = np.searchsorted(wanted, (start, start + storage.nbytes()))
        around.update(dict.fromkeys(wanted[first:last].tolist(), tensor))
    found = around | exact
    return found if 2 * len(found) >= len(addresses) else {}  # else they are numbers, by chance


def _live_tensors(torch: Any) -> Iterator[Any]:
    """Those on the CPU that have memory, and their gradients."""
    for thing in gc.get_objects():
        kind = type(thing)
        if kind is not torch.Tensor and kind is not torch.nn.Parameter:
            continue
        for tensor in (thing, thing.grad if thing.is_leaf else None):
            if tensor is None or tensor.layout is not torch.strided or not tensor.numel():
                continue
            if tensor.device.type == "cpu" and tensor.data_ptr():
                yield tensor


@cache
def _lowest() -> int:
    """Where allocated memory begins: low, if the interpreter is linked to a fixed address."""
    try:
        with open("/proc/self/maps") as maps:
            starts = [int(line.partition("-")[0], 16) for line in maps if "[heap]" in line]
    except OSError:
        starts = []
    return min(starts, default=1 << 32)


@contextmanager
def translated(tables: Sequence[AddressTable], virtual: Mapping[int, int]) -> Iterator[None]:
    """While entered, the tables hold the simulator's addresses where `virtual` knows them."""
    before = [table.entries.copy() for table in tables]
    inside = []
    for table in tables:
        table.entries[:] = [virtual.get(entry, entry) for entry in table.entries.tolist()]
        inside.append(table.entries.copy())
    try:
        yield
    finally:
        for table, mine, theirs in zip(tables, before, inside, strict=True):
            kept = table.entries == theirs  # the kernel may have written others
            table.entries[kept] = mine[kept]
