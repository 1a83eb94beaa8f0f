// Lesson 09: products on tensor cores, from one instruction to a block that is fed while it works.
//
//   Matrices lie row by row, without gaps: a half[M, K], b half[K, N], c float[M, N]; c = a b.
//   Every product of two sizes fits in an int. Each array begins at a multiple of 256 bytes.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> Left;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> Right;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sums;

// Two halves in one register; `low` is the one with the lower index. Supplied.
__device__ unsigned two(half low, half high)
{
    return __half_as_ushort(low) | (unsigned)__half_as_ushort(high) << 16;
}

// Task 2. One product of tiles for each warp, by one instruction of the tensor cores.
//
//   a       half[tiles, 16, 16]   read, each element once
//   b       half[tiles, 16, 8]    read, each element once
//   c       float[tiles, 16, 8]   written
//   grid    (tiles)
//   block   (32)
extern "C" __global__
void mma_tile(const half* a, const half* b, float* c)
{
    a += blockIdx.x * 16 * 16, b += blockIdx.x * 16 * 8, c += blockIdx.x * 16 * 8;
    int group = threadIdx.x / 4, member = threadIdx.x % 4;
    // TASK 2: fill this lane's registers of a (four) and of b (two), two halves each; start with four
    // sums of zero; let mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 add the product, by asm; and
    // write the four sums to where they belong
    // TODO: about 13 lines
}

// Task 3. c = a b, one warp for each 16 x 16 elements of c, straight from global memory.
//
//   M, N, K   multiples of 16; K may be 0
//   grid      (ceil(N / 64), ceil(M / 64))
//   block     (32, 4, 4): a warp for each y and z; y counts tiles to the right, z tiles down
extern "C" __global__
void wmma_gemm(const half* a, const half* b, float* c, int M, int N, int K)
{
    int column = (blockIdx.x * 4 + threadIdx.y) * 16;  // of this warp's tile
    int row = (blockIdx.y * 4 + threadIdx.z) * 16;
    if (row >= M || column >= N) return;  // a whole warp
    // TASK 3: begin with sums of 0. For each 16 of K load a tile of a and a tile of b, and add their
    // product. Store the sums.
    // TODO: about 10 lines
}

// Task 4. The same for any M, N, K, by way of shared memory: zeros where a tile hangs over an edge.
//
//   M, N    at least 1; K may be 0
//   grid    (ceil(N / 32), ceil(M / 32))
//   block   (128): four warps, two by two, for 32 x 32 elements of c
#define A_PITCH 24  // halves from row to row of a's tile: 16 and 8 more, against conflicts
#define B_PITCH 40  // 32 and 8 more
#define C_PITCH 40  // floats
extern "C" __global__
void wmma_gemm_pad(const half* a, const half* b, float* c, int M, int N, int K)
{
    __shared__ __align__(32) half a_tile[32][A_PITCH], b_tile[16][B_PITCH];
    __shared__ __align__(32) float c_tile[32][C_PITCH];
    int row = blockIdx.y * 32, column = blockIdx.x * 32;  // of the block's tile
    int warp = threadIdx.x / 32;
    int down = warp / 2 * 16, across = warp % 2 * 16;     // of the warp's, within it
    // TASK 4: for each 16 of K the block fills both tiles, with 0 outside the matrices, and each warp
    // adds its product. Then the sums go to c_tile, and what lies inside c goes from there to c. Where
    // must threads wait for one another?
    // TODO: about 26 lines
}

// --- Task 5: two stages ---------------------------------------------------------------------------
//
// 8 warps, two down and four across, each with DOWN x ACROSS fragments of 16 x 16 sums.

#ifndef DOWN
#define DOWN 1
#define ACROSS 1
#endif
#define THREADS 256
#define ROWS (2 * 16 * DOWN)       // of c for each block
#define COLUMNS (4 * 16 * ACROSS)
#define DEPTH 32                   // how much of K a stage holds
#define PAD 8                      // halves more in each row, against conflicts

struct __align__(32) Stage {
    half a[ROWS][DEPTH + PAD];
    half b[DEPTH][COLUMNS + PAD];
};

// Start to copy this thread's share of both tiles that begin at `first` of K, and do not wait.
__device__ void bring(Stage& stage, const half* a, const half* b, int N, int K, int first)
{
    int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS;  // of the block's tile of c
    // TASK 5: by __pipeline_memcpy_async(to, from, 16), eight neighbouring halves a copy, neighbouring
    // threads along a row
    // TODO: about 10 lines
}

// Add the products of a stage to this warp's sums, which begin at [down][across] of the block's tile.
__device__ void multiply(Sums (&sums)[DOWN][ACROSS], const Stage& stage, int down, int across)
{
    #pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        // TASK 5: load DOWN fragments of a and, one after another, ACROSS of b; use each of them as
        // often as you can
        // TODO: about 9 lines
    }
}

// Task 5. c = a b, with copies under way while the tensor cores work.
//
//   M, N, K   multiples of ROWS, COLUMNS, DEPTH, none of them 0
//   grid      (N / COLUMNS, M / ROWS)
//   block     (THREADS)
extern "C" __global__ __launch_bounds__(THREADS)
void gemm_two_stages(const half* a, const half* b, float* c, int M, int N, int K)
{
    __shared__ Stage stages[2];
    int warp = threadIdx.x / 32;
    int down = warp / 4 * 16 * DOWN, across = warp % 4 * 16 * ACROSS;
    Sums sums[DOWN][ACROSS];
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++) wmma::fill_fragment(sums[i][j], 0.0f);
    // TASK 5: bring the first stage. Then, for each: start to bring the next into the other stage, if
    // there is a next; wait for this one only; multiply. A __pipeline_commit() after each bringing
    // makes its copies one group. Where must threads wait for one another?
    // TODO: about 10 lines
    c += (blockIdx.y * ROWS + down) * N + blockIdx.x * COLUMNS + across;
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++)
            wmma::store_matrix_sync(c + 16 * i * N + 16 * j, sums[i][j], N, wmma::mem_row_major);
}
