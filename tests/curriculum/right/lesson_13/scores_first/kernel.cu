// A thread for each float of a head; the table comes into shared memory first.
#ifndef GROUP
#define GROUP 1
#endif

extern "C" __global__ void write_kv(float* kc, float* vc, const float* k, const float* v,
                                    const int* slots, int n, int KV, int D)
{
    const int width = KV * D;
    const size_t here = size_t(blockIdx.x) * width;
    __shared__ int shared_slot;
    if (threadIdx.x == 0) shared_slot = slots[blockIdx.x];
    __syncthreads();
    if (shared_slot >= 0) {
        float* key = kc + size_t(shared_slot) * width;
        float* value = vc + size_t(shared_slot) * width;
        for (int f = threadIdx.x; f < width; f += blockDim.x) {
            key[f] = k[here + f];
            value[f] = v[here + f];
        }
    }
}

__device__ float all_lanes(float x)
{
    x += __shfl_down_sync(~0u, x, 16);
    x += __shfl_down_sync(~0u, x, 8);
    x += __shfl_down_sync(~0u, x, 4);
    x += __shfl_down_sync(~0u, x, 2);
    x += __shfl_down_sync(~0u, x, 1);
    return __shfl_sync(~0u, x, 0);
}

// First all scores of a stretch of tokens, a warp for each token; then a sum over the stretch, a
// thread for each float. `find` says where a token's head begins.
template <class Find>
__device__ void attend(float* out, float* log, const float* q, const float* kc, const float* vc,
                       int first, int last, int D, float scale, Find find)
{
    constexpr int STRETCH = 64;
    __shared__ float score[STRETCH];
    __shared__ size_t begin[STRETCH];
    __shared__ float query[128];
    for (int f = threadIdx.x; f < D; f += blockDim.x) query[f] = q[f] * scale;
    float sum[4] = {}, whole = 0, top = __int_as_float(0xff800000);
    for (int from = first; from < last; from += STRETCH) {
        const int count = min(STRETCH, last - from);
        __syncthreads();
        for (int t = threadIdx.x; t < count; t += blockDim.x) begin[t] = find(from + t);
        __syncthreads();
        for (int t = threadIdx.x >> 5; t < count; t += blockDim.x >> 5) {
            float s = 0;
            for (int f = threadIdx.x & 31; f < D; f += 32) s += query[f] * kc[begin[t] + f];
            s = all_lanes(s);
            if ((threadIdx.x & 31) == 0) score[t] = s;
        }
        __syncthreads();
        float peak = top;
        for (int t = 0; t < count; ++t) peak = fmaxf(peak, score[t]);
        const float keep = exp2f((top - peak) * 1.44269504f);
        top = peak;
        whole *= keep;
        for (float& s : sum) s *= keep;
        for (int t = 0; t < count; ++t) {
            const float p = exp2f((score[t] - peak) * 1.44269504f);
            whole += p;
            int slot = 0;
            for (int f = threadIdx.x; f < D; f += blockDim.x) sum[slot++] += p * vc[begin[t] + f];
        }
    }
    int slot = 0;
    for (int f = threadIdx.x; f < D; f += blockDim.x) {
        out[f] = last > first ? sum[slot] / whole : 0.0f;
        ++slot;
    }
    if (log && threadIdx.x == 0) *log = last > first ? top + logf(whole) : top;
}

extern "C" __global__ void dense_attn_decode(float* out, const float* q, const float* keys,
                                             const float* values, const int* lens, int H, int KV,
                                             int D, int longest, float scale)
{
    const size_t row = (size_t(blockIdx.y) * H + blockIdx.x) * D;
    const int kv = blockIdx.x / (H / KV);
    const size_t base = size_t(blockIdx.y) * longest;
    attend(out + row, nullptr, q + row, keys, values, 0, lens[blockIdx.y], D, scale,
           [=](int t) { return ((base + t) * KV + kv) * D; });
}

extern "C" __global__ void paged_attn_decode(float* out, const float* q, const float* kc,
                                             const float* vc, const int* tables, const int* lens,
                                             int H, int KV, int D, int bs, int max_blocks,
                                             float scale)
{
    __shared__ int table[1024];
    const int tokens = lens[blockIdx.y];
    for (int b = threadIdx.x; b * bs < tokens; b += blockDim.x)
        table[b] = tables[blockIdx.y * max_blocks + b];
    __syncthreads();
    const size_t row = (size_t(blockIdx.y) * H + blockIdx.x) * D;
    const int kv = blockIdx.x * KV / H;
    attend(out + row, nullptr, q + row, kc, vc, 0, tokens, D, scale, [&](int t) {
        return ((size_t(table[t / bs]) * bs + t % bs) * KV + kv) * D;
    });
}

// The keys and values of a part come into shared memory a few tokens at a time, for all heads.
extern "C" __global__ void paged_attn_shared(float* mixed, float* logs, const float* q,
                                             const float* kc, const float* vc, const int* tables,
                                             const int* lens, int KV, int D, int bs, int max_blocks,
                                             float scale)
{
    __shared__ int table[1024];
    __shared__ float near_k[8][128], near_v[8][128];
    __shared__ float dots[8], queries[GROUP][128];
    const int kv = blockIdx.x, s = blockIdx.y, tokens = lens[s];
    const int blocks = (tokens + bs - 1) / bs, share = (blocks + gridDim.z - 1) / gridDim.z;
    const int from = min(tokens, int(blockIdx.z) * share * bs);
    const int to = min(tokens, from + share * bs);
    for (int b = from / bs + threadIdx.x; b * bs < to; b += blockDim.x)
        table[b] = tables[s * max_blocks + b];
    for (int i = threadIdx.x; i < GROUP * D; i += blockDim.x)
        queries[i / D][i % D] = q[size_t(s * KV + kv) * GROUP * D + i];
    float sum[GROUP][4] = {}, whole[GROUP] = {}, top[GROUP];
    for (float& t : top) t = __int_as_float(0xff800000);
    for (int at = from; at < to; at += 8) {
        const int count = min(8, to - at);
        __syncthreads();
        for (int i = threadIdx.x; i < count * D; i += blockDim.x) {
            const int t = at + i / D;
            const size_t token = size_t(table[t / bs]) * bs + t % bs;
            near_k[i / D][i % D] = kc[(token * KV + kv) * D + i % D];
            near_v[i / D][i % D] = vc[(token * KV + kv) * D + i % D];
        }
        __syncthreads();
        for (int g = 0; g < GROUP; ++g) {
            for (int t = threadIdx.x >> 5; t < count; t += blockDim.x >> 5) {
                float x = 0;
                for (int f = threadIdx.x & 31; f < D; f += 32) x += queries[g][f] * near_k[t][f];
                x = all_lanes(x);
                if ((threadIdx.x & 31) == 0) dots[t] = x * scale;
            }
            __syncthreads();
            float peak = top[g];
            for (int t = 0; t < count; ++t) peak = fmaxf(peak, dots[t]);
            const float keep = expf(top[g] - peak);
            top[g] = peak;
            whole[g] *= keep;
            for (float& x : sum[g]) x *= keep;
            for (int t = 0; t < count; ++t) {
                const float p = expf(dots[t] - peak);
                whole[g] += p;
                int slot = 0;
                for (int f = threadIdx.x; f < D; f += blockDim.x) sum[g][slot++] += p * near_v[t][f];
            }
            __syncthreads();
        }
    }
    for (int g = 0; g < GROUP; ++g) {
        const size_t row = (size_t(blockIdx.z) * gridDim.y + s) * KV * GROUP + kv * GROUP + g;
        int slot = 0;
        for (int f = threadIdx.x; f < D; f += blockDim.x, ++slot)
            mixed[row * D + f] = to > from ? sum[g][slot] / whole[g] : 0.0f;
        if (threadIdx.x == 0) logs[row] = to > from ? top[g] + logf(whole[g]) : top[g];
    }
}

extern "C" __global__ void merge_parts(float* out, const float* mixed, const float* logs, int parts,
                                       int rows, int D)
{
    float top = logs[blockIdx.x];
    for (int p = 1; p < parts; ++p) top = fmaxf(top, logs[p * rows + blockIdx.x]);
    for (int f = threadIdx.x; f < D; f += blockDim.x) {
        float up = 0, down = 0;
        for (int p = 0; p < parts; ++p) {
            const float log = logs[p * rows + blockIdx.x];
            const float weight = log > -1e30f ? expf(log - top) : 0;
            up += weight * mixed[(size_t(p) * rows + blockIdx.x) * D + f];
            down += weight;
        }
        out[size_t(blockIdx.x) * D + f] = down > 0 ? up / down : 0;
    }
}
