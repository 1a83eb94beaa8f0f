// A warp a query, eight queries at a time: scores by lane, results by column. What is kept of a query is
// always finished: its result so far, and its lse.
#define EMPTY __int_as_float(0xff800000)
#ifndef BR
#define BR 16
#define BC 16
#endif
#ifndef D
#define D 64
#endif
#define EVERY 0xffffffffu
#define MINE (BR / 8)
#define OUT (D / 32)

struct Shared { float q[BR][D + 1], k[BC][D + 1], v[BC][D + 1], w[8][BC]; };

__device__ bool allowed(int place, int key, int causal, int window, int sinks)
{
    if (causal && key > place) return false;
    return window <= 0 || key < sinks || key + window > place;
}

__device__ void stage(float (*to)[D + 1], const float* from, int lines, int valid, int d)
{
    for (int at = threadIdx.x; at < lines * d; at += 256)
        to[at / d][at % d] = at / d < valid ? from[at] : 0.0f;
}

__device__ void run(float* o, float* lse, const float* q, const float* k, const float* v, int H, int KV, int Tq,
                    int Tk, int d, float scale, int causal, int window, int sinks, float cap)
{
    __shared__ Shared s;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * BR, kind = blockIdx.y / (H / KV);
    q += ((long long)blockIdx.y * Tq + first) * d;
    o += ((long long)blockIdx.y * Tq + first) * d;
    lse += (long long)blockIdx.y * Tq + first;
    k += (long long)kind * Tk * d;
    v += (long long)kind * Tk * d;
    int rows = min(BR, Tq - first), near = first + Tk - Tq, far = near + rows - 1;
    int bound = causal && far + 1 < Tk ? far + 1 : Tk;
    float logs[MINE], out[MINE][OUT];
    for (int r = 0; r < MINE; r++) {
        logs[r] = EMPTY;
        for (int c = 0; c < OUT; c++) out[r][c] = 0.0f;
    }
    stage(s.q, q, BR, rows, d);
    for (int tile = 0; tile < bound; tile += BC) {
        bool any = false;
        for (int key = tile; key < tile + BC; key++) any = any || allowed(near, key, 0, window, sinks);
        if (!any) continue;
        __syncthreads();
        stage(s.k, k + (long long)tile * d, BC, bound - tile, d);
        stage(s.v, v + (long long)tile * d, BC, bound - tile, d);
        __syncthreads();
        for (int r = 0; r < MINE; r++) {
            int row = warp + 8 * r;
            float score = EMPTY;
            if (lane < BC && tile + lane < bound && allowed(near + row, tile + lane, causal, window, sinks)) {
                score = 0.0f;
                for (int c = 0; c < d; c++) score = fmaf(s.q[row][c], s.k[lane][c], score);
                score *= scale;
                if (cap > 0.0f) score = cap * tanhf(score / cap);
            }
            float top = score;
            for (int step = 16; step; step /= 2) top = fmaxf(top, __shfl_down_sync(EVERY, top, step));
            top = __shfl_sync(EVERY, top, 0);
            if (top == EMPTY) continue;
            float weight = expf(score - top), total = weight;
            for (int step = 16; step; step /= 2) total += __shfl_xor_sync(EVERY, total, step);
            float keep = 0.0f, share = 0.0f, both = 0.0f;
            if (lane == 0) {
                float more = fmaxf(top, logs[r]), old = expf(logs[r] - more), fresh = expf(top - more);
                float all = old + fresh * total;
                keep = old / all, share = fresh / all, both = more + logf(all);
            }
            keep = __shfl_sync(EVERY, keep, 0), logs[r] = __shfl_sync(EVERY, both, 0);
            weight *= __shfl_sync(EVERY, share, 0);
            __syncwarp();
            if (lane < BC) s.w[warp][lane] = weight;
            __syncwarp();
            for (int c = 0; c < OUT; c++) {
                out[r][c] *= keep;
                for (int key = 0; key < BC; key++)
                    if (s.w[warp][key] > 0.0f && lane + 32 * c < d) out[r][c] += s.w[warp][key] * s.v[key][lane + 32 * c];
            }
        }
    }
    for (int r = 0; r < MINE; r++) {
        int row = warp + 8 * r;
        if (row >= rows) break;
        for (int c = 0; c < OUT; c++)
            if (lane + 32 * c < d) o[row * d + lane + 32 * c] = out[r][c];
        if (lane == 0) lse[row] = logs[r];
    }
}

extern "C" __global__ void flash_fwd(float* o, float* lse, const float* q, const float* k, const float* v, int H,
                                     int KV, int Tq, int Tk, int d, float scale, int causal)
{
    run(o, lse, q, k, v, H, KV, Tq, Tk, d, scale, causal, 0, 0, 0.0f);
}
extern "C" __global__ void flash_fwd_masked(float* o, float* lse, const float* q, const float* k, const float* v,
                                            int H, int KV, int Tq, int Tk, int d, float scale, int causal, int window,
                                            int sinks, float softcap)
{
    run(o, lse, q, k, v, H, KV, Tq, Tk, d, scale, causal, window, sinks, softcap);
}
