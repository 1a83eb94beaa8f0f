// Float4 taken apart by a loop; every second step works on the tile behind the first.
__device__ float gelu(float x) { return x * (0.5f + 0.5f * erff(0.70710678f * x)); }

extern "C" __global__ void add_bias(float* y, const float* x, const float* bias, int n, int columns)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = x[i] + bias[i % columns];
}

extern "C" __global__ void apply_gelu(float* y, const float* x, int n)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) y[i] = gelu(x[i]);
}

extern "C" __global__ void add_residual(float* y, const float* x, const float* r, int n)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i] + r[i];
}

union Four {
    float4 whole;
    float part[4];
};

extern "C" __global__ void bias_gelu_add(float* y, const float* x, const float* bias,
                                         const float* residual, int n, int columns)
{
    const int quads = n >> 2, wide = columns >> 2, threads = gridDim.x * blockDim.x;
    for (int q = blockIdx.x * blockDim.x + threadIdx.x, column = q % wide; q < quads;
         q += threads, column = (column + threads) % wide) {
        Four value, shift, rest;
        rest.whole = reinterpret_cast<const float4*>(residual)[q];
        shift.whole = reinterpret_cast<const float4*>(bias)[column];
        value.whole = reinterpret_cast<const float4*>(x)[q];
#pragma unroll
        for (int k = 0; k < 4; ++k) value.part[k] = gelu(value.part[k] + shift.part[k]) + rest.part[k];
        reinterpret_cast<float4*>(y)[q] = value.whole;
    }
}
