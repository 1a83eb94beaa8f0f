// By row and column, with the other error function; a thread steps by columns and carries into rows.
__device__ float bent(float v) { return 0.5f * v * erfcf(v * -0.70710678f); }

extern "C" __global__ void add_bias(float* y, const float* x, const float* bias, int n, int columns)
{
    for (int k = blockDim.x * blockIdx.x + threadIdx.x; k < n; k += blockDim.x * gridDim.x)
        y[k] = bias[k % columns] + x[k];
}

extern "C" __global__ void apply_gelu(float* y, const float* x, int n)
{
    for (int k = blockDim.x * blockIdx.x + threadIdx.x; k < n; k += blockDim.x * gridDim.x) y[k] = bent(x[k]);
}

extern "C" __global__ void add_residual(float* y, const float* x, const float* residual, int n)
{
    for (int k = blockDim.x * blockIdx.x + threadIdx.x; k < n; k += blockDim.x * gridDim.x)
        y[k] = residual[k] + x[k];
}

extern "C" __global__ void bias_gelu_add(float4* y, const float4* x, const float4* bias,
                                         const float4* residual, int n, int columns)
{
    const int wide = columns / 4, rows = n / columns, threads = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int row = first / wide, column = first % wide; row < rows;) {
        const int at = row * wide + column;
        const float4 b = __ldg(bias + column), a = __ldg(x + at), r = __ldg(residual + at);
        float4 o;
        o.x = bent(a.x + b.x) + r.x;
        o.y = bent(a.y + b.y) + r.y;
        o.z = bent(a.z + b.z) + r.z;
        o.w = bent(a.w + b.w) + r.w;
        y[at] = o;
        column += threads;
        row += column / wide;
        column %= wide;
    }
}
