// Lanes of one warp: __syncwarp(), shuffles, votes and their masks.

// A sum by shuffles needs no memory and no barrier.
extern "C" __global__ void sum_by_shuffles(const int* x, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(~0u, v, by);
    if (threadIdx.x % 32 == 0) y[i / 32] = v;
}

// A vote gives each lane that keeps its element a place of its own.
extern "C" __global__ void compacted_by_a_vote(const int* x, int* y)
{
    int t = threadIdx.x;
    unsigned keep = __ballot_sync(~0u, x[t] > 0);
    if (x[t] > 0) y[__popc(keep & ((1u << t) - 1))] = x[t];
}

// The tail of a tree: read, __syncwarp, write, __syncwarp.
extern "C" __global__ void tail_with_every_syncwarp(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    tile[t + 32] = x[t + 32];
    __syncwarp();
    for (int half = 32; half > 0; half /= 2) {
        int sum = tile[t] + tile[t + half];
        __syncwarp();
        tile[t] = sum;
        __syncwarp();
    }
    if (t == 0) y[0] = tile[0];
}

// One __syncwarp a step is too few where all lanes both read and write.
extern "C" __global__ void tail_with_one_syncwarp_a_step(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    tile[t + 32] = x[t + 32];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        tile[t] += tile[t + half]; // both
        __syncwarp();
    }
    if (t == 0) y[0] = tile[0];
}

// One __syncwarp a step is enough where the lanes that are read do not write.
extern "C" __global__ void tail_with_a_guard(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncwarp();
    }
    if (t == 0) y[0] = tile[0];
}

// "A warp runs in lock step" has not been true since Volta.
extern "C" __global__ void tail_without_syncwarp(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    tile[t + 32] = x[t + 32];
    __syncwarp();
#pragma unroll 1
    for (int half = 16; half > 0; half /= 2) tile[t] += tile[t + half]; // both
    if (t == 0) y[0] = tile[0];
}

// volatile makes each access happen; it does not make another lane's happen before.
extern "C" __global__ void volatile_tail_without_syncwarp(const int* x, int* y)
{
    __shared__ int tile[64];
    volatile int* seen = tile;
    int t = threadIdx.x;
    tile[t] = x[t];
    tile[t + 32] = x[t + 32];
    __syncwarp();
#pragma unroll 1
    for (int half = 16; half > 0; half /= 2) seen[t] += seen[t + half]; // both
    __syncwarp();
    if (t == 0) y[0] = tile[0];
}

// Of three needed, the middle one is missing.
extern "C" __global__ void one_syncwarp_of_three_is_missing(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncwarp();
    int other = tile[31 - t]; // first
    tile[t] = 2 * other; // second
    __syncwarp();
    y[t] = tile[t ^ 1];
}

// Groups of eight lanes meet among themselves, each as often as it likes.
extern "C" __global__ void groups_of_eight_lanes(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x, group = t / 8, v = x[t];
    unsigned mask = 0xffu << 8 * group;
    for (int turn = 0; turn <= group; ++turn) {
        tile[t] = v;
        __syncwarp(mask);
        v += tile[t ^ 7];
        __syncwarp(mask);
    }
    y[t] = v;
}

// Groups of eight lanes meet, and then look into the next group.
extern "C" __global__ void groups_that_look_next_door(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t]; // first
    __syncwarp(0xffu << t / 8 * 8);
    y[t] = tile[t ^ 8]; // second
}

// Two halves of a warp in different arms, each with its own mask.
extern "C" __global__ void halves_in_two_arms(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    if (t < 16) {
        __syncwarp(0xffffu);
        y[t] = tile[15 - t];
    } else {
        __syncwarp(0xffff0000u);
        y[t] = 2 * tile[t ^ 1];
    }
}

// A lane that writes and those that read meet from two arms.
extern "C" __global__ void a_syncwarp_met_from_two_arms(const int* x, int* y)
{
    __shared__ int word;
    int t = threadIdx.x;
    if (t == 9) {
        word = x[0];
        __syncwarp();
    } else {
        __syncwarp();
        y[t] = word + t;
    }
}

// A shuffle, too, may be met from two arms, as long as it is the same with the same mask.
extern "C" __global__ void a_shuffle_met_from_two_arms(const int* x, int* y)
{
    int t = threadIdx.x, v = x[t];
    if (t % 2) {
        v = v * 3 + y[t];
        y[t] = __shfl_xor_sync(~0u, v, 1) + 1;
    } else {
        v = v * 5 - y[t];
        y[t] = __shfl_xor_sync(~0u, v, 1) - y[t] / 2;
    }
}

// __syncwarp orders a warp, not its neighbour.
extern "C" __global__ void a_syncwarp_for_two_warps(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t]; // first
    __syncwarp();
    y[t] = tile[63 - t]; // second
}

// Lanes that have returned are not waited for, and nobody reads from them.
extern "C" __global__ void a_shuffle_after_some_returned(const int* x, int* y)
{
    int t = threadIdx.x;
    if (t >= 24) return;
    y[t] = __shfl_sync(~0u, x[t], t ^ 7);
}

// The tail skips the shuffle, and the mask still names it.
extern "C" __global__ void a_full_mask_in_a_branch(const int* x, int* y, int n)
{
    int t = threadIdx.x, v = 0;
    if (t < n) v = __shfl_xor_sync(~0u, x[t], 1); // fault
    __syncthreads();
    y[t] = v;
}

// The mask is made before the branch: it names the lanes that come.
extern "C" __global__ void a_mask_of_those_that_come(const int* x, int* y, int n)
{
    int t = threadIdx.x, v = 0;
    unsigned mask = __ballot_sync(~0u, t < n);
    if (t < n) v = __shfl_xor_sync(mask, x[t], 1);
    __syncthreads();
    y[t] = v;
}

// The mask names lanes 16 and up, which wait elsewhere.
extern "C" __global__ void a_mask_that_names_absent_lanes(const int* x, int* y)
{
    int t = threadIdx.x;
    if (t < 16) y[t] = __reduce_add_sync(0x1ffffu, x[t]); // fault
    __syncthreads();
    if (t >= 16) y[t] = x[t];
}

// Lanes 16 and up call with a mask that leaves them out.
extern "C" __global__ void a_lane_outside_its_own_mask(const int* x, int* y)
{
    y[threadIdx.x] = __shfl_sync(0xffffu, x[threadIdx.x], 3); // fault
}

// Lanes 0 to 7 ask a lane that their mask does not name.
extern "C" __global__ void a_shuffle_from_an_unnamed_lane(const int* x, int* y)
{
    int t = threadIdx.x;
    unsigned mask = t < 8 ? 0xffu : 0xffffff00u;
    y[t] = __shfl_sync(mask, x[t], t < 8 ? 12 : t); // fault
}

// A __syncwarp that only the lower half reaches.
extern "C" __global__ void a_syncwarp_in_a_branch(int* y)
{
    if (threadIdx.x < 16) __syncwarp(); // fault
    y[threadIdx.x] = 1;
    __syncthreads();
}

// Rows of 32 threads are warps, in a block of two dimensions too.
extern "C" __global__ void rows_that_are_warps(const int* x, int* y)
{
    __shared__ int tile[4][32];
    int column = threadIdx.x, row = threadIdx.y;
    tile[row][column] = x[row * 32 + column];
    __syncwarp();
    y[row * 32 + column] = tile[row][31 - column];
}

// Rows of 16 threads: two of them are a warp, and the fourth is not in the first's.
extern "C" __global__ void rows_that_are_half_warps(const int* x, int* y)
{
    __shared__ int tile[4][16];
    int column = threadIdx.x, row = threadIdx.y;
    tile[row][column] = x[row * 16 + column]; // first
    __syncwarp();
    y[row * 16 + column] = tile[3 - row][column]; // second
}

// The last warp has sixteen lanes; the default mask names only lanes that exist.
extern "C" __global__ void a_warp_of_sixteen_lanes(const int* x, int* y)
{
    __shared__ int tile[48];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncwarp();
    y[t] = tile[t ^ 15];
}

// One lane adds for its whole warp and hands the sum's old value out by a shuffle.
extern "C" __global__ void one_atomic_for_a_warp(const int* x, int* count, int* y)
{
    int t = threadIdx.x, lane = t % 32, begin = 0;
    unsigned keep = __ballot_sync(~0u, x[t] > 0);
    if (lane == 0) begin = atomicAdd(count, __popc(keep));
    begin = __shfl_sync(~0u, begin, 0);
    if (x[t] > 0) y[begin + __popc(keep & ((1u << lane) - 1))] = 1;
}
