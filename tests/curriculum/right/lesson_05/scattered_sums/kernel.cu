// A right answer of another hand: flat thread numbers, bounds checked by functions, tiles by
// asynchronous copies, a thread's sums 16 apart.

#include <cuda_pipeline.h>

typedef unsigned int u32;

#ifndef SPAN
#define SPAN 16
#endif
#ifndef EDGE
#define EDGE 32
#endif
#ifndef EACH
#define EACH 4
#endif

__device__ float at(const float *matrix, u32 row, u32 column, u32 rows, u32 columns)
{
    return row < rows && column < columns ? matrix[row * (unsigned long long)columns + column] : 0.f;
}

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int M, int N, int K)
{
    u32 me = blockIdx.x * blockDim.x + threadIdx.x, y = me / N, x = me % N;
    if (y >= (u32)M)
        return;
    double total = 0;
    const float *left = a + y * K, *right = b + x;
    for (int k = K; k > 0; k--, left++, right += N)
        total += (double)*left * *right;
    c[me] = (float)total;
}

// 256 threads, EDGE of them along a row
extern "C" __global__ void transpose_tiled(const float *a, float *b, int rows, int columns)
{
    __shared__ float held[EDGE * (EDGE + 1)];
    u32 x = threadIdx.x % EDGE, top = threadIdx.x / EDGE;
    u32 left = blockIdx.x * EDGE, upper = blockIdx.y * EDGE;
    for (u32 y = top; y < EDGE; y += 256 / EDGE)
        held[y * (EDGE + 1) + x] = at(a, upper + y, left + x, rows, columns);
    __syncthreads();
    for (u32 y = top; y < EDGE; y += 256 / EDGE)
        if (left + y < (u32)columns && upper + x < (u32)rows)
            b[(left + y) * rows + upper + x] = held[x * (EDGE + 1) + y];
}

__device__ void bring_one(float *to, const float *m, u32 row, u32 column, u32 rows, u32 columns)
{
    if (row < rows && column < columns)
        __pipeline_memcpy_async(to, m + row * columns + column, sizeof(float));
    else
        *to = 0.0f;
}

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int M, int N, int K)
{
    __shared__ float left[SPAN * SPAN], right[SPAN * SPAN];
    u32 t = threadIdx.x, x = t % SPAN, y = t / SPAN;
    u32 row = blockIdx.y * SPAN + y, column = blockIdx.x * SPAN + x;
    float total = 0;
    for (u32 k = 0; k < (u32)K; k += SPAN) {
        bring_one(left + t, a, row, k + x, M, K);
        bring_one(right + t, b, k + y, column, K, N);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        #pragma unroll 1
        for (u32 j = 0; j < SPAN; j++)
            total = fmaf(left[y * SPAN + j], right[j * SPAN + x], total);
        __syncthreads();
    }
    if (row < (u32)M && column < (u32)N)
        c[row * N + column] = total;
}

#define REACH (16 * EACH)

__device__ void bring(float (*to)[REACH + 1], const float *m, u32 row, u32 column, u32 rows, u32 columns,
                      u32 width, bool turned)
{
    for (u32 e = threadIdx.x; e < 16 * REACH; e += 256) {
        u32 down = e / width, beside = e % width;
        float value = at(m, row + down, column + beside, rows, columns);
        if (turned)
            to[beside][down] = value;
        else
            to[down][beside] = value;
    }
}

__device__ void use(float sum[EACH][EACH], float (*left)[REACH + 1], float (*right)[REACH + 1])
{
    u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int k = 0; k < 16; k++) {
        float beside[EACH];
        #pragma unroll
        for (int j = 0; j < EACH; j++)
            beside[j] = right[k][x + 16 * j];
        #pragma unroll
        for (int i = 0; i < EACH; i++) {
            float down = left[k][y + 16 * i];
            #pragma unroll
            for (int j = 0; j < EACH; j++)
                sum[i][j] += down * beside[j];
        }
    }
}

__device__ void put_away(float sum[EACH][EACH], float *c, u32 M, u32 N)
{
    u32 x = blockIdx.x * REACH + threadIdx.x % 16, y = blockIdx.y * REACH + threadIdx.x / 16;
    #pragma unroll
    for (int i = 0; i < EACH; i++)
        #pragma unroll
        for (int j = 0; j < EACH; j++)
            if (y + 16 * i < M && x + 16 * j < N)
                c[(y + 16 * i) * N + x + 16 * j] = sum[i][j];
}

extern "C" __global__ void matmul_regtile(const float *a, const float *b, float *c, int M, int N, int K)
{
    __shared__ float left[16][REACH + 1], right[16][REACH + 1];
    float sum[EACH][EACH] = {};
    u32 upper = blockIdx.y * REACH, side = blockIdx.x * REACH;
    for (u32 k = 0; k < (u32)K; k += 16) {
        if (k > 0)
            __syncthreads();
        bring(left, a, upper, k, M, K, 16, true);
        bring(right, b, k, side, K, N, REACH, false);
        __syncthreads();
        use(sum, left, right);
    }
    put_away(sum, c, M, N);
}

// The tile of step s lies in half s % 2. It is brought before the barrier that ends step s - 1.
extern "C" __global__ void matmul_buffered(const float *a, const float *b, float *c, int M, int N, int K)
{
    __shared__ float left[2][16][REACH + 1], right[2][16][REACH + 1];
    float sum[EACH][EACH] = {};
    u32 upper = blockIdx.y * REACH, side = blockIdx.x * REACH;
    for (u32 k = 0; k < (u32)K + 16; k += 16) {
        u32 half = k / 16 % 2;
        if (k < (u32)K) {
            bring(left[half], a, upper, k, M, K, 16, true);
            bring(right[half], b, k, side, K, N, REACH, false);
        }
        if (k > 0)
            use(sum, left[1 - half], right[1 - half]);
        if (k < (u32)K)
            __syncthreads();
    }
    put_away(sum, c, M, N);
}

extern "C" __global__ void stencil3(const float *x, float *y, int n)
{
    extern __shared__ float near[];
    int begin = (int)(blockIdx.x * blockDim.x) - 1;
    for (u32 t = threadIdx.x; t < blockDim.x + 2; t += blockDim.x) {
        int from = begin + (int)t;
        near[t] = from >= 0 && from < n ? x[from] : 0.f;
    }
    __syncthreads();
    int me = begin + 1 + (int)threadIdx.x;
    if (me < n)
        y[me] = 0.25f * (near[threadIdx.x] + near[threadIdx.x + 2]) + 0.5f * near[threadIdx.x + 1];
}
