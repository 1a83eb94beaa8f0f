"""Record what a GPU makes of the Triton kernels of tests/triton, and Nsight Compute's counters.

    python benchmarks/record_triton_agreement.py [--only-missing] [--output FOLDER] [--without-ncu]
    python benchmarks/record_triton_agreement.py --against simulator      # without a GPU: a dry run

  stored  the PTX of tests/triton/golden, made for compute capability 8.0, loaded by the driver:
          outputs against the truth and against the simulator's, and counters by launch
  native  the same kernels compiled for this GPU by the Triton that is installed: outputs against
          the truth, and counters

Writes triton_agreement_<gpu>.json (benchmarks/results) and outputs_<gpu>.npz, outputs that need not
be the same bit for bit on both (tests/triton/golden). `--only-missing` runs the cases which these
do not have as they stand, and leaves the others' lines as they are.
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.counter_ncu import (  # noqa: E402
    BY_OPCODE,
    Launch,
    launches_under,
    metrics_that_work,
)
from benchmarks.record_counters import about  # noqa: E402
from benchmarks.triton_machines import MACHINES, compared  # noqa: E402
from tests.triton.cases import Case, cases, named  # noqa: E402
from tests.triton.measured import is_recorded, outputs, recording  # noqa: E402
from tests.triton.stored import FOLDER, fingerprint, launches  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
_CHECKS = 270  # seconds, for all outputs
_COUNTS = 400  # for all launches under the tool


# ---- outputs


def check(names: Sequence[str], machine: str, folder: Path) -> None:
    """Compare outputs, case by case: a line of check.jsonl and an archive for each."""
    stored, native = MACHINES[machine]
    for name in names:
        case = named(name)
        entry, arrays = compared(case, stored, native)
        np.savez_compressed(folder / f"{_file_name(case)}.npz", **arrays)
        with (folder / "check.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([name, entry]) + "\n")
        if machine == "gpu":
            import_module("cupy").cuda.runtime.deviceSynchronize()  # raises where all is lost


def checked(chosen: Sequence[Case], machine: str, folder: Path) -> dict[str, dict[str, Any]]:
    """Of each case what `check` says, in processes of their own: a kernel may take one with it."""
    left = [case.name for case in chosen if launches(case) or machine == "gpu"]
    found: dict[str, dict[str, Any]] = {}
    end = time.monotonic() + _CHECKS
    while left:
        program = [sys.executable, __file__, "--check", *left, "--keep", str(folder)]
        try:
            done = subprocess.run(
                [*program, "--against", machine],
                capture_output=True,
                text=True,
                timeout=max(5.0, end - time.monotonic()),
            )
            why = (done.stdout + done.stderr)[-600:]
        except subprocess.TimeoutExpired:
            why = "took too long"
        lines = folder / "check.jsonl"
        if lines.exists():
            found |= dict(json.loads(line) for line in lines.read_text().splitlines())
        before, left = left, [name for name in left if name not in found]
        if left == before:
            print(f"{left[0]}: {why}", flush=True)
            found[left.pop(0)] = {"failed": why}
    return found


def _file_name(case: Case) -> str:
    return case.name.replace(" ", "_").replace(",", "")


# ---- counters


def launch_all(folder: Path) -> None:
    """Every stored launch, in the order of the cases; then those of the installed Triton."""
    stored, native = MACHINES["gpu"]
    facts = {}
    chosen = json.loads((folder / "chosen.json").read_text())
    for name in chosen["stored"]:
        facts[name] = stored(named(name)).facts
    for name in chosen["native"]:
        native(named(name))
    (folder / "facts.json").write_text(json.dumps(facts))


def counted(
    stored: Sequence[str], native: Sequence[str], folder: Path
) -> tuple[list[str], list[str], dict[str, list[Launch]], dict[str, list[Launch]]]:
    """(metrics, those that are missing, launches of the stored PTX, native launches)."""
    ncu = shutil.which("ncu")
    if ncu is None:
        raise SystemExit("ncu is not on the PATH: it comes with Nsight Compute")
    program = [sys.executable, __file__, "--keep", str(folder)]

    def one(metrics: list[str]) -> list[Launch]:
        kernels = [launch.kernel for launch in launches(named(stored[0]))]
        return launches_under(
            ncu, metrics, folder, [*program, "--launch-one", stored[0]], kernels, 120
        )

    metrics, missing = metrics_that_work(ncu, one)
    chosen = {"stored": stored, "native": native}
    (folder / "chosen.json").write_text(json.dumps(chosen))
    order = [
        (name, column, launch.kernel)
        for column, names in chosen.items()
        for name in names
        for launch in launches(named(name))
    ]
    kernels = [kernel for _, _, kernel in order]
    found = launches_under(ncu, metrics, folder, [*program, "--launch"], kernels, _COUNTS)
    columns: dict[str, dict[str, list[Launch]]] = {"stored": {}, "native": {}}
    for (name, column, _), launch in zip(order, found, strict=True):
        columns[column].setdefault(name, []).append(launch)
    return metrics, missing, columns["stored"], columns["native"]


# ---- recording


def record(
    chosen: Sequence[Case], machine: str, output: Path | None, with_ncu: bool, folder: Path
) -> int:
    """How many of the chosen cases differ from the simulator or from the truth.

    The recording that is there keeps its lines of the others.
    """
    started = time.monotonic()
    found = checked(chosen, machine, folder)
    for name, entry in found.items():
        if is_wrong(entry) or "native_failed" in entry:
            print(f"{name}: {json.dumps(entry)}", flush=True)
    print(f"outputs of {len(found)} cases after {time.monotonic() - started:.0f} s", flush=True)
    others, arrays = before(chosen)
    for case in chosen:
        path = folder / f"{_file_name(case)}.npz"
        if path.exists():
            arrays |= dict(np.load(path))
    head = facts(machine)
    short = head["device"].split()[-1].lower()
    results, golden = (output, output) if output else (RESULTS, FOLDER)
    results.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(golden / f"outputs_{short}.npz", **arrays)
    target = results / f"triton_agreement_{short}.json"
    marked = {name: {"fingerprint": fingerprint(named(name))} | e for name, e in found.items()}
    target.write_text(as_json(head | {"cases": others["cases"] | marked}), encoding="utf-8")
    if with_ncu:
        natives = [name for name in found if "native" in found[name] and launches(named(name))]
        stored = [name for name in found if "outputs" in found[name]]
        metrics, missing, by_case, natively = counted(stored, natives, folder)
        asked = [metric for metric in metrics if metric != BY_OPCODE]
        if others["cases"] and others["metrics"] != asked:
            raise SystemExit("the recording that is there has other metrics: record all anew")
        driver = json.loads((folder / "facts.json").read_text())
        for name, of_case in by_case.items():
            marked[name]["launches"] = [
                fact | counts(launch, asked)
                for fact, launch in zip(driver[name], of_case, strict=True)
            ]
        for name, of_case in natively.items():
            marked[name]["native_launches"] = [counts(launch, asked) for launch in of_case]
        head |= {"missing": sorted(set(missing)), "metrics": asked}
        target.write_text(as_json(head | {"cases": others["cases"] | marked}), encoding="utf-8")
    wrong = sum(map(is_wrong, found.values()))
    seconds = time.monotonic() - started
    print(f"{len(found)} cases in {seconds:.0f} s, {wrong} differ -> {target.name}")
    return wrong


def before(chosen: Sequence[Case]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the recording that is there, its arrays), without these cases, and without those gone."""
    installed = {case.name for case in cases()}
    if installed == {case.name for case in chosen}:
        return {"cases": {}}, {}
    there = recording()
    kept = {
        name: entry
        for name, entry in there["cases"].items()
        if name in installed or "outputs" not in entry  # another version of Triton's
    }
    for case in chosen:
        kept.pop(case.name, None)
    arrays = {key: array for key, array in outputs().items() if key.rpartition("/")[0] in kept}
    return there | {"cases": kept}, arrays


def counts(launch: Launch, metrics: Sequence[str]) -> dict[str, Any]:
    return {
        "values": [launch.values.get(metric) for metric in metrics],
        "opcodes": launch.opcodes,
    }


def is_wrong(entry: dict[str, Any]) -> bool:
    return bool(
        "failed" in entry
        or entry.get("complaints")
        or entry.get("native_complaints")
        or any(row["outside"] for row in entry.get("outputs", {}).values())
    )


def facts(machine: str) -> dict[str, Any]:
    import torch
    import triton

    if machine == "gpu":
        head: dict[str, Any] = dict(about(shutil.which("ncu") or "ncu"))
    else:
        head = {"device": "the simulator", "recorded": date.today().isoformat()}
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    return head | versions | {"torch": torch.__version__, "triton": triton.__version__}


def as_json(found: dict[str, Any]) -> str:
    """One line for each case, in the order of the kernels' files."""
    entries = found["cases"]
    lines = [
        f"  {json.dumps(case.name)}: {json.dumps(entries[case.name])}"
        for case in cases()
        if case.name in entries
    ]
    # What only another version of Triton has.
    lines += [
        f"  {json.dumps(name)}: {json.dumps(entry)}"
        for name, entry in entries.items()
        if name not in {case.name for case in cases()}
    ]
    top = {name: value for name, value in found.items() if name != "cases"}
    body = json.dumps(top, indent=1).removesuffix("\n}")
    return f"{body},\n" + ' "cases": {\n' + ",\n".join(lines) + "\n }\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--against", choices=tuple(MACHINES), default="gpu")
    parser.add_argument("--output", type=Path, help="a folder for both files")
    parser.add_argument("--only-missing", action="store_true", help="only what is not recorded")
    parser.add_argument("--without-ncu", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for what ncu wrote and printed")
    for hidden in ("--check", "--launch-one"):
        parser.add_argument(hidden, nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)  # under ncu
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check, arguments.against, arguments.keep)
    elif arguments.launch_one:
        MACHINES["gpu"][0](named(" ".join(arguments.launch_one)))
    elif arguments.launch:
        launch_all(arguments.keep)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            folder = arguments.keep or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "check.jsonl").unlink(missing_ok=True)
            merge = arguments.only_missing
            chosen = [case for case in cases() if not (merge and is_recorded(case))]
            if not chosen:
                raise SystemExit("every case is recorded as it stands")
            with_ncu = not arguments.without_ncu and arguments.against == "gpu"
            wrong = record(chosen, arguments.against, arguments.output, with_ncu, folder)
            sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
