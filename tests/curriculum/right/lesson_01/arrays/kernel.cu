// Templates, 64 bits, and streaming stores.
template <typename T> __device__ __forceinline__ T special_lane() { T v; asm("mov.u32 %0, %%laneid;" : "=r"(v)); return v; }
__device__ __forceinline__ unsigned special_sm() { unsigned v; asm("mov.u32 %0, %%smid;" : "=r"(v)); return v; }

extern "C" __global__ void __launch_bounds__(1024) whoami(int* block, int* thread, int* lane, int* sm)
{
    const size_t before = (size_t)blockIdx.x * blockDim.x;
    int* const rows[4] = {block + before, thread + before, lane + before, sm + before};
    const int values[4] = {(int)blockIdx.x, (int)threadIdx.x, special_lane<int>(), (int)special_sm()};
#pragma unroll
    for (int k = 3; k >= 0; --k) __stcs(rows[k] + threadIdx.x, values[k]);
}

extern "C" __global__ void lanes(int* lane)
{
    size_t place = threadIdx.z;
    place += threadIdx.y * (size_t)blockDim.z;
    place += threadIdx.x * (size_t)blockDim.z * blockDim.y;
    lane[place] = special_lane<int>();
}

extern "C" __global__ void spin(int* started, long long cycles)
{
    for (long long t = clock64(), u = t; u - t < cycles; u = clock64());
    if (!threadIdx.x) started[blockIdx.x] = special_sm();
}

extern "C" __global__ void chain(float* y, int steps)
{
    float v = 1e-4f * threadIdx.x;
    while (steps--) for (int k = 32; k; --k) v = __fmaf_rn(v, v, .25f);
    *(y + blockIdx.x * blockDim.x + threadIdx.x) = v;
}
