"""Lesson 02: which bytes must move, from where, and how long that takes at least."""

from collections import Counter, OrderedDict
from numbers import Integral

import pytest
import torch

from curriculum.lesson_02 import host, memory
from curriculum.lesson_02.memory import Variable
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
    close.equal(host.copy(x, 2).view(torch.int32), x.repeat(2, 1).view(torch.int32))


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize(("window", "rows"), [(1000, 1), (1000, 8), (256, 40)])
def test_a_window_read_again_is_requested_again_but_has_no_new_bytes(window, rows, profile, close):
    x = torch.arange(1.0, window + 1)
    copied = profile(lambda: host.copy(x, rows))
    close.equal(copied.result, x.repeat(rows, 1))
    copy = copied["copy"]
    assert copy.counters.global_load_bytes == 4 * window * rows  # requested at L1
    assert copy.counters.global_store_bytes == 4 * window * rows
    assert copy.buffers["x"].bytes_read == 4 * window  # all that memory has to deliver
    assert copy.buffers["y"].bytes_written == 4 * window * rows


@pytest.mark.task(1)
@pytest.mark.simulated
def test_a_stream_has_only_new_bytes(profile, close):
    x = torch.arange(1.0, 8001.0)
    streamed = profile(lambda: host.copy(x))
    close.equal(streamed.result, x.reshape(1, -1))
    copy = streamed["copy"]
    assert copy.counters.global_load_bytes == copy.buffers["x"].bytes_read == 32_000
    active = copy.counters.execution_efficiency
    assert active > 0.9, f"{active:.0%} of the lanes at work: does one thread copy for the others?"


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


@pytest.mark.task(2)
@pytest.mark.parametrize(("op", "shapes", "dtypes"), OPERATIONS)
def test_each_input_is_read_once_and_the_output_written_once(op, shapes, dtypes):
    given = list(shapes), list(dtypes)
    got, counted = memory.bytes_moved(op, *given), counted_bytes(op, shapes, dtypes)
    assert given == (shapes, dtypes), "the lists are the caller's, and have changed"
    for way in ("read", "written"):
        assert got[way] == counted[way], f"{op}: {got[way]} bytes {way}, not {counted[way]}"
        assert isinstance(got[way], Integral), f"{op}: bytes are counted in ints, not {got[way]!r}"


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, 33, 1000, 4096])
def test_the_copy_kernel_moves_the_fewest_bytes(n, profile):
    copy = profile(lambda: host.copy(torch.arange(1.0, n + 1)))["copy"]
    moved = {"read": copy.buffers["x"].bytes_read, "written": copy.buffers["y"].bytes_written}
    assert memory.bytes_moved("copy", [(n,)], [F32, F32]) == moved


# Task 3: the least time


TIERS = {"L1": 22_000.0, "L2": 8300.0, "HBM": 4245.0, "PCIe": 55.2}


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
    got, name = memory.time_floor(given, TIERS)
    assert given == crossing, "the bytes are the caller's, and have changed"
    assert name == level, f"{name} is named, but {level} takes longest"
    assert got == pytest.approx(seconds, rel=1e-5, abs=0), f"{got:.6g} s, not {seconds:.6g} s"


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
    _, name = memory.time_floor(crossing, {"slow": 50.0, "fast": 100.0, **TIERS})
    assert name == level, f"{name} is named, but {level} takes as long and is the slower one"


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
    assert got == pytest.approx(expected), f"{got} bytes, not {expected}"


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
    needed = round(memory.inflight_bytes(nanoseconds, 8))  # this memory: 8 bytes a nanosecond
    assert stepped_throughput(nanoseconds, needed) == pytest.approx(8, rel=0.02)
    assert stepped_throughput(nanoseconds, needed // 2) == pytest.approx(4, rel=0.1)


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
    assert loads == expected, f"{loads} loads of {bytes_per_load} bytes, not {expected}"
    assert isinstance(loads, Integral), f"loads are counted in ints, not {loads!r}"


@pytest.mark.task(4)
@pytest.mark.parametrize(("sms", "expected"), [(132, 3), (108, 4), (66, 6), (1, 352)])
def test_fewer_sms_leave_more_loads_to_each_thread(sms, expected):
    loads = memory.loads_per_thread(600, 4800, sms, 2048)
    assert loads == expected, f"{loads} loads of 4 bytes on {sms} SMs, not {expected}"


# Task 5: where does it live?


PLACES = [
    (Variable("float sum"), "registers"),
    (Variable("const float* x"), "registers"),
    (Variable("float shared_sum"), "registers"),
    (Variable("int constant = 3"), "registers"),
    (Variable("float row[8]"), "registers"),
    (Variable("float row[8]", index_known=False), "local"),
    (Variable("float a31", registers_left=False), "local"),
    (Variable("float row[8]", registers_left=False), "local"),
    (Variable("__shared__ float tile[256]"), "shared"),
    (Variable("__shared__ float tile[256]", index_known=False), "shared"),
    (Variable("__shared__ int leader", registers_left=False), "shared"),
    (Variable("__constant__ float taps[9]", index_known=False), "constant"),
    (Variable("__device__ float table[1024]", index_known=False), "global"),
    (Variable("__device__ int total"), "global"),
    (Variable("float device_sum"), "registers"),
    (Variable("const float* x", index_known=False), "registers"),  # the pointer, not the x[i]
    (Variable("float row[64]"), "registers"),
    (Variable("__constant__ float taps[9]", registers_left=False), "constant"),
    (Variable("__device__ int total", registers_left=False), "global"),
]


@pytest.mark.task(5)
@pytest.mark.parametrize(("variable", "place"), PLACES)
def test_a_variable_lives_where_the_compiler_puts_it(variable, place):
    got = memory.where_does_it_live(variable)
    said = f"index_known={variable.index_known}, registers_left={variable.registers_left}"
    assert got == place, f"`{variable.declaration}` lives in {place}, not in {got} ({said})"


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("index_known", [True, False])
def test_the_compiled_kernel_agrees(index_known, profile, rng, close):
    x = torch.randint(0, 2**32, (500,), generator=rng, dtype=torch.int64).to(torch.uint32)
    where = "registers" if index_known else "array"
    counted = profile(lambda: host.most_common(x, where))
    digits = [Counter(number >> 2 * k & 3 for k in range(16)) for number in x.tolist()]
    expected = [max(sorted(seen), key=seen.__getitem__) for seen in digits]
    close.equal(counted.result, torch.tensor(expected, dtype=torch.int32))

    kernel = counted[f"most_common_{where}"]
    place = memory.where_does_it_live(Variable("int seen[4]", index_known))
    assert (kernel.counters.local_load_requests > 0) == (place == "local")
    assert (kernel.counters.local_store_requests > 0) == (place == "local")
    stack = host.most_common_kernels[where].resources("sm_90").stack_bytes  # 4 ints, or none
    assert stack == (16 if place == "local" else 0)


# Task 6: a cache that forgets what was used longest ago (stretch)


def replayed(trace, lines, ways):
    """The same cache, kept in ordered dictionaries."""
    sets = [OrderedDict() for _ in range(lines // ways)]
    hits = 0
    for line in trace:
        kept = sets[line % len(sets)]
        hits += line in kept
        kept[line] = True
        kept.move_to_end(line)
        if len(kept) > ways:
            kept.popitem(last=False)
    return hits, len(trace) - hits


@pytest.mark.task(6)
@pytest.mark.stretch
@pytest.mark.parametrize(
    ("trace", "lines", "ways", "expected"),
    [
        ([], 4, 4, (0, 0)),
        ([7, 7, 7], 1, 1, (2, 1)),
        (list(range(8)) * 5, 8, 8, (32, 8)),  # it fits: only the first round misses
        (list(range(9)) * 5, 8, 8, (0, 45)),  # one line too many: nothing ever hits
        ([0, 4] * 6, 4, 1, (0, 12)),  # both may only be kept in set 0
        ([0, 4] * 6, 4, 2, (10, 2)),
        ([1, 2, 1, 3, 1], 2, 2, (2, 3)),  # a hit makes line 1 young again
        ([1, 2, 1, 3, 2], 2, 2, (1, 4)),
    ],
)
def test_a_cache_keeps_what_was_used_last(trace, lines, ways, expected):
    hits, misses = memory.lru_hits(list(trace), lines, ways)
    assert hits == expected[0], f"{hits} hits, not {expected[0]}: {lines} lines, {ways} ways"
    assert misses == expected[1], f"{misses} misses, not {expected[1]}"


@pytest.mark.task(6)
@pytest.mark.stretch
@pytest.mark.parametrize(("lines", "ways"), [(1, 1), (8, 1), (8, 2), (12, 4), (16, 16)])
def test_any_trace_hits_as_often_as_a_replay(lines, ways, rng):
    trace = torch.randint(0, 2 * lines, (400,), generator=rng).tolist()
    given, expected = list(trace), replayed(trace, lines, ways)
    got = memory.lru_hits(given, lines, ways)
    assert given == trace, "the trace is the caller's, and has changed"
    assert got == expected, f"(hits, misses) = {got}, not {expected}: {lines} lines, {ways} ways"
