// Clocks go forward, and sleeping takes time.
//
//   y   long long[4][n]

extern "C" __global__ void clocks(const float* x, long long* y, float* z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long begin = clock64();
    unsigned short_begin = clock();
    float v = x[i];
    for (int k = 0; k < 4; ++k) v = v * 0.5f + 1.0f;
    z[i] = v;
    __nanosleep(20);
    long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    y[i] = clock64() - begin;
    y[n + i] = clock() - short_begin;
    y[2 * n + i] = nanoseconds;
    y[3 * n + i] = begin;
}

// Waits with a growing sleep for a flag that another block sets.
extern "C" __global__ void backs_off(volatile int* flag, int* y)
{
    if (blockIdx.x == 0) {
        int waits = 0, length = 8;
        while (*flag == 0) {
            __nanosleep(length);
            length = min(2 * length, 256);
            ++waits;
        }
        y[threadIdx.x] = *flag + (waits >= 0);
    } else if (threadIdx.x == 0) {
        *flag = 6;
    }
}
