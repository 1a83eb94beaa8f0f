// Warp 0 adds what the warps have found; every thread keeps its own part of the row in shared memory.
__device__ float warp_sum(float v)
{
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) v += __shfl_xor_sync(~0u, v, d);
    return v;
}

extern "C" __global__ void add_rms_norm(float4* __restrict__ y, float4* residual, const float4* __restrict__ x,
                                        const float4* __restrict__ weight, const int hidden, const float epsilon)
{
    extern __shared__ float4 mine[];
    __shared__ float found[33];
    const int wide = hidden >> 2, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const long long shift = (long long)blockIdx.x * wide;
    float s0 = 0, s1 = 0;
    for (int k = threadIdx.x; k < wide; k += blockDim.x) {
        float4 r = residual[shift + k];
        const float4 more = x[shift + k];
        r.x += more.x; r.y += more.y; r.z += more.z; r.w += more.w;
        s0 += r.x * r.x + r.z * r.z;
        s1 += r.y * r.y + r.w * r.w;
        mine[k] = residual[shift + k] = r;
    }
    const float own = warp_sum(s0 + s1);
    if (lane == 0) found[warp] = own;
    __syncthreads();
    if (warp == 0) {
        const float all = warp_sum(lane < (blockDim.x >> 5) ? found[lane] : 0.f);
        if (lane == 0) found[32] = 1.f / sqrtf(all / float(hidden) + epsilon);
    }
    __syncthreads();
    const float f = found[32];
    for (int k = threadIdx.x; k < wide; k += blockDim.x) {
        const float4 r = mine[k], w = weight[k];
        float4 o;
        o.x = r.x * f * w.x; o.y = r.y * f * w.y; o.z = r.z * f * w.z; o.w = r.w * f * w.w;
        y[shift + k] = o;
    }
}
