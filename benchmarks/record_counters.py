"""Record Nsight Compute's counters of stored kernels: tests/simulator/agreement/ncu_<gpu>.json.

    python benchmarks/record_counters.py [--output FILE] [--keep FOLDER]
    python benchmarks/record_counters.py --check

Each case of tests/simulator/agreement/cases.toml is launched once, from its stored PTX, in one
process under one run of ncu. `--check` needs no ncu: it compares what each case leaves in memory
with what the simulator leaves there.
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
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from counter_ncu import BY_OPCODE, Launch, available, exported, listed, measure, read_csv  # noqa: E402

from simulator import KernelFault  # noqa: E402
from tests.simulator.agreement.cases import Case, cases, fingerprint, simulated  # noqa: E402

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


def launch_all(facts: Path, only: int | None) -> None:
    """Launch the cases in their order, and note the driver's facts."""
    facts.write_text(json.dumps({c.name: launched(c)[1] for c in cases()[:only]}))


# ---- outputs


def check() -> int:
    """How many cases leave in memory something else than the simulator does."""
    wrong = 0
    for case in cases():
        after, _ = launched(case)
        try:
            _, arguments = simulated(case)
        except KernelFault as fault:
            wrong += 1
            print(f"{case.name}: the simulator finds a fault: {fault}")
            continue
        for number, (argument, got) in enumerate(zip(arguments, after, strict=True)):
            try:
                compare(got, argument.value, argument.order)
            except AssertionError as difference:
                wrong += 1
                print(f"{case.name}, argument {number}: {str(difference).strip()[:600]}")
    print(f"{len(cases())} cases, {wrong} arrays or cases differ from the simulator's")
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


def profiled(ncu: str, metrics: list[str], folder: Path, only: int | None) -> list[Launch]:
    """Launches of the first `only` cases under the tool."""
    report, facts = folder / "counters.ncu-rep", folder / "facts.json"
    program = [sys.executable, __file__, "--launch", str(facts)]
    program += ["--only", str(only)] if only else []
    done = measure(ncu, metrics, report, program, _SECONDS)
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
    wanted = [case.kernel for case in cases()[:only]]
    launches = [launch for launch in read_csv(table, by_opcode) if launch.kernel in set(wanted)]
    if [launch.kernel for launch in launches] != wanted:
        raise RuntimeError(
            f"ncu saw {len(launches)} launches of ours instead of {len(wanted)}, or in another "
            f"order: {[launch.kernel for launch in launches][:5]} …"
        )
    return launches


def metrics_that_work(ncu: str, folder: Path) -> tuple[list[str], list[str]]:
    """(metrics to ask for, those that this tool or GPU does not have); one case is tried."""
    metrics, missing = available(listed(ncu))
    if not metrics:  # a tool that lists them in another way: try them all
        metrics, missing = missing, []
    metrics.append(BY_OPCODE)
    while True:
        try:
            launches = profiled(ncu, metrics, folder, only=1)
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


def record(output: Path | None, keep: Path | None) -> None:
    ncu = shutil.which("ncu")
    if ncu is None:
        raise SystemExit("ncu is not on the PATH: it comes with Nsight Compute")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        metrics, missing = metrics_that_work(ncu, folder)
        print(
            f"{len(metrics)} metrics after {time.monotonic() - started:.0f} s; not there: {missing}"
        )
        launches = profiled(ncu, metrics, folder, only=None)
        facts = json.loads((folder / "facts.json").read_text())
    text = as_json(metrics, missing, launches, facts, about(ncu))
    device = json.loads(text)["device"]
    output = output or (
        ROOT / "tests" / "simulator" / "agreement" / f"ncu_{device.split()[-1].lower()}.json"
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
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


def as_json(
    metrics: list[str],
    missing: list[str],
    launches: list[Launch],
    facts: dict[str, dict[str, int]],
    head: dict[str, str],
) -> str:
    """One line for each case: its numbers stand in the order of `metrics`."""
    metrics = [m for m in metrics if m != BY_OPCODE]
    lines = []
    for case, launch in zip(cases(), launches, strict=True):
        entry = {
            "fingerprint": fingerprint(case),
            **facts[case.name],
            "values": [launch.values.get(metric) for metric in metrics],
            "opcodes": launch.opcodes,
        }
        lines.append(f"  {json.dumps(case.name)}: {json.dumps(entry)}")
    top = {**head, "missing": missing, "metrics": metrics}
    body = json.dumps(top, indent=1).removesuffix("\n}")
    return f"{body},\n" + ' "cases": {\n' + ",\n".join(lines) + "\n }\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder for what ncu wrote and printed")
    parser.add_argument("--check", action="store_true", help="compare outputs instead")
    parser.add_argument("--launch", type=Path, help=argparse.SUPPRESS)  # under ncu
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.launch:
        launch_all(arguments.launch, arguments.only)
    elif arguments.check:
        sys.exit(1 if check() else 0)
    else:
        record(arguments.output, arguments.keep)


if __name__ == "__main__":
    main()
