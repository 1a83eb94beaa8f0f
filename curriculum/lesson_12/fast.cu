// Lesson 12, task 6 (stretch): flash_fwd in half, both products on tensor cores.
//
//   q     half[H, Tq, D]    Tq queries of each head
//   k, v  half[KV, Tk, D]   query head h reads key head h / (H / KV); all values finite
//   o     half[H, Tq, D]    written
//   lse   float[H, Tq]      written, as by flash_fwd
//
// Four warps, each with DOWN strips of 16 queries: it holds them, their scores with BC keys, and their
// results in registers, as fragments. Keys and values of two tiles are in shared memory: one is used
// while the other comes.

#include <cuda_fp16.h>

#define INFINITY __int_as_float(0x7f800000)

#ifndef DOWN
#define DOWN 1   // 2 on a GPU
#endif
#ifndef D
#define D 64     // or 128
#endif
#define THREADS 128
#define BR (64 * DOWN)             // queries of a block
#define BC 64                      // keys of a tile
#define PIECES (D / 8)             // of 8 halves, 16 bytes, in a row
#define TILE_BYTES (2 * BC * D)    // of keys, or of values

// --- Supplied: the instructions, as in lesson 09 ----------------------------------------------------

__device__ void copy(unsigned to, const half* from, bool there)  // 16 bytes, zeros if not there
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(there ? 16 : 0)
                 : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ void wait_for_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

// Four 8 x 8 tiles of halves. Lane l names row l % 8 of tile l / 8; register t of a lane gets a pair of
// tile t: row lane / 4 and columns 2 (lane % 4) and the next.
__device__ void load_tiles(unsigned (&r)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}
// The same, each tile turned round on its way.
__device__ void load_turned(unsigned (&r)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}
// c[16, 8] += a[16, 16] b[16, 8]. c: a lane has row lane / 4, columns 2 (lane % 4) and the next in c[0]
// and c[1], and the same columns of row lane / 4 + 8 in c[2] and c[3].
__device__ void add_product(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ float two_to_the(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ unsigned pair(float a, float b)
{
    half2 both = __floats2half2_rn(a, b);
    return *(unsigned*)&both;
}

// --- Supplied: moving tiles, and the first product -------------------------------------------------

// The address of a piece of a tile in shared memory; eight rows of one piece lie in all 32 banks.
__device__ unsigned place(unsigned tile, int row, int piece)
{
    return tile + 16 * (row * PIECES + (piece ^ row % 8));
}

// Start to copy rows of D halves; zeros from row `count` on.
template <int rows>
__device__ void bring(unsigned tile, const half* from, int count)
{
    #pragma unroll
    for (int i = 0; i < rows * PIECES / THREADS; i++) {
        int row = (i * THREADS + threadIdx.x) / PIECES, piece = threadIdx.x % PIECES;
        copy(place(tile, row, piece), from + row * D + 8 * piece, row < count);
    }
}

// s = the warp's queries times BC keys; s[i][j] is a tile of 16 queries and the keys 8 j .. 8 j + 7.
__device__ void score(float (&s)[DOWN][BC / 8][4], const unsigned (&q)[DOWN][D / 16][4], unsigned k_tile)
{
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int step = 0; step < D / 16; step++)
        #pragma unroll
        for (int j = 0; j < BC / 8; j += 2) {
            unsigned b[4];
            load_tiles(b, place(k_tile, 8 * j + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
            #pragma unroll
            for (int i = 0; i < DOWN; i++) {
                add_product(s[i][j], q[i][step], b[0], b[1]);
                add_product(s[i][j + 1], q[i][step], b[2], b[3]);
            }
        }
}

// --- Supplied: the softmax of a tile ----------------------------------------------------------------

// What a warp keeps of its queries. Index h: 0 is row lane / 4 of a strip, 1 is row lane / 4 + 8.
struct State {
    float m[DOWN][2];            // the largest score so far, not scaled
    float l[DOWN][2];            // the sum of the weights of this lane's own keys
    float sums[DOWN][D / 8][4];  // of weight times value
};

// Scores that the warp's queries may not see become -INFINITY. `own`: the key at which the first of the
// warp's queries stands; `tile`: the first key of the tile.
__device__ void hide(float (&s)[DOWN][BC / 8][4], int tile, int own, int end, int causal)
{
    int lane = threadIdx.x % 32;
    #pragma unroll
    for (int n = 0; n < DOWN * BC / 2; n++) {
        int i = n / (BC / 2), j = n / 4 % (BC / 8), c = n % 4;
        int key = tile + 8 * j + lane % 4 * 2 + c % 2, at = own + 16 * i + lane / 4 + c / 2 * 8;
        if (key >= end || causal && key > at) s[i][j][c] = -INFINITY;
    }
}

// The step of flash_fwd: new m, old l and sums rescaled, weights in the place of scores. The four lanes
// of a row have its scores between them. factor: log2(e) * scale, above 0.
__device__ void fold(State& state, float (&s)[DOWN][BC / 8][4], float factor)
{
    #pragma unroll
    for (int i = 0; i < DOWN; i++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float top = state.m[i][h];
            for (int j = 0; j < BC / 8; j++) top = fmaxf(top, fmaxf(s[i][j][2 * h], s[i][j][2 * h + 1]));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 2));
            float base = top == -INFINITY ? 0.0f : top * factor;
            float rescale = two_to_the(state.m[i][h] * factor - base), sum = 0.0f;
            for (int j = 0; j < BC / 8; j++)
                for (int c = 2 * h; c < 2 * h + 2; c++)
                    sum += s[i][j][c] = two_to_the(s[i][j][c] * factor - base);
            state.m[i][h] = top, state.l[i][h] = state.l[i][h] * rescale + sum;
            for (int j = 0; j < D / 8; j++)
                state.sums[i][j][2 * h] *= rescale, state.sums[i][j][2 * h + 1] *= rescale;
        }
}

// --- Task 6 ---------------------------------------------------------------------------------------

// sums += weights times values.
__device__ void weigh(State& state, const float (&s)[DOWN][BC / 8][4], unsigned v_tile)
{
    int lane = threadIdx.x % 32;
    // TASK 6: two tiles of c beside one another, rounded to half, are a fragment a: which pair is where?
    // Values come turned round: their rows are keys.
    // TODO: about 15 lines
}

//   scale   above 0
//   grid    (ceil(Tq / BR), H); the last queries come first: causal, they have most to do
//   block   (THREADS)
//   shared  2 * BR * D + 4 * TILE_BYTES, dynamic
extern "C" __global__ __launch_bounds__(THREADS)
void flash_fwd_mma(half* o, float* lse, const half* q, const half* k, const half* v, int H, int KV, int Tq,
                   int Tk, float scale, int causal)
{
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned q_tile = (unsigned)__cvta_generic_to_shared(shared);
    unsigned stages = q_tile + 2 * BR * D;  // [2], each TILE_BYTES of keys, then of values
    int lane = threadIdx.x % 32, strips = threadIdx.x / 32 * 16 * DOWN;  // the warp's first query
    int head = blockIdx.y, first = (gridDim.x - 1 - blockIdx.x) * BR;
    int at = first + Tk - Tq;  // the key at which the block's first query stands
    int end = causal ? min(Tk, at + min(BR, Tq - first)) : Tk;
    q += ((long long)head * Tq + first) * D;
    k += (long long)(head / (H / KV)) * Tk * D;
    v += (long long)(head / (H / KV)) * Tk * D;
    bring<BR>(q_tile, q, Tq - first);
    bring<BC>(stages, k, end);
    bring<BC>(stages + TILE_BYTES, v, end);
    commit();
    wait_for_all();
    __syncthreads();
    unsigned queries[DOWN][D / 16][4];
    State state = {};
    #pragma unroll
    for (int i = 0; i < DOWN; i++) {
        state.m[i][0] = state.m[i][1] = -INFINITY;
        for (int step = 0; step < D / 16; step++)
            load_tiles(queries[i][step], place(q_tile, strips + 16 * i + lane % 16, 2 * step + lane / 16));
    }
    // TASK 6: bring the next tile into the other stage while you score, hide, fold and weigh this
    // one. One barrier a tile is enough. Only few tiles have anything to hide.
    // TODO: about 19 lines
    #pragma unroll
    for (int i = 0; i < DOWN; i++)
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float total = state.l[i][h];
            total += __shfl_xor_sync(0xffffffff, total, 1);
            total += __shfl_xor_sync(0xffffffff, total, 2);
            float share = total == 0.0f ? 0.0f : 1.0f / total;
            int row = first + strips + 16 * i + lane / 4 + 8 * h;
            if (row >= Tq) continue;
            long long to = (long long)head * Tq + row;
            for (int j = 0; j < D / 8; j++) {
                const float* both = &state.sums[i][j][2 * h];
                half2 rounded = __floats2half2_rn(both[0] * share, both[1] * share);
                *(half2*)&o[to * D + 8 * j + lane % 4 * 2] = rounded;
            }
            if (lane % 4 == 0) lse[to] = state.m[i][h] * scale + logf(total);
        }
}
