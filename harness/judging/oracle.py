"""Runs an oracle apart from the answer: on clones, in float64 and in the tested type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.telling.place import shown

if TYPE_CHECKING:
    import torch

Oracle = Callable[..., Any]  # tensors in, a tensor or a tuple of tensors out


def truth(oracle: Oracle, inputs: tuple[Any, ...]) -> tuple[torch.Tensor, ...]:
    """The oracle of float64 copies. New tensors it makes are float64 as well."""
    import torch

    with _default_type(torch.float64):
        results = as_tuple(oracle(*_mapped(inputs, _as_float64)))
    for result in results:
        if result.is_floating_point() and result.dtype != torch.float64:
            raise TypeError(
                f"the oracle {where(oracle)} returns {result.dtype} for float64 inputs, so it is "
                "no truth; take out the cast, and name the type of the answer in "
                "close(..., dtype=...)"
            )
    return tuple(result.detach() for result in results)


def eager(
    oracle: Oracle, inputs: tuple[Any, ...], dtype: torch.dtype | None
) -> tuple[torch.Tensor, ...]:
    """The oracle as torch runs it in the tested type: the inputs' own, or `dtype`.

    Where torch has no such kernel, its float32 result is rounded once instead.
    """
    import torch

    def as_tested(x: torch.Tensor) -> torch.Tensor:
        return _cast(x, dtype or x.dtype)

    with _full_float32():
        try:
            results = as_tuple(oracle(*_mapped(inputs, as_tested)))
        except RuntimeError as error:
            if "not implemented for" not in str(error):
                raise
            narrow = dtype or _first_floating(inputs)
            wide = as_tuple(oracle(*_mapped(inputs, lambda x: _cast(x, torch.float32))))
            results = tuple(x.to(narrow) if x.is_floating_point() else x for x in wide)
    return tuple(result.detach() for result in results)


def magnitude(oracle: Oracle, inputs: tuple[Any, ...]) -> tuple[torch.Tensor, ...]:
    """The oracle of absolute values: how much a sum, a dot or a GEMM adds up before it cancels."""
    return tuple(
        result.abs()
        for result in truth(lambda *values: oracle(*_mapped(values, _absolute)), inputs)
    )


def as_tuple(result: Any) -> tuple[torch.Tensor, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def where(function: Oracle) -> str:
    """A function's name with its file and line, as far as Python knows them."""
    name = getattr(function, "__name__", type(function).__name__)
    try:
        path = inspect.getsourcefile(function)
        line = inspect.getsourcelines(function)[1]
    except (TypeError, OSError):
        return str(name)
    return f"{name} ({shown(Path(path))}:{line})" if path else str(name)


def _mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same structure with each tensor changed; NumPy scalars become Python's."""
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        changed = [_mapped(item, change) for item in value]
        if isinstance(value, tuple) and hasattr(value, "_fields"):  # a named tuple
            return type(value)(*changed)
        return type(value)(changed)
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    return value


def _cast(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A copy that shares nothing with `x`; only floating tensors change their type."""
    wanted = dtype if x.is_floating_point() else x.dtype
    return x.detach().to(wanted, copy=True).requires_grad_(x.requires_grad)


def _as_float64(x: torch.Tensor) -> torch.Tensor:
    import torch

    return _cast(x, torch.float64)


def _absolute(x: torch.Tensor) -> torch.Tensor:
    return x.abs() if x.is_floating_point() else x


def _first_floating(inputs: Any) -> torch.dtype:
    import torch

    found: list[torch.dtype] = []

    def note(x: torch.Tensor) -> torch.Tensor:
        if x.is_floating_point():
            found.append(x.dtype)
        return x

    _mapped(inputs, note)
    return found[0] if found else torch.float32


@contextmanager
def _default_type(dtype: torch.dtype) -> Iterator[None]:
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def _full_float32() -> Iterator[None]:
    """float32 products in float32, not in TF32, whatever the process allows.

    torch has an older and a newer switch for this, and each refuses to answer once the other was
    used. So the one that answers is used, and only if it has to be turned.
    """
    import torch

    switch: Any = torch.backends.cuda.matmul
    name: str
    full: object
    try:
        name, full = "allow_tf32", False
        before = switch.allow_tf32
    except RuntimeError:
        name, full = "fp32_precision", "ieee"
        before = switch.fp32_precision
    if before != full:
        setattr(switch, name, full)
    try:
        yield
    finally:
        if before != full:
            setattr(switch, name, before)
