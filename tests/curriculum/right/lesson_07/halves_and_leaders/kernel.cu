// A right answer of another hand: sums run down to lane 0, rows wait in shared memory.

typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void block_sum_interleaved(const float *x, float *sums, int n)
{
    extern __shared__ float tile[];
    const int t = threadIdx.x, me = blockDim.x * blockIdx.x + t;
    float mine = 0;
    if (me < n)
        mine = x[me];
    tile[t] = mine;
    for (int step = 1; step < blockDim.x; step = step + step) {
        __syncthreads();
        if ((t & (2 * step - 1)) == 0)
            tile[t] += tile[t + step];
    }
    if (!t)
        sums[blockIdx.x] = *tile;
}

extern "C" __global__ void block_sum_smem(const float *x, float *sums, int n)
{
    // each thread keeps its own sum in a register and shows it to the lower half
    extern __shared__ float shown[];
    const u32 t = threadIdx.x, me = blockDim.x * blockIdx.x + t;
    float mine = me < (u32)n ? x[me] : 0;
    for (u32 rest = blockDim.x >> 1; rest; rest >>= 1) {
        if (t < 2 * rest && t >= rest)
            shown[t] = mine;
        __syncthreads();
        if (t < rest)
            mine += shown[t + rest];
    }
    if (t == 0)
        sums[blockIdx.x] = mine;
}

static __device__ float down(float v)
{
    v += __shfl_down_sync(~0u, v, 16);
    v += __shfl_down_sync(~0u, v, 8);
    v += __shfl_down_sync(~0u, v, 4);
    v += __shfl_down_sync(~0u, v, 2);
    v += __shfl_down_sync(~0u, v, 1);
    return v;  // right in lane 0
}

// right in thread 0 alone
static __device__ float to_leader(float v)
{
    __shared__ float leaders[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    v = down(v);
    if (!lane)
        leaders[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = 0;
        if (lane < warps)
            v = leaders[lane];
        v = down(v);
    }
    return v;
}

// right in each thread: the leader shows it to all
static __device__ float to_all(float v)
{
    __shared__ float shown;
    v = to_leader(v);
    if (!threadIdx.x)
        shown = v;
    __syncthreads();
    return shown;
}

extern "C" __global__ void block_sum_held(const float *x, float *held, int n)
{
    const int me = blockDim.x * blockIdx.x + threadIdx.x;
    held[me] = to_all(me < n ? x[me] : 0);
}

extern "C" __global__ void block_max_held(const float *x, float *held, int n)
{
    // one after another: every thread looks at what all have shown
    __shared__ float shown[1024];
    const int me = blockDim.x * blockIdx.x + threadIdx.x;
    float top = shown[threadIdx.x] = me < n ? x[me] : __int_as_float(0xff800000);
    __syncthreads();
    for (int t = 0; t < blockDim.x; t++)
        top = shown[t] > top ? shown[t] : top;
    held[me] = top;
}

extern "C" __global__ void block_sum_shfl(const float *x, float *sums, int n)
{
    const int me = blockDim.x * blockIdx.x + threadIdx.x;
    const float all = to_leader(me < n ? x[me] : 0);
    if (!threadIdx.x)
        sums[blockIdx.x] = all;
}

static __device__ float mine_of(const float *x, long long n)
{
    float v = 0;
    u64 me = blockIdx.x;
    for (me = me * blockDim.x + threadIdx.x; me < (u64)n; me += (u64)gridDim.x * blockDim.x)
        v = v + x[me];
    return v;
}

extern "C" __global__ void sum_atomic(const float *x, float *out, long long n)
{
    const float all = to_leader(mine_of(x, n));
    if (!threadIdx.x)
        atomicAdd(out, all);
}

extern "C" __global__ void partial_sums(const float *x, float *sums, long long n)
{
    const float all = to_leader(mine_of(x, n));
    if (!threadIdx.x)
        sums[blockIdx.x] = all;
}

extern "C" __global__ void softmax_row(const float *x, float *y, int columns)
{
    extern __shared__ float kept[];  // the row, then one place a warp
    float *of_warps = kept + columns;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const u64 start = (u64)blockIdx.x * columns;
    float top = __int_as_float(0xff800000), total = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        top = fmaxf(top, kept[c] = x[start + c]);
    for (int d = 1; d < 32; d <<= 1)
        top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    if (!lane)
        of_warps[warp] = top;
    __syncthreads();
    for (int w = 0; w < warps; w++)
        top = fmaxf(top, of_warps[w]);
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        total += kept[c] = exp2f((kept[c] - top) * 1.44269504f);
    for (int d = 1; d < 32; d <<= 1)
        total += __shfl_xor_sync(~0u, total, d);
    __syncthreads();  // all have read the tops
    if (!lane)
        of_warps[warp] = total;
    __syncthreads();
    total = 0;
    for (int w = 0; w < warps; w++)
        total += of_warps[w];
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        y[start + c] = kept[c] / total;
}

// a float as an unsigned number of the same order, NaN on top
static __device__ u32 ordered(float v)
{
    if (v != v)
        return ~0u;
    v = v + 0.0f;  // -0 becomes 0
    u32 bits = __float_as_uint(v);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

extern "C" __global__ void row_argmax(const float *x, float *most, int *where, int columns)
{
    __shared__ u64 keys[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    x += (u64)blockIdx.x * columns;
    u64 key = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        u64 now = (u64)ordered(x[c]) << 32 | (u32)~c;  // of equals the smaller index is larger
        key = now > key ? now : key;
    }
    for (int d = 16; d; d >>= 1) {
        u64 other = __shfl_down_sync(~0u, key, d);
        if (other > key && lane + d < 32)
            key = other;
    }
    if (!lane)
        keys[warp] = key;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int w = 1; w < blockDim.x >> 5; w++)
        key = keys[w] > key ? keys[w] : key;
    const u32 order = key >> 32;
    most[blockIdx.x] = __uint_as_float(
        order == ~0u ? 0x7fc00000u : order >> 31 ? order & 0x7fffffffu : ~order);
    where[blockIdx.x] = ~(u32)key;
}

extern "C" __global__ void atomic_each(const float *x, float *out, int n)
{
    const int me = blockDim.x * blockIdx.x + threadIdx.x;
    if (me >= n)
        return;
    atomicAdd(out, x[me]);
}

extern "C" __global__ void add_as_they_come(const float *parts, float *out, float *before)
{
    if (!threadIdx.x)
        before[blockIdx.x] = atomicAdd(out, parts[blockIdx.x]);
}

#ifdef MEETING
#include <cooperative_groups.h>

extern "C" __global__ void sum_grid(const float *x, float *sums, float *out, long long n)
{
    const float all = to_leader(mine_of(x, n));
    if (!threadIdx.x)
        sums[blockIdx.x] = all;
    cooperative_groups::this_grid().sync();
    if (threadIdx.x || blockIdx.x)
        return;
    float total = sums[0];
    for (u32 block = 1; block < gridDim.x; block++)
        total += sums[block];
    *out = total;
}
#endif
