// A right answer of a third hand: one template reduces anything, by any operator, over tiles.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

struct Plus {
    static __device__ float neutral() { return 0.f; }
    __device__ float operator()(float a, float b) const { return a + b; }
};

struct Greater {
    static __device__ float neutral() { return -__int_as_float(0x7f800000); }
    __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

struct Found { float value; int at; };

struct First {
    static __device__ Found neutral() { return {-__int_as_float(0x7f800000), 0x7fffffff}; }
    __device__ Found operator()(Found a, Found b) const
    {
        bool strange_a = isnan(a.value), strange_b = isnan(b.value);
        if (strange_a && strange_b) return a.at < b.at ? a : b;
        if (strange_a) return a;
        if (strange_b) return b;
        if (a.value == b.value) return a.at < b.at ? a : b;
        return a.value > b.value ? a : b;
    }
};

typedef cg::thread_block_tile<32> Tile;

__device__ float pull(const Tile& tile, float v, int away) { return tile.shfl_xor(v, away); }
__device__ Found pull(const Tile& tile, Found f, int away)
{
    return {tile.shfl_xor(f.value, away), tile.shfl_xor(f.at, away)};
}

// over the block, in every thread; `room` holds one value a warp and is free again at the end
template <class Operator, class T>
__device__ T reduced(T mine, T* room)
{
    Operator join;
    auto block = cg::this_thread_block();
    Tile tile = cg::tiled_partition<32>(block);
    for (int away = 1; away != 32; away *= 2) mine = join(mine, pull(tile, mine, away));
    if (tile.thread_rank() == 0) room[tile.meta_group_rank()] = mine;
    block.sync();
    T all = Operator::neutral();
    if (tile.thread_rank() < tile.meta_group_size()) all = room[tile.thread_rank()];
    for (int away = 1; away != 32; away *= 2) all = join(all, pull(tile, all, away));
    block.sync();
    return all;
}

extern "C" __global__ void block_sum_interleaved(const float* x, float* sums, int n)
{
    extern __shared__ float tile[];
    auto block = cg::this_thread_block();
    int t = block.thread_rank(), at = t + block.size() * blockIdx.x;
    tile[t] = at >= n ? 0.f : x[at];
    int step = 1;
    do {
        block.sync();
        if (t % (2 * step) == 0 && t + step < block.size())
            tile[t] += tile[t + step];
        step *= 2;
    } while (step < block.size());
    if (t == 0) sums[blockIdx.x] = tile[t];
}

extern "C" __global__ void block_sum_smem(const float* x, float* sums, int n)
{
    extern __shared__ float cells[];
    auto block = cg::this_thread_block();
    unsigned t = block.thread_rank(), at = t + block.size() * blockIdx.x, width = block.size();
    cells[t] = at >= unsigned(n) ? 0.f : x[at];
    block.sync();
    while (width > 1) {
        width /= 2;
        if (t < width) cells[t] = cells[t] + cells[t + width];
        block.sync();
    }
    if (t == 0) sums[blockIdx.x] = cells[0];
}

extern "C" __global__ void block_sum_shfl(const float* x, float* sums, int n)
{
    __shared__ float room[32];
    unsigned at = threadIdx.x + blockDim.x * blockIdx.x;
    float all = reduced<Plus>(at < n ? x[at] : 0.f, room);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// each thread tells what it holds after a reduction
template <class Operator>
__device__ void tell(const float* x, float* held, int n)
{
    __shared__ float room[32];
    unsigned at = threadIdx.x + blockDim.x * blockIdx.x;
    held[at] = reduced<Operator>(at < n ? x[at] : Operator::neutral(), room);
}

extern "C" __global__ void block_sum_held(const float* x, float* held, int n) { tell<Plus>(x, held, n); }
extern "C" __global__ void block_max_held(const float* x, float* held, int n) { tell<Greater>(x, held, n); }

__device__ float gathered(const float* x, long long n)
{
    __shared__ float room[32];
    // each thread's share lies in one piece of the block's share
    long long first = n * blockIdx.x / gridDim.x, last = n * (blockIdx.x + 1) / gridDim.x;
    float mine = 0;
    for (long long at = first + threadIdx.x; at < last; at += blockDim.x) mine += x[at];
    return reduced<Plus>(mine, room);
}

extern "C" __global__ void sum_atomic(const float* x, float* out, long long n)
{
    float all = gathered(x, n);
    cg::invoke_one(cg::this_thread_block(), [&] { atomicAdd(out, all); });
}

extern "C" __global__ void partial_sums(const float* x, float* sums, long long n)
{
    float all = gathered(x, n);
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = all;
}

extern "C" __global__ void softmax_row(const float* x, float* y, int columns)
{
    extern __shared__ float row[];
    __shared__ float room[32];
    const float* from = x + size_t(blockIdx.x) * columns;
    float* to = y + size_t(blockIdx.x) * columns;
    for (int at = threadIdx.x; at < columns; at += blockDim.x) row[at] = from[at];
    float peak = Greater::neutral(), weight = 0;
    bool strange = false;
    for (int at = threadIdx.x; at < columns; at += blockDim.x) {
        peak = Greater()(peak, row[at]);
        strange |= isnan(row[at]);
    }
    peak = reduced<Greater>(peak, room);
    for (int at = threadIdx.x; at < columns; at += blockDim.x) weight += expf(row[at] - peak);
    weight = reduced<Plus>(strange ? weight + __int_as_float(0x7fc00000) : weight, room);
    for (int at = threadIdx.x; at < columns; at += blockDim.x)
        to[at] = expf(row[at] - peak) / weight;
}

extern "C" __global__ void row_argmax(const float* x, float* most, int* where, int columns)
{
    __shared__ Found room[32];
    const float* from = x + size_t(blockIdx.x) * columns;
    Found best = First::neutral();
    for (int at = columns - 1 - int(threadIdx.x); at >= 0; at -= blockDim.x)
        best = First()(Found{from[at], at}, best);
    best = reduced<First>(best, room);
    if (threadIdx.x != 0) return;
    most[blockIdx.x] = best.value;
    where[blockIdx.x] = best.at;
}

extern "C" __global__ void atomic_each(const float* x, float* out, int n)
{
    unsigned at = threadIdx.x + blockDim.x * blockIdx.x;
    if (at < n) atomicAdd(out, x[at]);
}

extern "C" __global__ void add_as_they_come(const float* parts, float* out, float* before)
{
    if (threadIdx.x == 0) {
        float old = atomicAdd(out, parts[blockIdx.x]);
        before[blockIdx.x] = old;
    }
}

extern "C" __global__ void sum_grid(const float* x, float* sums, float* out, long long n)
{
    __shared__ float room[32];
    auto grid = cg::this_grid();
    float all = gathered(x, n);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
    grid.sync();
    if (blockIdx.x + 1 < gridDim.x) return;  // the last block stays
    float mine = 0;
    for (int at = threadIdx.x; at < gridDim.x; at += blockDim.x) mine += sums[at];
    all = reduced<Plus>(mine, room);
    if (threadIdx.x == 0) *out = all;
}
