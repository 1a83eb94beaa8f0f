"""Which of our counters stands against which of Nsight Compute's, and the table of both."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from simulator.observing.counters import Counters
from tests.simulator.agreement.cases import FOLDER, Case, cases, fingerprint, simulated

Number = Callable[[str], int | None]
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
    # Without "__": an opcode of the machine code. The chip counts LDSM's passes with the others'.
    "shared_load_requests": ["smsp__inst_executed_op_shared_ld_pred_on_any.sum", "LDSM"],
    "shared_load_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    "shared_load_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    "shared_store_requests": ["smsp__inst_executed_op_shared_st_pred_on_any.sum"],
    "shared_store_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    "shared_store_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
    "shared_atomic_requests": ["smsp__inst_executed_op_shared_atom_pred_on_any.sum"],
    "shared_atomic_turns": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
}
# Ours -> opcodes of the machine code, executed by warps.
OPCODES = {"barriers": ["BAR"], "shuffles": ["SHFL"], "mma": ["HMMA", "IMMA", "DMMA"]}
# Through a generic pointer (LD), what reaches no global memory is a load of shared memory.
GENERIC = {
    "shared_load_requests": [
        *METRICS["shared_load_requests"],
        "LD",
        "LDG",
        f"-{_l1('requests', 'global_op_ld')}",
    ]
}
# The chip counts copies (LDGSTS) among the loads; the counters of the added code do not.
WITH_COPIES = {
    "global_load_requests": "async_copy_requests",
    "global_load_sectors": "async_copy_sectors",
}
COPIES = {
    "async_copy_requests": ["smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum"],
    "async_copy_sectors": [
        _l1("sectors", "global_op_ld"),
        "-smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ],
}
# Around the L1 cache nothing passes through the banks, and the added code reads wrong addresses.
COPIES_THROUGH_L1 = {
    "async_copy_bytes": ["smsp__sass_data_bytes_mem_global_op_ldgsts.sum"],
    "async_copy_wavefronts": ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"],
    "async_copy_conflicts": [
        "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"
    ],
}
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
    counters, _ = simulated(case)
    number = partial(_number, case)
    wanted = metrics_for(number, divergent=case.family == "divergence")
    return [Row(case, *sums) for sums in both(counters, wanted, number)]


def metrics_for(number: Number, divergent: bool = False) -> dict[str, list[str]]:
    """Our counters that can be compared in a launch -> what adds up to each.

    number     what was recorded for a name in these lists; None: nothing was
    divergent  whether the kernel's branches are those of the machine code
    """
    wanted = METRICS | OPCODES
    if divergent:
        wanted = wanted | DIVERGENT
    if number("LD"):
        wanted = wanted | GENERIC
    if number("LDGSTS"):
        # Behind copies ptxas puts loads that are always switched off, and the chip takes a few of
        # them for loads that are not. Their passes are none, and those are compared.
        wanted = {name: parts for name, parts in wanted.items() if name != "shared_load_requests"}
        wanted = wanted | COPIES
        if not number("smsp__sass_inst_executed_op_ldgsts_cache_bypass.sum"):
            wanted = wanted | COPIES_THROUGH_L1
    return wanted


def both(
    counters: Counters, wanted: dict[str, list[str]], number: Number
) -> Iterator[tuple[str, int, int | None]]:
    """(counter, ours, theirs); None where a part of theirs was not recorded."""
    for counter, parts in wanted.items():
        ours = getattr(counters, counter)
        if counter in WITH_COPIES:
            ours += getattr(counters, WITH_COPIES[counter])
        numbers = [number(part) for part in parts]
        yield counter, ours, None if None in numbers else sum(numbers)


def divergence(case: Case) -> Row:
    """The divergent branches of any case: PTX may have more of them than the assembler keeps."""
    ((counter, (metric,)),) = DIVERGENT.items()
    return Row(case, counter, getattr(simulated(case)[0], counter), _number(case, metric))


def _number(case: Case, name: str) -> int | None:
    return number_in(recording()["metrics"], recording()["cases"][case.name], name)


def number_in(metrics: list[str], entry: dict, name: str) -> int | None:
    """What was recorded of a launch: of a metric, of one to be taken off (-), or of an opcode.

    None for a metric that was not asked for yet when the launch was recorded.
    """
    if "__" not in name:
        return entry["opcodes"].get(name, 0)
    values = dict(zip(metrics, entry["values"], strict=False))
    value = values.get(name.removeprefix("-"))
    return value if value is None or not name.startswith("-") else -value


def families() -> list[str]:
    return list(dict.fromkeys(case.family for case in cases()))


def of_family(family: str) -> list[Case]:
    return [case for case in cases() if case.family == family]
