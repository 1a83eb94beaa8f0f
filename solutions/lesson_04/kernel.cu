// Lesson 04: the same bytes, asked for by other lanes.
//
//   block   [threads]   any size from 1 to 1024, except for the transposes
//   shared  none

#define EACH 4  // elements that a thread of strided_copy copies

// Task 1. y[i] = x[i * stride], the loop of lesson 03's task 9: a thread's elements lie blockDim.x
// apart, and all are loaded before the first is stored. Both loops have a fixed length: the compiler
// unrolls them, and `kept` lives in registers.
//
//   x       float[(n - 1) * stride + 1]   read; may have more than 2^31 elements
//   y       float[n]                      written
//   n       1 .. 2^31 - 8192
//   stride  0 .. 2^31 - 1
//   grid    ceil(n / (EACH * blockDim.x))
extern "C" __global__
void strided_copy(const float* x, float* y, int n, int stride)
{
    int first = blockIdx.x * EACH * blockDim.x + threadIdx.x;
    float kept[EACH];
    for (int k = 0; k < EACH; k++) {
        int i = first + k * blockDim.x;  // 0 .. n - 1, and beyond in the last block
        kept[k] = 0.0f;
        if (i < n) {
            // TASK 1: load the element of x that becomes y[i]. The index into x may pass 32 bits.
            kept[k] = x[(long long)i * stride];
            // END TASK
        }
    }
    for (int k = 0; k < EACH; k++) {
        int i = first + k * blockDim.x;
        if (i < n) y[i] = kept[k];
    }
}

// Task 2. One sum for each strip of rows and each column: sums[s][c] = a[s * strip][c] + the rows
// below it, `strip` rows or as many as there are.
//
//   a       float[rows, columns]           read
//   sums    float[gridDim.y, columns]      written
//   rows    0 or more; columns 1 or more; rows * columns below 2^31
//   strip   1 or more; at most 65,535 strips, for no grid is higher
//   grid    (ceil(columns / blockDim.x), ceil(rows / strip), but at least 1)
//   block   (threads)
extern "C" __global__
void col_sum_strips(const float* a, float* sums, int rows, int columns, int strip)
{
    // TASK 2: neighbouring lanes take neighbouring columns, and walk down their strip together
    int column = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. columns - 1, and beyond
    int first = blockIdx.y * strip;
    int last = min(first + strip, rows);
    if (column < columns) {
        float sum = 0.0f;
        #pragma unroll 8
        for (int row = first; row < last; row++) sum += a[row * columns + column];
        sums[blockIdx.y * columns + column] = sum;
    }
    // END TASK
}

// Task 3. Points as they are often stored, x y z x y z …, into three arrays.
//
//   xyz      float[n, 3]   read
//   x, y, z  float[n]      written
//   n        1 .. 2^29
//   grid     ceil(n / blockDim.x)
extern "C" __global__
void aos_to_soa(const float* xyz, float* x, float* y, float* z, int n)
{
    // TASK 3: one thread, one point
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. n - 1, and beyond in the last block
    if (i < n) {
        x[i] = xyz[3 * i];
        y[i] = xyz[3 * i + 1];
        z[i] = xyz[3 * i + 2];
    }
    // END TASK
}

// Task 4. y = x, four floats at a time wherever the addresses allow it.
//
//   x       float[n]   read; its address is any multiple of 4
//   y       float[n]   written; likewise, and not always the same distance past a multiple of 16
//   n       1 .. 1,500,000,000
//   grid    ceil(n / (4 * blockDim.x)): one float4 for each thread
extern "C" __global__
void copy_vec4(const float* x, float* y, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;  // of the grid
    int threads = gridDim.x * blockDim.x;
    // TASK 4: find the part in which float4s may be used. Copy it, one float4 to a thread; copy what
    // lies before and behind it float by float, with a grid-stride loop.
    bool together = (size_t)x % 16 == (size_t)y % 16;
    int ahead = together ? min(n, (int)(-(size_t)x / 4 % 4)) : n;  // floats to the next multiple of 16
    int vectors = (n - ahead) / 4;
    const float4* from = (const float4*)(x + ahead);
    float4* to = (float4*)(y + ahead);
    if (thread < vectors) to[thread] = from[thread];
    for (int i = thread; i < ahead; i += threads) y[i] = x[i];
    for (int i = ahead + 4 * vectors + thread; i < n; i += threads) y[i] = x[i];
    // END TASK
}

// Task 5. b[c][r] = a[r][c]; a warp reads 32 neighbours and writes 32 places far apart.
//
//   a       float[rows, columns]   read
//   b       float[columns, rows]   written
//   rows, columns                  1 or more, their product below 2^31; rows at most 524,280
//   grid    (ceil(columns / 32), ceil(rows / 8)): at most 65,535 high
//   block   (32, 8)
extern "C" __global__
void transpose_read_rows(const float* a, float* b, int rows, int columns)
{
    // TASK 5: let threadIdx.x run along a row of a
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
    // END TASK
}

// Task 5, the other way round: a warp reads 32 places far apart and writes 32 neighbours.
//
//   rows, columns                  as above, but columns at most 524,280
//   grid    (ceil(rows / 32), ceil(columns / 8))
//   block   (32, 8)
extern "C" __global__
void transpose_write_rows(const float* a, float* b, int rows, int columns)
{
    // TASK 5: let threadIdx.x run along a row of b
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
    // END TASK
}

// Task 7 (stretch). y[i] = x[indices[i]], or NaN where the index is negative.
//
//   x        float[any]   read
//   indices  int[n]       read, in any order, with repetitions; below the length of x
//   y        float[n]     written
//   n        1 .. 2^31 - 1024
//   grid     ceil(n / blockDim.x)
extern "C" __global__
void gather(const float* x, const int* indices, float* y, int n)
{
    // TASK 7: one thread, one element of y
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. n - 1, and beyond in the last block
    if (i < n) {
        int from = indices[i];
        y[i] = from < 0 ? __int_as_float(0x7fc00000) : x[from];
    }
    // END TASK
}
