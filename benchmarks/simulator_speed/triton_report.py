"""The table of Triton's kernels on the screen, and what the simulator promises of them."""

import statistics
from typing import Any

from benchmarks.simulator_speed.bar import bar

Result = dict[str, Any]
_ONCE, _LARGE = "add 100,003 fp32", "attention gradients 2×128×64 fp32"


def bars(triton: Result) -> list[Result]:
    """Beside the interpreter, and from source to result."""
    kernels = triton["kernels"]
    barred = [row for row in kernels if row["barred"]]
    ratios = [row["times_as_fast"] for row in barred]
    found = [
        bar(f"Triton {row['name']}, times as fast as interpreted", row["times_as_fast"], 20)
        for row in barred
    ]
    found.append(bar("the same, median", statistics.median(ratios), 30))
    slower = [row["name"] for row in kernels if row["times_as_fast"] < 1]
    found.append(bar(f"of {len(kernels)} Triton kernels, slower", len(slower), at_most=0))
    wrong = sum(not row["right"] for row in kernels)
    found.append(bar("Triton kernels with a wrong result", wrong, at_most=0))
    for row in triton["first_launches"]["empty"]:
        if "first" in row and row["name"] != _ONCE:
            limit = 4.0 if row["name"] == _LARGE else 1.5
            what = f"Triton {row['name']}, seconds to compile and launch first"
            found.append(bar(what, row["first"], at_most=limit))
    many = triton["first_launches"]["kept"][-1]
    found.append(bar(f"Triton, seconds of {many['name']}", many["seconds"], at_most=1.0))
    return found


def print_all(triton: Result) -> None:
    print(f"\nTriton {triton['versions']['triton']} beside its interpreter, CPU ms of one launch")
    print(
        f"{'':<36}{'faults on':>10}{'':>14}{'counters too':>13}{'interpreter':>12}{'':>14}"
        f"{'faster':>8}{'counters':>9}"
    )
    for row in triton["kernels"]:
        ours, theirs = (
            f"({low:.2f}-{high:.2f}x)" for low, high in (row["spread"], row["interpreter_spread"])
        )
        notes = "" if row["right"] else "  WRONG"
        if not row["interpreter_right"]:
            notes += f"  interpreter: {_said(row['interpreter_error'])}"
        print(
            f"{row['name']:<36}{row['milliseconds']:>10.1f} {ours:>13}"
            f"{row['milliseconds_counted']:>13.1f}{row['interpreter_milliseconds']:>12.1f}"
            f" {theirs:>13}{row['times_as_fast']:>7.1f}x{row['times_as_fast_counted']:>8.1f}x"
            f"{notes}"
        )
    print("\nfirst launch in a new process, seconds: caches empty, then kept; the second launch")
    launches = triton["first_launches"]
    for cold, warm in zip(launches["empty"], launches["kept"], strict=True):
        if "first" in cold:
            print(
                f"{cold['name']:<36}{cold['first']:>8.2f}{warm['first']:>8.2f}{warm['second']:>8.2f}"
            )
        else:
            print(f"{cold['name']:<36}{cold['seconds']:>8.2f}{warm['seconds']:>8.2f}")


def _said(error: str | float) -> str:
    return error if isinstance(error, str) else f"error {error:.2g} times what is allowed"
