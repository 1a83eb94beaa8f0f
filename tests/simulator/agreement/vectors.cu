// Accesses of several elements a lane.

// x, y, z [n] of complex numbers
extern "C" __global__ void complex_product(const float2* x, const float2* y, float2* z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 a = x[i], b = y[i];
    z[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// 4 bytes in, 16 out
extern "C" __global__ void pixels_to_floats(const uchar4* x, float4* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = x[i];
    y[i] = make_float4(p.x, p.y, p.z, p.w);
}

// 8 bytes in, 4 out
extern "C" __global__ void sums_of_four_shorts(const short4* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    short4 v = x[i];
    y[i] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void double2_swapped(const double2* x, double2* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double2 v = x[i];
    y[i] = make_double2(v.y, v.x);
}

// x [rows, pitch], y [rows]: every lane reads the first 16 bytes of a row of `pitch` vectors
extern "C" __global__ void float4_of_each_row(const float4* x, float* y, int rows, int pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float4 v = x[row * pitch];
    y[row] = (v.x + v.y) + (v.z + v.w);
}

// y [n]: 16 bytes of x [n / 4], each for four lanes
extern "C" __global__ void float4_for_four_lanes(const float4* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i >> 2];
    int k = i & 3;
    y[i] = k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

// x [n], y [n] of 4 halves each, by their bits
extern "C" __global__ void four_halves_negated(const uint2* x, uint2* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint2 v = x[i];
    y[i] = make_uint2(v.x ^ 0x80008000u, v.y ^ 0x80008000u);
}
