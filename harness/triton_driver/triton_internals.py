"""All that we touch inside Triton, in one place; tests/triton/test_driver_canary.py watches it.

The comments say what each name is for. Triton's own comments promise nothing about any of them.
"""

from typing import Any

import triton
from triton import knobs
from triton.backends import Backend, backends  # the registry: name -> (compiler, driver)
from triton.backends.compiler import GPUTarget  # (backend name, architecture, warp size)
from triton.backends.driver import DriverBase  # what a driver must be able to do
from triton.backends.nvidia.compiler import CUDABackend  # the passes from Python to PTX
from triton.compiler.errors import CompilationError  # .src, .node, .error_message, its cause
from triton.runtime import _allocation  # memory that a kernel asks for beside its arguments
from triton.runtime.autotuner import Autotuner
from triton.runtime.cache import FileCacheManager  # the files of one compiled kernel
from triton.runtime.driver import driver as driver_config  # .active is who launches
from triton.runtime.errors import OutOfResources  # too much shared memory, too many threads
from triton.runtime.jit import JITFunction, KernelInterface  # kernel[grid] is __getitem__

__all__ = [
    "Autotuner",
    "Backend",
    "CUDABackend",
    "CompilationError",
    "DriverBase",
    "FileCacheManager",
    "GPUTarget",
    "JITFunction",
    "KernelInterface",
    "OutOfResources",
    "backends",
    "driver_config",
    "global_scratch_allocator",
    "knobs",
    "version",
]

version: str = triton.__version__


def global_scratch_allocator() -> Any:
    """What `triton.set_allocator` set: (bytes, alignment, stream) -> tensor."""
    return _allocation._allocator.get()
