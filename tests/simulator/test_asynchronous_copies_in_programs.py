"""cp.async as programs use it: pipelines of several stages, CUDA's own functions, its libraries."""

import numpy as np
import pytest

from simulator import UnknownInstruction
from tests.simulator.compiled import compiled, run

PIPELINE = """
#include <cuda_pipeline.h>
extern "C" __global__ void turned(const float2* x, float2* y, int tiles)
{
    __shared__ float2 stage[STAGES][64];
    int t = threadIdx.x;
    x += blockIdx.x * tiles * 64;
    y += blockIdx.x * tiles * 64;
    for (int k = 0; k < STAGES - 1; k++) {
        if (k < tiles) __pipeline_memcpy_async(&stage[k][t], &x[k * 64 + t], 8);
        __pipeline_commit();
    }
    for (int k = 0; k < tiles; k++) {
        int ahead = k + STAGES - 1;
        if (ahead < tiles)
            __pipeline_memcpy_async(&stage[ahead % STAGES][t], &x[ahead * 64 + t], 8);
        __pipeline_commit();
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        y[k * 64 + t] = stage[k % STAGES][63 - t];
        __syncthreads();
    }
}
"""


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("tiles", [1, 2, 3, 4, 9])
def test_pipelines_bring_every_tile(stages, tiles):
    x = np.arange(3 * tiles * 128, dtype=np.float32)
    y = np.zeros_like(x)
    source = PIPELINE.replace("STAGES", str(stages))
    launched = run(compiled(source), 3, 64, x, y, tiles)
    wanted = x.reshape(-1, 64, 2)[:, ::-1].reshape(-1)
    assert (y == wanted).all()
    assert not launched.notes
    assert launched.buffers["x"].bytes_read == x.nbytes


@pytest.mark.parametrize("order", ["forward", "reversed", "shuffled"])
def test_a_pipeline_is_right_however_far_warps_run_ahead(order):
    x = np.arange(3 * 5 * 128, dtype=np.float32)
    y = np.zeros_like(x)
    source = PIPELINE.replace("STAGES", "3")
    run(compiled(source), 3, 64, x, y, 5, order=order, seed=3, warps_apart=True)
    assert (y == x.reshape(-1, 64, 2)[:, ::-1].reshape(-1)).all()


LIBRARIES = {
    "cuda::pipeline of a thread": """
#include <cuda/pipeline>
extern "C" __global__ void k(const float4* x, float4* y)
{
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    auto pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(&tile[t], &x[t], sizeof(float4), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    y[t] = tile[t];
    pipeline.consumer_release();
}""",
    "a group's copy": """
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const float4* x, float4* y)
{
    __shared__ float4 tile[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x, 64 * sizeof(float4));
    cg::wait(block);
    y[threadIdx.x] = tile[threadIdx.x];
}""",
    "a function of the header, with zeros at the end": """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float4* x, float4* y)
{
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 16, t == 63 ? 4 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[t];
}""",
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_copies_of_libraries_are_cp_async(name):
    x, y = np.arange(1, 257, dtype=np.float32), np.zeros(256, np.float32)
    launched = run(compiled(LIBRARIES[name]), 1, 64, x, y)
    wanted = x.copy()
    if "zeros" in name:
        wanted[-1] = 0
    assert (y == wanted).all()
    assert launched.counters.async_copy_requests >= 2
    assert launched.counters.global_load_requests == 0


def test_a_barrier_in_memory_says_what_to_take_instead():
    source = """
#include <cuda/barrier>
extern "C" __global__ void k(const float4* x, float4* y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    barrier.arrive_and_wait();
    y[threadIdx.x] = x[threadIdx.x];
}"""
    with pytest.raises(UnknownInstruction, match="cuda::barrier.*__pipeline_wait_prior"):
        run(compiled(source), 1, 64, np.ones(256, np.float32), np.ones(256, np.float32))
