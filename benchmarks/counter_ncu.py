"""Nsight Compute's command line: which metrics are asked for, and how its answer is read."""

import csv
import io
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_LD_ST = ("ld", "st")
_ALL = ("ld", "st", "atom", "red")
_NOT_RED = ("ld", "st", "atom")
_CACHES = ("", "_cache_access", "_cache_bypass")
_THROUGH = "_mem_global_op_ldgsts_cache_access"
_BANKS = ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")
_COUNTED = {  # name -> the operations that it is asked for
    "l1tex__t_requests_pipe_lsu_mem_global_op_{}": _ALL,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_{}": _ALL,
    "l1tex__t_requests_pipe_lsu_mem_local_op_{}": _LD_ST,
    "l1tex__t_sectors_pipe_lsu_mem_local_op_{}": _LD_ST,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}": _NOT_RED,
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}": _NOT_RED,
    # Worked out by code that the tool adds to the kernel, where those above come from the chip:
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{}": _ALL,
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_local_op_{}": _LD_ST,
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}": _NOT_RED,
    # Warp instructions; "any": with at least one lane that no predicate switches off.
    "smsp__inst_executed_op_global_{}": ("ld", "st", "red"),
    "smsp__inst_executed_op_global_{}_pred_on_any": _LD_ST,
    "smsp__inst_executed_op_shared_{}": _NOT_RED,
    "smsp__inst_executed_op_shared_{}_pred_on_any": _NOT_RED,
    "smsp__inst_executed_op_local_{}": _LD_ST,
    "smsp__inst_executed_op_local_{}_pred_on_any": _LD_ST,
    "smsp__inst_executed_op_{}": ("generic_atom", "branch"),
    "smsp__sass_inst_executed_op_{}": ("global_atom", "global_red", "shared_atom", "branch"),
    "smsp__sass_branch_targets{}": ("", "_threads_divergent", "_threads_uniform"),
    "smsp__{}": ("inst_executed", "thread_inst_executed", "thread_inst_executed_pred_on"),
    # Copies that go on by themselves (LDGSTS), through the L1 cache and around it.
    "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts{}": ("_cache_access",),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts{}": ("_cache_access",),
    "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts{}": _CACHES,
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts{}": _CACHES,
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts{}": _CACHES,
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts{}": _CACHES,
    "smsp__sass_inst_executed_op_ldgsts{}": _CACHES,
    "smsp__sass_data_bytes_mem_{}_op_ldgsts": ("global", "shared"),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared{}": ("", "_op_ldgsts", "_op_misc"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared{}": ("", "_cmd_read", "_cmd_write", "_op_misc"),
    # Matrices from shared memory (LDSM), and the tensor cores.
    "smsp__sass_l1tex_data_{}_mem_shared_op_ldsm": _BANKS,
    "smsp__sass_data_bytes_mem_shared_op_{}": ("ldsm",),
    "smsp__inst_executed_op_{}_pred_on_any": ("ldgsts", "ldsm", "generic_ld", "generic_st"),
    "smsp__inst_executed_op_{}_pred_off_all": ("ldgsts",),
    "smsp__inst_executed_pipe_tensor{}": ("", "_op_dmma", "_op_hmma", "_op_imma"),
    # What comes from L2: copies around the L1 cache have no other counter on the chip.
    "l1tex__m_xbar2l1tex_read_sectors{}": ("", "_pipe_lsu", "_mem_lg_op_ld", _THROUGH),
    "smsp__sass_l1tex_m_xbar2l1tex_read_sectors_mem_global_op_ldgsts{}": ("_cache_bypass",),
    "lts__t_{}_srcunit_tex_op_read": ("requests", "sectors"),
}
# A recording holds them in this order, and new ones go to its end: add them at the end here too.
METRICS = tuple(f"{name.format(op)}.sum" for name, ops in _COUNTED.items() for op in ops)
# Executed warp instructions by opcode; the list of the tool does not name metrics of this kind.
BY_OPCODE = "sass__inst_executed_per_opcode"
_OPTIONS = (
    "--target-processes=all",
    "--clock-control=none",
    "--cache-control=none",
    "--apply-rules=no",
    "--print-units=base",
)


@dataclass(frozen=True)
class Launch:
    """One kernel that was measured."""

    kernel: str
    values: dict[str, int]  # metric -> its value
    opcodes: dict[str, int]  # empty where the tool did not break them down


def listed(ncu: str) -> set[str]:
    """The base names of the metrics that the tool says it has for this GPU."""
    done = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True, timeout=120)
    return set(done.stdout.split())


def available(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """(the metrics among METRICS whose base name is in `names`, those which are not)."""
    known = set(names)
    asked = [metric for metric in METRICS if metric.removesuffix(".sum") in known]
    return asked, [metric for metric in METRICS if metric not in asked]


def measure(
    ncu: str, metrics: Sequence[str], report: Path, program: Sequence[str], seconds: int
) -> subprocess.CompletedProcess[str]:
    """Run a program under the tool; every kernel it launches goes into the report."""
    command = [ncu, *_OPTIONS, "--metrics", ",".join(metrics), "--force-overwrite", "-o"]
    command += [str(report.with_suffix("")), *program]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds)


def launches_under(
    ncu: str,
    metrics: list[str],
    folder: Path,
    program: Sequence[str],
    kernels: Sequence[str],
    seconds: int,
) -> list[Launch]:
    """The launches of these kernels, in this order, by a program that runs under the tool.

    folder   for what the tool writes and prints
    Raises RuntimeError where the tool fails, or sees other launches of kernels of these names.
    """
    report = folder / "counters.ncu-rep"
    done = measure(ncu, metrics, report, program, seconds)
    (folder / "ncu.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode or not report.exists():
        raise RuntimeError(f"ncu failed:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    table = exported(ncu, report, "none")
    (folder / "counters.csv").write_text(table, encoding="utf-8")
    try:
        by_opcode = exported(ncu, report, "details")
        (folder / "opcodes.csv").write_text(by_opcode, encoding="utf-8")
    except RuntimeError as failure:  # a tool that is too old for this
        print(failure)
        by_opcode = ""
    launches = [launch for launch in read_csv(table, by_opcode) if launch.kernel in set(kernels)]
    if [launch.kernel for launch in launches] != list(kernels):
        raise RuntimeError(
            f"ncu saw {len(launches)} launches of ours instead of {len(kernels)}, or in another "
            f"order: {[launch.kernel for launch in launches][:5]} …"
        )
    return launches


def metrics_that_work(
    ncu: str, measured: Callable[[list[str]], list[Launch]]
) -> tuple[list[str], list[str]]:
    """(metrics to ask for, those that this tool or GPU does not have).

    measured  launches something under the tool, with these metrics
    """
    metrics, missing = available(listed(ncu))
    if not metrics:  # a tool that lists them in another way: try them all
        metrics, missing = missing, []
    metrics.append(BY_OPCODE)
    while True:
        try:
            launches = measured(metrics)
        except RuntimeError as failure:
            refused = [m for m in metrics if re.search(rf"{re.escape(m)}(?![\w.])", str(failure))]
            if not refused:
                raise
            print(f"ncu refuses {', '.join(refused)}")
        else:
            refused = [m for m in metrics if m != BY_OPCODE and m not in launches[0].values]
            if BY_OPCODE in metrics and not launches[0].opcodes:
                print(f"{BY_OPCODE} comes without its instances: no barriers, no shuffles")
        missing += refused
        metrics = [m for m in metrics if m not in refused]
        if not refused:
            return metrics, missing


def exported(ncu: str, report: Path, instances: str) -> str:
    """The report as CSV: a row of names, a row of units, a row for each launch.

    instances  "none", or "details" to have metrics broken down, each as 'sum (part: n; part: n)'
    """
    command = [ncu, "--import", str(report), "--csv", "--page=raw", "--print-units=base"]
    command += ["--print-kernel-base=function", f"--print-metric-instances={instances}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-800:]}{done.stderr[-800:]}")
    return done.stdout


def read_csv(table: str, by_opcode: str = "") -> list[Launch]:
    """The launches of an exported report, in the order in which they ran.

    table      exported without instances
    by_opcode  exported with them; empty where the tool cannot
    """
    opcodes = {
        number: _instances(cells.get(BY_OPCODE, "")) for number, cells in _rows(by_opcode).items()
    }
    found = []
    for number, cells in sorted(_rows(table).items()):
        values = {
            metric: value
            for metric in METRICS
            if (value := _number(cells.get(metric, ""))) is not None
        }
        kernel = re.match(r"\w*", cells["Kernel Name"])
        found.append(Launch(kernel[0] if kernel else "", values, opcodes.get(number, {})))
    return found


def _rows(text: str) -> dict[int, dict[str, str]]:
    """The number of each launch -> its cells by the names of their columns."""
    lines = text.splitlines(keepends=True)
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    rows = csv.reader(io.StringIO("".join(lines[start:])))
    names = next(rows, [])
    return {  # but for the units, and messages at the end
        int(row[0]): dict(zip(names, row, strict=True))
        for row in rows
        if len(row) == len(names) and row[0].isdigit()
    }


def _number(cell: str) -> int | None:
    """'1,024' or '1024.000000 (…)' as 1024; None where the tool says that it has no value."""
    match = re.match(r"\s*([\d,]+)(?:\.0+)?(?![\d.])", cell)
    return int(match[1].replace(",", "")) if match else None


def _instances(cell: str) -> dict[str, int]:
    """'96 (BAR: 32; SHFL: 64)' as its parts."""
    pairs = re.findall(r"([A-Z][A-Z0-9_.]*)\s*:\s*([\d,]+)", cell)
    return {name: int(count.replace(",", "")) for name, count in pairs}
