// A right answer of another hand: no wmma at all, every fragment by its own loads.

#include <cuda_fp16.h>

struct A { unsigned r[4]; };
struct B { unsigned r[2]; };
struct C { float r[4]; };

__device__ __forceinline__ int eight() { return (threadIdx.x & 31) >> 2; }
__device__ __forceinline__ int along() { return (threadIdx.x & 3) << 1; }

__device__ unsigned join(half x, half y)
{
    half2 both = __halves2half2(x, y);
    return *reinterpret_cast<unsigned*>(&both);
}

// A 16 x 16 tile whose rows are `pitch` halves apart, at any even address.
__device__ A left_of(const half* tile, int pitch)
{
    const half* upper = tile + eight() * pitch + along();
    const half* lower = upper + 8 * pitch;
    auto pair = [](const half* at) { return *reinterpret_cast<const unsigned*>(at); };
    return {{pair(upper), pair(lower), pair(upper + 8), pair(lower + 8)}};
}

__device__ B right_of(const half* tile, int pitch)
{
    const half* at = tile + along() * pitch + eight();
    return {{join(at[0], at[pitch]), join(at[8 * pitch], at[9 * pitch])}};
}

__device__ void add(C& c, const A& a, const B& b)
{
    asm volatile("{ mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13}; }"
                 : "=f"(c.r[0]), "=f"(c.r[1]), "=f"(c.r[2]), "=f"(c.r[3])
                 : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]),
                   "f"(c.r[0]), "f"(c.r[1]), "f"(c.r[2]), "f"(c.r[3]));
}

// The lane's two pairs of sums, to a tile of 16 x 8; `inside` says which elements there are.
template <typename Inside>
__device__ void spill(const C& c, float* tile, int pitch, Inside inside)
{
    for (int k = 0; k < 4; k++) {
        int y = eight() + (k & 2) * 4, x = along() + (k & 1);
        if (inside(y, x)) tile[y * pitch + x] = c.r[k];
    }
}

extern "C" __global__ void mma_tile(const half* a, const half* b, float* c)
{
    size_t tile = blockIdx.x;
    C sum = {};
    add(sum, left_of(a + 256 * tile, 16), right_of(b + 128 * tile, 8));
    float* out = c + 128 * tile + eight() * 8 + along();
    *reinterpret_cast<float2*>(out) = make_float2(sum.r[0], sum.r[1]);
    *reinterpret_cast<float2*>(out + 64) = make_float2(sum.r[2], sum.r[3]);
}

// One warp a block here, two instructions side by side.
extern "C" __global__ void wmma_gemm(const half* a, const half* b, float* c, int M, int N, int K)
{
    const half* rows = a + blockIdx.y * 16 * K;
    const half* columns = b + blockIdx.x * 16;
    C sum[2] = {};
    for (int k = K - 16; k >= 0; k -= 16) {
        A left = left_of(rows + k, K);
        for (int side = 0; side < 2; side++) add(sum[side], left, right_of(columns + k * N + 8 * side, N));
    }
    for (int side = 0; side < 2; side++)
        spill(sum[side], c + blockIdx.y * 16 * N + blockIdx.x * 16 + 8 * side, N, [](int, int) { return true; });
}

// Eight warps: two down, four across, each 16 x 8. Zeros in both tiles.
extern "C" __global__ void wmma_gemm_pad(const half* a, const half* b, float* c, int M, int N, int K)
{
    __shared__ half lefts[2][32 * 18], rights[2][16 * 34];
    int top = blockIdx.y * 32, left = blockIdx.x * 32, warp = threadIdx.x >> 5;
    int down = (warp & 1) * 16, across = (warp >> 1) * 8;
    C sum = {};
    int turn = 0;
    for (int first = 0; first < K; first += 16, turn ^= 1) {
        for (int e = threadIdx.x; e < 1024; e += 256) {
            int r = (e & 511) >> 4, k = e & 15;
            if (e < 512)
                lefts[turn][r * 18 + k] = top + r < M && first + k < K ? a[(top + r) * K + first + k] : half(0.0f);
            else {
                r = (e & 511) >> 5, k = e & 31;
                rights[turn][r * 34 + k] = first + r < K && left + k < N ? b[(first + r) * N + left + k] : half(0.0f);
            }
        }
        __syncthreads();  // and the other buffers are free again behind the next one
        add(sum, left_of(lefts[turn] + down * 18, 18), right_of(rights[turn] + across, 34));
    }
    int y0 = top + down, x0 = left + across;
    spill(sum, c + y0 * N + x0, N, [=](int y, int x) { return y0 + y < M && x0 + x < N; });
}

#ifndef DOWN
#define DOWN 1
#define ACROSS 1
#endif
// ---- two stages: swizzled pieces, loaded by ldmatrix

#define R (32 * DOWN)
#define S (64 * ACROSS)

__device__ unsigned piece(unsigned base, int row, int at, int in_row)
{
    int turned = in_row == 4 ? at ^ row >> 1 & 3 : at ^ row & 7;
    return base + (row * in_row + turned) * 16;
}

__device__ void send(unsigned to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ void send_stage(unsigned base, const half* a, const half* b, int N, int K)
{
    for (int e = threadIdx.x; e < R * 4; e += 256) send(piece(base, e / 4, e % 4, 4), a + e / 4 * K + e % 4 * 8);
    for (int e = threadIdx.x; e < 4 * S; e += 256)
        send(piece(base + R * 64, e / (S / 8), e % (S / 8), S / 8), b + e / (S / 8) * N + e % (S / 8) * 8);
    asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ __launch_bounds__(256)
void gemm_two_stages(const half* a, const half* b, float* c, int M, int N, int K)
{
    __shared__ __align__(128) unsigned char bytes[2 * 64 * (R + S)];
    unsigned base = __cvta_generic_to_shared(bytes);
    int low = threadIdx.x & 15, high = threadIdx.x >> 4 & 1, warp = threadIdx.x >> 5;
    int down = (warp & 1) * 16 * DOWN, across = (warp >> 1) * 2 * ACROSS;
    a += blockIdx.y * R * K, b += blockIdx.x * S, c += blockIdx.y * R * N + blockIdx.x * S;
    C sums[DOWN][2 * ACROSS] = {};
    send_stage(base, a, b, N, K);
    for (int t = 0; t < K / 32; t++) {
        unsigned now = base + (t & 1) * 64 * (R + S);
        if (t + 1 < K / 32) {
            send_stage(base + (~t & 1) * 64 * (R + S), a + (t + 1) * 32, b + (t + 1) * 32 * N, N, K);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_all;" ::: "memory");
        }
        __syncthreads();
        for (int step = 0; step < 2; step++) {
            B right[2 * ACROSS];
            for (int j = 0; j < 2 * ACROSS; j += 2)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(right[j].r[0]), "=r"(right[j].r[1]), "=r"(right[j + 1].r[0]), "=r"(right[j + 1].r[1])
                             : "r"(piece(now + R * 64, 16 * step + low, across + j + high, S / 8)) : "memory");
            for (int i = 0; i < DOWN; i++) {
                A left;
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(left.r[0]), "=r"(left.r[1]), "=r"(left.r[2]), "=r"(left.r[3])
                             : "r"(piece(now, down + 16 * i + low, 2 * step + high, 4)) : "memory");
                for (int j = 0; j < 2 * ACROSS; j++) add(sums[i][j], left, right[j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < 2 * ACROSS; j++)
            spill(sums[i][j], c + (down + 16 * i) * N + (across + j) * 8, N, [](int, int) { return true; });
}
