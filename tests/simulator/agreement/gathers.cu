// Addresses that come from memory, and addresses that lanes share.

// index [n] in 0 .. len(x) - 1
extern "C" __global__ void gather_floats(const float* x, const int* index, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}

extern "C" __global__ void gather_bytes(const unsigned char* x, const int* index, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}

extern "C" __global__ void gather_doubles(const double* x, const int* index, double* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}

extern "C" __global__ void gather_float4(const float4* x, const int* index, float4* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}

// place [n]: each of 0 .. n - 1 once
extern "C" __global__ void scatter_floats(const float* x, const int* place, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[place[i]] = x[i];
}

// scale [blocks]: one word for all lanes
extern "C" __global__ void broadcast_scale(const float* x, const float* scale, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * scale[blockIdx.x];
}

// x [n / 8 + 1]: one word for eight lanes
extern "C" __global__ void broadcast_to_eights(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i >> 3];
}

// first [n] in 0 .. n - 1, x [n]: a gather whose index was gathered
extern "C" __global__ void gather_twice(const int* first, const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[first[first[i]]];
}
