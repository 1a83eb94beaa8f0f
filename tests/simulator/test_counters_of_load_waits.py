"""Waits for loads, by hand: a wait ends when every load that is under way has come."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run
from tests.simulator.test_counters_by_hand import counted

POINTER = "st.global.u64 [x], x; ld.global.u64 d, [x];"  # d is x


def waits(body, threads=32):
    return counted(f"{body} ret;", threads, faults=False).counters.load_waits


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.global.u32 v, [a];", 0),  # nobody asks for it
        ("ld.global.u32 v, [a]; add.u32 w, v, 1;", 1),
        ("ld.global.u32 v, [a]; add.u32 w, t, 1; add.u32 w, v, v; add.u32 w, v, 1;", 1),
        ("ld.global.u32 v, [a]; ld.global.u32 w, [a+4]; add.u32 v, v, w;", 1),
        # The second load has come too while the first was waited for.
        ("ld.global.u32 v, [a]; ld.global.u32 w, [a+4]; add.u32 v, v, 1; add.u32 w, w, 1;", 1),
        ("ld.global.u32 v, [a]; add.u32 v, v, 1; ld.global.u32 w, [a+4]; add.u32 w, w, 1;", 2),
        ("ld.global.u32 v, [a]; st.global.u32 [a], v;", 1),  # a store needs it
        (f"{POINTER} ld.global.u32 v, [d];", 1),  # so does an address
        ("ld.global.u32 v, [a]; setp.eq.u32 p, v, 0; @p st.global.u32 [a], t;", 1),
        ("ld.global.v4.u32 {v, w, v1, w1}, [x]; add.u32 t, w1, 1; add.u32 t, v, 1;", 1),
        ("ld.global.u32 v, [a]; mov.u32 w, v;", 0),  # a new name for it
        ("ld.global.u32 v, [a]; mov.u32 w, v; add.u32 t, w, 1; add.u32 t, v, 1;", 1),
        (f"{POINTER} mov.b64 {{v, w}}, d; mov.b64 d, {{v, w}}; cvta.to.global.u64 d, d;", 0),
        (f"{POINTER} mov.b64 {{v, w}}, d; mov.b64 d, {{v, w}}; ld.global.u32 v1, [d];", 1),
        ("ld.global.u32 v, [a]; bar.sync 0; membar.gl;", 0),  # a barrier does not
        ("ld.param.u32 v, [k_param_0]; add.u32 v, v, 1;", 0),  # at hand
    ],
)
def test_an_instruction_waits_for_what_it_reads(body, expected):
    assert waits(body) == expected
    assert waits(body, threads=70) == 3 * expected


CHASE = """extern "C" __global__ void chase(const int* next, int* y, int steps)
{
    int at = threadIdx.x;
    #pragma unroll 1
    for (int k = 0; k < steps; ++k) at = next[at];
    y[threadIdx.x] = at;
}"""


@pytest.mark.parametrize("threads", [32, 45, 96])
def test_a_chain_of_loads_has_one_in_flight(threads):
    next_, y = np.random.default_rng(0).permutation(96).astype(np.int32), np.zeros(96, np.int32)
    kernel = compiled(CHASE)
    launched = run(kernel, 1, threads, next_, y, 7)
    warps = -(-threads // 32)
    assert launched.counters.load_waits == launched.counters.global_load_requests == 7 * warps
    assert launched.counters.loads_in_flight == 1.0


COPY = """extern "C" __global__ void copy(const float* x, float* y)
{
    float v[FACTOR];
    int i = FACTOR * blockIdx.x * blockDim.x + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < FACTOR; ++k) v[k] = x[i + k * blockDim.x];
    #pragma unroll
    for (int k = 0; k < FACTOR; ++k) y[i + k * blockDim.x] = v[k];
}"""


@pytest.mark.parametrize("factor", [1, 2, 4, 8])
def test_loads_that_come_first_are_in_flight_together(factor):
    x, y = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    kernel = compiled(COPY.replace("FACTOR", str(factor)))
    launched = run(kernel, 1024 // factor // 64, 64, x, y)
    np.testing.assert_array_equal(x, y)
    assert launched.counters.loads_in_flight == factor
    line = launched.lines[kernel.line("= v[k]")]
    assert line.load_waits == launched.counters.load_waits == 32 // factor


# Loads one turn ahead. Turn k begins with the load for turn k + 1, and then needs its own.
AHEAD = """ld.global.u32 v, [a];
mov.u32 t, 0;
LOOP: ld.global.u32 w, [a+4];
.loc 1 7 1
add.u32 v1, v1, v;
mov.u32 v, w;
add.u32 t, t, 1;
setp.lt.u32 p, t, 10;
@p bra LOOP;"""


def test_a_load_one_turn_ahead_is_in_flight_across_the_turn():
    launched = counted(f"{AHEAD} ret;", threads=64)
    # The wait of turn 0 brings the load for turn 1 too, which then waits for nothing; and so on.
    assert launched.lines[7].load_waits == launched.counters.load_waits == 2 * 5
    assert launched.counters.global_load_requests == 2 * 11
    assert launched.counters.loads_in_flight == 2.2


def test_without_loading_ahead_each_turn_waits():
    launched = counted(
        """mov.u32 t, 0;
        LOOP: ld.global.u32 v, [a];
        add.u32 v1, v1, v;
        add.u32 t, t, 1;
        setp.lt.u32 p, t, 10;
        @p bra LOOP; ret;"""
    )
    assert launched.counters.load_waits == launched.counters.global_load_requests == 10


SIDES = """extern "C" __global__ void sides(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    if (i < n) v = x[i];
    float w = v * v;
    for (int k = 0; k < 3; ++k) w = w * v;
    y[i] = w;
}"""


def test_a_warp_without_lanes_that_load_does_not_wait():
    x, y = np.ones(256, np.float32), np.zeros(256, np.float32)
    for n, warps in ((256, 8), (128, 4), (70, 3), (0, 0)):
        counters = run(compiled(SIDES), 2, 128, x, y, n).counters
        assert (counters.load_waits, counters.global_load_requests) == (warps, warps)


def test_warps_are_followed_apart_where_they_part():
    """Warp k makes k turns, each with a load and a wait; then all meet."""
    kernel = compiled(
        """extern "C" __global__ void turns(const volatile int* x, int* y)
{
    int warp = threadIdx.x / 32, sum = 0;
    for (int k = 0; k < warp; ++k) { sum += x[k]; __syncwarp(); }
    __syncthreads();
    y[threadIdx.x] = sum + x[warp];
}"""
    )
    x, y = np.arange(8, dtype=np.int32), np.zeros(256, np.int32)
    counters = run(kernel, 1, 256, x, y).counters
    np.testing.assert_array_equal(y, np.repeat([sum(range(k + 1)) for k in range(8)], 32))
    assert counters.load_waits == counters.global_load_requests == sum(range(8)) + 8


def test_waves_follow_one_another():
    x, y = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    kernel = compiled(COPY.replace("FACTOR", "4"))
    launched = run(kernel, 4, 64, x, y, resident_blocks=1)
    assert launched.counters.loads_in_flight == 4.0
