"""Where CUDA's headers lie on this machine, and which package brings a missing one."""

import os
import site
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# header as a kernel includes it -> the pip package that ships it
PACKAGES = {
    "cuda_fp16.h": "nvidia-cuda-runtime",
    "cuda_bf16.h": "nvidia-cuda-runtime",
    "cuda_fp8.h": "nvidia-cuda-runtime",
    "mma.h": "nvidia-cuda-runtime",
    "cooperative_groups.h": "nvidia-cuda-runtime",
    "crt/": "nvidia-cuda-crt",
    "cooperative_groups/": "nvidia-cuda-runtime",
    "cuda_": "nvidia-cuda-runtime",
    "cuda/": "nvidia-cuda-cccl",
    "cub/": "nvidia-cuda-cccl",
    "thrust/": "nvidia-cuda-cccl",
    "nv/": "nvidia-cuda-cccl",
}
_MARKERS = ("cuda_runtime_api.h", "cuda_fp16.hpp", "crt/mma.h", "cuda/std/__cccl/version.h")


@cache
def include_paths() -> tuple[Path, ...]:
    """The toolkit wheels' folders, then Triton's, then CUDA_HOME's; only those that exist."""
    found: list[Path] = []
    for packages in _package_folders():
        toolkit = packages / "nvidia" / "cu13" / "include"
        found += [toolkit, toolkit / "cccl"]
    triton = find_spec("triton")  # finds the folder without importing it
    if triton is not None and triton.origin is not None:
        found.append(Path(triton.origin).parent / "backends" / "nvidia" / "include")
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            found += [Path(home) / "include", Path(home) / "include" / "cccl"]
    return tuple(dict.fromkeys(path for path in found if path.is_dir()))


@cache
def headers_version() -> str:
    """Changes whenever the headers on this machine do: part of the cache's key."""
    marks = []
    for folder in include_paths():
        for name in _MARKERS:
            try:
                status = (folder / name).stat()
            except OSError:
                continue
            marks.append(f"{name}:{status.st_size}:{status.st_mtime_ns}")
    return " ".join(marks)


def package_of(header: str) -> str | None:
    """The pip package that ships a CUDA header, or None if it is not one of CUDA's."""
    longest = max((p for p in PACKAGES if header.startswith(p)), key=len, default=None)
    return PACKAGES[longest] if longest else None


def _package_folders() -> list[Path]:
    folders = [*site.getsitepackages(), site.getusersitepackages(), *sys.path]
    return [Path(folder) for folder in dict.fromkeys(folders) if folder]
