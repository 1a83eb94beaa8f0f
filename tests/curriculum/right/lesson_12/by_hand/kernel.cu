// 16 lanes a query, weights by shuffles, results in columns beside one another.
#define INF __int_as_float(0x7f800000)
#ifndef BR
#define BR 16
#define BC 16
#endif
#ifndef D
#define D 64
#endif
#define WIDE (D / 16)

struct Rules { bool causal; int window, sinks; float cap; };

__device__ float score_of(float raw, int own, int key, int keys, Rules r)
{
    if (key >= keys) return -INF;
    if (r.causal && key > own) return -INF;
    if (r.window && key <= own - r.window && key >= r.sinks) return -INF;
    return r.cap > 0 ? r.cap * tanhf(raw / r.cap) : raw;
}

__device__ void rows_of(float* shared, const float* global, int rows, int there, int d)
{
    for (int row = threadIdx.x / 16; row < rows; row += 16)
        for (int c = threadIdx.x % 16; c < D; c += 16)
            shared[row * (D + 1) + c] = (row < there && c < d) ? global[(size_t)row * d + c] : 0.f;
}

__device__ void flash(float* o, float* lse, const float* q, const float* k, const float* v, int H, int KV,
                      int Tq, int Tk, int d, float scale, Rules rules)
{
    __shared__ float qs[BR * (D + 1)], ks[BC * (D + 1)], vs[BC * (D + 1)];
    const int lane = threadIdx.x & 15, line = threadIdx.x >> 4, h = blockIdx.y;
    const size_t from = (size_t)(h * KV / H) * Tk * d;
    const int begin = blockIdx.x * BR, shift = Tk - Tq;
    int last = min(begin + BR, Tq) - 1 + shift;
    const int stop = rules.causal ? min(Tk, last + 1) : Tk;
    float best[BR / 16], total[BR / 16], mean[BR / 16][WIDE];
    for (int r = 0; r < BR / 16; ++r) {
        best[r] = -INF; total[r] = 0.f;
        for (int c = 0; c < WIDE; ++c) mean[r][c] = 0.f;
    }
    rows_of(qs, q + ((size_t)h * Tq + begin) * d, BR, Tq - begin, d);
    for (int t = 0; t < stop; t += BC) {
        bool before = t + BC <= begin + shift - rules.window + 1;
        if (rules.window && before && t >= rules.sinks) continue;
        rows_of(ks, k + from + (size_t)t * d, BC, stop - t, d);
        rows_of(vs, v + from + (size_t)t * d, BC, stop - t, d);
        __syncthreads();
        for (int r = 0; r < BR / 16; ++r) {
            int own = begin + line + 16 * r + shift;
            for (int part = 0; part < BC; part += 16) {
                float raw = 0.f;
                for (int c = 0; c < D; ++c) raw += qs[(line + 16 * r) * (D + 1) + c] * ks[(part + lane) * (D + 1) + c];
                float mine = score_of(raw * scale, own, t + part + lane, stop, rules), top = mine;
                for (int a = 1; a < 16; a *= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, a, 16));
                if (top > best[r]) {
                    float shrink = expf(best[r] - top);
                    best[r] = top; total[r] *= shrink;
                    for (int c = 0; c < WIDE; ++c) mean[r][c] *= shrink;
                }
                float weight = mine == -INF ? 0.f : expf(mine - best[r]);
                total[r] += weight;
                for (int j = 0; j < 16; ++j) {
                    float w = __shfl_sync(~0u, weight, j, 16);
                    for (int c = 0; c < WIDE; ++c) {
                        float value = vs[(part + j) * (D + 1) + lane * WIDE + c];
                        mean[r][c] += w == 0.f ? 0.f : w * value;
                    }
                }
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < BR / 16; ++r) {
        for (int a = 1; a < 16; a *= 2) total[r] += __shfl_xor_sync(~0u, total[r], a, 16);
        const int i = begin + line + 16 * r;
        if (i < Tq) {
            for (int c = 0; c < WIDE; ++c)
                if (lane * WIDE + c < d) o[((size_t)h * Tq + i) * d + lane * WIDE + c] = total[r] > 0.f ? mean[r][c] / total[r] : 0.f;
            if (lane == 0) lse[(size_t)h * Tq + i] = total[r] > 0.f ? best[r] + logf(total[r]) : -INF;
        }
    }
}

extern "C" __global__ void flash_fwd(float* o, float* lse, const float* q, const float* k, const float* v,
    int H, int KV, int Tq, int Tk, int d, float scale, int causal)
{
    Rules rules = {causal != 0, 0, 0, 0.f};
    flash(o, lse, q, k, v, H, KV, Tq, Tk, d, scale, rules);
}

extern "C" __global__ void flash_fwd_masked(float* o, float* lse, const float* q, const float* k, const float* v,
    int H, int KV, int Tq, int Tk, int d, float scale, int causal, int window, int sinks, float softcap)
{
    Rules rules = {causal != 0, window, sinks, softcap};
    flash(o, lse, q, k, v, H, KV, Tq, Tk, d, scale, rules);
}
