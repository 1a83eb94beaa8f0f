"""Fills fresh memory with values that no kernel computes, so that what is never written is seen.

`torch.empty` and its kin promise nothing about what they hold; in a test that is usually zeros, or
the previous test's right answer. Floating tensors get a NaN with a payload of our own, integers
0xCD in each byte.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from harness.judging.operators import Watch
from harness.launching import fresh_memory

PARTIAL_ABOVE = 256 << 20  # bytes; larger buffers on the CPU are poisoned one page in each stretch
STRETCH = 1 << 20  # bytes
PAGE = 4096  # bytes

FRESH = {
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::empty_permuted",
    "aten::new_empty",
    "aten::new_empty_strided",
}

# The bits of each type's poison: a quiet NaN whose payload says where it comes from.
BITS: dict[torch.dtype, np.unsignedinteger[Any]] = {
    torch.float64: np.uint64(0x7FFDCDCDCDCDCDCD),
    torch.float32: np.uint32(0x7FCDCDCD),
    torch.float16: np.uint16(0x7ECD),
    torch.bfloat16: np.uint16(0x7FCD),
    torch.complex128: np.uint64(0x7FFDCDCDCDCDCDCD),
    torch.complex64: np.uint32(0x7FCDCDCD),
    torch.float8_e4m3fn: np.uint8(0x7F),
    torch.float8_e5m2: np.uint8(0x7F),
}
INTEGER_BYTE = 0xCD
_TELLING = 2  # bytes: a shorter element may rightly hold its poison, and so may a short integer

_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Poison(Watch):  # type: ignore[no-untyped-call]  # torch does not type it
    """While entered, whatever `torch.empty` and its kin return holds poison."""

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)  # type: ignore[no-untyped-call]  # torch does not type it
        fresh_memory.forget()

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        schema = getattr(func, "_schema", None)
        if schema is not None and schema.name in FRESH and "out" not in (kwargs or {}):
            fill(result)
        return result


def fill(x: torch.Tensor) -> None:
    """Poison the storage of a fresh tensor, where it has one that we may write."""
    if type(x) is not torch.Tensor or x.layout is not torch.strided or x.numel() == 0:
        return
    if x.is_quantized:
        return
    if x.device.type == "cpu":
        _fill_host_memory(x)
    elif x.device.type == "cuda" and not torch.cuda.is_current_stream_capturing():
        bits = bits_of(x.dtype)
        _as_integers(x, bits.itemsize).fill_(_signed(bits))


def is_poisoned(x: torch.Tensor) -> torch.Tensor:
    """A mask of the elements that still hold the poison; never true of 1-byte integers' values.

    An 8-bit integer may rightly be 0xCD, so a single byte proves nothing.
    """
    if x.dtype in (torch.uint8, torch.int8):
        return torch.zeros(x.shape, dtype=torch.bool, device=x.device)
    if x.is_complex():
        return is_poisoned(torch.view_as_real(x)).any(-1)
    bits = bits_of(x.dtype)
    return _as_integers(x, bits.itemsize) == _signed(bits)


def bits_of(dtype: torch.dtype) -> np.unsignedinteger[Any]:
    """The bit pattern of one poisoned element."""
    if dtype in BITS:
        return BITS[dtype]
    pattern: np.unsignedinteger[Any] = np.frombuffer(
        bytes([INTEGER_BYTE]) * dtype.itemsize, f"u{dtype.itemsize}"
    )[0]
    return pattern


def _fill_host_memory(x: torch.Tensor) -> None:
    # Through NumPy rather than torch: the profiler and other dispatch modes see no extra operator.
    storage = x.untyped_storage()
    bits = bits_of(x.dtype)
    integers = not (x.is_floating_point() or x.is_complex())
    by_chance = bits.itemsize < _TELLING or (integers and bits.itemsize == _TELLING)
    fresh_memory.remember(storage.data_ptr(), bits, by_chance)
    memory = (ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr())
    values = np.ctypeslib.as_array(memory).view(bits.dtype)  # [storage elements]
    if storage.nbytes() <= PARTIAL_ABOVE:
        values[:] = bits
        return
    # Touching each page would commit gigabytes that the test may never use.
    stretch, page = STRETCH // bits.itemsize, PAGE // bits.itemsize
    whole = len(values) // stretch * stretch
    values[:whole].reshape(-1, stretch)[:, :page] = bits
    values[-page:] = bits


def _as_integers(x: torch.Tensor, itemsize: int) -> torch.Tensor:
    plain = torch.view_as_real(x) if x.is_complex() else x
    return plain.view(_SIGNED[itemsize])


def _signed(bits: np.unsignedinteger[Any]) -> int:
    return int(bits.view(f"i{bits.itemsize}"))
