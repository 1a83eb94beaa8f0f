"""Measure every row of the simulator's instruction tables against a GPU, bit for bit.

    python -m benchmarks.record_opcodes [--output FILE] [--only TEXT]
    python -m benchmarks.record_opcodes --against simulator        # without a GPU: a dry run

Every opcode that the tables serve, with every type and modifier, runs as PTX on at least 100,000
operands: special values in all combinations, random bits, numbers of every size. The same text and
the same operands go through the simulator in the same process. The recording says for each opcode
how many results are equal, how many differ (with examples), and how many are NaNs of other bits;
for approximate instructions the largest error seen and the one that the PTX ISA documents; or what
ptxas said when it refused.
"""

import argparse
import json
import os
import platform
import time
from collections import Counter
from datetime import date
from functools import cache, partial
from multiprocessing import TimeoutError, get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opcodes.assembly import ptxas_version
from benchmarks.opcodes.cases import Case
from benchmarks.opcodes.machines import Gpu, Machine, Simulated
from benchmarks.opcodes.recording import Row, all_cases, record

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "benchmarks" / "results" / "opcodes_h200.json"
BATCH = 48  # cases: one module each


@cache
def cases_of(only: str) -> list[Case]:
    return [case for case in all_cases() if only in case.name]


@cache
def machine_of(name: str) -> tuple[Machine, str]:
    """(the machine that stands for the GPU, its architecture), one for each process."""
    if name == "simulator":
        return Simulated(), "sm_90"
    gpu = Gpu()
    return gpu, gpu.architecture


def work(begin: int, only: str, against: str) -> list[Row]:
    """The rows of one batch, in a process of the pool."""
    cases = cases_of(only)[begin : begin + BATCH]
    try:
        machine, architecture = machine_of(against)
        return record(cases, machine, architecture)
    except Exception as error:  # a batch that fails must not take the others with it
        told = f"{type(error).__name__}: {error}"
        return [{"name": case.name, "row": case.row, "failed": told} for case in cases]


def measured(only: str, against: str, workers: int, seconds: float) -> list[Row]:
    """All rows, in the order of the cases; what is not done in time is told as failed."""
    cases = cases_of(only)
    job = partial(work, only=only, against=against)
    found: dict[str, Row] = {}
    # A GPU's context does not outlive a bad access, so no process lives long.
    with get_context("spawn").Pool(workers, maxtasksperchild=4) as pool:
        batches = pool.imap_unordered(job, range(0, len(cases), BATCH))
        end = time.monotonic() + seconds
        while True:
            try:
                rows = batches.next(timeout=max(0.1, end - time.monotonic()))
            except (StopIteration, TimeoutError):
                break
            found |= {row["name"]: row for row in rows}
    late = f"not measured within {seconds:.0f} s"
    return [found.get(c.name, {"name": c.name, "row": c.row, "failed": late}) for c in cases]


def machine_facts(against: str) -> dict[str, Any]:
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    facts: dict[str, Any] = {"recorded": date.today().isoformat(), "device": "simulator"}
    if against != "simulator":
        import cupy

        from harness.launching.nvidia_driver import ask_driver

        driver = ask_driver()
        facts["device"] = driver.gpus[0].name
        versions |= {"driver": driver.version, "cuda_driver": driver.cuda_shown}
        versions["cupy"] = cupy.__version__
    return facts | {"versions": versions | {"ptxas": ptxas_version()}}


def written(facts: dict[str, Any], rows: list[Row]) -> str:
    """JSON with a line for each opcode; refused ones are grouped by ptxas's words."""
    refused: dict[str, list[str]] = {}
    for row in rows:
        if "refused" in row:
            refused.setdefault(row["refused"], []).append(row["name"])
    kept = [row for row in rows if "refused" not in row]
    lines = [json.dumps(row, separators=(",", ":")) for row in kept]
    head = json.dumps(facts | {"refused": refused}, indent=1)[:-2]
    return head + ',\n "rows": [\n' + ",\n".join(lines) + "\n ]\n}\n"


def summary(rows: list[Row]) -> str:
    """A line for each instruction, then each row that differs or failed."""
    by_name: dict[str, Counter[str]] = {}
    for row in rows:
        count = by_name.setdefault(row["row"].split()[0], Counter())
        count["refused" if "refused" in row else "failed" if "failed" in row else "measured"] += 1
        for key in ("operands", "differing", "nan_payload_differs"):
            count[key] += row.get(key, 0)
    columns = ("measured", "refused", "failed", "operands", "differing", "nan_payload_differs")
    lines = [f"{'':16}" + "".join(f"{column:>20}" for column in columns)]
    for name, count in [*by_name.items(), ("all", sum(by_name.values(), Counter()))]:
        lines.append(f"{name:16}" + "".join(f"{count[column]:>20,}" for column in columns))
    for row in rows:
        if "failed" in row:
            lines.append(f"FAILED  {row['name']}: {row['failed']}")
        if row.get("differing"):
            first = row["examples"][0]
            lines.append(f"DIFFERS {row['name']}: {row['differing']} of {row['operands']}, {first}")
        if row.get("nan_payload_differs"):
            lines.append(
                f"NAN     {row['name']}: {row['nan_payload_differs']} {row['nan_example']}"
            )
        if "max_ulp" in row:
            lines.append(
                f"ERROR   {row['name']}: {row['max_ulp']} ulp, {row['max_error']} "
                f"of {row['bound']}, {row['outside']} outside"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--only", default="", help="opcodes whose name contains this")
    parser.add_argument("--workers", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--against", choices=("gpu", "simulator"), default="gpu")
    parser.add_argument("--seconds", type=float, default=400, help="at most, for all")
    arguments = parser.parse_args()
    began = time.perf_counter()
    facts = machine_facts(arguments.against)
    against, workers = arguments.against, arguments.workers
    rows = measured(arguments.only, against, workers, arguments.seconds)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(written(facts, rows), encoding="utf-8")
    print(summary(rows))
    print(f"{len(rows)} rows in {time.perf_counter() - began:.0f} s: {arguments.output}")


if __name__ == "__main__":
    main()
