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
    unsigned left[4], right[2];
    float sum[4] = {};
    for (int r = 0; r < 4; r++)
        left[r] = *(const unsigned*)&a[(group + r % 2 * 8) * 16 + r / 2 * 8 + 2 * member];
    for (int r = 0; r < 2; r++) {
        const half* upper = &b[(r * 8 + 2 * member) * 8 + group];
        right[r] = two(upper[0], upper[8]);
    }
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    for (int r = 0; r < 4; r++) c[(group + r / 2 * 8) * 8 + 2 * member + r % 2] = sum[r];
    // END TASK
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
    Left left;
    Right right;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(left, a + row * K + k, K);
        wmma::load_matrix_sync(right, b + k * N + column, N);
        wmma::mma_sync(sums, left, right, sums);
    }
    wmma::store_matrix_sync(c + row * N + column, sums, N, wmma::mem_row_major);
    // END TASK
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
    const half zero = __float2half(0.0f);
    Left left;
    Right right;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int first = 0; first < K; first += 16) {
        for (int i = threadIdx.x; i < 32 * 16; i += 128) {
            int y = i / 16, x = i % 16;
            bool inside = row + y < M && first + x < K;
            a_tile[y][x] = inside ? a[(row + y) * K + first + x] : zero;
            y = i / 32, x = i % 32;
            inside = first + y < K && column + x < N;
            b_tile[y][x] = inside ? b[(first + y) * N + column + x] : zero;
        }
        __syncthreads();
        wmma::load_matrix_sync(left, &a_tile[down][0], A_PITCH);
        wmma::load_matrix_sync(right, &b_tile[0][across], B_PITCH);
        wmma::mma_sync(sums, left, right, sums);
        __syncthreads();
    }
    wmma::store_matrix_sync(&c_tile[down][across], sums, C_PITCH, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * 32; i += 128) {
        int y = i / 32, x = i % 32;
        if (row + y < M && column + x < N) c[(row + y) * N + column + x] = c_tile[y][x];
    }
    // END TASK
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
    #pragma unroll
    for (int from = 0; from < ROWS * DEPTH / 8; from += THREADS) {
        int i = from + threadIdx.x, y = i / (DEPTH / 8), x = i % (DEPTH / 8) * 8;
        if (y < ROWS) __pipeline_memcpy_async(&stage.a[y][x], &a[(row + y) * K + first + x], 16);
    }
    #pragma unroll
    for (int from = 0; from < DEPTH * COLUMNS / 8; from += THREADS) {
        int i = from + threadIdx.x, y = i / (COLUMNS / 8), x = i % (COLUMNS / 8) * 8;
        if (y < DEPTH) __pipeline_memcpy_async(&stage.b[y][x], &b[(first + y) * N + column + x], 16);
    }
    // END TASK
}

// Add the products of a stage to this warp's sums, which begin at [down][across] of the block's tile.
__device__ void multiply(Sums (&sums)[DOWN][ACROSS], const Stage& stage, int down, int across)
{
    #pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        // TASK 5: load DOWN fragments of a and, one after another, ACROSS of b; use each of them as
        // often as you can
        Left left[DOWN];
        Right right;
        for (int i = 0; i < DOWN; i++)
            wmma::load_matrix_sync(left[i], &stage.a[down + 16 * i][k], DEPTH + PAD);
        for (int j = 0; j < ACROSS; j++) {
            wmma::load_matrix_sync(right, &stage.b[k][across + 16 * j], COLUMNS + PAD);
            for (int i = 0; i < DOWN; i++)
                wmma::mma_sync(sums[i][j], left[i], right, sums[i][j]);
        }
        // END TASK
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
    bring(stages[0], a, b, N, K, 0);
    __pipeline_commit();
    for (int first = 0, now = 0; first < K; first += DEPTH, now ^= 1) {
        if (first + DEPTH < K) bring(stages[now ^ 1], a, b, N, K, first + DEPTH);
        __pipeline_commit();  // at the end an empty group, so that the count stays right
        __pipeline_wait_prior(1);
        __syncthreads();
        multiply(sums, stages[now], down, across);
        __syncthreads();
    }
    // END TASK
    c += (blockIdx.y * ROWS + down) * N + blockIdx.x * COLUMNS + across;
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++)
            wmma::store_matrix_sync(c + 16 * i * N + 16 * j, sums[i][j], N, wmma::mem_row_major);
}
