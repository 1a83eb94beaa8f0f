// Arrays that are indexed by data, so that they lie in local memory.

// from, to [16]: every lane uses the same index
extern "C" __global__ void local_same_index(const int* from, const int* x, int* y, int rounds)
{
    int mine[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) mine[from[k]] = x[i] + k;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) sum = sum * 3 + mine[from[k & 15] ^ 1];
    y[i] = sum;
}

// index [n, 4] in 0 .. 15: every lane its own
extern "C" __global__ void local_own_index(const int* index, int* y, int n)
{
    int mine[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) mine[(k * 5 + i) & 15] = k;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 4; ++k) sum = sum * 7 + mine[index[k * n + i]];
    y[i] = sum;
}

// 8 bytes an element
extern "C" __global__ void local_doubles(const int* from, double* y, int n)
{
    double mine[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) mine[from[k]] = i + k;
    double sum = 0.0;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) sum = sum * 0.5 + mine[from[k] ^ 3];
    y[i] = sum;
}

// key [n, 8] in 0 .. 7: a histogram of each lane's own
extern "C" __global__ void local_histogram(const int* key, int* y, int n)
{
    int count[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) count[k] = 0;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) ++count[key[k * n + i]];
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) sum += (k + 1) * count[k] * count[k];
    y[i] = sum;
}

// 16 bytes an element
extern "C" __global__ void local_float4(const int* from, float4* y, int n)
{
    float4 mine[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) mine[from[k]] = make_float4(i, k, i + k, i - k);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
        float4 next = mine[(from[k] + i) & 7];
        sum.x = sum.x * 0.5f + next.x;
        sum.y = sum.y * 0.5f + next.y;
        sum.z = sum.z * 0.5f + next.z;
        sum.w = sum.w * 0.5f + next.w;
    }
    y[i] = sum;
}

// 1 byte an element, index [n, 4] in 0 .. 15
extern "C" __global__ void local_bytes(const int* index, int* y, int n)
{
    unsigned char mine[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int k = 0; k < 16; ++k) mine[(k * 5 + i) & 15] = k + i;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 4; ++k) sum = sum * 7 + mine[index[k * n + i]];
    y[i] = sum;
}
