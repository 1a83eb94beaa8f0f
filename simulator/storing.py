"""A module that is ready to run as bytes, and back: a new process need not read its PTX again.

Who has a disk keeps them (`harness/launching/kept_modules.py`): the simulator writes no files. The
bytes hold only for the sources, the Python and the NumPy that made them; whatever else they are,
damaged, cut short or of another version, reads as None. They are trusted as compiled Python is.
"""

import hashlib
import pickle
import sys
from functools import cache
from pathlib import Path

import numpy as np

from simulator.reading.ptx import Module
from simulator.translating.program import Made, add_programs, programs_made

_DIGEST_BYTES = 32


def encode(module: Module) -> bytes:
    """The module and what has been made of its entries so far."""
    made = {name: programs_made(entry) for name, entry in module.entries.items()}
    payload = pickle.dumps((module, made), protocol=pickle.HIGHEST_PROTOCOL)
    return fingerprint() + hashlib.sha256(payload).digest() + payload


def decode(data: bytes) -> Module | None:
    """What `encode` was given; None if that cannot be told."""
    head, digest = data[:_DIGEST_BYTES], data[_DIGEST_BYTES : 2 * _DIGEST_BYTES]
    payload = memoryview(data)[2 * _DIGEST_BYTES :]
    if head != fingerprint() or digest != hashlib.sha256(payload).digest():
        return None
    module: Module
    made: dict[str, Made]
    module, made = pickle.loads(payload)
    for name, programs in made.items():
        add_programs(module.entries[name], programs)
    return module


def programs_of(module: Module) -> int:
    """How many programs `encode` would keep."""
    return sum(len(programs_made(entry)) for entry in module.entries.values())


@cache
def fingerprint() -> bytes:
    """[32] Of all sources of the simulator, and of what runs them."""
    runs_on = f"{sys.version} {sys.implementation.cache_tag} {np.__version__}"
    digest = hashlib.sha256(runs_on.encode())
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(source)}\n".encode())
        digest.update(source)
    return digest.digest()
