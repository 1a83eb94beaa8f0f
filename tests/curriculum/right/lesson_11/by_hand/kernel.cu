// Floats one by one, and a tree in shared memory behind the row.
extern "C" __global__ void add_rms_norm(float* out, float* total, const float* x, const float* scale,
                                        int width, float eps)
{
    extern __shared__ float kept[];
    __shared__ float part[1024];
    const size_t begin = size_t(blockIdx.x) * width;
    float mine = 0;
    for (int c = threadIdx.x; c < width; c += blockDim.x) {
        const float v = total[begin + c] + x[begin + c];
        kept[c] = v;
        total[begin + c] = v;
        mine = fmaf(v, v, mine);
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int left = blockDim.x; left > 1;) {
        const int half = (left + 1) / 2;
        if (threadIdx.x + half < left) part[threadIdx.x] += part[threadIdx.x + half];
        left = half;
        __syncthreads();
    }
    const float root = sqrtf(part[0] / width + eps);
    for (int c = threadIdx.x; c < width; c += blockDim.x) out[begin + c] = kept[c] / root * scale[c];
}
