"""The Triton part of docs/faults.md: faults of compiled kernels, and what the compiler refuses."""

import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from harness.launching.call_site import shown_path
from harness.triton_driver.compile_errors import TritonCompileError
from tests.triton.programs import uncompilable_python, uncompilable_tiles  # noqa: F401
from tests.triton.programs.every import PROGRAMS
from tests.triton.programs.gallery_entries import ENTRIES, REFUSALS, Entry
from tests.triton.programs.program import Program
from tests.triton.programs.refused import REFUSED
from tests.triton.programs.running import verdict_of

_IMPORTS = "import triton\nimport triton.language as tl\n"
_MARKS = re.compile(r"  # (fault|first|second|both|origin|called|error)$", re.M)
_CALL = re.compile(r"(launched as .* by\n)  .*\n")

_INTRODUCTION = """# Triton

What is told of Triton kernels. They are compiled by Triton itself and run as its code for compute
capability 8.0 would: what a program reads, writes and waits for is found as in CUDA C++, and told
in programs and tiles. Fresh memory, as from `torch.empty`, is known to be fresh inside a lesson's
tests.
"""

_BEFORE_REFUSALS = """# What Triton's compiler refuses

An interpreter takes some of these; the compiler, and so a GPU, takes none.
"""


def part() -> str:
    """The text, as Markdown."""
    told = [_INTRODUCTION, *(_section(entry, _program(entry)) for entry in ENTRIES)]
    return "\n".join([*told, _BEFORE_REFUSALS, *(_section(e, _refusal(e)) for e in REFUSALS)])


def _section(entry: Entry, shown: tuple[str, str]) -> str:
    listing, report = shown
    return "\n".join(
        [
            f"## {entry.title}",
            "",
            entry.means,
            "",
            "```python",
            listing.rstrip("\n"),
            "```",
            "```text",
            report,
            "```",
            "",
            f"**What to do.** {entry.cure}",
            "",
        ]
    )


def _program(entry: Entry) -> tuple[str, str]:
    """A kernel that has a fault, and what is said of it."""
    program = PROGRAMS[entry.program]
    listing = f"# {program.shows}\n{_source(program.kernel)}"
    with _module(listing) as (module, path):
        kernel = getattr(module, program.kernel.fn.__name__)
        fault = verdict_of(kernel, program).fault
        assert fault is not None, f"{program.name} has no fault"
        report = fault.learner_report.replace(shown_path(path), path.name)
    return listing, _CALL.sub(rf"\1  host.py:12    {_call(program)}\n", report)


def _refusal(entry: Entry) -> tuple[str, str]:
    """A kernel that does not compile, and what is said of it."""
    kernel, _, _ = REFUSED[entry.program]
    listing = _source(kernel)
    with _module(listing) as (module, path):
        x = torch.ones(64)
        try:
            getattr(module, kernel.fn.__name__)[(1,)](x, x.clone(), 5, BLOCK=16)
        except TritonCompileError as error:
            return listing, error.learner_report.replace(shown_path(path), path.name)
    raise AssertionError(f"{entry.program} compiles")


def _source(kernel: Any) -> str:
    """The kernel without what only tests read."""
    text = inspect.getsource(kernel.fn)
    return "@triton.jit\n" + _MARKS.sub("", text[text.index("def ") :])


@contextmanager
def _module(listing: str) -> Iterator[tuple[Any, Path]]:
    """kernel.py, holding a listing: the lines that a reader counts are those of the listing."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(listing)
        spec = spec_from_file_location("gallery_kernel", path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        exec(_IMPORTS, vars(module))
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
            yield module, path
        finally:
            del sys.modules[spec.name]


def _call(program: Program) -> str:
    given = program.arguments()
    constants = {name: value for name, value in given.items() if name.isupper()}
    names = [name for name in given if name not in constants]
    shown = ", ".join([*names, *(f"{name}={value}" for name, value in constants.items())])
    return f"{program.kernel.fn.__name__}[{program.grid}]({shown})"
