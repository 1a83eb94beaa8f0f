// Scores of 64 keys first, into shared memory; then one softmax step for all of them; then the values.
#define EMPTY __int_as_float(0xff800000)
#define EVERY 0xffffffffu
#ifndef GROUP
#define GROUP 4
#endif
#define AT_ONCE 64

__device__ float product(float4 a, float4 b) { return a.x * b.x + (a.y * b.y + (a.z * b.z + a.w * b.w)); }

extern "C" __global__ void flash_decode(float4* part_o, float* part_lse, const float4* q, const float4* k,
                                        const float4* v, const int* lens, int S, int d, int chunk, float scale)
{
    __shared__ float scores[GROUP][AT_ONCE], m[GROUP], l[GROUP], rescale[GROUP];
    __shared__ float4 queries[GROUP][32], gathered[8][GROUP][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wide = d / 4;
    int head = blockIdx.y + gridDim.y * blockIdx.z;
    int from = chunk * blockIdx.x, to = min(from + chunk, lens[blockIdx.z]);
    k += (long long)head * S * wide + lane;
    v += (long long)head * S * wide + lane;
    const float4 none = {0.0f, 0.0f, 0.0f, 0.0f};
    if (warp < GROUP)
        for (int g = warp; g < GROUP; g += 8) {
            queries[g][lane] = lane < wide ? q[(head * GROUP + g) * wide + lane] : none;
            if (lane == 0) m[g] = EMPTY, l[g] = 0.0f;
        }
    float4 sum[GROUP];
    for (int g = 0; g < GROUP; g++) sum[g] = none;
    __syncthreads();
    for (int tile = from; tile < to; tile += AT_ONCE) {
        float4 keys[8], values[8];
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            long long row = tile + warp + 8 * i;
            keys[i] = row < to && lane < wide ? k[row * wide] : none;
            values[i] = row < to && lane < wide ? v[row * wide] : none;
        }
        #pragma unroll
        for (int i = 0; i < 8; i++)
            for (int g = 0; g < GROUP; g++) {
                float score = product(keys[i], queries[g][lane]);
                for (int step = 1; step < 32; step *= 2) score += __shfl_xor_sync(EVERY, score, step);
                if (lane == 0) scores[g][warp + 8 * i] = tile + warp + 8 * i < to ? score * scale : EMPTY;
            }
        __syncthreads();
        for (int g = warp; g < GROUP; g += 8) {
            float a = scores[g][lane], b = scores[g][lane + 32], top = fmaxf(fmaxf(a, b), m[g]);
            for (int step = 1; step < 32; step *= 2) top = fmaxf(top, __shfl_xor_sync(EVERY, top, step));
            a = expf(a - top), b = expf(b - top);
            float total = a + b;
            for (int step = 1; step < 32; step *= 2) total += __shfl_xor_sync(EVERY, total, step);
            scores[g][lane] = a, scores[g][lane + 32] = b;
            __syncwarp();
            if (lane == 0) rescale[g] = expf(m[g] - top), l[g] = l[g] * expf(m[g] - top) + total, m[g] = top;
        }
        __syncthreads();
        for (int g = 0; g < GROUP; g++) {
            float by = rescale[g];
            sum[g] = make_float4(sum[g].x * by, sum[g].y * by, sum[g].z * by, sum[g].w * by);
            #pragma unroll
            for (int i = 0; i < 8; i++) {
                float w = scores[g][warp + 8 * i];
                sum[g].x = fmaf(w, values[i].x, sum[g].x);
                sum[g].y = fmaf(w, values[i].y, sum[g].y);
                sum[g].z = fmaf(w, values[i].z, sum[g].z);
                sum[g].w = fmaf(w, values[i].w, sum[g].w);
            }
        }
        __syncthreads();
    }
    for (int g = 0; g < GROUP; g++) gathered[warp][g][lane] = sum[g];
    __syncthreads();
    for (int g = warp; g < GROUP; g += 8) {
        float4 all = none;
        for (int w = 0; w < 8; w++) {
            float4 one = gathered[w][g][lane];
            all = make_float4(all.x + one.x, all.y + one.y, all.z + one.z, all.w + one.w);
        }
        float by = l[g] > 0.0f ? 1.0f / l[g] : 0.0f;
        long long part = (long long)(head * GROUP + g) * gridDim.x + blockIdx.x;
        if (lane < wide) part_o[part * wide + lane] = make_float4(all.x * by, all.y * by, all.z * by, all.w * by);
        if (lane == 0) part_lse[part] = m[g] + logf(l[g]);
    }
}

extern "C" __global__ void merge_splits(float4* o, const float4* part_o, const float* part_lse, int splits, int d)
{
    const float* logs = part_lse + (long long)splits * blockIdx.x;
    float top = EMPTY, total = 0.0f;
    for (int s = 0; s < splits; s++) top = fmaxf(top, logs[s]);
    for (int s = 0; s < splits; s++) total += logs[s] == EMPTY ? 0.0f : expf(logs[s] - top);
    for (int c = threadIdx.x; c < d / 4; c += 32) {
        float4 result = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int s = 0; s < splits; s++) {
            if (logs[s] == EMPTY) continue;
            float share = expf(logs[s] - top) / total;
            float4 part = part_o[((long long)splits * blockIdx.x + s) * (d / 4) + c];
            result = make_float4(result.x + share * part.x, result.y + share * part.y, result.z + share * part.z,
                                 result.w + share * part.w);
        }
        o[blockIdx.x * (d / 4) + c] = result;
    }
}
