// A right answer of another hand: six stages of 32 of K, which come and go in pairs.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int TOP = 32 * DOWN, LEFT = 32 * ACROSS, DEEP = 32;

struct Stage {
    uint4 a[TOP][4];
    uint4 b[DEEP][LEFT / 8];
    __device__ uint4* of_a(int row, int piece) { return &a[row][piece ^ row / 2 % 4]; }
    __device__ uint4* of_b(int row, int piece) { return &b[row][piece ^ row % 8]; }
    __device__ void fill(const half* from_a, const half* from_b, int N, int K)
    {
        for (int e = threadIdx.x; e < TOP * 4; e += blockDim.x)
            __pipeline_memcpy_async(of_a(e / 4, e % 4), from_a + e / 4 * K + e % 4 * 8, 16);
        for (int e = threadIdx.x; e < DEEP * LEFT / 8; e += blockDim.x) {
            int row = e / (LEFT / 8), piece = e % (LEFT / 8);
            __pipeline_memcpy_async(of_b(row, piece), from_b + row * N + piece * 8, 16);
        }
    }
};

__device__ void fetch(unsigned (&r)[4], const void* row, bool turned)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if (turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}

extern "C" __global__ __launch_bounds__(256)
void gemm_fast(const half* a, const half* b, float* c, int M, int N, int K)
{
    extern __shared__ Stage stages[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, stage_count = K / DEEP;
    int down = warp % 2 * 16 * DOWN, across = warp / 2 * ACROSS;
    const half* my_a = a + blockIdx.y * TOP * K;
    const half* my_b = b + blockIdx.x * LEFT;
    float d[DOWN][ACROSS][4];
    for (auto& row : d) for (auto& tile : row) for (float& sum : tile) sum = 0;
    int sent = 0;
    auto send = [&] {
        if (sent < stage_count) stages[sent % 6].fill(my_a + sent * DEEP, my_b + sent * DEEP * N, N, K);
        __pipeline_commit();
        sent++;
    };
    send(); send(); send(); send();
    for (int now = 0; now < stage_count; now++) {
        if (now % 2 == 0) {  // a barrier serves both of a pair
            __pipeline_wait_prior(2);
            __syncthreads();
            send(); send();
        }
        Stage& stage = stages[now % 6];
        for (int k = 0; k < DEEP / 16; k++) {
            unsigned left[DOWN][4], right[ACROSS / 2][4];
            for (int i = 0; i < DOWN; i++)
                fetch(left[i], stage.of_a(down + 16 * i + lane % 16, 2 * k + lane / 16), false);
            for (int j = 0; j < ACROSS / 2; j++)
                fetch(right[j], stage.of_b(16 * k + lane % 16, across + 2 * j + lane / 16), true);
            for (int i = 0; i < DOWN; i++)
                for (int j = 0; j < ACROSS; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(d[i][j][0]), "+f"(d[i][j][1]), "+f"(d[i][j][2]), "+f"(d[i][j][3])
                        : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]),
                          "r"(right[j / 2][j % 2 * 2]), "r"(right[j / 2][j % 2 * 2 + 1]));
        }
    }
    c += (blockIdx.y * TOP + down + lane / 4) * N + blockIdx.x * LEFT + across * 8 + lane % 4 * 2;
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++)
            for (int half_tile = 0; half_tile < 2; half_tile++) {
                float2 pair = {d[i][j][2 * half_tile], d[i][j][2 * half_tile + 1]};
                *(float2*)(c + (16 * i + 8 * half_tile) * N + 8 * j) = pair;
            }
}
