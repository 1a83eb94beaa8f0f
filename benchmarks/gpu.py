"""Each worked solution beside what an engineer would call instead, on one GPU, in one run.

    python benchmarks/gpu.py [--only TEXT] [--output FILE]
    python benchmarks/gpu.py --table      # writes the recording's table into README.md, no GPU

A row is measured as samples of three things in turn: the solution, its peer, and a copy. Before
each sample the L2 cache is filled with something else; that work also keeps the GPU busy while the
host enqueues what is timed, so that no launch is waited for. Times are medians of CUDA events. What
the solution gave is compared with the peer's result afterwards.

Three ratios, of speeds: solution/peer, solution/floor, peer/floor. The floor is the least time that
the work can take: its fewest bytes at the copy's measured bandwidth, or its operations at the peak
of the datasheet (`references/hardware.py`), whichever is longer.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import benchmarks.gpu_rows_serving  # noqa: E402, F401  # adds its rows
from benchmarks.gpu_rows import ROWS, Row  # noqa: E402  # the course need not be installed
from benchmarks.gpu_table import write_table  # noqa: E402
from harness.launching.launch_settings import changed  # noqa: E402
from harness.lessons.answers import set_answers  # noqa: E402
from references.hardware import GPUS, Gpu  # noqa: E402

_COPY_BYTES = 1 << 30  # of the tensor that the copy reads
_FLUSH_BYTES = 512 << 20  # several times any L2
_SAMPLES = 15
Call = Callable[[], object]


def measured(calls: dict[str, Call], samples: int = _SAMPLES) -> dict[str, list[float]]:
    """Milliseconds of each call, sample by sample, the calls in turn."""
    flush = torch.empty(_FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    times: dict[str, list[float]] = {name: [] for name in calls}
    for sample in range(samples + 2):  # two to warm up
        for name, call in calls.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.fill_(sample)
            start.record()
            call()
            end.record()
            end.synchronize()
            if sample >= 2:
                times[name].append(start.elapsed_time(end))
    return times


def result(row: Row, gpu: Gpu | None) -> dict[str, object]:
    """One row of the table: times, spread, ratios, and how far the two results are apart."""
    work = row.make()
    source = torch.empty(_COPY_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    calls: dict[str, Call] = {
        "ours": work.ours,
        "peer": work.theirs,
        "copy": lambda: target.copy_(source),
    }
    with changed(synchronize=False):
        times = measured(calls)
    median = {name: statistics.median(taken) for name, taken in times.items()}
    apart = work.apart()
    assert apart <= work.allowed, f"{row.name}: wrong by {apart:.3g}, {work.allowed:.3g} allowed"
    bandwidth = 2 * _COPY_BYTES / median["copy"]  # bytes a millisecond
    floor = work.bytes / bandwidth
    if work.operations and gpu is not None:
        peak = gpu.bf16_teraflops if work.tensor_cores else gpu.fp32_teraflops
        floor = max(floor, work.operations / (peak * 1e9))
    return {
        "name": row.name,
        "lesson": row.lesson,
        "peer": row.peer,
        "shape": row.shape,
        "milliseconds": round(median["ours"], 4),
        "peer_milliseconds": round(median["peer"], 4),
        "floor_milliseconds": round(floor, 4),
        "spread": [round(f(times["ours"]) / median["ours"], 3) for f in (min, max)],
        "peer_spread": [round(f(times["peer"]) / median["peer"], 3) for f in (min, max)],
        "of_peer": round(median["peer"] / median["ours"], 3),
        "of_floor": round(floor / median["ours"], 3),
        "peer_of_floor": round(floor / median["peer"], 3),
        "copy_gigabytes_per_second": round(bandwidth / 1e6, 1),
        "apart": apart,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/gpu.json")
    parser.add_argument("--table", action="store_true", help="only write the table in README.md")
    options = parser.parse_args()
    if options.table:
        write_table()
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    set_answers(ROOT / "solutions", ROOT)
    device = torch.cuda.get_device_name()
    gpu = next((g for key, g in GPUS.items() if key in device.lower().replace(" ", "_")), None)
    rows: list[dict[str, object]] = []
    for row in ROWS:
        if options.only not in row.name:
            continue
        try:
            rows.append(result(row, gpu))
        except Exception as error:  # the others are worth measuring
            rows.append({"name": row.name, "lesson": row.lesson, "error": str(error)[:300]})
        print(rows[-1], flush=True)
        torch.cuda.empty_cache()
    recorded = {
        "device": device,
        "recorded": date.today().isoformat(),
        "versions": {"torch": torch.__version__, "cuda": torch.version.cuda},
        "rows": rows,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
