"""CUDA C++ to PTX or machine code by NVRTC, kept in memory and on disk by content.

NVRTC needs neither a GPU nor a driver. It is reached through CuPy's binding, imported when the
first kernel is compiled.
"""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.launching import ptx_cache
from harness.launching.compile_errors import CompileError
from harness.launching.include_paths import headers_version, include_paths
from harness.launching.kernel_source import kernels_in, local_headers
from harness.telling.learner_error import EnvironmentFault

VIRTUAL_ARCHITECTURE = "compute_80"  # what the simulator runs
OPTIONS = ("-lineinfo", "--std=c++17")
_PROGRAM = "kernel.cu"  # NVRTC sees this name, whatever letters the learner's path has
# Beside a driver NVRTC has a cache of its own, and what it finds there comes without a log.
_UNCACHED = "--no-cache"
_FORMAT = "4"  # of what is cached; raise it when `Compiled` or the steps below change
_SIGNATURE = "\ntemplate <typename> __global__ void lesson_signature() {}\n"

_memory: dict[str, "Compiled"] = {}


@dataclass(frozen=True, slots=True)
class Compiled:
    """One file, compiled for one architecture."""

    key: str
    ptx: str
    cubin: bytes  # empty for a virtual architecture
    log: str  # warnings, and ptxas's account of registers if it was asked for
    signatures: dict[str, str]  # kernel -> mangled function type, where the compiler told it


def compile_file(
    path: Path, architecture: str = VIRTUAL_ARCHITECTURE, options: tuple[str, ...] = ()
) -> Compiled:
    """Compile the learner's file as it stands on disk now.

    Raises CompileError, which points at the learner's line.
    """
    try:
        source = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        source = path.read_text(encoding="latin-1")
    headers = local_headers(source, path.parent)
    flags = (f"--gpu-architecture={architecture}", *OPTIONS, *options)
    key = ptx_cache.key_of(
        _FORMAT,
        source,
        repr(sorted(headers.items())),
        repr(flags),
        nvrtc_version(),
        headers_version(),
    )
    if key not in _memory:
        compiled = _read(key) or _compile(key, source, headers, flags, path)
        _memory[key] = compiled
    return _memory[key]


@cache
def nvrtc_version() -> str:
    return ".".join(str(part) for part in _nvrtc().getVersion())


@cache
def supported_architectures() -> tuple[int, ...]:
    """What NVRTC assembles for, as numbers: 90 is sm_90."""
    return tuple(int(number) for number in _nvrtc().getSupportedArchs())


def _read(key: str) -> Compiled | None:
    data = ptx_cache.load(key)
    if data is None:
        return None
    head, _, cubin = data.partition(b"\n")
    try:
        return Compiled(**json.loads(head), cubin=cubin)
    except (ValueError, TypeError):  # cut short by a full disk, or edited
        return None


def _compile(
    key: str, source: str, headers: dict[str, str], flags: tuple[str, ...], path: Path
) -> Compiled:
    """Compile the file with a question about its kernels' types; if that fails, without it."""
    names = kernels_in(source)
    asked = _Program(source + _SIGNATURE, headers, names)
    if not (names and asked.compile(flags)):
        plain = _Program(source, headers, ())
        if not plain.compile(flags):
            raise CompileError(plain.log, path, source)
        asked = plain
    compiled = Compiled(key, asked.ptx(), asked.cubin(flags), asked.log, asked.signatures())
    head = asdict(compiled)
    cubin = head.pop("cubin")
    ptx_cache.store(key, json.dumps(head).encode() + b"\n" + cubin)
    return compiled


class _Program:
    """One NVRTC program, destroyed with the object."""

    def __init__(self, source: str, headers: dict[str, str], names: tuple[str, ...]) -> None:
        self._library = _nvrtc()
        self._expressions = {name: f"lesson_signature<decltype({name})>" for name in names}
        texts = [text.encode() for text in headers.values()]
        names_of_texts = [name.encode() for name in headers]
        self._handle = self._library.createProgram(source, _PROGRAM, texts, names_of_texts)
        for expression in self._expressions.values():
            self._library.addNameExpression(self._handle, expression)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self._library.destroyProgram(self._handle)

    def compile(self, flags: tuple[str, ...]) -> bool:
        folders = tuple(f"-I{folder}" for folder in include_paths())
        try:
            self._library.compileProgram(self._handle, (*flags, *folders, _UNCACHED))
        except self._library.NVRTCError:
            return False
        return True

    @property
    def log(self) -> str:
        return _text(self._library.getProgramLog(self._handle)).strip()

    def ptx(self) -> str:
        return without_signatures(_text(self._library.getPTX(self._handle)))

    def cubin(self, flags: tuple[str, ...]) -> bytes:
        if not flags[0].startswith("--gpu-architecture=sm_"):
            return b""
        return bytes(self._library.getCUBIN(self._handle))

    def signatures(self) -> dict[str, str]:
        return {
            name: _text(self._library.getLoweredName(self._handle, expression))
            for name, expression in self._expressions.items()
        }


def without_signatures(ptx: str) -> str:
    """Drop the empty entries that only carried the kernels' types in their names."""
    kept, entries = [], ptx.split("\t// .weak\t_Z16lesson_signature")
    kept.append(entries[0])
    for entry in entries[1:]:
        kept.append(entry[entry.index("\n}\n") + len("\n}\n") :])
    return "".join(kept)


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace").rstrip("\0") if isinstance(value, bytes) else value


@cache
def _nvrtc() -> Any:
    try:
        from cupy.cuda import nvrtc

        nvrtc.getVersion()  # loads the library
    except Exception as error:  # ImportError, or whatever a half-installed CuPy raises
        raise EnvironmentFault(
            f"the CUDA compiler NVRTC cannot be loaded: {error}",
            expected="CuPy (cupy-cuda13x) and the toolkit's compiler; neither needs a GPU",
            advice='pip install "cupy-cuda13x>=14.2" "cuda-toolkit[nvrtc,cudart,crt,cccl]==13.*"',
        ) from error
    return nvrtc
