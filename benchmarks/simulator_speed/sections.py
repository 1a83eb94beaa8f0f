"""What is measured, section by section; each gives plain dictionaries for the report."""

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.simulator_speed import tasks
from benchmarks.simulator_speed.measuring import Timed, Times, interleaved, slope
from benchmarks.simulator_speed.tasks import Task
from simulator import Settings, parse
from simulator.translating.program import Program

Result = dict[str, Any]

WAYS = {
    "faults and counters": Settings(),
    "faults": Settings(counters=False),
    "neither": Settings(faults=False, counters=False),
}
ALL_ON = WAYS["faults and counters"]

# name -> (small size: Numba runs it too, large size)
BESIDE_PEERS: dict[str, tuple[Callable[[int], Task], int, int]] = {
    "vector_add": (tasks.vector_add, 2048, 1 << 20),
    "tiled_matmul": (tasks.tiled_matmul, 32, 256),
    "tree_reduction": (tasks.tree_reduction, 1024, 1 << 20),
}
ALONE: dict[str, Callable[[], Task]] = {
    "transpose": lambda: tasks.transpose(1024),
    "shuffle_reduction": lambda: tasks.shuffle_reduction(1 << 20),
    "histogram": lambda: tasks.histogram(1 << 20),
    "softmax_rows": lambda: tasks.softmax_rows(512, 1024),
    "straight_line": lambda: tasks.straight_line(1 << 18, 198),
}


def all_of(rounds: int) -> Result:
    return {
        "beside_peers": beside_peers(rounds),
        "alone": alone(rounds),
        "lanes": over_lanes(rounds),
        "instructions": over_instructions(rounds),
        "launch": fixed_cost(),
        "memory": memory(),
    }


def beside_peers(rounds: int) -> list[Result]:
    """Numba's kernel, ours at its size and at a large one, and NumPy at the large one."""
    found = []
    for name, (make, small_size, large_size) in BESIDE_PEERS.items():
        small, large = make(small_size), make(large_size)
        calls = [*_ours(large), _ours(small, repeats=5)[0], _plain(large), *_numba(name, small)]
        *ours, at_small, plain, numba = [*interleaved(calls, rounds), None][: len(WAYS) + 3]
        assert at_small is not None and plain is not None
        result = _rates(name, large, [t for t in ours if t is not None])
        result |= {"size": large_size, "small_size": small_size}
        result["numpy_milliseconds"] = 1000 * plain.median
        result["times_numpy"] = ours[0].ratio(plain) if ours[0] else None
        lanes = _lane_instructions(small)
        result["small_milliseconds"] = 1000 * at_small.median
        result["small_rate"] = lanes / at_small.median / 1e6
        if numba is not None:
            result["numba_milliseconds"] = 1000 * numba.median
            result["numba_spread"] = numba.spread
            result["numba_rate"] = lanes / numba.median / 1e6
            result["numba_over_ours_at_its_size"] = numba.ratio(at_small)
            result["numba_over_ours_by_rate"] = result["rate"] / result["numba_rate"]
        found.append(result)
    return found


def alone(rounds: int) -> list[Result]:
    found = []
    for name, make in ALONE.items():
        task = make()
        found.append(_rates(name, task, interleaved(_ours(task), rounds)))
    return found


def over_lanes(rounds: int) -> Result:
    """vector_add with everything on, from 64 k lanes to 4 M."""
    sizes = [1 << k for k in range(16, 23)]
    made = [tasks.vector_add(size) for size in sizes]
    times = interleaved(
        [
            _ours(task, repeats=max(1, (1 << 18) // n))[0]
            for task, n in zip(made, sizes, strict=True)
        ],
        rounds,
    )
    medians = [t.median for t in times]
    return {"lanes": sizes, "seconds": medians, "slope": slope(sizes, medians)}


def over_instructions(rounds: int) -> Result:
    """Straight-line code of 64 k lanes; what was really executed tells the size."""
    made = [tasks.straight_line(1 << 16, steps) for steps in (10, 30, 100, 300, 1000)]
    times = interleaved([_ours(task)[0] for task in made], rounds)
    executed = [_lane_instructions(task) / (1 << 16) for task in made]
    medians = [t.median for t in times]
    return {"instructions": executed, "seconds": medians, "slope": slope(executed, medians)}


def fixed_cost() -> Result:
    """Of one block of 32 threads: a launch, and before it, once a kernel, reading its PTX."""
    small = tasks.vector_add(256)
    tiny = Task(small.source, (1, 1, 1), (32, 1, 1), small.arguments, 2, small.truth)
    text = tasks.ptx_of(tiny.source)

    def read() -> None:
        Program(next(iter(parse(text).entries.values())))

    calls = [Timed(partial(tiny.run, settings), repeats=10) for settings in WAYS.values()]
    *launches, reading = interleaved([*calls, Timed(read, repeats=3)], 15)
    tiny.run(ALL_ON)
    np.testing.assert_array_equal(tiny.arguments[2][:32], tiny.truth[:32])
    found: Result = {way: 1000 * times.median for way, times in zip(WAYS, launches, strict=True)}
    return {"milliseconds": found, "reading_milliseconds": 1000 * reading.median}


def memory() -> list[Result]:
    """The most that a launch has allocated at once, over the lanes of its one full wave."""
    found = []
    for name, task in (
        ("tiled_matmul", tasks.tiled_matmul(256)),
        ("register_tiled_matmul", tasks.register_tiled_matmul(1024, 64)),
    ):
        task.run(ALL_ON)
        task.clear()
        tracemalloc.start()
        task.run(ALL_ON)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        task.check()
        lanes = int(np.prod(task.grid)) * int(np.prod(task.block))
        found.append({"name": name, "lanes": lanes, "bytes_a_lane": peak / lanes})
    return found


def _ours(task: Task, repeats: int = 1) -> list[Timed]:
    """The launch in each way, everything on first. A kernel that adds to its output needs
    repeats=1."""
    return [
        Timed(partial(task.run, settings), task.clear, task.check, repeats)
        for settings in WAYS.values()
    ]


def _plain(task: Task) -> Timed:
    plain = task.plain
    assert plain is not None
    result: list[Any] = [None]

    def call() -> None:
        result[0] = plain()

    def check() -> None:
        np.testing.assert_allclose(
            result[0].ravel(), task.truth, rtol=max(1e-4, task.tolerance), atol=1e-4
        )

    return Timed(call, after=check, repeats=3)


def _numba(name: str, task: Task) -> list[Timed]:
    """Numba's kernel on the same arguments; none without Numba, which only `dev` installs."""
    try:
        from benchmarks.simulator_speed import numba_kernels
    except ImportError:
        return []
    kernel = getattr(numba_kernels, name)[task.grid, task.block]
    return [Timed(lambda: kernel(*task.arguments), task.clear, task.check)]


def _lane_instructions(task: Task) -> int:
    task.clear()
    return task.run(ALL_ON).counters.thread_instructions


def _rates(name: str, task: Task, times: list[Times]) -> Result:
    """Seconds and M lane instructions a second, in each way."""
    lanes = _lane_instructions(task)
    return {
        "name": name,
        "lane_instructions": lanes,
        "rate": lanes / times[0].median / 1e6,
        "seconds": {way: t.median for way, t in zip(WAYS, times, strict=True)},
        "spread": {way: t.spread for way, t in zip(WAYS, times, strict=True)},
        "counters_cost": times[0].ratio(times[1]),
        "all_cost": times[0].ratio(times[2]),
    }
