// Loads and stores with a word on caches or on other threads: read only, volatile, streaming.
//
//   x, y   float[n]

extern "C" __global__ void read_only(const float* __restrict__ x, const int* __restrict__ z,
                                     float* __restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * z[i] + x[(i + 1) % n];
}

extern "C" __global__ void by_hint(const float* x, const float4* v, const double* d, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 four = __ldg(&v[i]);
    float sum = __ldg(&x[i]) + __ldca(&x[i]) * 2 + __ldcg(&x[i]) * 4 + __ldcs(&x[i]) * 8
              + __ldlu(&x[i]) * 16 + __ldcv(&x[i]) * 32 + float(__ldg(&d[i])) + four.x + four.w;
    __stwb(&y[i], sum);
    __stcg(&y[n + i], sum + 1);
    __stcs(&y[2 * n + i], sum + 2);
    __stwt(&y[3 * n + i], sum + 3);
}

extern "C" __global__ void watched(volatile int* x, volatile float* y, int n)
{
    __shared__ volatile int tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) {
        int twice = tile[t] + tile[t];
        y[i] = float(twice);
        y[i] = y[i] + 1.0f;
    }
}

// A message from block to block: data first, then a flag.
extern "C" __global__ void message(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == gridDim.x - 1) {
        data[threadIdx.x] = 3 * threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        y[blockIdx.x * blockDim.x + threadIdx.x] = __ldcg(&data[threadIdx.x]) + blockIdx.x;
    }
}
