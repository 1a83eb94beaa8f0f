"""Compare what tensor cores give on a GPU with what the simulator gives, for the same PTX.

    python -m benchmarks.record_tensor_results
    python -m benchmarks.record_tensor_results --against simulator     # without a GPU: a dry run

  mma        each mma.sync alone, 32 warps with matrices of their own: spread numbers, numbers of
             very different size, sums that cancel, infinities and NaNs
  wmma       each shape, type and layout of <mma.h>, from global and from shared memory
  gemm       whole products, of stored PTX
  fragments  the registers of each wmma.load, ldmatrix and movmatrix, bit for bit

How far sums may be apart: `tensor_results/comparing.py`.
"""

import argparse
import json
import platform
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tensor_results.comparing import UNIT, Row
from benchmarks.tensor_results.machines import Gpu, Machine, Simulated
from benchmarks.tensor_results.matrices import matrices, whole_products
from benchmarks.tensor_results.products import products
from benchmarks.tensor_results.registers import fragments

OUTPUT = Path(__file__).resolve().parent / "results" / "tensor_h200.json"
FAMILIES = {
    "mma": products,
    "wmma": matrices,
    "gemm": whole_products,
    "fragments": fragments,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--against", choices=("gpu", "simulator"), default="gpu")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    wanted = parser.parse_args()
    gpu: Machine = Gpu() if wanted.against == "gpu" else Simulated()
    facts: Row = {
        "recorded": date.today().isoformat(),
        "device": "simulator",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "unit": UNIT,
    }
    if isinstance(gpu, Gpu):
        from harness.launching.nvidia_driver import ask_driver

        driver = ask_driver()
        facts |= {"device": driver.gpus[0].name, "driver": driver.version}
    lines: dict[str, list[str]] = {}
    wrong = 0
    for family, rows in FAMILIES.items():
        told = []
        for name, row in _told(rows, gpu):
            told.append(json.dumps({"name": name} | row))
            bad = [
                key
                for key in ("outside", "not_finite_differs", "differing", "failed")
                if row.get(key)
            ]
            wrong += bool(bad)
            print(f"{family:10} {name:64} {'DIFFERS ' if bad else ''}{row}", flush=True)
        lines[family] = told
    parts = [json.dumps(facts)[:-1]]
    parts += [f'"{family}": [\n' + ",\n".join(told) + "\n]" for family, told in lines.items()]
    wanted.output.parent.mkdir(exist_ok=True)
    wanted.output.write_text(",\n".join(parts) + "\n}\n", encoding="utf-8")
    print(f"{sum(map(len, lines.values()))} rows, {wrong} of them differ: {wanted.output}")


def _told(rows: Any, gpu: Machine) -> Iterator[tuple[str, Row]]:
    """The rows of a family; what a machine refuses ends it, and is told."""
    try:
        yield from rows(gpu)
    except Exception as error:
        yield "the rest", {"failed": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
