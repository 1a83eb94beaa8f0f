// A right answer of a third hand: one loop over all steps of 16, and a stage for each of four of them.

#include <cuda_fp16.h>

enum { TALL = 32 * DOWN, WIDE = 32 * ACROSS, A_ROW = 128, B_ROW = 2 * WIDE, B_AT = TALL * A_ROW, SIZE = B_AT + 64 * B_ROW };

// Bits 4 to 6 of an address in a tile, told apart by its row.
__device__ __forceinline__ unsigned mix(unsigned tile, unsigned row, unsigned pitch, unsigned byte)
{
    return tile + row * pitch + (byte ^ (row & 7) << 4);
}

template <bool Turn>
__device__ __forceinline__ uint4 four_tiles(unsigned at)
{
    uint4 v;
    if constexpr (Turn)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
    return v;
}

__device__ __forceinline__ void mma(float4& d, uint4 a, unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

extern "C" __global__ __launch_bounds__(256)
void gemm_fast(const half* a, const half* b, float* c, int M, int N, int K)
{
    extern __shared__ __align__(1024) char ring[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(ring);
    const unsigned lane = threadIdx.x & 31, top = (threadIdx.x >> 7) * 16 * DOWN, left = (threadIdx.x >> 5 & 3) * 8 * ACROSS;
    const int steps = K / 16;

    auto request = [&](int step) {  // the stage that begins there, as one group
        if (step < steps) {
            unsigned tile = base + step / 4 % 3 * SIZE;
            for (unsigned piece = threadIdx.x; piece < TALL * 8; piece += 256) {
                const half* from = a + (blockIdx.y * TALL + piece / 8) * K + step * 16 + piece % 8 * 8;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(mix(tile, piece / 8, A_ROW, piece % 8 * 16)), "l"(from) : "memory");
            }
            for (unsigned piece = threadIdx.x; piece < WIDE * 8; piece += 256) {
                unsigned k = piece / (WIDE / 8), n = piece % (WIDE / 8);
                const half* from = b + (step * 16 + k) * N + blockIdx.x * WIDE + n * 8;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(mix(tile + B_AT, k, B_ROW, n * 16)), "l"(from) : "memory");
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float4 d[DOWN * ACROSS];
    for (float4& four : d) four = make_float4(0, 0, 0, 0);
    request(0);
    request(4);
    for (int step = 0; step < steps; step++) {
        if (step % 4 == 0) {
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            request(step + 8);
        }
        unsigned tile = base + step / 4 % 3 * SIZE, k = step % 4 * 16, row = lane & 15, far = lane >> 4;
        uint4 held[DOWN];
        for (int m = 0; m < DOWN; m++) held[m] = four_tiles<false>(mix(tile, top + 16 * m + row, A_ROW, 2 * k + 16 * far));
        for (int n = 0; n < ACROSS; n += 2) {
            uint4 pair = four_tiles<true>(mix(tile + B_AT, k + row, B_ROW, 2 * left + 16 * (n + far)));
            for (int m = 0; m < DOWN; m++) {
                mma(d[m * ACROSS + n], held[m], pair.x, pair.y);
                mma(d[m * ACROSS + n + 1], held[m], pair.z, pair.w);
            }
        }
    }
    float* out = c + (blockIdx.y * TALL + top + lane / 4) * N + blockIdx.x * WIDE + left + lane % 4 * 2;
    for (int m = 0; m < DOWN; m++)
        for (int n = 0; n < ACROSS; n++) {
            float4 four = d[m * ACROSS + n];
            *(float2*)(out + 16 * m * N + 8 * n) = make_float2(four.x, four.y);
            *(float2*)(out + (16 * m + 8) * N + 8 * n) = make_float2(four.z, four.w);
        }
}
