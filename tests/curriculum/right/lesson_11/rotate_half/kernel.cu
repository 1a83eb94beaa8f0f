// One float a thread at a time; the block's sum by an atomic; the second half backwards, so that a thread
// reads what others wrote, behind the barrier.
extern "C" __global__ void add_rms_norm(float* y, float* residual, const float* x, const float* weight,
                                        int hidden, float epsilon)
{
    extern __shared__ float kept[];
    __shared__ float total;
    if (threadIdx.x == 0) total = 0.0f;
    __syncthreads();
    const long long begin = (long long)blockIdx.x * hidden;
    float mine = 0.0f;
    for (int c = threadIdx.x; c < hidden; c += blockDim.x) {
        kept[c] = residual[begin + c] + x[begin + c];
        residual[begin + c] = kept[c];
        mine += kept[c] * kept[c];
    }
    atomicAdd(&total, mine);
    __syncthreads();
    const float by = 1.0f / sqrtf(total / hidden + epsilon);
    for (int c = hidden - 1 - (int)threadIdx.x; c >= 0; c -= blockDim.x)
        y[begin + c] = kept[c] * by * weight[c];
}
