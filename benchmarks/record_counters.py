"""Record Nsight Compute's counters of stored kernels: tests/simulator/agreement/ncu_<gpu>.json.

    python benchmarks/record_counters.py [--only-missing] [--output FILE] [--keep FOLDER]
    python benchmarks/record_counters.py --check [--only-missing] [--keep FOLDER]

Each case of tests/simulator/agreement/cases.toml is launched once, from its stored PTX, in one
process under one run of ncu. `--only-missing` launches those which the recording does not have as
they stand, and leaves every other line of it as it is. `--check` needs no ncu: it compares what
each case leaves in memory with what the simulator leaves there.
"""

import argparse
import importlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from functools import cache
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
from simulator import KernelFault, UnknownInstruction  # noqa: E402
from tests.simulator.agreement.cases import Case, cases, fingerprint, simulated  # noqa: E402
from tests.simulator.agreement.comparing import RECORDING, is_recorded, recording  # noqa: E402

_SECONDS = 450  # for all launches under the tool
_ATTRIBUTES = {"local_bytes": 3, "registers": 4}  # CUfunction_attribute


# ---- launching on the GPU


@cache
def module(path: Path) -> Any:
    """The stored PTX, assembled by the driver."""
    loaded = importlib.import_module("cupy").cuda.function.Module()
    loaded.load(path.read_bytes())
    return loaded


def launched(case: Case) -> tuple[list[Any], dict[str, int]]:
    """(the arguments after a launch of the case, as NumPy; what the driver made of the kernel)."""
    cupy = importlib.import_module("cupy")
    kernel = module(case.ptx).get_function(case.kernel)
    values = [argument.value for argument in case.arguments()]
    given = [cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in values]
    kernel(case.grid, case.block, tuple(given), case.shared_bytes)
    cupy.cuda.runtime.deviceSynchronize()
    after = [cupy.asnumpy(g) if isinstance(g, cupy.ndarray) else g for g in given]
    attribute = cupy.cuda.driver.funcGetAttribute
    facts = {name: int(attribute(number, kernel.ptr)) for name, number in _ATTRIBUTES.items()}
    return after, facts


def launch_all(facts: Path, chosen: Sequence[Case]) -> None:
    """Launch the cases in their order, and note the driver's facts."""
    facts.write_text(json.dumps({case.name: launched(case)[1] for case in chosen}))


# ---- outputs


def check(chosen: Sequence[Case], keep: Path | None) -> int:
    """How many cases leave in memory something else than the simulator does.

    keep  a folder for what they leave: outputs.npz, an array for each argument of each case
    """
    wrong = 0
    kept: dict[str, Any] = {}
    for case in chosen:
        after, _ = launched(case)
        kept |= {f"{case.name} {number}": array for number, array in enumerate(after)}
        try:
            _, arguments = simulated(case)
        except (KernelFault, UnknownInstruction) as fault:
            wrong += 1
            print(f"{case.name}: {fault}")
            continue
        for number, (argument, got) in enumerate(zip(arguments, after, strict=True)):
            try:
                compare(got, argument.value, argument.order)
            except AssertionError as difference:
                wrong += 1
                print(f"{case.name}, argument {number}: {str(difference).strip()[:600]}")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(keep / "outputs.npz", **kept)
    print(f"{len(chosen)} cases, {wrong} arrays or cases differ from the simulator's")
    return wrong


def compare(got: Any, wanted: Any, order: str) -> None:
    if order == "any":
        got, wanted = np.sort(got), np.sort(wanted)
    elif order == "sum":
        got, wanted = got.sum(), wanted.sum()
    if np.issubdtype(wanted.dtype, np.floating):
        # Sums in another order, and the approximate exponential and tanh of the hardware.
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    else:
        np.testing.assert_array_equal(got, wanted)


# ---- recording


def profiled(ncu: str, metrics: list[str], folder: Path, chosen: Sequence[Case]) -> list[Launch]:
    """Launches of these cases under the tool."""
    program = [sys.executable, __file__, "--launch", str(folder / "facts.json")]
    program += ["--cases", ",".join(case.name for case in chosen)]
    wanted = [case.kernel for case in chosen]
    return launches_under(ncu, metrics, folder, program, wanted, _SECONDS)


def record(chosen: Sequence[Case], output: Path | None, keep: Path | None, merge: bool) -> None:
    """Record some cases.

    merge  the recording that is there keeps its other lines; else it is replaced
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise SystemExit("ncu is not on the PATH: it comes with Nsight Compute")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        metrics, missing = metrics_that_work(
            ncu, lambda asked: profiled(ncu, asked, folder, chosen[:1])
        )
        print(
            f"{len(metrics)} metrics after {time.monotonic() - started:.0f} s; not there: {missing}"
        )
        launches = profiled(ncu, metrics, folder, chosen)
        facts = json.loads((folder / "facts.json").read_text())
    head = about(ncu)
    device = head["device"]
    before = recording() if merge else None
    if before is not None and before["device"] != device:
        raise SystemExit(f"{RECORDING.name} is of {before['device']}, this is {device}")
    found = recorded(before, chosen, launches, facts, metrics, missing, head)
    output = output or RECORDING.with_name(f"ncu_{device.split()[-1].lower()}.json")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(as_json(found), encoding="utf-8")
    seconds = time.monotonic() - started
    print(f"{len(launches)} launches of {device} in {seconds:.0f} s -> {output.name}")


def about(ncu: str) -> dict[str, str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    device, driver = subprocess.check_output(query, text=True).splitlines()[0].split(", ")
    version = subprocess.check_output([ncu, "--version"], text=True)
    match = re.search(r"Version (\S+)", version)
    return {
        "device": device,
        "driver": driver,
        "ncu": match[1] if match else version.strip(),
        "recorded": date.today().isoformat(),
    }


def recorded(
    before: dict[str, Any] | None,
    chosen: Sequence[Case],
    launches: list[Launch],
    facts: dict[str, dict[str, int]],
    metrics: list[str],
    missing: list[str],
    head: dict[str, str],
) -> dict[str, Any]:
    """The recording, with new launches among those from before.

    A case's values stand in the order of the metrics. New metrics come behind the others, so that
    the values of a case from before end where its own did.
    """
    top = before or {**head, "missing": [], "metrics": [], "cases": {}}
    asked = [metric for metric in metrics if metric != BY_OPCODE]
    order = [*top["metrics"], *(m for m in asked if m not in top["metrics"])]
    entries = dict(top["cases"])
    for case, launch in zip(chosen, launches, strict=True):
        entries[case.name] = {
            "fingerprint": fingerprint(case),
            **facts[case.name],
            "values": [launch.values.get(metric) for metric in order],
            "opcodes": launch.opcodes,
        }
    names = [case.name for case in cases() if case.name in entries]
    gone = {*top["missing"], *missing} - set(order)
    return {
        **top,
        "recorded": head["recorded"],
        "missing": sorted(gone),
        "metrics": order,
        "cases": {name: entries[name] for name in names},
    }


def as_json(found: dict[str, Any]) -> str:
    """One line for each case."""
    lines = [f"  {json.dumps(n)}: {json.dumps(entry)}" for n, entry in found["cases"].items()]
    top = {name: value for name, value in found.items() if name != "cases"}
    body = json.dumps(top, indent=1).removesuffix("\n}")
    return f"{body},\n" + ' "cases": {\n' + ",\n".join(lines) + "\n }\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder for what ncu wrote and printed")
    parser.add_argument("--check", action="store_true", help="compare outputs instead")
    parser.add_argument(
        "--only-missing", action="store_true", help="only cases that are not recorded as they are"
    )
    parser.add_argument("--launch", type=Path, help=argparse.SUPPRESS)  # under ncu
    parser.add_argument("--cases", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.launch:
        names = arguments.cases.split(",")
        launch_all(arguments.launch, [case for case in cases() if case.name in names])
        return
    merge = arguments.only_missing
    chosen = [case for case in cases() if not (merge and is_recorded(case))]
    if not chosen:
        raise SystemExit("every case is recorded as it stands")
    if arguments.check:
        sys.exit(1 if check(chosen, arguments.keep) else 0)
    else:
        record(chosen, arguments.output, arguments.keep, merge)


if __name__ == "__main__":
    main()
