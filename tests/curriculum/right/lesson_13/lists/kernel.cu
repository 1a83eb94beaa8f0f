// A thread for each token while there are scores to find, a thread for four floats afterwards.
#ifndef GROUP
#define GROUP 1
#endif

extern "C" __global__ void write_kv(float4* kc, float4* vc, const float4* k, const float4* v,
                                    const int* slots, int n, int KV, int D)
{
    long long slot = slots[blockIdx.x];
    for (unsigned i = threadIdx.x; i < KV * D / 4 && slot > -1; i += blockDim.x) {
        kc[slot * (KV * D / 4) + i] = k[blockIdx.x * (KV * D / 4) + i];
        vc[slot * (KV * D / 4) + i] = v[blockIdx.x * (KV * D / 4) + i];
    }
}

struct Places {
    const int* table;  // null: tokens lie side by side from `base` on
    long long base;
    int bs, KV, kv;
    __device__ long long operator()(int t) const
    {
        long long token = table ? (long long)table[t / bs] * bs + t % bs : base + t;
        return token * KV + kv;  // in heads
    }
};

// HEADS queries that lie side by side, over tokens begin, begin + 1, … end - 1, TOKENS at a time.
template <int HEADS, int TOKENS = 128>
__device__ void over(float* out, float* logs, const float* q, const float* kc, const float* vc,
                     Places where, int begin, int end, int D, float scale)
{
    __shared__ long long row[TOKENS];
    __shared__ float weight[HEADS][TOKENS];
    __shared__ float4 query[HEADS][32];
    int quads = D / 4;
    for (int i = threadIdx.x; i < HEADS * quads; i += blockDim.x)
        query[i / quads][i % quads] = ((const float4*)q)[i];
    float most[HEADS], sum[HEADS];
    float4 acc[HEADS] = {};
    for (int h = 0; h < HEADS; ++h) most[h] = -3e38f, sum[h] = 0;
    for (int base = begin; base < end; base += TOKENS) {
        int count = end - base < TOKENS ? end - base : TOKENS;
        __syncthreads();
        for (int t = threadIdx.x; t < count; t += blockDim.x) {
            row[t] = where(base + t) * quads;
            float dot[HEADS] = {};
            for (int i = 0; i < quads; ++i) {
                float4 key = ((const float4*)kc)[row[t] + i];
                for (int h = 0; h < HEADS; ++h) {
                    float4 a = query[h][i];
                    dot[h] += a.x * key.x + a.y * key.y + a.z * key.z + a.w * key.w;
                }
            }
            for (int h = 0; h < HEADS; ++h) weight[h][t] = dot[h] * scale;
        }
        __syncthreads();
        if (threadIdx.x >= quads) continue;
        float shrink[HEADS];
        for (int h = 0; h < HEADS; ++h) {
            float before = most[h];
            for (int t = 0; t < count; ++t) most[h] = max(most[h], weight[h][t]);
            shrink[h] = expf(before - most[h]);
            sum[h] *= shrink[h];
            acc[h].x *= shrink[h], acc[h].y *= shrink[h], acc[h].z *= shrink[h], acc[h].w *= shrink[h];
        }
        for (int t = 0; t < count; ++t) {
            float4 value = ((const float4*)vc)[row[t] + threadIdx.x];
            for (int h = 0; h < HEADS; ++h) {
                float p = expf(weight[h][t] - most[h]);
                sum[h] += p;
                acc[h].x += p * value.x, acc[h].y += p * value.y;
                acc[h].z += p * value.z, acc[h].w += p * value.w;
            }
        }
    }
    for (int h = 0; h < HEADS; ++h) {
        float one = end > begin ? 1 / sum[h] : 0;
        float4 a = acc[h];
        if (threadIdx.x < quads)
            ((float4*)out)[h * quads + threadIdx.x] = make_float4(a.x * one, a.y * one, a.z * one, a.w * one);
        if (logs && !threadIdx.x)
            logs[h] = end > begin ? most[h] + logf(sum[h]) : __int_as_float(0xff800000);
    }
}

extern "C" __global__ void dense_attn_decode(float* out, const float* q, const float* keys,
                                             const float* values, const int* lens, int H, int KV,
                                             int D, int longest, float scale)
{
    long long at = ((long long)gridDim.x * blockIdx.y + blockIdx.x) * D;
    Places where{nullptr, (long long)blockIdx.y * longest, 1, KV, int(blockIdx.x) / (H / KV)};
    over<1, 8>(out + at, nullptr, q + at, keys, values, where, 0, lens[blockIdx.y], D, scale);
}

extern "C" __global__ void paged_attn_decode(float* out, const float* q, const float* kc,
                                             const float* vc, const int* tables, const int* lens,
                                             int H, int KV, int D, int bs, int max_blocks,
                                             float scale)
{
    long long at = ((long long)gridDim.x * blockIdx.y + blockIdx.x) * D;
    Places where{tables + (long long)blockIdx.y * max_blocks, 0, bs, KV, int(blockIdx.x) / (H / KV)};
    over<1>(out + at, nullptr, q + at, kc, vc, where, 0, lens[blockIdx.y], D, scale);
}

extern "C" __global__ void paged_attn_shared(float* mixed, float* logs, const float* q,
                                             const float* kc, const float* vc, const int* tables,
                                             const int* lens, int KV, int D, int bs, int max_blocks,
                                             float scale)
{
    int len = lens[blockIdx.y], blocks = (len + bs - 1) / bs;
    int first = min(len, int((long long)blocks * blockIdx.z / gridDim.z) * bs);
    int last = min(len, int((long long)blocks * (blockIdx.z + 1) / gridDim.z) * bs);
    long long from = ((long long)blockIdx.y * KV + blockIdx.x) * GROUP;
    long long to = from + (long long)blockIdx.z * gridDim.y * KV * GROUP;
    Places where{tables + (long long)blockIdx.y * max_blocks, 0, bs, KV, int(blockIdx.x)};
    over<GROUP>(mixed + to * D, logs + to, q + from * D, kc, vc, where, first, last, D, scale);
}

extern "C" __global__ void merge_parts(float* out, const float* mixed, const float* logs, int parts,
                                       int rows, int D)
{
    int i = threadIdx.x;
    float most = -3e38f, sum = 0, acc = 0;
    for (int p = 0; p < parts; ++p) {
        float log = logs[p * rows + blockIdx.x], both = max(most, log);
        float old = expf(most - both), now = expf(log - both);
        sum = sum * old + now;
        if (i < D) acc = acc * old + now * mixed[((long long)p * rows + blockIdx.x) * D + i];
        most = both;
    }
    if (i < D) out[(long long)blockIdx.x * D + i] = sum > 0 ? acc / sum : 0;
}
