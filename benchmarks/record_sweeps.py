"""Record on a GPU the points that trade-offs must predict: references/measured/<gpu>.json.

    python benchmarks/record_sweeps.py [--output FILE] [--sweep NAME]

With --sweep, the other sweeps of the file stay as they are.

Sweeps, each a list of points:
    launch        elements × microseconds a launch of vec_add_four, many launches in a row, cold
                  data (the fields are those of the recordings of vec_add before it)
    empty_launch  microseconds a launch of a kernel with four arguments that does nothing, median of
                  those measured beside each point of `launch`
    working_set   bytes read again and again × gigabytes a second, in whole turns of the grid
    stride        elements between the reads of neighbouring threads × milliseconds
    occupancy     warps on each SM × loads under way in a thread × bytes a load, gigabytes a second
    fusion        elements × microseconds of lesson 10's three kernels, and of the one they become
    peers         one, two and four elements a thread, and a loop, against torch.add

Medians of CUDA events after a warm-up. Data that must come from memory rotates through buffers
which together are several times the L2 cache. Short kernels are launched several times in a row
between two events: the events around a single launch also see the GPU wait for it.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import torch
from fusion_sweep import sweep as sweep_fusion
from occupancy_sweep import sweep as sweep_occupancy

ROOT = Path(__file__).resolve().parent.parent
BLOCK = 256  # threads
MIB = 1 << 20
_COLD_BYTES = 512 * MIB  # several times the L2 of any GPU so far

_STRIDED_COPY = r"""
extern "C" __global__ void strided_copy(const float* x, float* y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(long long)i * stride];
}
"""

_ADD_TWO = r"""
extern "C" __global__ void vec_add_two(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
    int j = i + blockDim.x;
    float x = i < n ? a[i] + b[i] : 0.0f;
    float y = j < n ? a[j] + b[j] : 0.0f;
    if (i < n) c[i] = x;
    if (j < n) c[j] = y;
}
"""

_NOTHING = r"""
extern "C" __global__ void nothing(const float* a, const float* b, float* c, int n) {}
"""

Call = Callable[[], object]


def module(source: str) -> Any:
    return cupy.RawModule(code=source, options=("--std=c++17",))


def solution(lesson: str) -> Any:
    return module((ROOT / "solutions" / lesson / "kernel.cu").read_text(encoding="utf-8"))


def milliseconds(calls: Sequence[Call], samples: int = 15) -> list[float]:
    """Each call's median time, the calls interleaved so that all see the same GPU."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(samples):
        for call, taken in zip(calls, times, strict=True):
            start, end = torch.cuda.Event(True), torch.cuda.Event(True)
            start.record()
            call()
            end.record()
            end.synchronize()
            taken.append(start.elapsed_time(end))
    return [statistics.median(t) for t in times]


def in_a_row(launch: Callable[[int], object], count: int) -> Call:
    """Launch with 0 .. count - 1, without waiting between."""

    def call() -> None:
        for k in range(count):
            launch(k)

    return call


def sweep_launch() -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """(vec_add_four at each size, an empty kernel), interleaved: hosts slow down and recover."""
    vec_add_four = solution("lesson_03").get_function("vec_add_four")
    nothing = module(_NOTHING).get_function("nothing")
    x = cupy.empty(1, cupy.float32)
    arguments = (x, x, x, np.int32(1))

    def empty(k: int) -> None:
        nothing((1,), (BLOCK,), arguments)

    empties = []
    points = []
    for exponent in range(5, 28):
        n = 1 << exponent
        copies = max(1, min(256, _COLD_BYTES // (12 * n)))
        a = cupy.random.rand(copies, n, dtype=cupy.float32)
        b = cupy.random.rand(copies, n, dtype=cupy.float32)
        c = cupy.empty((copies, n), cupy.float32)
        rows = [(a[k], b[k], c[k], np.int32(n)) for k in range(copies)]
        grid = (-(-n // (4 * BLOCK)),)

        def launch(
            k: int, rows: list[Any] = rows, grid: tuple[int] = grid, copies: int = copies
        ) -> None:
            vec_add_four(grid, (BLOCK,), rows[k % copies])

        launches = 200 if n <= 1 << 22 else 40
        alone, taken = milliseconds([in_a_row(empty, 200), in_a_row(launch, launches)], samples=21)
        points.append({"n": n, "microseconds": taken * 1000 / launches})
        empties.append(alone * 1000 / 200)
        del a, b, c, rows
    cost = statistics.median(empties)
    return points, [{"microseconds": cost, "arguments": len(arguments)}]


def sweep_working_set() -> list[dict[str, float]]:
    read_window = solution("lesson_02").get_function("read_window")
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    blocks = sms * 8
    sums = cupy.empty(blocks * BLOCK, cupy.float32)
    turn = blocks * BLOCK * 8  # elements: the eight loads that each thread has under way
    points = []
    # Whole turns only. Threads without work in a ragged last one would count as a slow cache.
    for turns in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64, 128):
        window = turns * turn
        x = cupy.ones(window, cupy.float32)
        repeats = max(4, 4096 * MIB // x.nbytes)
        shift = window // 3 // 32 * 32 + 32 * 17  # so that no SM comes back to its own slice

        def call(
            x: Any = x, window: int = window, repeats: int = repeats, shift: int = shift
        ) -> None:
            read_window(
                (blocks,),
                (BLOCK,),
                (x, sums, np.int32(window), np.int32(repeats), np.int32(shift % window)),
            )

        (taken,) = milliseconds([call], samples=7)
        points.append(
            {
                "bytes": x.nbytes,
                "gigabytes_per_second": x.nbytes * repeats / taken / 1e6,
            }
        )
        del x
    return points


def sweep_stride() -> list[dict[str, float]]:
    strided_copy = module(_STRIDED_COPY).get_function("strided_copy")
    n = 1 << 24
    x = cupy.ones(n * 64, cupy.float32)
    y = cupy.empty(n, cupy.float32)
    points = []
    for stride in (1, 2, 4, 8, 16, 32, 64):

        def call(stride: int = stride) -> None:
            strided_copy((n // BLOCK,), (BLOCK,), (x, y, np.int32(n), np.int32(stride)))

        (taken,) = milliseconds([call])
        points.append({"stride": stride, "elements": n, "milliseconds": taken})
    return points


def sweep_peers() -> list[dict[str, Any]]:
    """Each way to add against torch.add at 2^26, in one run: 8 launches in a row a sample."""
    kernels = solution("lesson_03")
    n, launches = 1 << 26, 8
    a, b = (torch.rand(n, device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    views = [cupy.asarray(t) for t in (a, b, c)]
    stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())
    sms = torch.cuda.get_device_properties(0).multi_processor_count

    def ours(kernel: Any, blocks: int, size: np.generic) -> Callable[[int], object]:
        def launch(k: int) -> None:
            with stream:
                kernel((blocks,), (BLOCK,), (*views, size))

        return launch

    one, four, loop = map(kernels.get_function, ("vec_add", "vec_add_four", "vec_add_gs"))
    two = module(_ADD_TWO).get_function("vec_add_two")
    ways = {
        "vec_add": ours(one, n // BLOCK, np.int32(n)),
        "vec_add_two": ours(two, n // (2 * BLOCK), np.int32(n)),
        "vec_add_four": ours(four, n // (4 * BLOCK), np.int32(n)),
        "vec_add_gs": ours(loop, sms * 8, np.int64(n)),
        "torch.add": lambda k: torch.add(a, b, out=c),
    }
    for way in ways.values():
        c.fill_(torch.nan)
        way(0)
        torch.testing.assert_close(c, a + b)
    calls = [in_a_row(way, launches) for way in ways.values()]
    times = [taken / launches for taken in milliseconds(calls, samples=41)]
    return [
        {
            "name": name,
            "n": n,
            "milliseconds": t,
            "gigabytes_per_second": 12 * n / t / 1e6,
            "ratio_to_peer": times[-1] / t,
        }
        for name, t in zip(ways, times, strict=True)
    ]


def _launch_and_empty_launch() -> dict[str, Any]:
    launches, empty = sweep_launch()
    return {"launch": launches, "empty_launch": empty}


# By name; two sweeps that are measured together have one function.
SWEEPS: dict[str, Callable[[], dict[str, Any]]] = {
    "launch": _launch_and_empty_launch,
    "empty_launch": _launch_and_empty_launch,
    "working_set": lambda: {"working_set": sweep_working_set()},
    "stride": lambda: {"stride": sweep_stride()},
    "occupancy": lambda: {"occupancy": sweep_occupancy(milliseconds)},
    "fusion": lambda: {"fusion": sweep_fusion(milliseconds)},
    "peers": lambda: {"peers": sweep_peers()},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--sweep", choices=SWEEPS, action="append", help="only this one")
    arguments = parser.parse_args()
    name = torch.cuda.get_device_name(0)
    output = arguments.output
    if output is None:
        output = ROOT / "references" / "measured" / f"{name.split()[-1].lower()}.json"
    driver = cupy.cuda.runtime.driverGetVersion()
    sweeps: dict[str, Any] = {}
    if arguments.sweep and output.exists():
        sweeps = json.loads(output.read_text(encoding="utf-8"))["sweeps"]
    wanted = dict.fromkeys(SWEEPS[name] for name in arguments.sweep or SWEEPS)
    recorded = {name: points for record in wanted for name, points in record().items()}
    recording = {
        "device": name,
        "recorded": date.today().isoformat(),
        "versions": {
            "torch": torch.__version__,
            "cupy": cupy.__version__,
            "numpy": np.__version__,
            "cuda_driver": f"{driver // 1000}.{driver % 1000 // 10}",
        },
        "sweeps": {name: points for name in SWEEPS if (points := (sweeps | recorded).get(name))},
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")
    for sweep, points in recorded.items():
        print(sweep)
        for point in points:
            print("   ", {k: round(v, 4) if isinstance(v, float) else v for k, v in point.items()})


if __name__ == "__main__":
    main()
