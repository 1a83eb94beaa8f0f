// One strip of 16 queries at a time; both products as plain loops over 8 x 8 pieces read lane by lane.
#include <cuda_fp16.h>
#ifndef DOWN
#define DOWN 1
#endif
#ifndef D
#define D 64
#endif
#define INF __int_as_float(0x7f800000)
#define HALVES(address) ((half*)(address))
typedef unsigned u32;

__device__ u32 spot(u32 base, int row, int piece) { return base + row * 2 * D + ((piece ^ (row & 7)) << 4); }

__device__ void fetch(u32 base, const half* rows, int count, int there)
{
    for (int i = threadIdx.x; i < count * (D / 8); i += 128) {
        int r = i / (D / 8), p = i % (D / 8);
        u32 to = spot(base, r, p);
        int size = r < there ? 16 : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(rows + (size_t)r * D + p * 8), "r"(size) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ void quads(u32* r, u32 at, bool turn)
{
    if (turn) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
    else asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

__device__ void mac(float* c, const u32* a, u32 b0, u32 b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ u32 packed(float x, float y)
{
    half2 h = __floats2half2_rn(x, y);
    u32 word;
    memcpy(&word, &h, 4);
    return word;
}

extern "C" __global__ void __launch_bounds__(128) flash_fwd_mma(half* o, float* lse, const half* q, const half* k,
    const half* v, int H, int KV, int Tq, int Tk, float scale, int causal)
{
    extern __shared__ __align__(128) unsigned char memory[];
    const u32 all = (u32)__cvta_generic_to_shared(memory), qs = all, kv = all + 128 * DOWN * D;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, h = blockIdx.y, begin = blockIdx.x * 64 * DOWN;
    const size_t head = (size_t)(h * KV / H) * Tk * D;
    int stop = Tk;
    if (causal) stop = min(Tk, min(begin + 64 * DOWN, Tq) + Tk - Tq);
    fetch(qs, q + ((size_t)h * Tq + begin) * D, 64 * DOWN, Tq - begin);
    fetch(kv, k + head, 64, stop);
    fetch(kv + 128 * D, v + head, 64, stop);
    float out[DOWN][D / 8][4] = {}, best[DOWN][2], sum[DOWN][2] = {};
    for (int i = 0; i < DOWN; ++i) best[i][0] = best[i][1] = -INF;
    int turn = 0;
    for (int t = 0; t < stop; t += 64, turn = 1 - turn) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        const u32 ks = kv + turn * 256 * D, vs = ks + 128 * D, next = kv + (1 - turn) * 256 * D;
        if (t + 64 < stop) {
            fetch(next, k + head + (size_t)(t + 64) * D, 64, stop - t - 64);
            fetch(next + 128 * D, v + head + (size_t)(t + 64) * D, 64, stop - t - 64);
        }
        #pragma unroll
        for (int i = 0; i < DOWN; ++i) {
            const int strip = 16 * (warp * DOWN + i);
            float s[8][4] = {};
            #pragma unroll
            for (int c = 0; c < D / 16; ++c) {
                u32 a[4];
                quads(a, spot(qs, strip + (lane & 15), 2 * c + (lane >> 4)), false);
                #pragma unroll
                for (int n = 0; n < 4; ++n) {
                    u32 b[4];
                    quads(b, spot(ks, 16 * n + (lane & 15), 2 * c + (lane >> 4)), false);
                    mac(s[2 * n], a, b[0], b[2]);
                    mac(s[2 * n + 1], a, b[1], b[3]);
                }
            }
            #pragma unroll
            for (int half_row = 0; half_row < 2; ++half_row) {
                const int own = begin + strip + (lane >> 2) + 8 * half_row + Tk - Tq;
                float top = best[i][half_row];
                #pragma unroll
                for (int e = 0; e < 16; ++e) {
                    int key = t + 8 * (e >> 1) + 2 * (lane & 3) + (e & 1);
                    float& x = s[e >> 1][2 * half_row + (e & 1)];
                    x = key >= stop || (causal && key > own) ? -INF : x * scale;
                    top = fmaxf(top, x);
                }
                top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
                top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
                const float zero = top == -INF ? 0 : top;
                float shrink = __expf(best[i][half_row] - zero);
                best[i][half_row] = top;
                sum[i][half_row] *= shrink;
                #pragma unroll
                for (int n = 0; n < D / 8; ++n) { out[i][n][2 * half_row] *= shrink; out[i][n][2 * half_row + 1] *= shrink; }
                #pragma unroll
                for (int e = 0; e < 16; ++e) {
                    float& x = s[e >> 1][2 * half_row + (e & 1)];
                    x = __expf(x - zero);
                    sum[i][half_row] += x;
                }
            }
            #pragma unroll
            for (int n = 0; n < 4; ++n) {
                u32 a[4];
                for (int r = 0; r < 4; ++r) a[r] = packed(s[2 * n + (r >> 1)][2 * (r & 1)], s[2 * n + (r >> 1)][2 * (r & 1) + 1]);
                #pragma unroll
                for (int c = 0; c < D / 16; ++c) {
                    u32 b[4];
                    quads(b, spot(vs, 16 * n + (lane & 15), 2 * c + (lane >> 4)), true);
                    mac(out[i][2 * c], a, b[0], b[1]);
                    mac(out[i][2 * c + 1], a, b[2], b[3]);
                }
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 0; i < DOWN; ++i)
        for (int r = 0; r < 2; ++r) {
            sum[i][r] += __shfl_xor_sync(~0u, sum[i][r], 2);
            sum[i][r] += __shfl_xor_sync(~0u, sum[i][r], 1);
            const int at = begin + 16 * (warp * DOWN + i) + (lane >> 2) + 8 * r;
            if (at < Tq) {
                const float by = sum[i][r] > 0 ? 1 / sum[i][r] : 0;
                for (int n = 0; n < D / 8; ++n)
                    for (int e = 0; e < 2; ++e)
                        o[((size_t)h * Tq + at) * D + 8 * n + 2 * (lane & 3) + e] = __float2half(out[i][n][2 * r + e] * by);
                if (!(lane & 3)) lse[(size_t)h * Tq + at] = sum[i][r] > 0 ? best[i][r] + logf(sum[i][r]) : -INF;
            }
        }
}
