"""Record what one version of NVRTC makes of the golden sources, as test data.

    python benchmarks/record_golden_ptx.py --compiler FOLDER --headers FOLDER [NAME ...]

    --compiler  NVRTC's shared library, or a folder that holds one: an installed or unpacked wheel
    --headers   a folder with CUDA's headers of that version, at any depth; may be given again
    NAME        sources to compile, such as `shuffles`; all of them by default

Reads tests/simulator/golden/sources/*.cu and writes tests/simulator/golden/nvrtc_<version>/*.ptx,
compiled as the harness compiles a learner's file. No GPU and no driver are needed. For a version
other than the installed one, its wheels need only be unpacked:

    pip download --no-deps nvidia-cuda-{nvrtc,runtime,nvcc,cccl}-cu12==12.9.*
"""

import argparse
import ctypes
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.launching.compiler import OPTIONS, VIRTUAL_ARCHITECTURE

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "simulator" / "golden"
SOURCES = GOLDEN / "sources"
_LIBRARY = re.compile(r"libnvrtc\.so[.\d]*$|nvrtc64_\d+_\d\.dll$")
# One header of each: the toolkit's runtime, its compiler, libcu++ and CUB.
_HEADERS = ("cuda_fp16.h", "crt/host_defines.h", "cuda/std/version", "cub/version.cuh")
_FILE_NAME = re.compile(r'^(\s*\.file\s+\d+\s+)"(?:[^"\n]*[\\/])?([^"\\/\n]+)"', re.M)
_GLOBAL = re.compile(r"^\.global [^\n;]*?([\w$]+)(?:\[\d*\])?(?: = [^\n;]*)?;\n", re.M)
# Headers bring hundreds of variables that no kernel names, 90 KB a file: once is enough.
_WITH_ALL_VARIABLES = "cooperative_grids"


class CompilationFailed(Exception):
    """A golden source does not compile; the text is the compiler's log."""


class Compiler:
    """One NVRTC library, called without any binding."""

    def __init__(self, library: Path, folders: Sequence[Path]) -> None:
        self._library = ctypes.CDLL(str(library))
        self._folders = folders

    @property
    def version(self) -> tuple[int, int]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        return major.value, minor.value

    def ptx(self, name: str, source: str) -> str:
        """Compile the text of a file called `name`."""
        program = ctypes.c_void_p()
        self._check(
            self._library.nvrtcCreateProgram(
                ctypes.byref(program), source.encode(), name.encode(), 0, None, None
            )
        )
        try:
            options = [
                f"--gpu-architecture={VIRTUAL_ARCHITECTURE}",
                *OPTIONS,
                *(f"-I{folder}" for folder in self._folders),
            ]
            texts = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
            if self._library.nvrtcCompileProgram(program, len(options), texts):
                raise CompilationFailed(self._text(program, "ProgramLog"))
            return self._text(program, "PTX")
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        self._check(getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._library, f"nvrtcGet{what}")(program, text))
        return text.value.decode()

    def _check(self, status: int) -> None:
        if status:
            self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(self._library.nvrtcGetErrorString(status).decode())


def library_in(place: Path) -> Path:
    """NVRTC's shared library: the path itself, or the one that lies somewhere below it."""
    if place.is_file():
        return place
    found = sorted(p for p in place.rglob("*nvrtc*") if _LIBRARY.search(p.name) and p.is_file())
    if not found:
        raise SystemExit(f"no NVRTC library below {place}")
    return found[-1]


def header_folders(places: Sequence[Path]) -> list[Path]:
    """Every folder below `places` from which one of the known headers can be included."""
    found = []
    for header in _HEADERS:
        hits = [path for place in places for path in sorted(place.rglob(header))]
        if not hits:
            raise SystemExit(f"no folder given to --headers holds {header}")
        found.append(hits[0].parents[header.count("/")])
    return list(dict.fromkeys(found))


def stored(name: str, ptx: str) -> str:
    """The text as it is kept: files by their bare names, without what nobody names."""
    ptx = _FILE_NAME.sub(r'\1"\2"', ptx)
    if name == _WITH_ALL_VARIABLES:
        return ptx
    words = Counter(re.findall(r"[\w$]+", ptx))
    return _GLOBAL.sub(lambda found: found[0] if words[found[1]] > 1 else "", ptx)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--compiler", type=Path, required=True)
    parser.add_argument("--headers", type=Path, action="append", required=True)
    parser.add_argument("names", nargs="*", metavar="NAME")
    wanted = parser.parse_args()
    compiler = Compiler(library_in(wanted.compiler), header_folders(wanted.headers))
    folder = GOLDEN / "nvrtc_{}_{}".format(*compiler.version)
    folder.mkdir(exist_ok=True)
    names = wanted.names or sorted(path.stem for path in SOURCES.glob("*.cu"))
    for name in names:
        source = (SOURCES / f"{name}.cu").read_text(encoding="utf-8")
        try:
            text = stored(name, compiler.ptx(f"{name}.cu", source))
        except CompilationFailed as failed:
            raise SystemExit(f"{name}.cu does not compile:\n{failed}") from None
        (folder / f"{name}.ptx").write_text(text, encoding="utf-8")
        print(f"{folder.name}/{name}.ptx  {len(text):,} bytes", flush=True)


if __name__ == "__main__":
    main()
