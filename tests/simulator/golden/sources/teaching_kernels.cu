// The kernels of a first course: product of matrices, softmax, layer norm, scan, random numbers.

// c [m][n] = a [m][k] x b [k][n]; blocks of 16 x 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += 16) {
        int ka = start + threadIdx.x, kb = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = column < n && kb < k ? b[kb * n + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += tile_a[threadIdx.y][j] * tile_b[j][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

__device__ float warp_max(float v)
{
    for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
    return v;
}

__device__ float warp_sum(float v)
{
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

// One warp a row, the maximum and the sum kept in one pass.
extern "C" __global__ void online_softmax(const float* x, float* y, int rows, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float largest = -__int_as_float(0x7f800000), sum = 0.0f;
    for (int c = lane; c < columns; c += 32) {
        float v = x[row * columns + c], now = fmaxf(largest, v);
        sum = sum * expf(largest - now) + expf(v - now);
        largest = now;
    }
    float all = warp_max(largest);
    sum = warp_sum(largest == all ? sum : sum * expf(largest - all));
    for (int c = lane; c < columns; c += 32) y[row * columns + c] = expf(x[row * columns + c] - all) / sum;
}

// One block a row; Welford's way.
extern "C" __global__ void layer_norm(const float* x, const float* gain, float* y, int columns)
{
    __shared__ float means[32], squares[32];
    __shared__ int counts[32];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;
    float mean = 0.0f, square = 0.0f;
    int count = 0;
    for (int c = t; c < columns; c += blockDim.x) {
        float delta = row[c] - mean;
        mean += delta / ++count;
        square += delta * (row[c] - mean);
    }
    means[t] = mean;
    squares[t] = square;
    counts[t] = count;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < blockDim.x; ++k) {
            if (!counts[k]) continue;
            int both = counts[0] + counts[k];
            float delta = means[k] - means[0];
            means[0] += delta * counts[k] / both;
            squares[0] += squares[k] + delta * delta * counts[0] * counts[k] / both;
            counts[0] = both;
        }
    }
    __syncthreads();
    float scale = rsqrtf(squares[0] / columns + 1e-5f);
    for (int c = t; c < columns; c += blockDim.x)
        y[blockIdx.x * columns + c] = (row[c] - means[0]) * scale * gain[c];
}

// Sums of all before, in one pass: each block waits for the block before it.
extern "C" __global__ void chained_scan(const int* x, int* y, int* state, int n)  // blockDim.x is 64
{
    __shared__ int warp_sums[2], before;
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 64 + t;
    int v = i < n ? x[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(~0u, v, step);
        if (lane >= step) v += other;
    }
    if (lane == 31) warp_sums[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        int own = warp_sums[0] + warp_sums[1], seen = 1;  // a sum is kept as 2 * sum + 1, 0: not yet
        if (blockIdx.x > 0) {
            while ((seen = atomicAdd(&state[blockIdx.x - 1], 0)) == 0) {
            }
        }
        before = (seen - 1) / 2;
        __threadfence();
        atomicExch(&state[blockIdx.x], 2 * (before + own) + 1);
    }
    __syncthreads();
    if (i < n) y[i] = v + before + (t >= 32 ? warp_sums[0] : 0);
}

// Philox 4x32-10: the counter is the element, the key is the seed.
extern "C" __global__ void philox(unsigned* y, unsigned seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = ~seed;
    for (int round = 0; round < 10; ++round) {
        unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
        unsigned h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    unsigned words[4] = {c0, c1, c2, c3};
    for (int k = 0; k < 4; ++k) y[4 * i + k] = words[k];
}

// Bitonic sort of a block's tile.
extern "C" __global__ void bitonic_sort(int* x)  // x [blocks][blockDim.x], a power of two
{
    extern __shared__ int cells[];
    int t = threadIdx.x;
    cells[t] = x[blockIdx.x * blockDim.x + t];
    for (int size = 2; size <= blockDim.x; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int other = t ^ step;
            if (other > t) {
                int a = cells[t], b = cells[other];
                if ((a > b) == ((t & size) == 0)) {
                    cells[t] = b;
                    cells[other] = a;
                }
            }
        }
    }
    __syncthreads();
    x[blockIdx.x * blockDim.x + t] = cells[t];
}
