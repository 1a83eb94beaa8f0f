"""Whether the arguments of a launch are what the kernel declares; the same rules on both devices.

CuPy would pass whatever bytes it is given. Here a mismatch is refused, with the line to write.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from harness.launching.call_site import CallSite, call_site
from harness.launching.element_types import (
    c_name,
    scalar_dtype,
    takes_scalar,
    takes_tensor,
    tensor_dtype,
)
from harness.launching.signature import KernelParameter, Signature
from harness.launching.tensors import dtype_name, is_tensor
from harness.telling.learner_error import LaunchError


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why one argument does not fit its parameter."""

    what: str
    expected: str
    advice: str


def check_arguments(signature: Signature, arguments: Sequence[Any]) -> None:
    """Raise LaunchError, naming the first argument that does not fit."""
    site: CallSite | None = None
    if len(arguments) != len(signature.parameters):
        site = call_site()
        raise LaunchError(
            f"{signature.kernel} takes {len(signature.parameters)} arguments, not {len(arguments)}",
            where=str(site),
            expected=str(signature),
            advice=_count_advice(signature, arguments, site),
        )
    for parameter, value in zip(signature.parameters, arguments, strict=True):
        if _fits(parameter, value):
            continue
        site = call_site()
        written = site.argument(
            parameter.index, parameter.name or f"argument {parameter.index + 1}"
        )
        mismatch = _mismatch(parameter, value, written)
        swap = _swapped(signature, arguments)
        raise LaunchError(
            f"{signature.kernel}: {mismatch.what}",
            where=str(site),
            expected=mismatch.expected,
            advice=swap or mismatch.advice,
        )


def _fits(parameter: KernelParameter, value: Any) -> bool:
    """Whether kind, dtype, size and layout agree. The same questions as in `_mismatch`."""
    if is_tensor(value):
        if parameter.pointer is False or not value.is_contiguous():
            return False
        pointee = parameter.type.pointee if parameter.type else None
        return pointee is None or takes_tensor(pointee, dtype_name(value))
    if value is None:
        return parameter.pointer is not False
    if isinstance(value, np.generic):
        if parameter.pointer:
            return False
        if parameter.type is None:
            return value.dtype.itemsize == parameter.bytes
        return takes_scalar(parameter.type, parameter.bytes, value)
    return False


def _mismatch(parameter: KernelParameter, value: Any, written: str) -> Mismatch:
    declares = f"the kernel declares `{parameter.text}`"
    if is_tensor(value):
        return _tensor_mismatch(parameter, value, written, declares)
    if value is None:
        return Mismatch(
            f"{parameter.shown} is None, but {declares}",
            "None stands for a null pointer only",
            f"pass a value: {_scalar_line(parameter, '0')}",
        )
    if isinstance(value, np.ndarray):
        return Mismatch(
            f"{parameter.shown} is a NumPy array, but {declares}",
            "memory arrives as torch tensors, single values as NumPy scalars",
            f"torch.from_numpy({written})"
            if parameter.pointer is not False
            else _scalar_line(parameter, f"{written}.item()"),
        )
    if parameter.pointer:
        return Mismatch(
            f"{parameter.shown} is {_described(value)}, but {declares}, a pointer",
            "a tensor, or None for a null pointer",
            "pass the tensor itself; check the order of the arguments",
        )
    if isinstance(value, np.generic):
        return Mismatch(
            f"{parameter.shown} is np.{value.dtype.name}, but {declares}",
            f"{_bytes(parameter)} with the same meaning on both sides",
            _scalar_line(parameter, _without_wrapper(written)),
        )
    if isinstance(value, (bool, int, float)):
        return Mismatch(
            f"{parameter.shown} is {_described(value)}, but {declares}",
            f"a NumPy scalar of {_bytes(parameter)}; a Python number has no fixed size",
            _scalar_line(parameter, written),
        )
    return Mismatch(
        f"{parameter.shown} is a {type(value).__name__}, but {declares}",
        "a torch tensor for a pointer, a NumPy scalar for a value",
        _scalar_line(parameter, written) if parameter.pointer is False else "pass a torch tensor",
    )


def _tensor_mismatch(
    parameter: KernelParameter, value: Any, written: str, declares: str
) -> Mismatch:
    if parameter.pointer is False:
        advice = _scalar_line(parameter, f"{written}.item()")
        return Mismatch(
            f"{parameter.shown} is a tensor, but {declares}, a single value",
            f"a NumPy scalar of {_bytes(parameter)}",
            advice if value.numel() == 1 else "check the order of the arguments",
        )
    pointee = parameter.type.pointee if parameter.type else None
    given = dtype_name(value)
    if pointee is not None and not takes_tensor(pointee, given):
        wanted = tensor_dtype(pointee)
        sizes = "" if pointee.name == c_name(given) else f" ({value.element_size()} bytes each)"
        return Mismatch(
            f"{parameter.shown} is a torch.{given} tensor{sizes}, but {declares}",
            f"elements of torch.{wanted}; the kernel would read other bytes than you mean",
            f"{written}.to(torch.{wanted}) on the host, or `{c_name(given)}` in the kernel",
        )
    return Mismatch(
        f"{parameter.shown} is a view that is not contiguous: "
        f"shape {tuple(value.shape)}, strides {tuple(value.stride())}",
        "a kernel gets the address of the first element and knows nothing of strides",
        f"{written}.contiguous(), a copy; write results into a contiguous tensor and copy back",
    )


def _scalar_line(parameter: KernelParameter, written: str) -> str:
    wanted = scalar_dtype(parameter.type) if parameter.type else None
    if wanted is None:
        wanted = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}.get(parameter.bytes)
    if wanted is None:
        return f"np.void of {parameter.bytes} bytes: the struct as one record"
    name = "bool_" if wanted == "bool" else wanted
    return f"np.{name}({written})"


def _without_wrapper(written: str) -> str:
    """`np.float64(a)` -> `a`, so that advice does not wrap twice."""
    head, bracket, rest = written.partition("(")
    return (
        rest[:-1]
        if bracket and head.startswith(("np.", "numpy.")) and rest[-1:] == ")"
        else written
    )


def _bytes(parameter: KernelParameter) -> str:
    return "1 byte" if parameter.bytes == 1 else f"{parameter.bytes} bytes"


def _described(value: Any) -> str:
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({value})"
    article = "an" if isinstance(value, int) and not isinstance(value, bool) else "a"
    return f"{article} {type(value).__name__} of Python ({value!r})"


def _swapped(signature: Signature, arguments: Sequence[Any]) -> str | None:
    """Name two arguments that would make everything fit if they changed places."""
    judged = [p.index for p in signature.parameters if not _takes_any_tensor(p)]
    for one, other in combinations(judged, 2):
        tried = list(arguments)
        tried[one], tried[other] = tried[other], tried[one]
        if all(_fits(p, v) for p, v in zip(signature.parameters, tried, strict=True)):
            first, second = signature.parameters[one], signature.parameters[other]
            return f"{first.shown} and {second.shown} look swapped"
    return None


def _takes_any_tensor(parameter: KernelParameter) -> bool:
    """A pointer to void, a struct or the unknown: that a tensor fits there proves nothing."""
    if parameter.type is None:
        return parameter.pointer is not False
    return parameter.type.pointee is not None and tensor_dtype(parameter.type.pointee) is None


def _count_advice(signature: Signature, arguments: Sequence[Any], site: CallSite) -> str:
    """Find the one parameter whose absence explains the rest, or the one argument too many."""
    parameters = signature.parameters
    if len(arguments) == len(parameters) - 1:
        for left_out in parameters[::-1]:
            others = [p for p in parameters if p is not left_out]
            if all(_fits(p, v) for p, v in zip(others, arguments, strict=True)):
                return f"add {left_out.shown}: `{left_out.text}`"
    if len(arguments) == len(parameters) + 1:
        for extra in reversed(range(len(arguments))):
            tried = [v for i, v in enumerate(arguments) if i != extra]
            if all(_fits(p, v) for p, v in zip(parameters, tried, strict=True)):
                return f"leave out {site.argument(extra, f'argument {extra + 1}')}"
    return "pass one argument for each parameter, in the kernel's order"
