"""The Triton kernels of the agreement: what each is given, how it is launched, what is true."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from zlib import crc32

import torch

from tests.triton.making import Maker
from tests.triton.wanted import Wanted, bits, wrong

KERNELS = Path(__file__).parent / "kernels"
Memory = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Case:
    """Some launches on some memory.

    memory     makes it: inputs, outputs and workspaces, by name
    run        launches the kernels on it, wherever it lies
    wanted     the outputs' truth, from memory as `memory` made it
    scratch    what may change and is not compared
    talks      programs meet in memory: it is run in several orders
    subject    the file that it is in
    installed  what the installed Triton's code for sm_80 gives, if a version is known to miss the
               truth; the stored PTX and what Triton compiles for a GPU are held to `wanted`
    """

    name: str
    memory: Callable[[Maker], Memory]
    run: Callable[[Memory], None]
    wanted: Callable[[Memory], dict[str, Wanted]]
    scratch: tuple[str, ...] = ()
    talks: bool = False
    subject: str = ""
    installed: Callable[[Memory], dict[str, Wanted]] | None = None

    def made(self) -> Memory:
        return self.memory(Maker(crc32(self.name.encode())))


@cache
def cases() -> tuple[Case, ...]:
    """By subject, in the order of each file."""
    found = []
    for path in sorted(KERNELS.glob("*.py")):
        module = import_module(f"tests.triton.kernels.{path.stem}")
        found += [replace(case, subject=path.stem) for case in module.cases()]
    return tuple(found)


def named(name: str) -> Case:
    return next(case for case in cases() if case.name == name)


def complaints(case: Case, after: Memory, installed: bool = False) -> list[str]:
    """What is wrong with memory after the launches, in words.

    installed  it is the installed Triton's code for sm_80 that ran
    """
    before = case.made()
    truth = (case.installed if installed and case.installed else case.wanted)(case.made())
    told = []
    for name, tensor in after.items():
        if name in truth:
            bad = wrong(tensor, truth[name])
            if bad.any():
                where = tuple(bad.nonzero()[0].tolist())
                told.append(
                    f"{name}: {int(bad.sum())} of {bad.numel()} are wrong, first at {where}: "
                    f"{tensor[where].item()} instead of {truth[name].value[where].item()}"
                )
        elif name not in case.scratch and not torch.equal(bits(tensor), bits(before[name])):
            told.append(f"{name} is an input, and was written")
    return told
