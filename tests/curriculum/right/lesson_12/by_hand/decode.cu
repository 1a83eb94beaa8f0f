// Eight keys at a time, one running softmax a warp and head; parts are merged by all lanes of a warp.
#define INF __int_as_float(0x7f800000)
#ifndef GROUP
#define GROUP 4
#endif

__device__ float summed(float x)
{
    for (int a = 1; a < 32; a <<= 1) x += __shfl_xor_sync(~0u, x, a);
    return x;
}

extern "C" __global__ void flash_decode(float4* part_o, float* part_lse, const float4* q, const float4* k,
    const float4* v, const int* lens, int S, int d, int chunk, float scale)
{
    __shared__ float state[8][GROUP][2];
    __shared__ float partial[8][GROUP][128];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5, n4 = d >> 2;
    const int row = blockIdx.z * gridDim.y + blockIdx.y;
    const int lo = blockIdx.x * chunk, hi = min(lo + chunk, lens[blockIdx.z]);
    const size_t base = (size_t)row * S * n4 + lane;
    const bool on = lane < n4;
    float4 ask[GROUP];
    float top[GROUP], all[GROUP], acc[GROUP][4];
    for (int g = 0; g < GROUP; ++g) {
        ask[g] = on ? q[(row * GROUP + g) * n4 + lane] : float4{0, 0, 0, 0};
        top[g] = -INF; all[g] = 0;
        for (int c = 0; c < 4; ++c) acc[g][c] = 0;
    }
    for (int j = lo + 8 * w; j < hi; j += 64) {
        float4 a[8], b[8];
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            a[i] = b[i] = float4{0, 0, 0, 0};
            if (on && j + i < hi) { a[i] = k[base + (size_t)(j + i) * n4]; b[i] = v[base + (size_t)(j + i) * n4]; }
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (j + i >= hi) break;
            for (int g = 0; g < GROUP; ++g) {
                float s = scale * summed(ask[g].x * a[i].x + ask[g].y * a[i].y + ask[g].z * a[i].z + ask[g].w * a[i].w);
                float next = fmaxf(top[g], s), shrink = expf(top[g] - next), weight = expf(s - next);
                top[g] = next;
                all[g] = all[g] * shrink + weight;
                acc[g][0] = acc[g][0] * shrink + weight * b[i].x;
                acc[g][1] = acc[g][1] * shrink + weight * b[i].y;
                acc[g][2] = acc[g][2] * shrink + weight * b[i].z;
                acc[g][3] = acc[g][3] * shrink + weight * b[i].w;
            }
        }
    }
    for (int g = 0; g < GROUP; ++g) {
        state[w][g][0] = top[g]; state[w][g][1] = all[g];
        for (int c = 0; c < 4; ++c) partial[w][g][4 * lane + c] = acc[g][c];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < GROUP * d; i += blockDim.x) {
        const int g = i / d, c = i % d, to = (row * GROUP + g) * gridDim.x + blockIdx.x;
        float best = -INF, weightsum = 0, sum = 0;
        for (int u = 0; u < 8; ++u) best = fmaxf(best, state[u][g][0]);
        for (int u = 0; u < 8; ++u) {
            float share = state[u][g][1] == 0 ? 0 : expf(state[u][g][0] - best);
            weightsum += share * state[u][g][1];
            sum += share * partial[u][g][c];
        }
        ((float*)part_o)[(size_t)to * d + c] = weightsum > 0 ? sum / weightsum : 0;
        if (c == 0) part_lse[to] = weightsum > 0 ? best + logf(weightsum) : -INF;
    }
}

extern "C" __global__ void merge_splits(float4* o, const float4* part_o, const float* part_lse, int splits, int d)
{
    const float* from = (const float*)part_o + (size_t)blockIdx.x * splits * d;
    const float* logs = part_lse + (size_t)blockIdx.x * splits;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float best = -INF, sum = 0, weights = 0;
        for (int s = 0; s < splits; ++s) {
            if (logs[s] == -INF) continue;
            float next = fmaxf(best, logs[s]);
            float old = expf(best - next), fresh = expf(logs[s] - next);
            sum = sum * old + fresh * from[(size_t)s * d + c];
            weights = weights * old + fresh;
            best = next;
        }
        ((float*)o)[(size_t)blockIdx.x * d + c] = weights > 0 ? sum / weights : 0;
    }
}
