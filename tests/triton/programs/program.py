"""One program: a kernel, its launch, and what must be said of it."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from simulator import FaultKind

PROGRAMS: dict[str, "Program"] = {}


@dataclass(frozen=True, eq=False)
class Program:
    """What to launch, and the verdict.

    arguments  makes them anew: a tensor or a number for each parameter, tl.constexpr too
    results    what tensors must hold afterwards, where the program is right
    kind       of the fault, where it is wrong
    place      what is touched, as a report writes it: "x[100]", or only "x["
    advice     what the report must advise
    settings   of every launch: resident_blocks
    """

    name: str
    kernel: Any
    grid: tuple[int, ...]
    arguments: Callable[[], dict[str, Any]]
    results: Mapping[str, torch.Tensor] = field(default_factory=dict)
    kind: FaultKind | None = None
    place: str = ""
    advice: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shows(self) -> str:
        """The sentence in front of the kernel."""
        lines, first = inspect.getsourcelines(self.kernel.fn)
        module = inspect.getsource(inspect.getmodule(self.kernel.fn)).split("\n")
        at = first - 2  # in the module's lines, from 0 on: the one before the decorators
        while module[at].startswith("@"):
            at -= 1
        start = at
        while module[start].startswith("# "):
            start -= 1
        return " ".join(line[2:] for line in module[start + 1 : at + 1])

    def marked(self, mark: str) -> set[int]:
        """The lines, of the kernel and of the functions that it calls, that end in `# mark`."""
        return {
            line
            for function in (self.kernel, *_helpers(self.kernel))
            for line, text in _lines(function)
            if re.search(rf"# {mark}$", text)
        }


def right(grid: tuple[int, ...], arguments: Callable, results: Mapping, **more: Any) -> Callable:
    """Of a kernel that has no fault with these arguments."""
    return lambda kernel: _added(kernel, grid, arguments, results=results, **more)


def wrong(kind: FaultKind, grid: tuple[int, ...], arguments: Callable, **more: Any) -> Callable:
    """Of a kernel that has a fault of this kind."""
    return lambda kernel: _added(kernel, grid, arguments, kind=kind, **more)


def _added(kernel: Any, grid: tuple[int, ...], arguments: Callable, name: str = "", **more: Any):
    name = name or kernel.fn.__name__
    assert name not in PROGRAMS, name
    PROGRAMS[name] = Program(name, kernel, grid, arguments, **more)
    return kernel


def _lines(function: Any) -> list[tuple[int, str]]:
    lines, first = inspect.getsourcelines(function.fn)
    return [(first + k, text.rstrip()) for k, text in enumerate(lines)]


def _helpers(kernel: Any) -> list[Any]:
    """The jit functions of the same file that a kernel calls, directly or through others."""
    found, ahead = [], [kernel]
    while ahead:
        function = ahead.pop().fn
        for name in function.__code__.co_names:
            helper = function.__globals__.get(name)
            if hasattr(helper, "fn") and helper not in found:
                found.append(helper)
                ahead.append(helper)
    return found


def counted(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """1, 2, 3 …: no two alike, and none of them what fresh memory holds."""
    count = torch.Size(shape).numel()
    return torch.arange(1, count + 1).reshape(shape).to(dtype)
