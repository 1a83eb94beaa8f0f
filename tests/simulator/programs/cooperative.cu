// Cooperative groups: a grid that meets, and groups of lanes.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// All blocks meet, and then read what the others wrote.
extern "C" __global__ void a_grid_that_meets(int* data, int* y)
{
    int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    data[i] = 3 * i;
    cg::this_grid().sync();
    y[i] = data[n - 1 - i];
}

// A barrier of each block is not one of the grid.
extern "C" __global__ void blocks_that_meet_apart(int* data, int* y)
{
    int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    data[i] = 3 * i; // first
    cg::this_thread_block().sync();
    y[i] = data[n - 1 - i]; // second
}

// The grid meets once, and the data is written twice.
extern "C" __global__ void a_grid_that_meets_too_seldom(int* data, int* y)
{
    int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    data[i] = 3 * i;
    cg::this_grid().sync();
    int other = data[n - 1 - i]; // first
    data[i] = other; // second
    y[i] = other;
}

// Tiles of eight lanes exchange through shared memory and meet as a tile.
extern "C" __global__ void tiles_of_eight_lanes(const int* x, int* y)
{
    __shared__ int memory[64];
    int t = threadIdx.x;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    memory[t] = x[t];
    tile.sync();
    y[t] = memory[t ^ 5] + tile.shfl_xor(x[t], 1);
}

// The lanes of one arm form a group and meet.
extern "C" __global__ void lanes_of_one_arm(const int* x, int* y)
{
    __shared__ int memory[32];
    int t = threadIdx.x;
    if (t % 2) {
        auto arm = cg::coalesced_threads();
        memory[arm.thread_rank()] = x[t];
        arm.sync();
        y[t] = memory[arm.size() - 1 - arm.thread_rank()];
    } else {
        y[t] = 0;
    }
}
