"""Triton's arguments as the PTX wants them: no constexpr, no tuples, scalars of their size."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.launching.signature import KernelParameter
from harness.launching.tensors import is_tensor

_SCALARS: dict[str, type[np.generic]] = {
    "i1": np.bool_,
    "u1": np.bool_,
    "fp16": np.float16,
    "fp32": np.float32,
    "f32": np.float32,
    "fp64": np.float64,
    **{f"i{8 * size}": np.dtype(f"i{size}").type for size in (1, 2, 4, 8)},
    **{f"u{8 * size}": np.dtype(f"u{size}").type for size in (1, 2, 4, 8)},
}


@dataclass(frozen=True, slots=True)
class Flat:
    """One argument of the compiled kernel."""

    name: str  # "x", "pair[1]", "descriptor.shape[0]"
    type: str  # Triton's: "*fp32", "i32"
    value: Any


def flattened(names: Sequence[str], types: Sequence[Any], values: Sequence[Any]) -> list[Flat]:
    """What is left of the arguments at run time, in the order of the PTX parameters."""
    found: list[Flat] = []
    for name, type_, value in zip(names, types, values, strict=True):
        found += _parts(name, type_, value)
    return found


def _parts(name: str, type_: Any, value: Any) -> Iterator[Flat]:
    if type_ == "constexpr":
        return
    if isinstance(type_, tuple):
        for index, (part, part_type) in enumerate(zip(value, type_, strict=True)):
            yield from _parts(f"{name}[{index}]", part_type, part)
    elif type_.startswith("tensordesc"):
        yield from _descriptor(name, type_, value)
    else:
        yield Flat(name, type_, value)


def _descriptor(name: str, type_: str, value: Any) -> Iterator[Flat]:
    """A host descriptor where the target has no TMA: base, shape, strides, flags, and again."""
    sizes = [Flat(f"{name}.shape[{i}]", "i64", size) for i, size in enumerate(value.shape)]
    strides = [Flat(f"{name}.strides[{i}]", "i64", step) for i, step in enumerate(value.strides)]
    element = type_.partition("<")[2].partition("[")[0]
    yield Flat(f"{name}.base", f"*{element}", value.base)
    yield from (*sizes, *strides)
    yield Flat(f"{name}.padding", "i1", value.padding == "nan")
    if hasattr(value, "round_f32_to_tf32"):  # from Triton 3.7 on
        yield Flat(f"{name}.round_f32_to_tf32", "i1", value.round_f32_to_tf32)
    yield from (Flat(size.name, "i32", size.value) for size in sizes)
    yield from strides


def passed(argument: Flat) -> Any:
    """A tensor or None for a pointer, else a NumPy scalar."""
    value = argument.value
    if argument.type.startswith("*"):
        return value if value is None or is_tensor(value) else _tensor_of(value)
    if argument.type == "bf16":  # Triton's launcher for GPUs cuts the lower half off too
        return (np.float32(value).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return np.array(value).astype(_SCALARS[argument.type])[()]


def _tensor_of(value: Any) -> Any:
    """The tensor in a wrapper such as `triton.reinterpret` makes."""
    return value.base


def parameter(argument: Flat, index: int, bytes_: int) -> KernelParameter:
    text = f"{argument.name}: {argument.type}"
    return KernelParameter(argument.name, index, bytes_, None, text)
