"""What Triton made of the kernels for compute capability 8.0, and with what each was launched.

    golden/<subject>.zip   the PTX of each launch, without line information
    golden/launches.json   kernel, grid, threads, shared memory, and arguments: "x" or "x+16", bytes
                           into a tensor of the case's memory; "int32 5", "float32 0x1.8p+0"; null

benchmarks/triton_agreement_ptx.py stores both; a GPU and the simulator run the same text.
"""

import json
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import torch

from simulator import Buffer, Pointer, Settings, launch, parse
from tests.triton.cases import Case, Memory
from tests.triton.wanted import bits

FOLDER = Path(__file__).parent / "golden"
LAUNCHES = FOLDER / "launches.json"


@dataclass(frozen=True)
class StoredLaunch:
    kernel: str  # the entry's name
    ptx: str  # a file of the subject's archive
    grid: tuple[int, int, int]
    threads: int
    shared_bytes: int
    arguments: tuple[str | None, ...]

    def as_json(self) -> str:
        return json.dumps(asdict(self))


@cache
def _stored() -> dict[str, list[StoredLaunch]]:
    if not LAUNCHES.exists():
        return {}
    found = json.loads(LAUNCHES.read_text(encoding="utf-8"))
    return {
        name: [
            StoredLaunch(
                **(entry | {key: tuple(entry[key]) for key in ("grid", "arguments")})
            )
            for entry in entries
        ]
        for name, entries in found.items()
    }


def launches(case: Case) -> list[StoredLaunch]:
    """In their order; none for a case that only another version of Triton has."""
    return _stored().get(case.name, [])


@cache
def text(subject: str, name: str) -> str:
    with ZipFile(FOLDER / f"{subject}.zip") as archive:
        return archive.read(name).decode()


@cache
def _entry(subject: str, name: str, kernel: str):
    return parse(text(subject, name)).entries[kernel]


def fingerprint(case: Case) -> str:
    """Changes with the PTX, the launches and the memory that they are given."""
    digest = sha256()
    for stored in launches(case):
        digest.update(text(case.subject, stored.ptx).encode())
        digest.update(stored.as_json().encode())
    for name, tensor in case.made().items():
        digest.update(name.encode())
        digest.update(as_bytes(tensor).tobytes())
    return digest.hexdigest()[:12]


def as_bytes(tensor: torch.Tensor) -> np.ndarray:
    """The same memory as uint8 [bytes]."""
    return bits(tensor).numpy().view(np.uint8).reshape(-1)


def scalar(argument: str) -> np.generic:
    type_, value = argument.split()
    number = float.fromhex(value) if type_.startswith("float") else int(value)
    return np.dtype(type_).type(number)


def place(argument: str) -> tuple[str, int]:
    """(a tensor of memory, bytes into it)."""
    name, _, offset = argument.partition("+")
    return name, int(offset or 0)


def simulated(case: Case, settings: Settings | None = None):
    """(memory after the stored launches, what each of them counted); faults are looked for."""
    memory: Memory = case.made()
    buffers = {
        name: Buffer(name, as_bytes(tensor), np.dtype(f"u{tensor.element_size()}"))
        for name, tensor in memory.items()
    }
    counted = []
    for stored in launches(case):
        given = []
        for argument in stored.arguments:
            if argument is None:
                given.append(None)
            elif " " in argument:
                given.append(scalar(argument))
            else:
                name, offset = place(argument)
                given.append(Pointer(buffers[name], offset))
        done = launch(
            _entry(case.subject, stored.ptx, stored.kernel),
            stored.grid,
            (stored.threads, 1, 1),
            given,
            stored.shared_bytes,
            settings or Settings(tiles=True),
        )
        counted.append(done.counters)
    return memory, counted
