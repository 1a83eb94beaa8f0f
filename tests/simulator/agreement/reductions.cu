// Whole kernels in which threads of a block meet: sums, maxima, scans, histograms.

// x [n], partial [blocks]; blocks of 256 threads
extern "C" __global__ void tree_sum(const float* x, float* partial, int n)
{
    __shared__ float sums[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += x[i];
    sums[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (int half = 128; half > 0; half >>= 1) {
#pragma unroll 1
        for (int k = t; k < half; k += blockDim.x) sums[k] += sums[k + half];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = sums[0];
}

// The same as it is mostly written: ptxas predicates the body, and warps without a lane in it issue
// its accesses all the same. They ask memory for nothing, and are counted nowhere.
extern "C" __global__ void tree_sum_guarded(const float* x, float* partial, int n)
{
    __shared__ float sums[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += x[i];
    sums[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = sums[0];
}

__device__ float warp_sum(float value)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

__device__ float warp_maximum(float value)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    return value;
}

// The sum over a block of 256 threads, in all of them; `sums` [8] is free again after it.
__device__ float block_sum(float value, float* sums)
{
    value = warp_sum(value);
    if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = value;
    __syncthreads();
    value = sums[threadIdx.x & 7];
    __syncthreads();
#pragma unroll
    for (int offset = 4; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

// x [n], partial [blocks]
extern "C" __global__ void shuffle_sum(const float* x, float* partial, int n)
{
    __shared__ float sums[8];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
    sum = block_sum(sum, sums);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// x, y [blocks, columns]: a block for each row, three passes over it
extern "C" __global__ void softmax(const float* x, float* y, int columns)
{
    __shared__ float maxima[8];
    __shared__ float sums[8];
    const float* row = x + blockIdx.x * columns;
    float most = -1e30f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) most = fmaxf(most, row[c]);
    most = warp_maximum(most);
    if ((threadIdx.x & 31) == 0) maxima[threadIdx.x >> 5] = most;
    __syncthreads();
    most = maxima[threadIdx.x & 7];
#pragma unroll
    for (int offset = 4; offset > 0; offset >>= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += __expf(row[c] - most);
    sum = block_sum(sum, sums);
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        y[blockIdx.x * columns + c] = __expf(row[c] - most) / sum;
}

// x, y [rows, columns]: a warp for each row, its maximum and its sum found together
extern "C" __global__ void softmax_by_warp(const float* x, float* y, int rows, int columns)
{
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= rows) return;
    float most = -1e30f, sum = 0.0f;
#pragma unroll 1
    for (int c = lane; c < columns; c += 32) {
        float value = x[row * columns + c], higher = fmaxf(most, value);
        sum = sum * __expf(most - higher) + __expf(value - higher);
        most = higher;
    }
    float highest = warp_maximum(most);
    sum = warp_sum(sum * __expf(most - highest));
#pragma unroll 1
    for (int c = lane; c < columns; c += 32)
        y[row * columns + c] = __expf(x[row * columns + c] - highest) / sum;
}

// x, y [blocks, columns], weight [columns]
extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, int columns)
{
    __shared__ float sums[8];
    const float* row = x + blockIdx.x * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] * row[c];
    float scale = rsqrtf(block_sum(sum, sums) / columns + 1e-6f);
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        y[blockIdx.x * columns + c] = row[c] * scale * weight[c];
}

// key [n] of bytes, count [256]: each block counts for itself first
extern "C" __global__ void private_histogram(const unsigned char* key, int* count, int n)
{
    __shared__ int mine[256];
    int t = threadIdx.x;  // 0 .. 255
    mine[t] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) atomicAdd(&mine[key[i]], 1);
    __syncthreads();
    atomicAdd(&count[t], mine[t]);
}

// x, y [blocks, 256]: y[i] = x[0] + .. + x[i - 1] of the block; log2(256) steps over all threads
extern "C" __global__ void scan_hillis_steele(const int* x, int* y)
{
    __shared__ int sums[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
    sums[0][t] = x[i];
    __syncthreads();
#pragma unroll 1
    for (int offset = 1; offset < 256; offset *= 2) {
        int before = sums[from][max(t - offset, 0)];
        sums[1 - from][t] = sums[from][t] + (t >= offset ? before : 0);
        from = 1 - from;
        __syncthreads();
    }
    int before = sums[from][max(t - 1, 0)];
    y[i] = t > 0 ? before : 0;
}

// x, y [blocks, 256], blocks of 128 threads: up a tree and down again, with its bank conflicts
extern "C" __global__ void scan_blelloch(const int* x, int* y)
{
    __shared__ int sums[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    sums[t] = x[first + t];
    sums[t + 128] = x[first + t + 128];
    __syncthreads();
#pragma unroll 1
    for (int step = 1; step < 256; step *= 2) {
#pragma unroll 1
        for (int k = t; k < 128 / step; k += blockDim.x)
            sums[(2 * k + 2) * step - 1] += sums[(2 * k + 1) * step - 1];
        __syncthreads();
    }
#pragma unroll 1
    for (int step = 128; step > 0; step /= 2) {
#pragma unroll 1
        for (int k = t; k < 128 / step; k += blockDim.x) {
            int left = (2 * k + 1) * step - 1, right = (2 * k + 2) * step - 1;
            int sum = sums[left], above = sums[right];
            if (step == 128) above = 0;  // instead of the sum of all
            sums[left] = above;
            sums[right] = above + sum;
        }
        __syncthreads();
    }
    y[first + t] = sums[t];
    y[first + t + 128] = sums[t + 128];
}
