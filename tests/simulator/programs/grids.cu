// Blocks that wait for each other: look-backs, last blocks, barriers of the grid.

__device__ int total_of(int* tile, int v)
{
    tile[threadIdx.x] = v;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum += tile[k];
    __syncthreads();
    return sum;
}

// Each block adds what the blocks before it have published.
extern "C" __global__ void look_back(const int* x, int* y, int* sums, volatile int* state)
{
    __shared__ int tile[32], before;
    int b = blockIdx.x, t = threadIdx.x, sum = total_of(tile, x[b * 32 + t]);
    if (t == 0) {
        sums[b] = sum;
        __threadfence();
        state[b] = 1;
        before = 0;
        for (int back = b - 1; back >= 0; --back) {
            while (state[back] == 0);
            __threadfence();
            before += sums[back];
        }
    }
    __syncthreads();
    y[b * 32 + t] = before + x[b * 32 + t];
}

// Published without a fence.
extern "C" __global__ void look_back_without_a_fence(const int* x, int* y, int* sums,
                                                     volatile int* state)
{
    __shared__ int tile[32], before;
    int b = blockIdx.x, t = threadIdx.x, sum = total_of(tile, x[b * 32 + t]);
    if (t == 0) {
        sums[b] = sum; // first
        state[b] = 1;
        before = 0;
        for (int back = b - 1; back >= 0; --back) {
            while (state[back] == 0);
            __threadfence();
            before += sums[back]; // second
        }
    }
    __syncthreads();
    y[b * 32 + t] = before + x[b * 32 + t];
}

// The block that draws the last ticket adds up what all have written.
extern "C" __global__ void sum_by_the_last_block(const int* x, int* sums, unsigned* ticket, int* y)
{
    __shared__ int tile[32];
    __shared__ bool last;
    int t = threadIdx.x, sum = total_of(tile, x[blockIdx.x * 32 + t]);
    if (t == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        sum = total_of(tile, t < gridDim.x ? sums[t] : 0);
        if (t == 0) y[0] = sum;
    }
}

// No fence between a block's sum and its ticket.
extern "C" __global__ void no_fence_before_the_ticket(const int* x, int* sums, unsigned* ticket,
                                                      int* y)
{
    __shared__ int tile[32];
    __shared__ bool last;
    int t = threadIdx.x, sum = total_of(tile, x[blockIdx.x * 32 + t]);
    if (t == 0) {
        sums[blockIdx.x] = sum; // first
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        sum = total_of(tile, t < gridDim.x ? sums[t] : 0); // second
        if (t == 0) y[0] = sum;
    }
}

// No fence between the last ticket and the sums that it vouches for.
extern "C" __global__ void no_fence_after_the_ticket(const int* x, int* sums, unsigned* ticket,
                                                     int* y)
{
    __shared__ int tile[32];
    __shared__ bool last;
    int t = threadIdx.x, sum = total_of(tile, x[blockIdx.x * 32 + t]);
    if (t == 0) {
        sums[blockIdx.x] = sum; // first
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        sum = total_of(tile, t < gridDim.x ? sums[t] : 0); // second
        if (t == 0) y[0] = sum;
    }
}

// As the programming guide writes it: the sums are volatile, and one fence stands before the ticket.
extern "C" __global__ void sum_by_the_last_block_through_volatile(const int* x, volatile int* sums,
                                                                  unsigned* ticket, int* y)
{
    __shared__ int tile[32];
    __shared__ bool last;
    int t = threadIdx.x, sum = total_of(tile, x[blockIdx.x * 32 + t]);
    if (t == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        sum = total_of(tile, t < gridDim.x ? sums[t] : 0);
        if (t == 0) y[0] = sum;
    }
}

// A barrier of the grid by hand: barrier, fence, count, wait, fence, barrier.
extern "C" __global__ void a_grid_barrier_by_hand(int* count, int* data, int* y)
{
    int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    data[i] = 3 * i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x); // fault
        __threadfence();
    }
    __syncthreads();
    y[i] = data[n - 1 - i];
}

// All blocks have come, but what they wrote need not have.
extern "C" __global__ void a_grid_barrier_without_fences(int* count, int* data, int* y)
{
    int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
    data[i] = 3 * i; // first
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*static_cast<volatile int*>(count) < gridDim.x);
    }
    __syncthreads();
    y[i] = data[n - 1 - i]; // second
}

// Each block waits for the one behind it, which starts only when it has ended.
extern "C" __global__ void a_wait_for_a_later_block(volatile int* flags)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (flags[blockIdx.x + 1] == 0); // fault
        flags[blockIdx.x] = 1;
    }
}

// A flag that nobody raises.
extern "C" __global__ void a_flag_that_nobody_raises(volatile int* flag, int* y)
{
    while (flag[0] == 0); // fault
    y[threadIdx.x] = 1;
}
