"""Store what the installed Triton makes of the kernels of tests/triton: their PTX and launches.

    python benchmarks/triton_agreement_ptx.py

Writes tests/triton/golden/. No GPU is needed. The stored text is what both the GPU and the
simulator run: after a change to a kernel of tests/triton/kernels, what a GPU makes of it must be
recorded again (benchmarks/record_triton_agreement.py). A newer Triton alone is no reason to.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import simulator  # noqa: E402
from tests.triton.cases import Case, Memory, cases  # noqa: E402
from tests.triton.stored import FOLDER, LAUNCHES, StoredLaunch  # noqa: E402

# Triton describes inlined functions in sections that its lines refer to: both or none.
_LINES = re.compile(r"^\s*(?:\.loc|\.file)\s.*\n", re.M)
_SECTIONS = re.compile(r"^\t\.section\t\.debug_\w+\s*\{.*?\}\n", re.M | re.S)
_REMARKS = re.compile(r"[ \t]*//.*$", re.M)
# A driver refuses PTX of a version that is newer than itself, whatever the PTX uses. This one is
# the oldest that has .pragma "used_bytes_mask".
_OLD_ENOUGH = "8.3"


class Watch:
    """What the driver loads and launches while a case runs."""

    def __init__(self) -> None:
        self.ptx: dict[int, str] = {}  # by the identity of what was loaded
        self.launched: list[tuple[Any, dict[str, Any]]] = []

    def __enter__(self) -> "Watch":
        from harness.triton_driver.driver import Utilities

        load, launch = Utilities.load_binary, simulator.launch

        def loaded(utilities: Any, name: str, ptx: str | bytes, *rest: Any) -> Any:
            found = load(utilities, name, ptx, *rest)
            self.ptx[id(found[1])] = ptx.decode() if isinstance(ptx, bytes) else ptx
            return found

        def launched(entry: Any, **given: Any) -> Any:
            self.launched.append((entry, given))
            return launch(entry, **given)

        self._patches: list[Any] = [
            mock.patch.object(Utilities, "load_binary", loaded),
            mock.patch.object(simulator, "launch", launched),
        ]
        for patch in self._patches:
            patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        for patch in self._patches:
            patch.stop()


def plain(ptx: str) -> str:
    """The code alone, of a version that drivers of these years take."""
    for part in (_SECTIONS, _LINES, _REMARKS):
        ptx = part.sub("", ptx)
    ptx = re.sub(r"^\.version .*$", f".version {_OLD_ENOUGH}", ptx, count=1, flags=re.M)
    ptx = ptx.replace(".target sm_80, debug", ".target sm_80")
    return re.sub(r"\n{2,}", "\n", ptx)


def described(arguments: Sequence[Any], memory: Memory) -> tuple[str | None, ...]:
    return tuple(None if a is None else _described(a, memory) for a in arguments)


def _described(argument: Any, memory: Memory) -> str:
    if isinstance(argument, np.generic):
        if isinstance(argument, np.floating):
            return f"{argument.dtype} {float(argument).hex()}"
        return f"{argument.dtype} {int(argument)}"
    address = argument.buffer.data.ctypes.data + argument.offset
    for name, tensor in memory.items():
        offset = address - tensor.data_ptr()
        if 0 <= offset < tensor.nbytes:
            return f"{name}+{offset}" if offset else name
    raise ValueError(f"{argument.buffer.name} is no tensor of the case's memory")


def stored(case: Case, watch: Watch, texts: dict[str, str]) -> list[StoredLaunch]:
    """The launches of a case; their PTX is added to `texts`, by the name of its file."""
    memory = case.made()
    watch.launched.clear()
    case.run(memory)
    found = []
    for number, (entry, given) in enumerate(watch.launched):
        text = plain(watch.ptx[id(entry)])
        name = f"{re.sub(r'[^a-z0-9]+', '_', case.name)}_{number}.ptx"
        name = next((other for other, there in texts.items() if there == text), name)
        texts[name] = text
        grid, block = (tuple(given[key]) for key in ("grid", "block"))
        arguments = described(given["arguments"], memory)
        launch = StoredLaunch(entry.name, name, grid, block[0], given["shared_bytes"], arguments)
        found.append(launch)
    return found


def pack(path: Path, texts: dict[str, str]) -> None:
    """The same bytes for the same texts."""
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in texts.items():
            archive.writestr(ZipInfo(name), text, ZIP_DEFLATED, 9)


def main() -> None:
    texts: dict[str, dict[str, str]] = {}
    found = {}
    with Watch() as watch:
        import harness.triton_driver  # noqa: F401

        for case in cases():
            found[case.name] = stored(case, watch, texts.setdefault(case.subject, {}))
    for subject, of_subject in texts.items():
        if of_subject:
            pack(FOLDER / f"{subject}.zip", of_subject)
    lines = [
        f"{json.dumps(name)}: [\n " + ",\n ".join(each.as_json() for each in entries) + "\n]"
        for name, entries in found.items()
    ]
    LAUNCHES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    count = sum(map(len, found.values()))
    size = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"{len(found)} cases, {count} launches, {size:,} bytes")


if __name__ == "__main__":
    main()
