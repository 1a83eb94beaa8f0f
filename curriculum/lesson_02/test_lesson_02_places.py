"""Lesson 02: where a variable lives, and what a cache still holds."""

from collections import Counter

import pytest
import torch

from curriculum.lesson_02 import host, memory
from curriculum.lesson_02.memory import Variable
from references.caches import replayed

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
    loads = kernel.counters.local_load_requests
    stores = kernel.counters.local_store_requests
    stack = host.most_common_kernels[where].resources("sm_90").stack_bytes  # 4 ints, or none
    said = f"`int seen[4]` of most_common_{where} (index_known={index_known}) lives in {place}"
    found = f"{loads} loads and {stores} stores of local memory, {stack} bytes of stack"
    local = place == "local"
    assert (loads > 0) == (stores > 0) == local, f"{said}, but the compiled kernel makes {found}"
    assert stack == (16 if local else 0), f"{said}, but the assembler reports {found}"


# Task 6: a cache that forgets what was used longest ago (stretch)


def check_cache(trace, lines, ways, expected):
    given = list(trace)
    got = memory.lru_hits(given, lines, ways)
    said = f"{len(trace)} touches of {len(set(trace))} lines, {lines} kept, {ways} ways"
    if not isinstance(got, tuple | list) or len(got) != 2:
        pytest.fail(f"{said}: lru_hits returned {got!r}, not (hits, misses)", pytrace=False)
    assert given == trace, "the trace is the caller's, and has changed"
    for name, ours, wanted in zip(("hits", "misses"), got, expected, strict=True):
        shown = f": {trace}" if len(trace) < 16 else ""
        assert ours == wanted, f"{said}: {ours} {name}, not {wanted}{shown}"


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
    check_cache(trace, lines, ways, expected)


@pytest.mark.task(6)
@pytest.mark.stretch
@pytest.mark.parametrize(("lines", "ways"), [(1, 1), (8, 1), (8, 2), (12, 4), (16, 16)])
def test_any_trace_hits_as_often_as_a_replay(lines, ways, rng):
    trace = torch.randint(0, 2 * lines, (400,), generator=rng).tolist()
    check_cache(trace, lines, ways, replayed(trace, lines, ways))
