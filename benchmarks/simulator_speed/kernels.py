"""The kernels that are timed: CUDA C++ of the kinds that lessons write.

Blocks have 256 threads, and problems are whole multiples of a block, so that the Numba versions
beside them (`numba_kernels.py`) run the same statements.
"""

BLOCK = 256  # threads

VECTOR_ADD = r"""
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""

TILED_MATMUL = r"""
extern "C" __global__ void tiled_matmul(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        left[ty][tx] = a[row * n + k + tx];
        right[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += left[ty][j] * right[j][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""

TREE_REDUCTION = r"""
extern "C" __global__ void tree_reduction(const float* x, float* sums, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}
"""

SHUFFLE_REDUCTION = r"""
extern "C" __global__ void shuffle_reduction(const float* x, float* sums, int n)
{
    __shared__ float part[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float sum = i < n ? x[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < 8 ? part[t] : 0.0f;
        for (int step = 4; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (t == 0) sums[blockIdx.x] = sum;
    }
}
"""

TRANSPOSE = r"""
extern "C" __global__ void transpose(const float* x, float* y, int n)
{
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 32 + tx, row = blockIdx.y * 32 + ty;
    for (int k = 0; k < 32; k += 8) tile[ty + k][tx] = x[(row + k) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + tx, row = blockIdx.x * 32 + ty;
    for (int k = 0; k < 32; k += 8) y[(row + k) * n + column] = tile[tx][ty + k];
}
"""

HISTOGRAM = r"""
extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
"""

SOFTMAX_ROWS = r"""
__device__ float combined(float value, float* part, bool largest)
{
    int t = threadIdx.x;
    part[t] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] = largest ? fmaxf(part[t], part[t + half]) : part[t] + part[t + half];
        __syncthreads();
    }
    value = part[0];
    __syncthreads();
    return value;
}

extern "C" __global__ void softmax_rows(const float* x, float* y, int columns)
{
    __shared__ float part[256];
    const float* row = x + (long long)blockIdx.x * columns;
    float* out = y + (long long)blockIdx.x * columns;
    float top = __int_as_float(0xff800000), sum = 0.0f;
    for (int j = threadIdx.x; j < columns; j += 256) top = fmaxf(top, row[j]);
    top = combined(top, part, true);
    for (int j = threadIdx.x; j < columns; j += 256) sum += __expf(row[j] - top);
    sum = combined(sum, part, false);
    for (int j = threadIdx.x; j < columns; j += 256) out[j] = __expf(row[j] - top) / sum;
}
"""

REGISTER_TILED_MATMUL = r"""
extern "C" __global__ void register_tiled_matmul(
    const float* a, const float* b, float* c, int n, int depth)
{
    __shared__ float left[64][17], right[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    float sums[4][4] = {};
    for (int k = 0; k < depth; k += 16) {
        for (int e = t; e < 1024; e += 256) {
            left[e / 16][e % 16] = a[(blockIdx.y * 64 + e / 16) * depth + k + e % 16];
            right[e / 64][e % 64] = b[(k + e / 64) * n + blockIdx.x * 64 + e % 64];
        }
        __syncthreads();
        for (int j = 0; j < 16; ++j)
            for (int r = 0; r < 4; ++r)
                for (int s = 0; s < 4; ++s)
                    sums[r][s] += left[ty + 16 * r][j] * right[j][tx + 16 * s];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s)
            c[(blockIdx.y * 64 + ty + 16 * r) * n + blockIdx.x * 64 + tx + 16 * s] = sums[r][s];
}
"""


def straight_line(instructions: int) -> str:
    """A kernel whose threads compute about so many float instructions, in one
    basic block: a third additions, a third multiplications, a third fused. Values stay near 1.
    """
    steps = "\n".join(
        f"    p = __fadd_rn(p, q); q = __fmul_rn(q, {1 + (k % 7 - 3) / 256}f); "
        f"p = __fmaf_rn(p, -0.25f, q);"
        for k in range(max(1, instructions // 3))
    )
    return f"""
extern "C" __global__ void straight_line(const float* x, float* y)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float p = x[i], q = __fmaf_rn(p, 0.5f, 1.0f);
{steps}
    y[i] = p + q;
}}
"""
