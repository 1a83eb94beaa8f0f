"""Record on a GPU the points that trade-offs must predict: references/measured/<gpu>.json.

    python benchmarks/record_sweeps.py [--output FILE]

Sweeps, each a list of points:
    launch       elements of vec_add × microseconds a launch, many launches in a row, cold data
    working_set  bytes read again and again × gigabytes a second
    stride       elements between the reads of neighbouring threads × milliseconds
    peers        vec_add against torch.add, the same bytes, interleaved

Medians of CUDA events after a warm-up. Data that must come from memory rotates through buffers
which together are several times the L2 cache.
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


def sweep_launch() -> list[dict[str, float]]:
    vec_add = solution("lesson_03").get_function("vec_add")
    points = []
    for exponent in range(5, 28):
        n = 1 << exponent
        copies = max(1, min(256, _COLD_BYTES // (12 * n)))
        a = cupy.random.rand(copies, n, dtype=cupy.float32)
        b = cupy.random.rand(copies, n, dtype=cupy.float32)
        c = cupy.empty((copies, n), cupy.float32)
        rows = [(a[k], b[k], c[k], np.int32(n)) for k in range(copies)]
        grid = (-(-n // BLOCK),)

        def launch(
            k: int, rows: list[Any] = rows, grid: tuple[int] = grid, copies: int = copies
        ) -> None:
            vec_add(grid, (BLOCK,), rows[k % copies])

        launches = 200 if n <= 1 << 22 else 40
        (taken,) = milliseconds([in_a_row(launch, launches)], samples=9)
        points.append({"n": n, "microseconds": taken * 1000 / launches})
        del a, b, c, rows
    return points


def sweep_working_set() -> list[dict[str, float]]:
    read_window = solution("lesson_02").get_function("read_window")
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    blocks = sms * 8
    sums = cupy.empty(blocks * BLOCK, cupy.float32)
    points = []
    for mebibytes in (1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 512, 1024):
        window = mebibytes * MIB // 4
        x = cupy.ones(window, cupy.float32)
        repeats = max(4, 4096 // mebibytes)
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
                "bytes": mebibytes * MIB,
                "gigabytes_per_second": mebibytes * MIB * repeats / taken / 1e6,
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
    """vec_add and its grid-stride form against torch.add at 2^26, in one run."""
    kernels = solution("lesson_03")
    n = 1 << 26
    a, b = (torch.rand(n, device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    views = [cupy.asarray(t) for t in (a, b, c)]
    stream = cupy.cuda.Stream.from_external(torch.cuda.current_stream())
    sms = torch.cuda.get_device_properties(0).multi_processor_count

    def ours() -> None:
        with stream:
            kernels.get_function("vec_add")((n // BLOCK,), (BLOCK,), (*views, np.int32(n)))

    def grid_stride() -> None:
        with stream:
            kernels.get_function("vec_add_gs")((sms * 8,), (BLOCK,), (*views, np.int64(n)))

    def peer() -> None:
        torch.add(a, b, out=c)

    times = milliseconds([ours, grid_stride, peer], samples=41)
    torch.testing.assert_close(c, a + b)
    names = ("vec_add", "vec_add_gs", "torch.add")
    return [
        {
            "name": name,
            "n": n,
            "milliseconds": t,
            "gigabytes_per_second": 12 * n / t / 1e6,
            "ratio_to_peer": times[-1] / t,
        }
        for name, t in zip(names, times, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    name = torch.cuda.get_device_name(0)
    output = arguments.output
    if output is None:
        output = ROOT / "references" / "measured" / f"{name.split()[-1].lower()}.json"
    driver = cupy.cuda.runtime.driverGetVersion()
    recording = {
        "device": name,
        "recorded": date.today().isoformat(),
        "versions": {
            "torch": torch.__version__,
            "cupy": cupy.__version__,
            "numpy": np.__version__,
            "cuda_driver": f"{driver // 1000}.{driver % 1000 // 10}",
        },
        "sweeps": {
            "launch": sweep_launch(),
            "working_set": sweep_working_set(),
            "stride": sweep_stride(),
            "peers": sweep_peers(),
        },
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")
    for sweep, points in recording["sweeps"].items():
        print(sweep)
        for point in points:
            print("   ", {k: round(v, 4) if isinstance(v, float) else v for k, v in point.items()})


if __name__ == "__main__":
    main()
