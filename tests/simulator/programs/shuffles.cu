// Shuffles and votes before, between and behind two accesses: they meet, and promise no order of memory.

// A shuffle stands between write and read; CUDA promises no order of memory for it.
extern "C" __global__ void ordered_by_a_shuffle_alone(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t]; // noted
    int v = __shfl_xor_sync(~0u, t, 1);
    y[t] = tile[v]; // noted
}

// A shuffle behind both takes nothing back: nothing stood between write and read.
extern "C" __global__ void a_shuffle_behind_write_and_read(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x, sum = 0;
    tile[t] = x[t]; // first
    for (int j = 0; j < 16; ++j) sum += tile[t / 16 * 16 + j]; // second
    y[t] = sum + __shfl_xor_sync(~0u, sum, 16);
}

// With a __syncwarp in its place the shuffle may stand where it likes.
extern "C" __global__ void a_shuffle_behind_a_syncwarp(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x, sum = 0;
    tile[t] = x[t];
    __syncwarp();
    for (int j = 0; j < 16; ++j) sum += tile[t / 16 * 16 + j];
    y[t] = sum + __shfl_xor_sync(~0u, sum, 16);
}

// Shuffles before the write and behind the read, a vote too, and none between.
extern "C" __global__ void shuffles_around_write_and_read(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x, v = x[t];
    v += __shfl_xor_sync(~0u, v, 1);
    v += __shfl_xor_sync(~0u, v, 2);
    tile[t] = v; // first
    int other = tile[t ^ 1]; // second
    other += __shfl_xor_sync(~0u, other, 1);
    y[t] = __any_sync(~0u, other > 40) ? other : 0;
    __syncthreads();
    y[t] += tile[63 - t];
}

// The vote stands between the first write and the read, and the second write has no order.
extern "C" __global__ void a_vote_before_the_second_write(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = 0;
    unsigned all = __ballot_sync(~0u, x[t] > 0);
    tile[t] = x[t]; // first
    int other = tile[t ^ 1]; // second
    all += __ballot_sync(~0u, other > 7);
    y[t] = other + __popc(all);
}

// Each turn's shuffle stands before the next turn's write, and nothing behind it.
extern "C" __global__ void a_shuffle_a_turn(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x, v = x[t];
#pragma unroll 1
    for (int turn = 0; turn < 3; ++turn) {
        tile[t] = v; // first
        v += tile[t ^ 1]; // second
        v += __shfl_xor_sync(~0u, v, 2);
    }
    y[t] = v;
}

// The shuffle orders the second turn's write, which comes after the read, and not the first one's.
extern "C" __global__ void only_the_first_turn_reads(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x, v = x[t];
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
        tile[t] = v; // first
        if (turn == 0) v += tile[t ^ 1]; // second
        v += __shfl_xor_sync(~0u, v, 2);
    }
    y[t] = v;
}

// The same read twice: a shuffle orders the first one and the write, and nothing the second.
extern "C" __global__ void read_again_behind_a_shuffle(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    int v = __shfl_xor_sync(~0u, tile[31 - t], 1);
    v += tile[31 - t]; // first
    tile[t] = v; // second
    y[t] = __shfl_xor_sync(~0u, v, 1);
}

// A shuffle meets its own warp; the next warp reads without an order.
extern "C" __global__ void a_shuffle_between_two_warps(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t]; // first
    int v = __shfl_xor_sync(~0u, t, 1);
    int other = tile[v ^ 32]; // second
    y[t] = other + __shfl_xor_sync(~0u, other, 1);
}

// With __syncthreads() between write and read, and shuffles on both sides.
extern "C" __global__ void a_barrier_between_shuffles(const int* x, int* y)
{
    __shared__ int sums[2];
    int t = threadIdx.x, v = x[t];
    for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(~0u, v, by);
    if (t % 32 == 0) sums[t / 32] = v;
    __syncthreads();
    v = t % 32 < 2 ? sums[t % 32] : 0;
    v += __shfl_xor_sync(~0u, v, 1);
    if (t % 32 == 0) y[t / 32] = v;
}
