"""The compiler: NVIDIA's passes for sm_80, up to the PTX and no further, under our own name."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from harness.triton_driver.compiler_output import quiet
from harness.triton_driver.triton_internals import CUDABackend, GPUTarget, JITFunction
from harness.triton_driver.unfilled import note_stages

NAME = "simulator"  # of the target: kernels compiled for it are never mistaken for a GPU's
ARCHITECTURE = 80
WARP = 32
TARGET = GPUTarget(NAME, ARCHITECTURE, WARP)
_FORMAT = "2"  # of what lies in the disk cache; raise it when the stages below change
_compiled: ContextVar[Any] = ContextVar("the kernel that is launched now", default=None)


@contextmanager
def compiling_for(function: Any) -> Iterator[None]:
    """While entered, what is compiled is this JITFunction and what it calls."""
    token = _compiled.set(function)
    try:
        yield
    finally:
        _compiled.reset(token)


def source_files(function: Any) -> list[str]:
    """The files of a JITFunction and of those that it calls, directly or through others."""
    found, ahead = [], [function]
    while ahead:
        jit = ahead.pop()
        found.append(jit)
        reached = (jit.fn.__globals__.get(name) for name in jit.fn.__code__.co_names)
        ahead += [f for f in reached if isinstance(f, JITFunction) and f not in found]
    return sorted({jit.fn.__code__.co_filename for jit in found})


class SimulatorBackend(CUDABackend):  # type: ignore[misc]  # Triton has no types
    """What `backends["nvidia"]` does to a kernel, without the assembler."""

    def __init__(self, target: Any) -> None:
        super().__init__(target)  # asks supports_target
        self.target = GPUTarget("cuda", target.arch, target.warp_size)  # what the passes look at
        self.binary_ext = "ptx"

    @staticmethod
    def supports_target(target: Any) -> bool:
        return bool(target.backend == NAME)

    def hash(self) -> str:
        """Part of the disk cache's key.

        With the files of the source: Triton's own part has its text and first line alone, and
        faults would be told in the file of whoever compiled the same text first.
        """
        kernel = _compiled.get()
        files = source_files(kernel) if kernel else []
        return f"{NAME}-{_FORMAT}-{'|'.join(files)}-{super().hash()}"

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any, *rest: Any) -> None:
        super().add_stages(stages, options, language, *rest)
        after = list(stages).index("ptx") + 1
        for stage in list(stages)[after:]:  # cubin
            del stages[stage]
        note_stages(stages)
        stages.update({name: quiet(stage) for name, stage in stages.items()})
