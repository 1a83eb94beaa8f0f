// Values from other lanes: every shuffle, at several widths and types.
//
//   x   float[n], n a multiple of 32 or less than 32
//   y   float[..][n]   one row for each result

extern "C" __global__ void shuffles(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    float v = x[i];
    float results[] = {
        __shfl_sync(mask, v, 0), __shfl_sync(mask, v, 3, 8), __shfl_up_sync(mask, v, 1),
        __shfl_up_sync(mask, v, 3, 16), __shfl_down_sync(mask, v, 2, 4),
        __shfl_xor_sync(mask, v, 0), __shfl_sync(mask, v, -8, 8),
    };
    for (int k = 0; k < 7; ++k) y[k * n + i] = results[k];
}

// Whole warps only, so that every lane is there: butterflies and lanes that each choose another.
extern "C" __global__ void shuffles_of_full_warps(const int* x, const double* z, int* y, double* w,
                                                  int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int v = x[i];
    int results[] = {
        __shfl_xor_sync(~0u, v, 1), __shfl_xor_sync(~0u, v, 16), __shfl_xor_sync(~0u, v, 5, 8),
        __shfl_sync(~0u, v, (7 * lane + 3) % 32), __shfl_sync(~0u, v, v & 31),
        __shfl_down_sync(~0u, v, 16), __shfl_up_sync(~0u, v, lane % 4),
        __shfl_down_sync(~0u, v, 1, 2), int(__shfl_sync(~0u, static_cast<unsigned>(v), 31 - lane)),
    };
    for (int k = 0; k < 9; ++k) y[k * n + i] = results[k];
    w[i] = __shfl_xor_sync(~0u, z[i], 3);
    long long both = static_cast<long long>(v) << 33 | lane;
    w[n + i] = double(__shfl_down_sync(~0u, both, 4));
}

// Each half of the warp among itself, on two sides of a branch.
extern "C" __global__ void shuffles_of_half_warps(const int* x, int* y)
{
    int t = threadIdx.x;
    int v = x[t];
    if (t % 32 < 16) {
        for (int step = 8; step > 0; step /= 2) v += __shfl_xor_sync(0x0000ffffu, v, step);
    } else {
        for (int step = 8; step > 0; step /= 2) v = max(v, __shfl_xor_sync(0xffff0000u, v, step));
        __syncwarp(0xffff0000u);
    }
    __syncwarp();
    y[t] = v;
}
