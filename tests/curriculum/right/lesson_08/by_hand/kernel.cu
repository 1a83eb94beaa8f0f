// The next tile on its way while this one is stored, and the leftovers by the last block.
#ifndef ILP
#define ILP 4
#endif

struct Tile { float4 part[ILP]; };

__device__ __forceinline__ Tile fetched(const float4* x, int at, int end)
{
    Tile tile;
    #pragma unroll
    for (int k = 0; k < ILP; k++, at += blockDim.x)
        tile.part[k] = at < end ? x[at] : make_float4(0, 0, 0, 0);
    return tile;
}

extern "C" __global__ void copy4(const float* x, float* y, int n)
{
    int end = n >> 2, wide = ILP * blockDim.x;
    int tiles = (end + wide - 1) / wide;
    const float4* source = (const float4*)x;
    Tile tile = fetched(source, blockIdx.x * wide + threadIdx.x, end);
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int at = t * wide + threadIdx.x;
        Tile next = fetched(source, at + gridDim.x * wide, end);
        #pragma unroll
        for (int k = 0; k < ILP; k++, at += blockDim.x)
            if (at < end) ((float4*)y)[at] = tile.part[k];
        tile = next;
    }
    bool last = blockIdx.x + 1 == gridDim.x;
    if (last && threadIdx.x < (n & 3)) y[(n & ~3) + threadIdx.x] = x[(n & ~3) + threadIdx.x];
}
