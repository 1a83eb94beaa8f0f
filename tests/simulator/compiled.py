"""CUDA C++ source to a kernel, and its launch on NumPy arrays."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from harness.launching.compiler import VIRTUAL_ARCHITECTURE, compile_file
from simulator import Buffer, Entry, KernelFault, Pointer, Settings, launch, parse


@dataclass(frozen=True)
class Kernel:
    source: str
    entry: Entry
    names: tuple[str, ...]  # of the parameters, as the source spells them

    def line(self, text):
        """The number of the one source line that contains `text`."""
        found = [n for n, line in enumerate(self.source.split("\n"), 1) if text in line]
        assert len(found) == 1, f"{text!r} stands on the lines {found}"
        return found[0]


def loaded(source, name=None, architecture=VIRTUAL_ARCHITECTURE, options=()):
    """The kernel of a module of its own, whose variables nobody has changed yet."""
    module = parse(ptx_of(source, architecture, options))
    return kernel_of(module, source, name)


@cache
def compiled(source, name=None, architecture=VIRTUAL_ARCHITECTURE, options=()):
    """The kernel of a source file; `name` says which where there are several."""
    return loaded(source, name, architecture, options)


def kernel_of(module, source, name=None):
    entry = module.entries[name] if name else next(iter(module.entries.values()))
    head = re.search(rf"\b{entry.name}\s*\(([^)]*)\)", source)[1]
    names = tuple(re.search(r"(\w+)\s*$", p)[1] for p in head.split(",") if p.strip())
    return Kernel(source, entry, names)


@cache
def ptx_of(source, architecture=VIRTUAL_ARCHITECTURE, options=()):
    with TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cu")
        path.write_text(source)
        return compile_file(path, architecture, options).ptx


def written(body, parameters="", registers=(), before=""):
    """A kernel `k` in PTX, written by hand where a test must know every instruction."""
    declared = "".join(f".reg .{type_} {name};" for type_, name in registers)
    text = f"{before}\n.visible .entry k({parameters})\n{{\n{declared}\n{body}\n}}"
    return Kernel(text, parse(text).entries["k"], ())


def run(kernel, grid, block, *arguments, shared_bytes=0, observers=(), **settings):
    """Launch; arrays are changed in place, Python numbers become 32-bit ones."""
    return launch(
        kernel.entry,
        _three(grid),
        _three(block),
        list(_bound(kernel, arguments)),
        shared_bytes,
        Settings(**settings),
        observers,
    )


def fault(kernel, grid, block, *arguments, **settings):
    """The fault of a launch that must have one."""
    with pytest.raises(KernelFault) as caught:
        run(kernel, grid, block, *arguments, **settings)
    return caught.value


def _three(sizes):
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    return sizes + (1,) * (3 - len(sizes))


def _bound(kernel, arguments):
    buffers = {}
    for number, value in enumerate(arguments):
        if isinstance(value, np.ndarray):
            name = kernel.names[number] if number < len(kernel.names) else f"argument {number}"
            if id(value) not in buffers:
                data = value.reshape(-1).view(np.uint8)
                buffers[id(value)] = Buffer(name, data, value.dtype)
            yield Pointer(buffers[id(value)])
        elif isinstance(value, float):
            yield np.float32(value)
        else:
            yield np.int32(value) if isinstance(value, int) else value
