// One float a thread, in a row and a column of the grid's own choosing.
__device__ float bend(float v) { return v * normcdff(v); }

extern "C" __global__
void add_bias(float* out, const float* in, const float* bias, int n, int columns)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (; at < n; at += blockDim.x * gridDim.x) out[at] = in[at] + bias[at - at / columns * columns];
}

extern "C" __global__
void apply_gelu(float* out, const float* in, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (; at < n; at += blockDim.x * gridDim.x) out[at] = bend(in[at]);
}

extern "C" __global__
void add_residual(float* out, const float* in, const float* more, int n)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (; at < n; at += blockDim.x * gridDim.x) out[at] = in[at] + more[at];
}

extern "C" __global__
void bias_gelu_add(float* out, const float* in, const float* bias, const float* more, int n, int columns)
{
    const unsigned step = blockDim.x * gridDim.x;
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    while (at < (unsigned)n) {
        const float shifted = in[at] + bias[at % columns];
        out[at] = fmaf(shifted, normcdff(shifted), more[at]);
        at += step;
    }
}
