"""What a GPU made of the stored PTX, beside what the simulator makes of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch

from tests.simulator.agreement.comparing import both, metrics_for, number_in
from tests.triton.cases import Case, Memory, cases
from tests.triton.stored import FOLDER, fingerprint, launches, simulated

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
RECORDING = RESULTS / "triton_agreement_h200.json"
OUTPUTS = FOLDER / "outputs_h200.npz"
COMMAND = "python benchmarks/record_triton_agreement.py"
# The chip's own counters of stores wait for one another's turn in launches as short as these: the
# same addresses give 252 sectors once and 260 the next time. The tool's other ones are worked out
# from the addresses. (Conflicts of stores have no other one; they are what is left of the passes.)
FROM_ADDRESSES = {
    "global_store_sectors": ["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "shared_store_wavefronts": [
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
    ],
}
NOT_COMPARED = ("shared_store_conflicts",)


@dataclass(frozen=True)
class Reason:
    """What the assembler, or the moment, does to a launch that no PTX shows.

    counters  those that it may touch; all others of the launch are compared
    """

    why: str
    counters: tuple[str, ...]


_LOADS = ("shared_load_requests", "shared_load_wavefronts")
LATE = Reason("some loads move under the guard of the store that they are for", _LOADS)
MERGED = Reason("two loads of neighbouring words become one", _LOADS[:1])
SPINS = Reason(
    "how often a program looks at a lock, or tries again, is a matter of the moment",
    (
        "global_load_requests",
        "global_load_sectors",
        "global_atomic_requests",
        "global_atomic_sectors",
        *_LOADS,
        "shared_store_requests",
        "shared_store_wavefronts",
        "barriers",
    ),
)
TOGETHER = Reason("a warp's lanes update one address by one of them", ("shuffles",))
DRAWN = Reason(
    "so they do, and who draws which number is a matter of the moment",
    ("shuffles", "global_store_sectors"),
)
DIFFERENT: dict[str, Reason] = {
    "attention f16": LATE,
    "attention causal bf16": LATE,
    "attention backward causal f16": LATE,
    "transpose float32": LATE,
    "transpose int8": LATE,
    "scatter by a permutation": LATE,
    "layer norm float32": LATE,
    "rms norm backward in two passes": LATE,
    "random integers": LATE,
    "random reals": LATE,
    "linear recurrence by a scan": MERGED,
    "atomic add f16": SPINS,  # in machine code it is a loop around a compare and swap
    "atomic add bf16": SPINS,
    "sum by compare and swap": SPINS,
    "steps under a lock": SPINS,
    "layer norm backward with locks": SPINS,
    "matmul from a queue f16": TOGETHER,
    "tickets from a counter": DRAWN,
}


@dataclass(frozen=True)
class Row:
    """One counter of one launch."""

    case: str
    kernel: str
    counter: str
    ours: int
    theirs: int | None  # None: not recorded
    native: int | None  # of the kernel that Triton compiled for the GPU itself; never compared

    @property
    def equal(self) -> bool:
        return self.ours == self.theirs

    @property
    def may_differ(self) -> bool:
        reason = DIFFERENT.get(self.case)
        return reason is not None and self.counter in reason.counters

    def __str__(self) -> str:
        why = DIFFERENT[self.case].why if self.may_differ else "why?"
        note = "" if self.equal else f"  differs: {why}"
        theirs, native = ("-" if n is None else f"{n:,}" for n in (self.theirs, self.native))
        numbers = f"{self.ours:>10,} {theirs:>10} {native:>10}"
        return f"{self.case:36.36} {self.kernel:26.26} {self.counter:24} {numbers}{note}"


HEADING = (
    f"{'case':36} {'kernel':26} {'counter':24} {'simulator':>10} {'ncu sm_80':>10} {'native':>10}"
)


@cache
def recording() -> dict:
    return json.loads(RECORDING.read_text(encoding="utf-8"))


@cache
def outputs() -> dict[str, np.ndarray]:
    with np.load(OUTPUTS) as archive:
        return dict(archive.items())


def stored_cases() -> list[Case]:
    """Those that a GPU and the simulator run from the same text."""
    return [case for case in cases() if launches(case)]


def is_recorded(case: Case) -> bool:
    """Whether the recording is of this case as it stands now."""
    entry = recording()["cases"].get(case.name)
    if entry is None or entry["fingerprint"] != fingerprint(case):
        return False
    if not launches(case):  # another version of Triton's
        return "native" in entry
    loose = {name for name, wanted in case.wanted(case.made()).items() if wanted.apart != 0}
    return all(f"{case.name}/{name}" in outputs() for name in loose) and not any(
        row["outside"] for row in entry["outputs"].values()
    )


@cache
def ours(case: Case) -> tuple[Memory, list]:
    return simulated(case)


def of_gpu(case: Case, name: str, like: torch.Tensor) -> torch.Tensor | None:
    """An output that was kept whole; None: its digest is all there is."""
    kept = outputs().get(f"{case.name}/{name}")
    return None if kept is None else torch.from_numpy(kept).view(like.dtype).reshape(like.shape)


def rows(case: Case) -> Iterator[Row]:
    """The counters of a recorded case, launch by launch."""
    metrics, entry = recording()["metrics"], recording()["cases"][case.name]
    natives = entry.get("native_launches", [None] * len(launches(case)))
    together = zip(launches(case), ours(case)[1], entry["launches"], natives, strict=True)
    for stored, counters, launch, native in together:
        number = partial(number_in, metrics, launch)
        wanted = metrics_for(number) | FROM_ADDRESSES
        wanted = {name: parts for name, parts in wanted.items() if name not in NOT_COMPARED}
        other = partial(number_in, metrics, native) if native else lambda name: None
        natively = {counter: theirs for counter, _, theirs in both(counters, wanted, other)}
        for counter, own, theirs in both(counters, wanted, number):
            yield Row(case.name, stored.kernel, counter, own, theirs, natively[counter])
