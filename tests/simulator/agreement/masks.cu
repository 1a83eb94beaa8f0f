// Warps of which only some lanes take part.

// x, y [blocks * threads], threads no multiple of 32
extern "C" __global__ void partial_warps(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * x[i];
}

// on [n] is 0 or 1
extern "C" __global__ void masked_load(const int* on, const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = -1.0f;
    if (on[i]) value = x[i];
    y[i] = value;
}

extern "C" __global__ void masked_store(const int* on, const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i] + 1.0f;
    if (on[i]) y[i] = value;
}

extern "C" __global__ void masked_double(const int* on, const double* x, double* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (on[i]) y[i] = 2.0 * x[i];
}

extern "C" __global__ void masked_float4(const int* on, const float4* x, float4* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (on[i]) y[i] = x[i];
}

// blocks of 128 threads; on [blocks * 128]
extern "C" __global__ void masked_shared(const int* on, const float* x, float* y)
{
    __shared__ float words[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    words[t] = x[i];
    __syncthreads();
    float value = 0.0f;
    if (on[i]) value = words[(t * 4 + (t >> 5)) & 127];
    y[i] = value;
}

extern "C" __global__ void masked_shared_store(const int* on, const float4* x, float4* y)
{
    __shared__ float4 items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    int mine = on[i];
    if (mine) items[t] = x[i];
    __syncthreads();
    if (mine) y[i] = items[t];
}

// place [blocks * 128] in 0 .. 127
extern "C" __global__ void masked_shared_doubles(const int* on, const int* place, const double* x, double* y)
{
    __shared__ double items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    int mine = on[i], from = place[i];
    double value = -1.0;
    if (mine) value = items[from];
    y[i] = value;
}

extern "C" __global__ void masked_shared_float4(const int* on, const int* place, const float4* x, float4* y)
{
    __shared__ float4 items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    int mine = on[i], from = place[i];
    float4 value = make_float4(-1.0f, -2.0f, -3.0f, -4.0f);
    if (mine) value = items[from];
    y[i] = value;
}

extern "C" __global__ void masked_shared_store_doubles(const int* on, const double* x, double* y)
{
    __shared__ double items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    int mine = on[i];
    if (mine) items[t] = x[i];
    __syncthreads();
    if (mine) y[i] = items[t];
}
