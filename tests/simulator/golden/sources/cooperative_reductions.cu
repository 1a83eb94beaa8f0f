// Cooperative groups: reductions and scans, of whole tiles and of the lanes that are there.
//
//   x   int[n]
//   z   float[n]
//   y   int[..][n], w float[..][n]   one row for each result

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void reduced(const int* x, const float* z, int* y, float* w, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto eight = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i];
    int results[] = {
        cg::reduce(warp, v, cg::plus<int>()), cg::reduce(warp, v, cg::less<int>()),
        cg::reduce(eight, v, cg::greater<int>()), cg::reduce(eight, v, cg::bit_xor<int>()),
        cg::reduce(warp, v, [](int a, int b) { return a > b ? a - b : b - a; }) & 1,
    };
    for (int k = 0; k < 5; ++k) y[k * n + i] = results[k];
    w[i] = cg::reduce(warp, z[i], cg::plus<float>());
    w[n + i] = cg::reduce(eight, z[i], cg::greater<float>());
}

extern "C" __global__ void scanned(const int* x, const float* z, int* y, float* w, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto four = cg::tiled_partition<4>(warp);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i];
    y[i] = cg::inclusive_scan(warp, v);
    y[n + i] = cg::exclusive_scan(warp, v);
    y[2 * n + i] = cg::inclusive_scan(four, v, cg::greater<int>());
    w[i] = cg::inclusive_scan(warp, z[i], cg::plus<float>());
}

// Lanes that happen to be on the same side of a branch.
extern "C" __global__ void coalesced(const int* x, int* y, int* counter, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    y[i] = -1;
    if (v > 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        int before = 0;
        if (group.thread_rank() == 0) before = atomicAdd(counter, int(group.size()));
        before = group.shfl(before, 0);
        y[i] = before + group.thread_rank();
        y[n + i] = cg::reduce(group, v, cg::plus<int>());
        y[2 * n + i] = group.any(v > 8) * 2 + group.all(v > 1);
    }
}

extern "C" __global__ void labeled(const int* x, int* y, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i];
    auto same = cg::labeled_partition(warp, v);
    y[i] = same.size() * 100 + same.thread_rank();
    auto side = cg::binary_partition(warp, v > 2);
    y[n + i] = cg::reduce(side, v, cg::plus<int>());
}

extern "C" __global__ void invoked_by_one(int* y)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = 0;
    if (warp.thread_rank() == 5) v = 50;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = warp.shfl(v, 5) + warp.meta_group_rank();
}
