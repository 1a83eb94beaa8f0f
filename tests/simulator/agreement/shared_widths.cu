// Shared memory by bytes, halves, and 8 and 16 bytes a lane.

// x [64 * 17], y [blocks * 64]; stride 1 .. 17
extern "C" __global__ void doubles_load(const double* x, double* y, int stride)
{
    __shared__ double items[64 * 17];
    int t = threadIdx.x;  // 0 .. 63
#pragma unroll 1
    for (int k = t; k < 64 * 17; k += 64) items[k] = x[k];
    __syncthreads();
    y[blockIdx.x * 64 + t] = items[t * stride];
}

// x, y [blocks * 64]
extern "C" __global__ void doubles_store(const double* x, double* y, int stride)
{
    __shared__ double items[64 * 17];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    items[t * stride] = x[i];
    __syncthreads();
    if (t % stride == 0) y[i] = items[t];
}

// index [blocks * 64] in 0 .. 255, x [256]
extern "C" __global__ void float2_gather(const float2* x, const int* index, float2* y)
{
    __shared__ float2 items[256];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
#pragma unroll 1
    for (int k = t; k < 256; k += 64) items[k] = x[k];
    __syncthreads();
    y[i] = items[index[i]];
}

// x [64 * 9], y [blocks * 64]; stride 1 .. 9
extern "C" __global__ void float4_load(const float4* x, float4* y, int stride)
{
    __shared__ float4 items[64 * 9];
    int t = threadIdx.x;
#pragma unroll 1
    for (int k = t; k < 64 * 9; k += 64) items[k] = x[k];
    __syncthreads();
    y[blockIdx.x * 64 + t] = items[t * stride];
}

// x, y [blocks * 64]
extern "C" __global__ void float4_store(const float4* x, float4* y, int stride)
{
    __shared__ float4 items[64 * 9];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    items[t * stride] = x[i];
    __syncthreads();
    if (t % stride == 0) y[i] = items[t];
}

// index [blocks * 64] in 0 .. 127, x [128]
extern "C" __global__ void float4_gather(const float4* x, const int* index, float4* y)
{
    __shared__ float4 items[128];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
#pragma unroll 1
    for (int k = t; k < 128; k += 64) items[k] = x[k];
    __syncthreads();
    y[i] = items[index[i]];
}

// x, y [blocks * 128]: neighbouring lanes in neighbouring bytes
extern "C" __global__ void bytes_reversed(const unsigned char* x, unsigned char* y)
{
    __shared__ unsigned char items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    y[i] = items[127 - t];
}

// x [2048], index [blocks * 128] in 0 .. 2047
extern "C" __global__ void bytes_gather(const unsigned char* x, const int* index, unsigned char* y)
{
    __shared__ unsigned char items[2048];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
#pragma unroll 1
    for (int k = t; k < 2048; k += 128) items[k] = x[k];
    __syncthreads();
    y[i] = items[index[i]];
}

// x, y [blocks * 64]; stride 1 .. 34
extern "C" __global__ void shorts_strided(const short* x, short* y, int stride)
{
    __shared__ short items[64 * 34];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    items[t * stride] = x[i];
    __syncthreads();
    y[i] = items[(63 - t) * stride];
}
