"""The doctor's checks of headers, compilers and simulator: a kernel with a known answer."""

import re
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.commands.doctor import Finding, ok, problem
from harness.launching.compiler import Compiled, compile_file, nvrtc_version
from harness.launching.include_paths import include_paths, package_of
from harness.telling.learner_error import EnvironmentFault, LearnerError

HEADERS = ("cuda_fp16.h", "mma.h", "cooperative_groups.h", "crt/mma.h", "cuda/std/cstdint")

# Sums of 0 .. 99 in blocks of 64: shared memory, a barrier and a shuffle on the way.
KNOWN_SUMS = (2016.0, 2934.0)
KERNEL = """\
#include <cuda_fp16.h>

extern "C" __global__ void known_answer(const float* x, float* sums, int n)
{
    __shared__ float halves[2];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? __half2float(__float2half(x[i])) : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) halves[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = halves[0] + halves[1];
}
"""
_TRITON_KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
"""


def headers(_: Path) -> Iterator[Finding]:
    """The headers that lessons include, and whether they fit the compiler."""
    missing: dict[str, list[str]] = {}
    for header in HEADERS:
        if _folder_of(header) is None:
            missing.setdefault(package_of(header) or "nvidia-cuda-runtime", []).append(header)
    for package, names in missing.items():
        yield problem(
            "headers",
            f"{', '.join(names)} not found",
            f"pip install {package}   (part of cuda-toolkit[nvrtc,cudart,crt,cccl])",
        )
    folder = _folder_of("cuda_fp16.h")
    if folder is None:
        return
    if not missing:
        yield ok("headers", f"{', '.join(HEADERS)} found, the first in {folder}")
    version = toolkit_of(folder)
    compiler = metadata_version("nvidia-cuda-nvrtc")
    if version and compiler and version.split(".")[0] != compiler.split(".")[0]:
        yield problem(
            "headers",
            f"these headers are CUDA {version}, the compiler is CUDA {compiler}",
            'pip install "cuda-toolkit[nvrtc,cudart,crt,cccl]>=13.0,<14", and unset CUDA_HOME',
        )


def _folder_of(header: str) -> Path | None:
    return next((folder for folder in include_paths() if (folder / header).is_file()), None)


def toolkit_of(folder: Path) -> str | None:
    """The CUDA version that a folder of headers belongs to, such as 13.0."""
    try:
        text = (folder / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text)
    return f"{int(found[1]) // 1000}.{int(found[1]) % 1000 // 10}" if found else None


def metadata_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def compiles_cuda(_: Path) -> Iterator[Finding]:
    """Whether NVRTC turns CUDA C++ into PTX here."""
    start = time.perf_counter()
    try:
        known_answer()
    except EnvironmentFault as fault:
        yield problem("CUDA C++", fault.what, fault.advice or "Install what pyproject.toml lists.")
        return
    except LearnerError as error:
        yield problem(
            "CUDA C++",
            f"NVRTC refuses a kernel that is right: {_first_line(str(error))}",
            "Its headers and the compiler may be of different versions; see `headers` above.",
        )
        return
    seconds = time.perf_counter() - start
    yield ok("CUDA C++", f"NVRTC {nvrtc_version()} compiles for sm_80, in {seconds:.1f} s")


def known_answer() -> Compiled:
    """The kernel whose answer is known, compiled as a lesson's would be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "known_answer.cu"
        path.write_text(KERNEL, encoding="utf-8")
        return compile_file(path)


def simulates(_: Path) -> Iterator[Finding]:
    """Whether the simulator gets a known answer right."""
    import numpy as np

    from simulator import Buffer, Pointer, launch, parse

    try:
        ptx = known_answer().ptx
    except Exception:
        return  # said above
    x = np.arange(100, dtype=np.float32)
    sums = np.full(2, np.nan, np.float32)
    start = time.perf_counter()
    launch(
        parse(ptx).entries["known_answer"],
        grid=(2, 1, 1),
        block=(64, 1, 1),
        arguments=[
            Pointer(Buffer("x", x.view(np.uint8), np.dtype(np.float32), read_only=True), 0),
            Pointer(Buffer("sums", sums.view(np.uint8), np.dtype(np.float32)), 0),
            np.int32(len(x)),
        ],
    )
    seconds = time.perf_counter() - start
    if tuple(sums.tolist()) == KNOWN_SUMS:
        yield ok("simulator", f"sums 0 .. 99 in two blocks rightly, in {seconds:.2f} s")
    else:
        yield problem(
            "simulator",
            f"sums 0 .. 99 in two blocks to {sums.tolist()}, not {list(KNOWN_SUMS)}",
            "Files of simulator/ may have changed: git diff simulator",
        )


def simulates_triton(_: Path) -> Iterator[Finding]:
    """Whether Triton compiles here, and the simulator runs what it makes."""
    if find_spec("triton") is None or find_spec("torch") is None:
        return  # said under packages
    start = time.perf_counter()
    try:
        import torch
        import triton

        import harness.triton_driver  # noqa: F401

        x = torch.arange(100, dtype=torch.float32)
        with tempfile.TemporaryDirectory() as folder:
            _kernel_of(Path(folder))[(2,)](x, 100, BLOCK=64)
    except EnvironmentFault as fault:
        yield problem("Triton", fault.what, fault.advice or "Install what pyproject.toml lists.")
        return
    seconds = time.perf_counter() - start
    shown = f"Triton {triton.__version__}"
    if torch.equal(x, torch.arange(1, 101, dtype=torch.float32)):
        yield ok("Triton", f"{shown} compiles for sm_80, and that runs here, in {seconds:.1f} s")
    else:
        yield problem(
            "Triton",
            f"{shown}: a kernel that adds 1 to 0 .. 99 left {x[:4].tolist()} …",
            "Files of simulator/ or harness/triton_driver/ may have changed: git diff",
        )


def _kernel_of(folder: Path) -> Any:
    """Triton reads a kernel's source from its file."""
    from importlib.util import module_from_spec, spec_from_file_location

    path = folder / "doctor_add_one.py"
    path.write_text(_TRITON_KERNEL, encoding="utf-8")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.add_one


def _first_line(text: str) -> str:
    return (text.splitlines() or [""])[0]
