// Contiguous accesses that do not begin at a sector's first byte.

// x [n + offset], y [n]
extern "C" __global__ void offset_load(const float* x, float* y, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + offset];
}

// x [n], y [n + offset]
extern "C" __global__ void offset_store(const float* x, float* y, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i + offset] = x[i];
}

// x, y [n + offset]
extern "C" __global__ void offset_shorts(const short* x, short* y, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i + offset] = x[i + offset];
}

// x, y [n + offset]
extern "C" __global__ void offset_bytes(const unsigned char* x, unsigned char* y, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i + offset] = x[i + offset];
}

// x [n + offset], y [n]
extern "C" __global__ void offset_doubles(const double* x, double* y, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + offset];
}

// x [n + 2], y [n]: three loads, of which at most one is aligned
extern "C" __global__ void three_neighbours(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.25f * x[i] + 0.5f * x[i + 1] + 0.25f * x[i + 2];
}
