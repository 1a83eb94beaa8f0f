// Barriers of a block: plain, counting, and named ones for a part of the block.
//
//   x   int[blocks * blockDim.x]
//   y   int[..][blocks * blockDim.x]

extern "C" __global__ void barriers_that_count(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? x[i] : 0;
    int counted = __syncthreads_count(v > 0);
    int all = __syncthreads_and(v > -3);
    int any = __syncthreads_or(v > 3);
    if (i < n) {
        y[i] = counted;
        y[n + i] = all != 0;
        y[2 * n + i] = any != 0;
    }
}

// A tree in shared memory; the block is a power of two.
extern "C" __global__ void tree(const int* x, int* sums, int n)
{
    __shared__ int tile[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] : 0;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) tile[t] += tile[t + half];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

// The first 64 threads meet at barrier 1, the others at barrier 2; then all at barrier 0.
extern "C" __global__ void named_barriers(const int* x, int* y)  // blockDim.x is 128
{
    __shared__ int tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = x[i];
    if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[i] = tile[63 - t];
    } else {
        asm volatile("barrier.sync %0, %1;" ::"r"(2), "r"(64) : "memory");
        y[i] = tile[191 - t] * 10;
    }
    asm volatile("bar.sync 0;" ::: "memory");
    tile[t] = y[i];
    __syncthreads();
    y[i] += tile[127 - t];
}

// Half of the block produces and goes on; the other half waits for it.
extern "C" __global__ void producer_and_consumer(const int* x, int* y)  // blockDim.x is 64
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < 32) {
        tile[t] = 2 * x[blockIdx.x * 32 + t];
        __threadfence_block();
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 3, 64;" ::: "memory");
        y[blockIdx.x * 32 + t - 32] = tile[63 - t];
    }
}

// One warp fills a tile again and again, the other empties it: barrier 1 says full, barrier 2 empty.
extern "C" __global__ void handed_over(const int* x, int* y, int rounds)  // blockDim.x is 64
{
    __shared__ int tile[32];
    int t = threadIdx.x % 32, first = blockIdx.x * 32 * rounds;
    if (threadIdx.x < 32) {
#pragma unroll 1
        for (int k = 0; k < rounds; ++k) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            tile[t] = x[first + 32 * k + t] + k;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
#pragma unroll 1
        for (int k = 0; k < rounds; ++k) {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            y[first + 32 * k + t] = tile[31 - t];
        }
    }
}

// Those past the end leave before the barrier.
extern "C" __global__ void some_leave_early(const int* x, int* y, int n)  // blockDim.x is 64
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = -1;
    __syncthreads();
    if (i >= n) return;
    tile[t] = x[i];
    __syncthreads();
    y[i] = tile[t ^ 1];
}

// The last block to arrive adds up what all have written.
extern "C" __global__ void last_block(const int* x, int* partial, unsigned* arrived, int* total, int n)
{
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int sum = __syncthreads_count(i < n && (x[i] & 1));
    if (t == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int all = 0;
        for (int b = 0; b < gridDim.x; ++b) all += __ldcg(&partial[b]);
        *total = all;
    }
}
