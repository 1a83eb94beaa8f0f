// Cooperative groups: the block, and tiles of its warps.
//
//   x   int[blocks * blockDim.x]
//   y   int[..][blocks * blockDim.x]

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void blocks(const int* x, int* y)
{
    __shared__ int tile[128];
    cg::thread_block block = cg::this_thread_block();
    int t = block.thread_rank(), i = block.group_index().x * block.size() + t;
    tile[t] = x[i];
    block.sync();
    y[i] = tile[block.num_threads() - 1 - t] + block.thread_index().x * block.dim_threads().x;
    cg::sync(block);
    auto token = block.barrier_arrive();
    tile[t] = 0;
    block.barrier_wait(static_cast<decltype(token)&&>(token));
}

template <int Width>
__device__ void of_tiles(const int* x, int* y, int n)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<Width>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i], sum = v;
    for (int step = tile.size() / 2; step > 0; step /= 2) sum += tile.shfl_xor(sum, step);
    int results[] = {
        sum, tile.shfl(v, 1), tile.shfl_up(v, 1), tile.shfl_down(v, 2), int(tile.ballot(v & 1)),
        tile.any(v > 5), tile.all(v > -5), int(tile.match_any(v)),
        int(tile.thread_rank() * 1000 + tile.meta_group_rank() * 100 + tile.meta_group_size()),
    };
    tile.sync();
    for (int k = 0; k < 9; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void tiles_of_32(const int* x, int* y, int n) { of_tiles<32>(x, y, n); }
extern "C" __global__ void tiles_of_16(const int* x, int* y, int n) { of_tiles<16>(x, y, n); }
extern "C" __global__ void tiles_of_4(const int* x, int* y, int n) { of_tiles<4>(x, y, n); }

// The width is known at run time only.
extern "C" __global__ void tiles_at_run_time(const int* x, int* y, int width)
{
    cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), width);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int cells[128];
    cells[threadIdx.x] = x[i];
    tile.sync();
    int sum = 0, first = threadIdx.x - tile.thread_rank();
    for (int k = 0; k < tile.size(); ++k) sum += cells[first + k];
    y[i] = sum;
}
