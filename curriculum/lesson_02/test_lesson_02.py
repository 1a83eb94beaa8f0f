"""Lesson 02: which bytes must move, from where, and how long that takes at least."""

from numbers import Integral, Real

import pytest
import torch

from curriculum.lesson_02 import host, memory
from harness.judging.returned import number
from references.hardware import H200

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64

# One element, the edges of a warp and of a block, a prime; one row, several, many.
COPIES = [(1, 1), (31, 3), (32, 2), (33, 5), (255, 2), (256, 1), (257, 4), (997, 3), (64, 100)]


# Task 1: one window, many rows


@pytest.mark.task(1)
@pytest.mark.parametrize(("window", "rows"), COPIES)
def test_every_row_is_a_copy_of_the_window(window, rows, device, close):
    x = torch.arange(1.0, window + 1, device=device)
    close.equal(host.copy(x, rows), x.repeat(rows, 1))


@pytest.mark.task(1)
def test_a_copy_keeps_every_bit(device, close):
    special = [0.0, -0.0, float("inf"), -float("inf"), 1e-45, 3.4e38, float("nan"), 1.0]
    x = torch.tensor(special, device=device)
    y = host.copy(x, 2)
    close.equal(y, x.repeat(2, 1))  # here -0.0 equals 0.0, and a NaN any other
    kept = y.cpu().view(torch.int32) == x.cpu().view(torch.int32)
    for row in range(2):
        for i, value in enumerate(special):
            said = f"y[{row}][{i}] is {y[row, i].item()}, but not with the bits of {value}"
            assert kept[row, i], f"{said}: was it computed, not copied?"


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize(("window", "rows"), [(1000, 1), (1000, 8), (256, 40)])
def test_a_window_read_again_is_requested_again_but_has_no_new_bytes(window, rows, profile, close):
    x = torch.arange(1.0, window + 1)
    copied = profile(lambda: host.copy(x, rows))
    close.equal(copied.result, x.repeat(rows, 1))
    copy, said = copied["copy"], f"{rows} rows of {window} floats"
    every, once = 4 * window * rows, 4 * window
    loaded, stored = copy.counters.global_load_bytes, copy.counters.global_store_bytes
    assert loaded == every, f"{said}: {loaded} bytes of loads requested at L1, not {every}"
    assert stored == every, f"{said}: {stored} bytes of stores requested at L1, not {every}"
    read, written = copy.buffers["x"].bytes_read, copy.buffers["y"].bytes_written
    assert read == once, f"{said}: {read} different bytes of x were read, not {once}"
    assert written == every, f"{said}: {written} different bytes of y were written, not {every}"


@pytest.mark.task(1)
@pytest.mark.simulated
def test_a_stream_has_only_new_bytes(profile, close):
    x = torch.arange(1.0, 8001.0)
    streamed = profile(lambda: host.copy(x))
    close.equal(streamed.result, x.reshape(1, -1))
    copy = streamed["copy"]
    requested, read = copy.counters.global_load_bytes, copy.buffers["x"].bytes_read
    assert requested == 32_000, f"8000 floats: {requested} bytes requested at L1, not 32000"
    assert read == 32_000, f"8000 floats: {read} different bytes of x were read, not 32000"
    active = copy.counters.execution_efficiency
    said = f"8000 floats: {active:.0%} of the lanes at work"
    assert active > 0.9, f"{said}: does one thread copy for the others?"


# Task 2: bytes that must move


def counted_bytes(op, shapes, dtypes):
    """Let torch run the operation, and weigh the tensors that went in and came out."""
    inputs = [torch.zeros(shape, dtype=dtype) for shape, dtype in zip(shapes, dtypes, strict=False)]
    wide = [tensor.to(F64) for tensor in inputs]
    result = {
        "copy": lambda x: x.clone(),
        "add": lambda a, b: a + b,
        "axpy": lambda x, y: y.add_(x, alpha=2.0),
        "row_sum": lambda x: x.sum(dim=1),
        "matmul": lambda a, b: a @ b,
    }[op](*wide)
    read = sum(tensor.nbytes for tensor in inputs)
    return {"read": read, "written": result.to(dtypes[-1]).nbytes}


OPERATIONS = [
    ("copy", [(5, 7)], [F32, F32]),
    ("copy", [(0,)], [F32, F32]),
    ("copy", [(11,)], [F32, F16]),
    ("add", [(33,), (33,)], [F32, F32, F32]),
    ("add", [(6, 10), (10,)], [F16, F16, F16]),
    ("add", [(6, 1), (6, 10)], [F16, F32, F32]),
    ("add", [(3, 1), (1, 4)], [BF16, BF16, F32]),
    ("axpy", [(100,), (100,)], [F32, F32, F32]),
    ("axpy", [(9, 3), (9, 3)], [F16, F32, F32]),
    ("row_sum", [(12, 40)], [F32, F32]),
    ("row_sum", [(40, 1)], [F16, F32]),
    ("row_sum", [(7, 0)], [F16, F32]),
    ("matmul", [(4, 9), (9, 2)], [F32, F32, F32]),
    ("matmul", [(16, 5), (5, 3)], [F16, F16, F32]),
    ("copy", [(2, 3, 5)], [F32, F32]),
    ("add", [(0, 5), (5,)], [F32, F32, F32]),  # no rows, so nothing to write
]


def check_moved(said, got, counted):
    if not isinstance(got, dict) or set(got) != set(counted):
        wanted = '{"read": …, "written": …}'
        pytest.fail(f"{said}: bytes_moved returned {got!r}, not {wanted}", pytrace=False)
    for way, bytes_ in counted.items():
        assert got[way] == bytes_, f"{said}: {got[way]} bytes {way}, not {bytes_}"
        whole = isinstance(got[way], Integral)
        assert whole, f"{said}: bytes are counted in ints, not {got[way]!r}"


@pytest.mark.task(2)
@pytest.mark.parametrize(("op", "shapes", "dtypes"), OPERATIONS)
def test_each_input_is_read_once_and_the_output_written_once(op, shapes, dtypes):
    given = list(shapes), list(dtypes)
    got, counted = memory.bytes_moved(op, *given), counted_bytes(op, shapes, dtypes)
    assert given == (shapes, dtypes), "the lists are the caller's, and have changed"
    *inputs, output = (str(dtype).removeprefix("torch.") for dtype in dtypes)
    named = [f"{shape} {dtype}" for shape, dtype in zip(shapes, inputs, strict=True)]
    check_moved(f"{op} of {' and '.join(named)} into {output}", got, counted)


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, 33, 1000, 4096])
def test_a_kernel_with_one_number_in_and_one_out_moves_the_fewest_bytes(n, profile):
    # Supplied: it reads every x[i] once and writes every digit[i] once, both of four bytes.
    x = torch.arange(n, dtype=torch.int32).view(torch.uint32)
    kernel = profile(lambda: host.most_common(x, "registers"))["most_common_registers"]
    moved = {
        "read": kernel.buffers["x"].bytes_read,
        "written": kernel.buffers["digit"].bytes_written,
    }
    check_moved(f"copy of {n} numbers", memory.bytes_moved("copy", [(n,)], [F32, F32]), moved)


# Task 3: the least time


TIERS = {"L1": 22_000.0, "L2": 8300.0, "HBM": 4245.0, "PCIe": 55.2}


def floor_of(crossing, tiers):
    """(seconds, level), as the learner finds them."""
    match memory.time_floor(crossing, tiers):
        case (Real() as seconds, str(level)):
            return seconds, level
        case other:
            wanted = "(seconds, level), a number and a name, in this order"
            pytest.fail(f"time_floor returned {other!r}, not {wanted}", pytrace=False)


@pytest.mark.task(3)
@pytest.mark.parametrize(
    ("crossing", "seconds", "level"),
    [
        ({"HBM": 4_245_000_000}, 1e-3, "HBM"),
        ({"HBM": 1 << 30}, 2.52943e-4, "HBM"),  # GB/s count 10**9 bytes, GiB hold 2**30
        ({"L2": 8_300_000, "HBM": 4_245}, 1e-6, "L2"),
        ({"L1": 22_000, "L2": 83_000, "HBM": 4_244}, 1e-8, "L2"),
        ({"HBM": 4_245_000, "PCIe": 552_000}, 1e-5, "PCIe"),
        ({"L1": 0, "HBM": 1}, 1 / 4.245e12, "HBM"),
        ({"L1": 5500, "PCIe": 0, "HBM": 0}, 2.5e-10, "L1"),
        ({"L2": 8_300_000, "HBM": 4_240_000}, 1e-6, "L2"),  # nearly equal is not equal
    ],
)
def test_the_slowest_level_sets_the_time(crossing, seconds, level):
    given = dict(crossing)
    got, name = floor_of(given, TIERS)
    assert given == crossing, "the bytes are the caller's, and have changed"
    assert name == level, f"{crossing}: {name} is named, but {level} takes longest"
    said = f"{crossing}: {got:.6g} s, not {seconds:.6g} s"
    assert got == pytest.approx(seconds, rel=1e-5, abs=0), said


@pytest.mark.task(3)
@pytest.mark.parametrize(
    ("crossing", "level"),
    [
        ({"L2": 0, "HBM": 0}, "HBM"),
        ({"HBM": 0, "L2": 0}, "HBM"),
        ({"fast": 1000, "slow": 500}, "slow"),
        ({"slow": 500, "fast": 1000}, "slow"),
    ],
)
def test_of_equal_times_the_slower_tier_is_named(crossing, level):
    _, name = floor_of(crossing, {"slow": 50.0, "fast": 100.0, **TIERS})
    said = f"{name} is named, but {level} takes as long and is the slower one"
    assert name == level, f"{crossing}: {said}"


# Task 4: bytes in flight


@pytest.mark.task(4)
@pytest.mark.parametrize(
    ("nanoseconds", "gigabytes_per_second", "expected"),
    [
        (600, 4800, 2_880_000),
        (358, 4800, 1_718_400),
        (1, 1, 1),
        (145, 8300, 1_203_500),
        (2.5, 3, 7.5),
    ],
)
def test_a_memory_holds_its_latency_times_its_bandwidth(
    nanoseconds, gigabytes_per_second, expected
):
    got = memory.inflight_bytes(nanoseconds, gigabytes_per_second)
    said = f"{nanoseconds} ns at {gigabytes_per_second} GB/s"
    assert got == pytest.approx(expected), f"{said}: {got} bytes, not {expected}"


def stepped_throughput(nanoseconds, in_flight):
    """Bytes per nanosecond of one thread: ask for a byte whenever fewer than that are under way."""
    arrivals, done, time = [], 0, 0
    while time < 20 * nanoseconds:
        done += sum(arrival == time for arrival in arrivals)
        arrivals = [arrival for arrival in arrivals if arrival > time]
        arrivals += [time + nanoseconds] * min(8, in_flight - len(arrivals))
        time += 1
    return done / (time - nanoseconds)


@pytest.mark.task(4)
@pytest.mark.parametrize("nanoseconds", [5, 12, 30])
def test_fewer_bytes_in_flight_leave_the_memory_idle(nanoseconds):
    found = memory.inflight_bytes(nanoseconds, 8)  # this memory: 8 bytes a nanosecond
    needed = round(number(f"inflight_bytes({nanoseconds}, 8)", found))
    for under_way, wanted in ((needed, 8), (needed // 2, 4)):
        reached = stepped_throughput(nanoseconds, under_way)
        said = f"{nanoseconds} ns at 8 GB/s, {found} bytes in flight by your count"
        told = f"{said}: with {under_way} under way {reached:.2f} GB/s arrive, not {wanted}"
        assert reached == pytest.approx(wanted, rel=0.1), told


@pytest.mark.task(4)
@pytest.mark.parametrize(
    ("nanoseconds", "bandwidth", "threads_per_sm", "bytes_per_load", "expected"),
    [
        (600, 4800, 2048, 4, 3),  # 2.66
        (600, 4800, 2048, 16, 1),
        (600, 4800, 1024, 4, 6),  # half the threads, twice the loads
        (600, 4800, 64, 4, 86),
        (600, 4800, 64, 16, 22),
        (132, 8192, 2048, 4, 1),  # exactly one load each
        (1, 1_081_345, 2048, 4, 2),  # one byte more
    ],
)
def test_the_threads_of_the_chip_share_the_bytes_in_flight(
    nanoseconds, bandwidth, threads_per_sm, bytes_per_load, expected
):
    loads = memory.loads_per_thread(
        nanoseconds, bandwidth, H200.sms, threads_per_sm, bytes_per_load
    )
    said = f"{nanoseconds} ns at {bandwidth} GB/s, {threads_per_sm} threads an SM"
    got = f"{loads} loads of {bytes_per_load} bytes, not {expected}"
    assert loads == expected, f"{said}: {got} for each thread"
    assert isinstance(loads, Integral), f"{said}: loads are counted in ints, not {loads!r}"


@pytest.mark.task(4)
@pytest.mark.parametrize(("sms", "expected"), [(132, 3), (108, 4), (66, 6), (1, 352)])
def test_fewer_sms_leave_more_loads_to_each_thread(sms, expected):
    loads = memory.loads_per_thread(600, 4800, sms, 2048)
    said = f"{loads} loads of 4 bytes on {sms} SMs, not {expected}"
    assert loads == expected, f"600 ns at 4800 GB/s, 2048 threads an SM: {said} for each thread"
