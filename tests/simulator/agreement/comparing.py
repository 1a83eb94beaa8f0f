"""Which of our counters stands against which of Nsight Compute's, and the table of both."""

import json
from dataclasses import dataclass
from functools import cache

from tests.simulator.agreement.cases import FOLDER, Case, cases, fingerprint, simulated

RECORDING = FOLDER / "ncu_h200.json"
COMMAND = "python benchmarks/record_counters.py"


def _l1(what, op):
    return f"l1tex__t_{what}_pipe_lsu_mem_{op}.sum"


# Ours -> the metrics that add up to it. Reductions are atomics whose old value nobody wants.
METRICS = {
    "global_load_requests": [_l1("requests", "global_op_ld")],
    "global_load_sectors": [_l1("sectors", "global_op_ld")],
    "global_store_requests": [_l1("requests", "global_op_st")],
    "global_store_sectors": [_l1("sectors", "global_op_st")],
    "global_atomic_requests": [_l1("requests", f"global_op_{op}") for op in ("atom", "red")],
    # From the addresses: the chip's own counter adds a turn for lanes that meet in a sector.
    "global_atomic_sectors": [
        f"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{op}.sum" for op in ("atom", "red")
    ],
    "local_load_requests": [_l1("requests", "local_op_ld")],
    "local_load_sectors": [_l1("sectors", "local_op_ld")],
    "local_store_requests": [_l1("requests", "local_op_st")],
    "local_store_sectors": [_l1("sectors", "local_op_st")],
    "shared_load_requests": ["smsp__inst_executed_op_shared_ld_pred_on_any.sum"],
    "shared_load_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    "shared_load_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    "shared_store_requests": ["smsp__inst_executed_op_shared_st_pred_on_any.sum"],
    "shared_store_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    "shared_store_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
    "shared_atomic_requests": ["smsp__inst_executed_op_shared_atom_pred_on_any.sum"],
    "shared_atomic_turns": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
}
# Ours -> opcodes of the machine code, executed by warps.
OPCODES = {"barriers": ["BAR"], "shuffles": ["SHFL"]}
# Elsewhere ptxas turns branches into predicates as it likes.
DIVERGENT = {"divergent_branches": ["smsp__sass_branch_targets_threads_divergent.sum"]}


@dataclass(frozen=True)
class Row:
    case: Case
    counter: str
    ours: int
    theirs: int | None  # None: not recorded

    @property
    def equal(self) -> bool:
        return self.ours == self.theirs

    def __str__(self) -> str:
        note = "" if self.equal else f"  differs: {self.case.different or 'why?'}"
        theirs = "not recorded" if self.theirs is None else f"{self.theirs:,}"
        return f"{self.case.name:28} {self.counter:24} {self.ours:>12,} {theirs:>12}{note}"


HEADING = f"{'case':28} {'counter':24} {'simulator':>12} {'ncu':>12}"


@cache
def recording():
    """What ncu counted, or None where nobody has recorded it yet."""
    if not RECORDING.exists():
        return None
    return json.loads(RECORDING.read_text(encoding="utf-8"))


def is_recorded(case: Case) -> bool:
    """Whether the recording is of this case as it stands now."""
    entry = (recording() or {"cases": {}})["cases"].get(case.name)
    return entry is not None and entry["fingerprint"] == fingerprint(case)


@cache
def compared(case: Case) -> list[Row]:
    """All counters of a recorded case."""
    entry = recording()["cases"][case.name]
    values = dict(zip(recording()["metrics"], entry["values"], strict=True))
    counters, _ = simulated(case)
    rows = []
    for names, found, missing in (
        (METRICS, values, None),
        (OPCODES, entry["opcodes"], 0),
        (DIVERGENT if case.family == "divergence" else {}, values, None),
    ):
        for counter, parts in names.items():
            numbers = [found.get(part, missing) for part in parts]
            theirs = None if None in numbers else sum(numbers)
            rows.append(Row(case, counter, getattr(counters, counter), theirs))
    return rows


def divergence(case: Case) -> Row:
    """The divergent branches of any case: PTX may have more of them than the assembler keeps."""
    values = dict(
        zip(recording()["metrics"], recording()["cases"][case.name]["values"], strict=True)
    )
    ((counter, (metric,)),) = DIVERGENT.items()
    return Row(case, counter, getattr(simulated(case)[0], counter), values[metric])


def families() -> list[str]:
    return list(dict.fromkeys(case.family for case in cases()))


def of_family(family: str) -> list[Case]:
    return [case for case in cases() if case.family == family]
