// CUB: reductions, scans and sorts of a warp and of a block.
//
//   x   int[blocks * 64]
//   y   int[..][blocks * 64]

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

extern "C" __global__ void reduces(const int* x, int* y)  // y [blocks][2]
{
    typedef cub::BlockReduce<int, 64> Reduce;
    typedef cub::WarpReduce<int> WarpReduce;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ typename WarpReduce::TempStorage warp_storage[2];
    int v = x[blockIdx.x * 64 + threadIdx.x];
    int sum = Reduce(storage).Sum(v);
    int warp_sum = WarpReduce(warp_storage[threadIdx.x / 32]).Sum(v);
    if (threadIdx.x == 0) {
        y[2 * blockIdx.x] = sum;
        y[2 * blockIdx.x + 1] = warp_sum;
    }
}

extern "C" __global__ void scans(const int* x, int* y, int n)  // y [2][n]
{
    typedef cub::BlockScan<int, 64> Scan;
    __shared__ typename Scan::TempStorage storage;
    int i = blockIdx.x * 64 + threadIdx.x, inclusive, exclusive, total;
    Scan(storage).InclusiveSum(x[i], inclusive);
    __syncthreads();
    Scan(storage).ExclusiveSum(x[i], exclusive, total);
    y[i] = inclusive;
    y[n + i] = exclusive + 1000 * total;
}
