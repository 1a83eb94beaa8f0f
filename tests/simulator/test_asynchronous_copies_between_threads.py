"""What one thread has copied and another uses: one verdict, whatever the order of the warps."""

import numpy as np

from simulator import FaultKind
from tests.simulator.compiled import fault
from tests.simulator.copying import kernel, numbers

SCHEDULES = [
    {"order": order, "warps_apart": apart, "seed": seed}
    for apart in (False, True)
    for order, seed in (("forward", 0), ("reversed", 0), ("shuffled", 1), ("shuffled", 2))
]


def verdicts(body, n=0):
    """The kinds of fault that a kernel of 64 threads gets, over several schedules."""
    k = kernel(body)
    return {
        fault(k, 1, 64, numbers(256), np.zeros(256, np.float32), n, **schedule).kind
        for schedule in SCHEDULES
    }


def test_a_wait_behind_the_barrier_comes_too_late_for_others():
    assert verdicts("""
    tile[0][t] = 0.0f;
    __syncthreads();
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    y[t] = tile[0][63 - t];
    """) == {FaultKind.UNFINISHED_COPY}


def test_no_barrier_behind_the_wait_is_a_race():
    assert verdicts("""
    tile[0][t] = 0.0f;
    __syncthreads();
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[0][63 - t];
    """) == {FaultKind.RACE}


def test_a_stage_that_others_still_read_is_filled_in_a_race():
    assert verdicts("""
    tile[0][t] = x[t];
    __syncthreads();
    y[t] = tile[0][63 - t];
    __pipeline_memcpy_async(&tile[0][t], &x[64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[64 + t] = tile[0][63 - t];
    """) == {FaultKind.RACE}


def test_a_source_that_another_thread_writes_is_read_in_a_race():
    assert verdicts("""
    if (t == 40) x[3] = 7.0f;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[0][t];
    """) == {FaultKind.RACE}
