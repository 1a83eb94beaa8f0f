// Whole tiles without a guard, and the last one, and all that is left over, float by float.
#ifndef ILP
#define ILP 4
#endif

extern "C" __global__ void copy4(const float* x, float* y, int n)
{
    const int step = blockDim.x * ILP * 4;  // floats of a tile
    const int whole = n / step;
    for (int tile = blockIdx.x; tile < whole; tile += gridDim.x) {
        const float4* source = reinterpret_cast<const float4*>(x + tile * step) + threadIdx.x;
        float4* target = reinterpret_cast<float4*>(y + tile * step) + threadIdx.x;
        float4 a[ILP];
#pragma unroll
        for (int k = 0; k != ILP; ++k) a[k] = source[k * blockDim.x];
#pragma unroll
        for (int k = 0; k != ILP; ++k) target[k * blockDim.x] = a[k];
    }
    for (int i = whole * step + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i];
}
