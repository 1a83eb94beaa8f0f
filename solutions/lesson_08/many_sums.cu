// Lesson 08: a kernel that wants many registers. Complete as it is; task 4 reads what it takes.
// Each thread keeps SUMS sums alive through a loop, all of them in registers if it may.
//
// Two macros come from the command line of the compiler; these are the values without it.

#ifndef SUMS
#define SUMS 40
#endif
#ifndef BOUNDS
#define BOUNDS  // such as __launch_bounds__(256, 4)
#endif

//   x       float[blockDim.x + n + SUMS]   read
//   y       float[SUMS * n + blockDim.x]   written
extern "C" __global__ void BOUNDS
many_sums(const float* x, float* y, int n)
{
    x += threadIdx.x;
    y += threadIdx.x;
    float sums[SUMS] = {};
    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int k = 0; k < SUMS; k++) sums[k] = sums[k] * x[i] + x[i + k];
    }
    #pragma unroll
    for (int k = 0; k < SUMS; k++) y[k * n] = sums[k];
}
