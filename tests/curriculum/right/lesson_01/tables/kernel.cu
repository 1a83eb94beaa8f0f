// The hardware's own names for things, each behind a function.
#define ASK(function, name) \
    __device__ int function() { int answer; asm volatile("mov.u32 %0, %%" name ";" : "=r"(answer)); return answer; }

ASK(block_number, "ctaid.x")
ASK(thread_number, "tid.x")
ASK(block_size, "ntid.x")
ASK(lane_number, "laneid")
ASK(sm_number, "smid")

extern "C" {

__global__ void whoami(int* block, int* thread, int* lane, int* sm)
{
    const int b = block_number(), t = thread_number();
    const long long mine = (long long)b * block_size() + t;
    *(block + mine) = b;
    *(thread + mine) = t;
    *(lane + mine) = lane_number();
    *(sm + mine) = sm_number();
}

__global__ void lanes(int* lane)
{
    int* plane = lane + threadIdx.x * (blockDim.y * blockDim.z);
    int* row = plane + threadIdx.y * blockDim.z;
    row[threadIdx.z] = lane_number();
}

__global__ void spin(int* started, long long cycles)
{
    if (threadIdx.x == 0) *(started + blockIdx.x) = sm_number();
    for (long long begun = clock64(); clock64() - begun < cycles;) { }
}

__global__ void chain(float* y, int steps)
{
    float f = threadIdx.x * 1e-4f;
    do {
#pragma unroll
        for (int k = 0; k < 32; ++k) f = __fmaf_rn(f, f, 0.25f);
    } while (--steps > 0);
    y[threadIdx.x + blockIdx.x * blockDim.x] = f;
}

}
