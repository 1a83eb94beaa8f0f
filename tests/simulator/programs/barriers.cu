// Who meets at a barrier, and who never comes.

// The tail returns before the barrier, which then does not wait for it.
extern "C" __global__ void return_before_a_barrier(const int* x, int* y, int n)
{
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = x[i];
    __syncthreads(); // noted
    y[i] = tile[threadIdx.x & ~1];
}

// Every thread runs the loop equally often.
extern "C" __global__ void a_barrier_in_a_loop(const int* x, int* y, int turns)
{
    __shared__ int tile[64];
    int t = threadIdx.x, v = x[t];
    for (int turn = 0; turn < turns; ++turn) {
        tile[t] = v;
        __syncthreads();
        v = tile[(t + 33) % 64];
        __syncthreads();
    }
    y[t] = v;
}

// Blocks may take different ways, as long as a block stays together.
extern "C" __global__ void a_barrier_for_even_blocks(const int* x, int* y)
{
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        tile[threadIdx.x] = x[i];
        __syncthreads();
        y[i] = tile[63 - threadIdx.x];
    } else {
        y[i] = x[i];
    }
}

__device__ int sum_of_block(int v, int* scratch)
{
    for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(~0u, v, by);
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    v = scratch[0] + scratch[1];
    __syncthreads();
    return v;
}

// A function with two barriers, called from two places.
extern "C" __global__ void a_barrier_in_a_function(const int* x, int* y)
{
    __shared__ int scratch[2];
    int sum = sum_of_block(x[threadIdx.x], scratch);
    y[threadIdx.x] = sum_of_block(sum + threadIdx.x, scratch);
}

__device__ int hurried_sum_of_block(int v, int* scratch)
{
    for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(~0u, v, by);
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v; // second
    __syncthreads();
    return scratch[0] + scratch[1]; // first
}

// The second call overwrites the scratch that others still read in the first.
extern "C" __global__ void scratch_reused_too_early(const int* x, int* y)
{
    __shared__ int scratch[2];
    int sum = hurried_sum_of_block(x[threadIdx.x], scratch);
    y[threadIdx.x] = hurried_sum_of_block(sum + threadIdx.x, scratch);
}

// Each half of the block meets at a barrier of its own.
extern "C" __global__ void a_named_barrier_for_each_half(const int* x, int* y)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = x[t];
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    y[t] = tile[t ^ 32];
}

// Each half meets, and then reads what the other half wrote.
extern "C" __global__ void a_named_barrier_of_the_wrong_half(const int* x, int* y)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = x[t]; // first
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    y[t] = tile[t ^ 64]; // second
}

// One warp fills, one empties; each arrives at one barrier and waits at the other.
extern "C" __global__ void a_warp_that_fills_and_one_that_empties(const int* x, int* y, int tiles)
{
    __shared__ int tile[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < tiles; ++k) {
            asm volatile("bar.sync 2, 64;" ::: "memory"); // it is empty
            tile[lane] = x[k * 32 + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        for (int k = 0; k < tiles; ++k) {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory"); // it is full
            y[k * 32 + lane] = tile[31 - lane];
        }
    }
}

// The warp that fills arrives, but does not wait until its tile is empty.
extern "C" __global__ void a_warp_that_fills_without_waiting(const int* x, int* y, int tiles)
{
    __shared__ int tile[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < tiles; ++k) {
            tile[lane] = x[k * 32 + lane]; // second
            asm volatile("bar.sync 1, 64;" ::: "memory");
        }
    } else {
        for (int k = 0; k < tiles; ++k) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            y[k * 32 + lane] = tile[31 - lane]; // first
        }
    }
}

// Half of the threads never come to the barrier.
extern "C" __global__ void a_barrier_in_a_branch(const int* x, int* y)
{
    int t = threadIdx.x;
    if (t % 2) {
        y[t] = x[t];
        __syncthreads(); // fault
    } else {
        __syncwarp(0x55555555u);
        y[t] = __shfl_sync(0x55555555u, x[t], 0);
    }
    __syncthreads(); // fault
    y[t] += 1;
}

// How often a thread comes to the barrier depends on the thread.
extern "C" __global__ void a_barrier_in_a_loop_of_each_thread(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    for (int turn = 0; turn < t / 16; ++turn) {
        __syncthreads(); // fault
        tile[t] += turn;
    }
    __syncthreads(); // fault
    y[t] = tile[63 - t];
}

// Three warps are counted, and only two exist.
extern "C" __global__ void a_barrier_with_the_wrong_count(const int* x, int* y)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync 1, 96;" ::: "memory"); // fault
    y[threadIdx.x] = tile[63 - threadIdx.x];
}

// Each arm has a __syncthreads() of its own: the language allows none in such a branch.
extern "C" __global__ void a_barrier_in_each_arm(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t % 32 < 16) {
        tile[t] = x[t];
        __syncthreads(); // fault
        y[t] = tile[t ^ 16];
    } else {
        tile[t] = 2 * x[t];
        __syncthreads(); // fault
        y[t] = tile[t ^ 16] + 1;
    }
}

// A barrier's order reaches global memory too.
extern "C" __global__ void global_memory_of_one_block(const int* x, int* y, int* z)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i];
    __syncthreads();
    z[i] = y[i ^ 63];
}

// All go on as long as any thread has changed something: the vote of a barrier decides for all.
extern "C" __global__ void until_nothing_changes(int* x)
{
    __shared__ int tile[64];
    int t = threadIdx.x, changed;
    tile[t] = x[t];
    __syncthreads();
    do {
        int least = min(tile[t], tile[t > 0 ? t - 1 : 0]);
        __syncthreads();
        changed = least != tile[t];
        tile[t] = least;
    } while (__syncthreads_or(changed));
    x[t] = tile[t];
}

// The same with the middle barrier left out.
extern "C" __global__ void until_nothing_changes_too_early(int* x)
{
    __shared__ int tile[64];
    int t = threadIdx.x, changed;
    tile[t] = x[t];
    __syncthreads();
    do {
        int least = min(tile[t], tile[t > 0 ? t - 1 : 0]); // first
        changed = least != tile[t];
        tile[t] = least; // second
    } while (__syncthreads_or(changed));
    x[t] = tile[t];
}

// One warp writes and returns; the other meets at a barrier of its own, which never counted on it.
extern "C" __global__ void a_named_barrier_without_those_who_left(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t]; // first
    if (t < 32) return;
    asm volatile("bar.sync 1, 32;" ::: "memory");
    y[t] = tile[t ^ 32]; // second
}

// Each block turns as often as its number says; four threads write the same to one place.
extern "C" __global__ void blocks_that_turn_more_and_more(const int* x, int* y)
{
    __shared__ int part[16];
    int t = threadIdx.x, sum = 0;
    for (int turn = 0; turn <= blockIdx.x; ++turn) {
        part[t / 4] = x[t / 4] + turn; // noted
        __syncthreads();
        sum += part[(t / 4 + 5) % 16];
        __syncthreads();
    }
    y[blockIdx.x * 64 + t] = sum;
}

// The same without the barrier that ends a turn.
extern "C" __global__ void blocks_that_turn_too_early(const int* x, int* y)
{
    __shared__ int part[16];
    int t = threadIdx.x, sum = 0;
    for (int turn = 0; turn <= blockIdx.x; ++turn) {
        part[t / 4] = x[t / 4] + turn; // first
        __syncthreads();
        sum += part[(t / 4 + 5) % 16]; // second
    }
    y[blockIdx.x * 64 + t] = sum;
}

// Four threads write the same to one place, and then one of them something else.
extern "C" __global__ void one_of_four_writes_again(const int* x, int* y)
{
    __shared__ int part[16];
    int t = threadIdx.x;
    part[t / 4] = x[t / 4]; // first
    asm volatile("" ::: "memory");
    if (t % 4 == 3) part[t / 4] = -x[t / 4]; // second
    __syncthreads();
    y[t] = part[(t / 4 + 5) % 16];
}

// Four threads write to one place, and not the same.
extern "C" __global__ void four_that_disagree(const int* x, int* y)
{
    __shared__ int part[16];
    int t = threadIdx.x;
    part[t / 4] = x[t / 4] + (blockIdx.x == 1 && t == 62); // both
    __syncthreads();
    y[blockIdx.x * 64 + t] = part[(t / 4 + 5) % 16];
}
