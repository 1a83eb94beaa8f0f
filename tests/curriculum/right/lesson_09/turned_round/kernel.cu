// A right answer of a third hand: wmma computes the transpose, c' = b' a', since both lie by columns then.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

namespace tc = nvcuda::wmma;
using TurnedB = tc::fragment<tc::matrix_a, 16, 16, 16, half, tc::col_major>;  // b': N x K
using TurnedA = tc::fragment<tc::matrix_b, 16, 16, 16, half, tc::col_major>;  // a': K x M
using TurnedC = tc::fragment<tc::accumulator, 16, 16, 16, float>;             // c': N x M

#ifndef DOWN
#define DOWN 1
#define ACROSS 1
#endif

extern "C" {

// By way of shared memory, whose rows ldmatrix puts where they belong.
__global__ void mma_tile(const half* a, const half* b, float* c)
{
    __shared__ uint4 a_rows[16][2], b_rows[16];
    int lane = threadIdx.x;
    a_rows[lane / 2][lane % 2] = ((const uint4*)a)[32 * blockIdx.x + lane];
    if (lane < 16) b_rows[lane] = ((const uint4*)b)[16 * blockIdx.x + lane];
    __syncwarp();
    unsigned x0, x1, x2, x3, y0, y1;
    unsigned at = (unsigned)__cvta_generic_to_shared(&a_rows[lane % 16][lane / 16]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x0), "=r"(x1), "=r"(x2), "=r"(x3) : "r"(at) : "memory");
    at = (unsigned)__cvta_generic_to_shared(&b_rows[lane % 16]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(y0), "=r"(y1) : "r"(at) : "memory");
    float s0, s1, s2, s3;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=f"(s0), "=f"(s1), "=f"(s2), "=f"(s3)
        : "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(y0), "r"(y1), "f"(0.0f));
    float2* out = (float2*)c + 64 * blockIdx.x + lane;  // row lane / 4, pair lane % 4
    out[0] = make_float2(s0, s1);
    out[32] = make_float2(s2, s3);
}

// Any number of warps: they take the tiles of c in turn.
__global__ void wmma_gemm(const half* a, const half* b, float* c, int M, int N, int K)
{
    int warps = gridDim.x * blockDim.x / 32, tiles = (M / 16) * (N / 16);
    for (int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32; tile < tiles; tile += warps) {
        int row = tile / (N / 16) * 16, column = tile % (N / 16) * 16;
        TurnedC sums;
        tc::fill_fragment(sums, 0);
        for (int k = 0; k < K / 16; k++) {
            TurnedA x;
            TurnedB y;
            tc::load_matrix_sync(y, &b[16 * k * N + column], N);
            tc::load_matrix_sync(x, &a[row * K + 16 * k], K);
            tc::mma_sync(sums, y, x, sums);
        }
        tc::store_matrix_sync(&c[row * N + column], sums, N, tc::mem_col_major);
    }
}

// Two warps, each 16 rows and 32 columns of c. What was multiplied last gives its place to the sums.
__global__ void wmma_gemm_pad(const half* a, const half* b, float* c, int M, int N, int K)
{
    __shared__ __align__(128) union {
        struct { half a[32 * 16], b[16 * 32]; } in;
        float out[32][32];
    } room;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    TurnedC sums[2];
    for (TurnedC& s : sums) tc::fill_fragment(s, 0);
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int r = warp; r < 32; r += 2) {  // a row of a by half a warp
            int m = blockIdx.y * 32 + r, k = k0 + lane;
            if (lane < 16) room.in.a[r * 16 + lane] = m < M && k < K ? a[m * K + k] : __ushort_as_half(0);
        }
        for (int r = warp; r < 16; r += 2) {  // a row of b by a whole one
            int k = k0 + r, n = blockIdx.x * 32 + lane;
            room.in.b[r * 32 + lane] = n < N && k < K ? b[k * N + n] : __ushort_as_half(0);
        }
        __syncthreads();
        TurnedA x;
        tc::load_matrix_sync(x, room.in.a + warp * 256, 16);
        for (int side = 0; side < 2; side++) {
            TurnedB y;
            tc::load_matrix_sync(y, room.in.b + 16 * side, 32);
            tc::mma_sync(sums[side], y, x, sums[side]);
        }
        __syncthreads();
    }
    for (int side = 0; side < 2; side++)
        tc::store_matrix_sync(&room.out[16 * warp][16 * side], sums[side], 32, tc::mem_col_major);
    __syncwarp();  // each warp reads its own rows
    int n = blockIdx.x * 32 + lane;
    for (int r = 16 * warp; r < 16 * warp + 16; r++) {
        int m = blockIdx.y * 32 + r;
        if (m < M && n < N) c[m * N + n] = room.out[r][lane];
    }
}

// 8 warps of DOWN x ACROSS fragments; rows are 8 halves longer than they need be.
__global__ void gemm_two_stages(const half* a, const half* b, float* c, int M, int N, int K)
{
    constexpr int tall = 32 * DOWN, wide = 64 * ACROSS, a_pitch = 40, b_pitch = wide + 8;
    __shared__ __align__(128) half a_ring[2][tall * a_pitch], b_ring[2][32 * b_pitch];
    int me = threadIdx.y * 32 + threadIdx.x, m0 = blockIdx.y * tall, n0 = blockIdx.x * wide;
    auto start = [&](int stage) {
        const half* from = a + m0 * K + stage * 32;
        for (int p = me; p < tall * 4; p += 256)
            __pipeline_memcpy_async(a_ring[stage % 2] + p / 4 * a_pitch + p % 4 * 8, from + p / 4 * K + p % 4 * 8, 16);
        from = b + stage * 32 * N + n0;
        for (int p = me; p < wide * 4; p += 256) {
            int k = p * 8 / wide, n = p * 8 % wide;
            __pipeline_memcpy_async(b_ring[stage % 2] + k * b_pitch + n, from + k * N + n, 16);
        }
        __pipeline_commit();
    };
    int m1 = threadIdx.y % 2 * 16 * DOWN, n1 = threadIdx.y / 2 * 16 * ACROSS;
    TurnedC sums[ACROSS][DOWN];
    for (auto& strip : sums)
        for (auto& s : strip) tc::fill_fragment(s, 0);
    auto use = [&](int stage) {
        for (int half_way = 0; half_way < 32; half_way += 16) {
            TurnedB y[ACROSS];
            for (int n = 0; n < ACROSS; n++)
                tc::load_matrix_sync(y[n], b_ring[stage % 2] + half_way * b_pitch + n1 + 16 * n, b_pitch);
            for (int m = 0; m < DOWN; m++) {
                TurnedA x;
                tc::load_matrix_sync(x, a_ring[stage % 2] + (m1 + 16 * m) * a_pitch + half_way, a_pitch);
                for (int n = 0; n < ACROSS; n++) tc::mma_sync(sums[n][m], y[n], x, sums[n][m]);
            }
        }
    };
    int last = K / 32 - 1;
    start(0);
    for (int stage = 0; stage < last; stage++) {
        __pipeline_wait_prior(0);
        __syncthreads();  // this one is there, and the last one has been used
        start(stage + 1);
        use(stage);
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    use(last);
    for (int m = 0; m < DOWN; m++)
        for (int n = 0; n < ACROSS; n++)
            tc::store_matrix_sync(c + (m0 + m1 + 16 * m) * N + n0 + n1 + 16 * n, sums[n][m], N, tc::mem_col_major);
}

}
