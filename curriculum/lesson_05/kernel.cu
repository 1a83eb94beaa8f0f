// Lesson 05: bring a tile near, and use each of its elements many times.
//
//   Matrices lie row by row, without gaps: a[rows][columns]. Every product of two sizes fits in an int.
//   The host compiles this file several times, with other values of the macros below.

#ifndef SIDE
#define SIDE 32  // of transpose_tiled's tile; SIDE * THREAD_ROWS threads a block
#endif
#define THREAD_ROWS (256 / SIDE)

#ifndef TILE
#define TILE 16  // of matmul_tiled; TILE * TILE threads a block
#endif

// Task 1. c = a b, one thread for each element of c.
//
//   a       float[M, K]   read, any value
//   b       float[K, N]   read, any value; infinity * 0 is NaN
//   c       float[M, N]   written; all zeros when K is 0
//   grid    (ceil(N / 32), ceil(M / 8))
//   block   (32, 8)
extern "C" __global__
void matmul_naive(const float* a, const float* b, float* c, int M, int N, int K)
{
    // TASK 1: a warp's lanes lie along a row of c. Which of the two loads is coalesced, and what does
    // the other one read?
    // TODO: about 7 lines
}

// Task 2. b[c][r] = a[r][c], by way of a tile in shared memory, so that both sides are in order.
//
//   a       float[rows, columns]   read
//   b       float[columns, rows]   written
//   grid    (ceil(columns / SIDE), ceil(rows / SIDE)): one tile of a for each block
//   block   (SIDE, THREAD_ROWS): a thread moves SIDE / THREAD_ROWS elements
//   shared  SIDE * (SIDE + 1) floats
extern "C" __global__
void transpose_tiled(const float* a, float* b, int rows, int columns)
{
    // TASK 2: fill the tile along rows of a, wait for one another, and empty it along rows of b
    // TODO: about 10 lines
}

// Task 3. c = a b; a block computes TILE x TILE elements of c, and reads a and b by tiles of that size.
//
//   a, b, c                        as in task 1
//   grid    (ceil(N / TILE), ceil(M / TILE))
//   block   (TILE, TILE)
//   shared  2 * TILE * TILE floats
extern "C" __global__
void matmul_tiled(const float* a, const float* b, float* c, int M, int N, int K)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;  // 0 .. TILE - 1
    int column = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    // TASK 3: for each tile of K, each thread brings one element of a and one of b, 0 where there is
    // none. When all are there, add up TILE products. When all are used, go on.
    // TODO: about 7 lines
    if (row < M && column < N) c[row * N + column] = sum;
}

// --- Tasks 4 and 7: tiles in registers ------------------------------------------------------------
//
// A block of 256 threads computes a tile of c of ROWS x COLUMNS, a thread TM x TN of them. All of the
// next three functions are supplied.

#ifndef TM
#define TM 4  // 4 or 8; rows of c for each thread
#define TN 4  // 4 or 8; columns
#endif
#define ROWS (16 * TM)
#define COLUMNS (16 * TN)
#define DEPTH 16          // how much of K a tile of a or b holds
#define PITCH (ROWS + 4)  // from row to row of a's tile: four more, against conflicts of its stores

typedef float Sums[TM][TN];             // of one thread, in registers
typedef float ATile[DEPTH][PITCH];      // turned round: [k][row], so that rows lie side by side
typedef float BTile[DEPTH][COLUMNS];    // [k][column]

// Where a thread's elements lie in the block's tile of c: four neighbours, and four more, 64 further.
// The 32 lanes of a warp cover 8 fours of rows and 4 fours of columns. Lanes 2n and 2n + 1 read the same
// floats of a, lanes that differ by 2 the same of b: such loads take half as many passes.
__device__ int first_row()
{
    return 4 * (threadIdx.x / 128 * 8 + threadIdx.x / 2 % 8);
}
__device__ int first_column()
{
    return 4 * (threadIdx.x / 32 % 4 * 4 + threadIdx.x / 16 % 2 * 2 + threadIdx.x % 2);
}

// Four neighbours, at an address that is a multiple of 16, by one load.
__device__ void load_four(float* to, const float* from)
{
    float4 v = *(const float4*)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// Four neighbours of a row of matrix[rows][columns]; 0 where there is none.
__device__ float4 four(const float* matrix, int row, int column, int rows, int columns)
{
    const float* at = matrix + (size_t)row * columns + column;
#ifdef WHOLE_TILES  // every tile lies inside, and every address is a multiple of 16
    return *(const float4*)at;
#else
    int left = row < rows ? columns - column : 0;
    return make_float4(left > 0 ? at[0] : 0.0f, left > 1 ? at[1] : 0.0f,
                       left > 2 ? at[2] : 0.0f, left > 3 ? at[3] : 0.0f);
#endif
}

// What one thread brings of the tiles of a and b.
struct Brought { float4 a[TM / 4], b[TN / 4]; };

// From global memory to registers: the tiles that begin at `first` of K.
__device__ Brought fetch(const float* a, const float* b, int M, int N, int K, int first)
{
    Brought brought;
    int row = blockIdx.y * ROWS + threadIdx.x / 64 * 16 + threadIdx.x % 32 / 2;
    int deep = first + 4 * (threadIdx.x / 32 % 2 * 2 + threadIdx.x % 2);
    for (int i = 0; i < TM / 4; i++) brought.a[i] = four(a, row + 64 * i, deep, M, K);
    int column = blockIdx.x * COLUMNS + threadIdx.x % (COLUMNS / 4) * 4;
    int down = first + threadIdx.x / (COLUMNS / 4);
    for (int i = 0; i < TN / 4; i++) brought.b[i] = four(b, down + 64 / TN * i, column, K, N);
    return brought;
}

// From registers to shared memory; a is turned round on the way.
__device__ void put(const Brought& brought, ATile& a_tile, BTile& b_tile)
{
    int row = threadIdx.x / 64 * 16 + threadIdx.x % 32 / 2;
    int deep = 4 * (threadIdx.x / 32 % 2 * 2 + threadIdx.x % 2);
    for (int i = 0; i < TM / 4; i++) {
        a_tile[deep][row + 64 * i] = brought.a[i].x;
        a_tile[deep + 1][row + 64 * i] = brought.a[i].y;
        a_tile[deep + 2][row + 64 * i] = brought.a[i].z;
        a_tile[deep + 3][row + 64 * i] = brought.a[i].w;
    }
    int column = threadIdx.x % (COLUMNS / 4) * 4;
    int down = threadIdx.x / (COLUMNS / 4);
    for (int i = 0; i < TN / 4; i++) *(float4*)&b_tile[down + 64 / TN * i][column] = brought.b[i];
}

// From registers to c.
__device__ void store(const Sums& sums, float* c, int M, int N)
{
    for (int i = 0; i < TM; i++) {
        int row = blockIdx.y * ROWS + first_row() + i / 4 * 64 + i % 4;
        for (int j = 0; j < TN; j += 4) {
            int column = blockIdx.x * COLUMNS + first_column() + 16 * j;
            float* to = c + (size_t)row * N + column;
#ifdef WHOLE_TILES
            *(float4*)to = make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
#else
            for (int k = 0; k < 4; k++)
                if (row < M && column + k < N) to[k] = sums[i][j + k];
#endif
        }
    }
}

// Task 4, the inner half. Add to sums[i][j] the DEPTH products of this thread's rows of a and columns
// of b. Its row i lies at first_row() + i / 4 * 64 + i % 4 of the tile, its columns likewise.
__device__ void multiply(Sums& sums, const ATile& a_tile, const BTile& b_tile)
{
    int row = first_row(), column = first_column();
    #pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        // TASK 4: bring TM floats of a_tile[k] and TN of b_tile[k] into registers, by load_four, and
        // add all their products to sums
        // TODO: about 5 lines
    }
}

// Task 4. c = a b, by tiles in shared memory and in registers.
//
//   a, b, c                        as in task 1
//   grid    (ceil(N / COLUMNS), ceil(M / ROWS))
//   block   (256)
extern "C" __global__ __launch_bounds__(256, 2)
void matmul_regtile(const float* a, const float* b, float* c, int M, int N, int K)
{
    __shared__ __align__(16) ATile a_tile;
    __shared__ __align__(16) BTile b_tile;
    Sums sums = {};
    // TASK 4: for each tile of K: put what you fetch, multiply, and keep the threads apart where they
    // would get into each other's way
    // TODO: about 6 lines
    store(sums, c, M, N);
}

// Task 7 (stretch). The same with two tiles of each: while one is used, the next is fetched, and one
// barrier a tile is enough.
extern "C" __global__ __launch_bounds__(256, 2)
void matmul_buffered(const float* a, const float* b, float* c, int M, int N, int K)
{
    __shared__ __align__(16) ATile a_tile[2];
    __shared__ __align__(16) BTile b_tile[2];
    Sums sums = {};
    // TASK 7: fetch and put the first tiles. Then, for each: fetch the next into registers, multiply
    // what lies in shared memory, and only then put the next, into the other two tiles.
    // TODO: about 10 lines
    store(sums, c, M, N);
}

// Task 6 (stretch). y[i] = x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4, where x is 0 outside 0 .. n - 1.
//
//   x       float[n]   read, each element once by a block, and the two beside its piece
//   y       float[n]   written
//   n       1 .. 2^31 - 1024
//   grid    ceil(n / blockDim.x)
//   block   (threads)
//   shared  blockDim.x + 2 floats, dynamic
extern "C" __global__
void stencil3(const float* x, float* y, int n)
{
    extern __shared__ float piece[];  // x from blockIdx.x * blockDim.x - 1 on
    // TASK 6: bring the piece and the element on either side of it, wait, and add up three
    // TODO: about 7 lines
}
