// Lesson 09, task 7 (stretch): a product as fast as mma.sync lets it be.
//
//   Matrices lie row by row: a half[M, K], b half[K, N], c float[M, N]; c = a b.
//   8 warps, two down and four across. A warp has DOWN x ACROSS tiles of 16 x 8 sums in registers.

#include <cuda_fp16.h>

#ifndef DOWN
#define DOWN 4     // 4 and 8 on a GPU: a warp has 64 x 64 sums, a thread 128
#define ACROSS 8   // even
#define STAGES 3
#endif
#define THREADS 256
#define ROWS (2 * 16 * DOWN)       // of c for each block
#define COLUMNS (4 * 8 * ACROSS)   // a multiple of 64
#define DEPTH 64                   // how much of K a stage holds
#define STEPS (DEPTH / 16)         // products of fragments, one after another along K

// Shared memory is a run of stages, each a[ROWS][DEPTH] and then b[DEPTH][COLUMNS], without padding.
// A row is cut into pieces of 8 halves, 16 bytes. All addresses are shared ones, in bytes.
#define A_PIECES (DEPTH / 8)       // in a row
#define B_PIECES (COLUMNS / 8)
#define A_BYTES (2 * ROWS * DEPTH)
#define STAGE_BYTES (A_BYTES + 2 * DEPTH * COLUMNS)

// What a warp multiplies in one step.
struct Fragments {
    unsigned a[DOWN][4], b[ACROSS][2];
};

// --- Supplied: the instructions -------------------------------------------------------------------

__device__ void copy(unsigned to, const half* from)  // 16 bytes, around the L1 cache
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}
__device__ void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int left>
__device__ void wait_until_left()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(left) : "memory");
}

// Four 8 x 8 tiles of halves. Lane l names row l % 8 of tile l / 8; register t of a lane gets a pair of
// tile t. Each lane: row lane / 4 and columns 2 (lane % 4) and the next.
__device__ void load_tiles(unsigned& r0, unsigned& r1, unsigned& r2, unsigned& r3, unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(row) : "memory");
}
// The same, each tile turned round on its way.
__device__ void load_turned(unsigned& r0, unsigned& r1, unsigned& r2, unsigned& r3, unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(row) : "memory");
}
__device__ void add_product(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// --- Task 7 ---------------------------------------------------------------------------------------

// The address of a piece of a tile whose rows have `pieces` of them. Pieces change places within each
// eight of a row, differently in eight rows one after another, so that eight rows of one
// piece lie in all 32 banks.
__device__ unsigned place(unsigned tile, int row, int piece, int pieces)
{
    // TASK 7: ^ swaps; which three bits of `row` say how?
    // TODO: about 1 line
    return tile + 16 * (row * pieces + piece);
}

// Start to copy this thread's share of the stage that begins at `first` of K.
__device__ void bring(unsigned stage, const half* a, const half* b, int N, int K, int first)
{
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS;  // of the block's tile of c
    #pragma unroll
    for (int i = 0; i < ROWS * A_PIECES / THREADS; i++) {
        int y = (i * THREADS + threadIdx.x) / A_PIECES, piece = threadIdx.x % A_PIECES;
        copy(place(stage, y, piece, A_PIECES), &a[(row + y) * K + first + 8 * piece]);
    }
    #pragma unroll
    for (int i = 0; i < DEPTH * B_PIECES / THREADS; i++) {
        int y = (i * THREADS + threadIdx.x) / B_PIECES, piece = threadIdx.x % B_PIECES;
        copy(place(stage + A_BYTES, y, piece, B_PIECES), &b[(first + y) * N + column + 8 * piece]);
    }
}

// The fragments of one step: of a, the rows from `down` on; of b, the columns from `across` on.
__device__ void load(Fragments& f, unsigned stage, int step, int down, int across)
{
    int lane = threadIdx.x % 32;
    int low = lane % 16, high = lane / 16;  // tiles 0 and 1 lie above one another, 2 and 3 beside them
    // TASK 7: DOWN loads of a, ACROSS / 2 of b turned round; two fragments of b by each
    // TODO: about 10 lines
}

//   M, N, K   multiples of ROWS, COLUMNS, DEPTH, none of them 0
//   grid      (N / COLUMNS, M / ROWS)
//   block     (THREADS)
//   shared    STAGES * STAGE_BYTES, dynamic
extern "C" __global__ __launch_bounds__(THREADS, 1)
void gemm_fast(const half* a, const half* b, float* c, int M, int N, int K)
{
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned stages = (unsigned)__cvta_generic_to_shared(shared);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int down = warp / 4 * 16 * DOWN, across = warp % 4 * 8 * ACROSS;  // of the warp's sums in the tile
    int tiles = K / DEPTH;
    float sums[DOWN][ACROSS][4] = {};
    Fragments held[2];
    // TASK 7: keep STAGES - 1 stages under way, one group each, and the fragments of the next step
    // under way while you multiply this one's. One barrier a tile is enough: where?
    // TODO: about 33 lines
    int row = blockIdx.y * ROWS + down + lane / 4, column = blockIdx.x * COLUMNS + across + lane % 4 * 2;
    #pragma unroll
    for (int i = 0; i < 2 * DOWN; i++)
        #pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            const float* pair = &sums[i / 2][j][i % 2 * 2];
            *(float2*)&c[(row + 8 * i) * N + column + 8 * j] = make_float2(pair[0], pair[1]);
        }
}
