// Cooperative groups: all blocks of the grid meet.
//
//   x   int[n]
//   y   int[n]

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Neighbours are averaged again and again, from x to y and back.
extern "C" __global__ void smoothed(int* x, int* y, int rounds, int n)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int k = 0; k < rounds; ++k) {
        if (i < n) {
            int left = x[i > 0 ? i - 1 : 0], right = x[i < n - 1 ? i + 1 : n - 1];
            y[i] = left + x[i] + right;
        }
        grid.sync();
        int* kept = x;
        x = y;
        y = kept;
    }
}

extern "C" __global__ void ranks(int* y)
{
    cg::grid_group grid = cg::this_grid();
    y[grid.thread_rank()] = int(grid.block_rank() * 1000 + grid.num_blocks() * 100 + grid.is_valid());
}
