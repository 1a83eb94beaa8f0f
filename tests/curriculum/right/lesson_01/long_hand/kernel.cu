// Every kernel spelled out, with an index counted up block by block.

__device__ unsigned special_lane() { unsigned r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ unsigned special_sm() { unsigned r; asm volatile("mov.u32 %0, %%smid;" : "=r"(r)); return r; }

extern "C" __global__ void whoami(int* block, int* thread, int* lane, int* sm)
{
    int index = threadIdx.x;
    for (int before = 0; before < blockIdx.x; before++)
        index += blockDim.x;
    sm[index] = special_sm();
    lane[index] = special_lane();
    thread[index] = threadIdx.x;
    block[index] = blockIdx.x;
}

extern "C" __global__ void lanes(int* lane)
{
    lane[threadIdx.x * blockDim.y * blockDim.z + threadIdx.y * blockDim.z + threadIdx.z] = special_lane();
}

extern "C" __global__ void spin(int* started, long long cycles)
{
    const long long end = clock64() + cycles;
    while (clock64() < end) { }
    if (threadIdx.x) return;
    started[blockIdx.x] = special_sm();
}

extern "C" __global__ void chain(float* y, int steps)
{
    float value = threadIdx.x * 1e-4f;
    for (int left = 32 * steps; left > 0; left--) value = fmaf(value, value, 0.25f);
    y[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
