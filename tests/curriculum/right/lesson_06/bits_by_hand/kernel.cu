// A right answer of another hand: early returns where no barrier follows, masks, and pairs of warps.

typedef unsigned int u32;

static __device__ u32 stir(u32 v, int trips, u32 factor, u32 addend, u32 shift)
{
    for (; trips > 0; --trips) {
        v = factor * v + addend;
        v = v ^ (v >> shift);
    }
    return v;
}

extern "C" {

__global__ void branch_parity(const int *x, int *y, int n, int trips)
{
    int me = threadIdx.x + blockDim.x * blockIdx.x;
    if (me >= n)
        return;
    if (me & 1)
        y[me] = stir(x[me], trips, 22695477u, 1u, 15);
    else
        y[me] = stir(x[me], trips, 1664525u, 1013904223u, 16);
}

__global__ void branch_on(const int *condition, const int *x, int *y, int n, int odd_trips,
                          int even_trips)
{
    int me = threadIdx.x + blockDim.x * blockIdx.x;
    if (me >= n)
        return;
    if (condition[me])
        y[me] = stir(x[me], odd_trips, 22695477u, 1u, 15);
    else
        y[me] = stir(x[me], even_trips, 1664525u, 1013904223u, 16);
}

__global__ void walk(const int *trips, int *y, int n)
{
    int me = threadIdx.x + blockDim.x * blockIdx.x;
    if (me >= n)
        return;
    y[me] = stir(me, trips[me], 22695477u, 1u, 15);
}

// two warps share 64 elements: the first takes the even ones, the second the odd ones
__global__ void branch_aligned(const int *x, int *y, int n, int trips)
{
    u32 lane = threadIdx.x & 31u, second = (threadIdx.x >> 5) & 1u;
    u32 me = blockIdx.x * blockDim.x + (threadIdx.x & ~63u) + (lane << 1 | second);
    if (me >= (u32)n)
        return;
    if (second)
        y[me] = stir(x[me], trips, 22695477u, 1u, 15);
    else
        y[me] = stir(x[me], trips, 1664525u, 1013904223u, 16);
}

__global__ void collatz_steps(const int *x, int *steps, int n, int cap)
{
    int me = threadIdx.x + blockDim.x * blockIdx.x;
    if (me >= n)
        return;
    int found = -2, start = x[me];
    unsigned long long v = start;
    if (start <= 0)
        found = -1;
    else
        for (int s = 0; s <= cap; ++s) {
            if (v == 1) {
                found = s;
                break;
            }
            unsigned long long odd = v & 1;
            v = odd ? v + v + v + 1 : v / 2;
        }
    steps[me] = found;
}

__global__ void vote_count(const int *x, int *counts, int n)
{
    int me = threadIdx.x + blockDim.x * blockIdx.x;
    int first = me & ~31;
    if (first >= n)
        return;  // the whole warp goes
    bool positive = false;
    if (me < n)
        positive = x[me] > 0;
    __syncwarp();
    int sum = 0;
    for (u32 rest = __ballot_sync(~0u, positive); rest; rest &= rest - 1)
        sum++;
    if (me == first)
        counts[first >> 5] = sum;
}

__global__ void broadcast_first(float *x, int n)
{
    int t = threadIdx.x + blockDim.x * threadIdx.y;
    int me = blockIdx.x * blockDim.x * blockDim.y + t;
    float mine = 0;
    if ((me & ~31) == me && me < n)
        mine = x[me];  // nobody but the first reads
    else if (me < n)
        mine = x[me] * 0;
    float theirs = __shfl_sync(~0u, mine, 0);
    if (me >= n)
        return;
    x[me] = theirs;
}

__global__ void rotate_lanes(float *x, int n, int shift)
{
    int t = threadIdx.x + blockDim.x * threadIdx.y;
    int me = blockIdx.x * blockDim.x * blockDim.y + t;
    u32 here = __ballot_sync(~0u, me < n);
    if (me >= n)
        return;
    int size = __popc(here), lane = t & 31;
    long long far = (long long)lane + shift;
    int from = (int)(far - far / size * size);
    if (from < 0)
        from += size;
    x[me] = __shfl_sync(here, x[me], from);
}

__global__ void settle(const float *x, const int *rounds, float *y, int n, int most)
{
    extern __shared__ float cell[];
    const int t = threadIdx.x, start = blockIdx.x * blockDim.x;
    const bool real = start + t < n;
    const int size = start + (int)blockDim.x < n ? blockDim.x : n - start;
    int left = t == 0 ? size - 1 : t - 1, right = t + 1 < size ? t + 1 : 0;
    int todo = 0;
    if (real) {
        todo = rounds[start + t];
        cell[t] = x[start + t];
    }
    // the block itself says when nobody has rounds left
    while (__syncthreads_or(todo > 0)) {
        float next = 0;
        if (todo > 0)
            next = (cell[left] + cell[right]) / 2;
        __syncthreads();
        if (todo-- > 0)
            cell[t] = next;
    }
    if (real)
        y[start + t] = cell[t] - *cell;
}

__global__ void warp_compact(const float *x, float *out, int *counts, int n)
{
    int me = threadIdx.x + blockDim.x * blockIdx.x;
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    float mine = me < n ? x[me] : -1;
    bool kept = mine > 0;
    u32 voters = __ballot_sync(~0u, kept), below = ~(~0u << lane);
    if (kept)
        out[(me & ~31) + __popc(voters & below)] = mine;
    if (me < n && !lane)
        counts[me >> 5] = __popc(voters);
}

}
