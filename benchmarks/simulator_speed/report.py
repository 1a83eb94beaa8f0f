"""The table on the screen, and the bars that the simulator promises to stay above."""

from typing import Any

from benchmarks.simulator_speed import triton_report
from benchmarks.simulator_speed.bar import bar

Result = dict[str, Any]


def bars(results: Result) -> list[Result]:
    """Each promise, what was measured for it, and whether it holds."""
    peers = {r["name"]: r for r in results["beside_peers"]}
    alone = {r["name"]: r for r in results["alone"]}
    found = [
        bar("straight-line float code, M lanes/s", alone["straight_line"]["rate"], 200),
        bar(
            "tiled matmul 256³, seconds",
            peers["tiled_matmul"]["seconds"]["faults and counters"],
            at_most=1.0,
        ),
    ]
    for name, result in peers.items():
        if "numba_over_ours_at_its_size" in result:
            times = result["numba_over_ours_at_its_size"]
            found.append(bar(f"{name}, times as fast as Numba's, same size", times, 100))
    for name, result in (peers | alone).items():
        found.append(bar(f"{name}, what counters cost", result["counters_cost"], at_most=2.0))
    for axis in ("lanes", "instructions"):
        found.append(bar(f"growth over {axis}, exponent", results[axis]["slope"], 0.85, 1.15))
    for result in results["memory"]:
        found.append(bar(f"{result['name']}, bytes a lane", result["bytes_a_lane"], at_most=1024))
    return found


def print_all(results: Result) -> None:
    machine = results["machine"]
    print(f"{machine['processor']}, Python {machine['python']}, NumPy {machine['numpy']}")
    print(f"CPU seconds, medians of {results['rounds']} interleaved rounds (fastest-slowest)\n")
    print(
        f"{'':<20}{'M lanes':>9}{'M/s':>7}{'seconds, all on':>24}"
        f"{'counters off':>14}{'all off':>9}{'counters':>10}{'all':>7}"
    )
    for row in [*results["beside_peers"], *results["alone"]]:
        seconds = list(row["seconds"].values())
        fastest, slowest = row["spread"]["faults and counters"]
        print(
            f"{row['name']:<20}{row['lane_instructions'] / 1e6:>9.1f}{row['rate']:>7.0f}"
            f"{seconds[0]:>10.4f} ({fastest:.2f}-{slowest:.2f}x)"
            f"{seconds[1]:>14.4f}{seconds[2]:>9.4f}{row['counters_cost']:>9.2f}x"
            f"{row['all_cost']:>6.2f}x"
        )
    print(
        f"\n{'beside peers, ms':<20}{'small':>6}{'ours':>12}{'Numba':>14}{'faster':>8}"
        f"{'by rate':>9}{'NumPy, large':>14}{'ours':>7}"
    )
    for row in results["beside_peers"]:
        print(f"{row['name']:<20}{row['small_size']:>6}{row['small_milliseconds']:>12.2f}", end="")
        if "numba_milliseconds" in row:
            print(
                f"{row['numba_milliseconds']:>14.1f}{row['numba_over_ours_at_its_size']:>7.0f}x"
                f"{row['numba_over_ours_by_rate']:>8.0f}x",
                end="",
            )
        else:
            print(f"{'not installed':>30}", end="")
        print(f"{row['numpy_milliseconds']:>14.2f}{row['times_numpy']:>6.0f}x")
    for axis in ("lanes", "instructions"):
        part = results[axis]
        pairs = zip(part[axis], part["seconds"], strict=True)
        points = "  ".join(f"{size:.0f}: {1000 * s:.1f}" for size, s in pairs)
        print(f"\nover {axis}, ms: {points}  (exponent {part['slope']:.2f})")
    launch = results["launch"]
    parts = ", ".join(f"{way} {ms:.2f}" for way, ms in launch["milliseconds"].items())
    print(f"\na launch of one block of 32 threads, ms: {parts}")
    reading = launch["reading_milliseconds"]
    print(f"reading and translating its PTX, once a kernel, ms: {reading:.1f}")
    for row in results["memory"]:
        print(f"{row['name']}: {row['bytes_a_lane']:.0f} bytes a lane at {row['lanes']} lanes")
    triton_report.print_all(results["triton"])
    print("\nbars")
    for promise in results["bars"]:
        limits = [
            f"{word} {promise[key]}"
            for word, key in (("≥", "at_least"), ("≤", "at_most"))
            if promise[key] is not None
        ]
        holds = "holds" if promise["holds"] else "MISSED"
        print(f"  {holds:<7} {promise['what']}: {promise['measured']:.2f} ({', '.join(limits)})")
