"""Lesson 10, task 4: bias, GELU and residual in one kernel."""

import numpy as np
import pytest
import torch

from curriculum.lesson_10 import host
from harness.judging.data import spread
from references.fused import bias_gelu_add
from references.hardware import SECTOR_BYTES

# rows × columns: one float4, less than a warp of them, one row, a block of float4 and one more
SHAPES = [(1, 4), (2, 4), (3, 28), (1, 1024), (1, 1028), (257, 4), (5, 204), (33, 128), (7, 1020)]


def inputs(rows, columns, rng, device="cpu"):
    x, residual = (spread(rows, columns, rng=rng, device=device) for _ in range(2))
    return x, spread(columns, rng=rng, device=device), residual


@pytest.mark.task(4)
@pytest.mark.parametrize("rows, columns", SHAPES)
def test_one_kernel_does_all_three_steps(rows, columns, device, rng, close):
    close.function(host.fused, bias_gelu_add, *inputs(rows, columns, rng, device))


@pytest.mark.task(4)
@pytest.mark.parametrize("blocks, threads", [(1, 32), (1, 1024), (3, 96), (64, 64)])
def test_any_grid_and_any_block_will_do(blocks, threads, device, rng, close):
    x, bias, residual = inputs(11, 140, rng, device)
    y = torch.empty_like(x)
    kernel = host.module.get_function("bias_gelu_add")
    kernel((blocks,), (threads,), (y, x, bias, residual, np.int32(1540), np.int32(140)))
    close(y, bias_gelu_add, x, bias, residual)


@pytest.mark.task(4)
def test_far_from_zero_a_gelu_is_its_input_or_nothing(device, close):
    x = torch.tensor([[-40.0, -6.0, -0.0, 0.0, 6.0, 40.0, 1e30, -1e30]], device=device)
    bias, residual = torch.zeros(8, device=device), torch.full_like(x, 0.5)
    close(host.fused(x, bias, residual), bias_gelu_add, x, bias, residual)


@pytest.mark.task(4)
def test_nothing_beyond_the_last_element_is_written(device, rng, close):
    x, bias, residual = inputs(3, 44, rng, device)
    fenced = torch.full((256 + 132 + 256,), 7.0, device=device)
    y = fenced[256 : 256 + 132].view(3, 44)
    kernel = host.module.get_function("bias_gelu_add")
    kernel((2,), (64,), (y, x, bias, residual, np.int32(132), np.int32(44)))
    close(y, bias_gelu_add, x, bias, residual)
    fences = torch.cat([fenced[:256], fenced[256 + 132 :]])
    close.equal(fences, torch.full_like(fences, 7.0))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("rows, columns", [(8, 256), (33, 128)])
def test_each_tensor_goes_through_memory_once(rows, columns, rng, profile, close):
    x, bias, residual = inputs(rows, columns, rng)
    launches = profile(lambda: host.fused(x, bias, residual))
    close(launches.result, bias_gelu_add, x, bias, residual)
    kernel, n = launches["bias_gelu_add"], rows * columns
    wanted = 8 * n + 4 * columns  # x, the residual, one row of bias
    read = sum(buffer.bytes_read for buffer in kernel.buffers.values())
    assert read == wanted, f"{rows} × {columns}: {read} bytes of the tensors are read, not {wanted}"
    counters, said = kernel.counters, f"{rows} × {columns}, requested at L1"
    wanted = 12 * n  # x, the residual, and a bias for each element
    loaded, stored = counters.global_load_bytes, counters.global_store_bytes
    assert loaded <= wanted, f"{said}: {loaded} bytes of loads; {wanted} are enough"
    assert stored == 4 * n, f"{said}: {stored} bytes of stores, not {4 * n}: one for each element"
    sectors = counters.global_store_sectors
    assert sectors == stored // SECTOR_BYTES, f"{said}: the stores touch {sectors} sectors"
    local = counters.local_load_requests + counters.local_store_requests
    assert local == 0, f"{said}: {local} requests to local memory; all three steps fit in registers"


@pytest.mark.task(4)
@pytest.mark.simulated
def test_one_launch_moves_three_sevenths_of_what_three_move(rng, profile, close):
    rows, columns = 16, 512
    x, bias, residual = inputs(rows, columns, rng)
    apart = profile(lambda: host.unfused(x, bias, residual))
    together = profile(lambda: host.fused(x, bias, residual))
    close(together.result, bias_gelu_add, x, bias, residual)
    assert len(together) == 1, f"{len(together)} launches, not one"

    def moved(launches):  # by a cache that forgets everything between two launches
        buffers = [b for launch in launches for b in launch.launched.buffers.values()]
        return sum(b.bytes_read + b.bytes_written for b in buffers)

    n, few = 4 * rows * columns, 4 * columns
    got = moved(apart), moved(together)
    wanted = 7 * n + few, 3 * n + few
    said = f"three launches move {got[0]} bytes and one {got[1]}"
    assert got == wanted, f"{said}, not {wanted[0]} and {wanted[1]}: 7 and 3 tensors and a bias"
