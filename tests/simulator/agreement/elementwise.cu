// Whole kernels in which every element has its own thread, or a thread its own elements.

// a, b, c [n]
extern "C" __global__ void vec_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. n - 1, and beyond
    if (i < n) c[i] = a[i] + b[i];
}

// y [n] += scale * x [n]: the grid strides over n
extern "C" __global__ void axpy(const float* x, float* y, float scale, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] += scale * x[i];
}

// x, y [n]: 16 bytes a thread, and the last n % 4 elements one by one
extern "C" __global__ void copy_with_tail(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int vectors = n >> 2;
    if (i < vectors) {
        reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];
        return;
    }
    int last = vectors * 4 + (i - vectors);
    if (last < n) y[last] = x[last];
}

// table [words, width], ids [tokens], y [tokens, width]: a block for each token
extern "C" __global__ void embedding(const float* table, const int* ids, float* y, int width)
{
    const float* row = table + ids[blockIdx.x] * width;
    for (int c = threadIdx.x; c < width; c += blockDim.x) y[blockIdx.x * width + c] = row[c];
}

// x, y [rows, columns], bias [columns]; the tanh form of GELU
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int n, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i] + bias[i % columns];
    float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    y[i] = 0.5f * v * (1.0f + tanhf(inner));
}

// x, y [n]; blocks of 128 threads, a halo of one element on either side, zeros outside
extern "C" __global__ void stencil(const float* x, float* y, int n)
{
    __shared__ float tile[130];
    int t = threadIdx.x, first = blockIdx.x * 128;
#pragma unroll 1
    for (int k = t; k < 130; k += blockDim.x) {
        int i = first + k - 1;
        float value = x[min(max(i, 0), n - 1)];
        tile[k] = i >= 0 && i < n ? value : 0.0f;
    }
    __syncthreads();
    if (first + t < n) y[first + t] = 0.25f * tile[t] + 0.5f * tile[t + 1] + 0.25f * tile[t + 2];
}

// x, y [tokens, 2 * half], angle [tokens, half]: pairs that lie half a row apart turn together
extern "C" __global__ void rotary(const float* x, const float* cosine, const float* sine, float* y, int half)
{
    int token = blockIdx.x;
    for (int c = threadIdx.x; c < half; c += blockDim.x) {
        float a = x[token * 2 * half + c], b = x[token * 2 * half + half + c];
        float cs = cosine[token * half + c], sn = sine[token * half + c];
        y[token * 2 * half + c] = a * cs - b * sn;
        y[token * 2 * half + half + c] = a * sn + b * cs;
    }
}
