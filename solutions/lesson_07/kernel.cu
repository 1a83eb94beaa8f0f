// Lesson 07: many values become one, in a block, in a grid, in a row.
//
//   block   (threads), a multiple of 32 up to 1024; block_sum_smem asks for a power of two
//   grid    as above each kernel, one-dimensional

#define EVERY_LANE 0xffffffffu
#define INFINITY __int_as_float(0x7f800000)

// Supplied: the tree as one would write it first. Its sums are right. Compare its counters with yours.
//
//   x       float[n]           read
//   sums    float[gridDim.x]   one sum for each block of elements
//   grid    ceil(n / blockDim.x)      block a power of two      shared blockDim.x floats
extern "C" __global__
void block_sum_interleaved(const float* x, float* sums, int n)
{
    extern __shared__ float tile[];           // [blockDim.x]
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? x[i] : 0.0f;
    for (int step = 1; step < blockDim.x; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0)
            tile[t] += tile[t + step];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

// Task 1. The same sums by a tree whose working threads stand side by side.
//
//   x       float[n]           read; past the end there is nothing to add
//   sums    float[gridDim.x]   written
//   n       1 .. 2^31 - 1024      grid, block, shared as above
extern "C" __global__
void block_sum_smem(const float* x, float* sums, int n)
{
    extern __shared__ float tile[];           // [blockDim.x]
    int t = threadIdx.x;                      // 0 .. blockDim.x - 1
    int i = blockIdx.x * blockDim.x + t;      // passes n in the last block
    // TASK 1: fold the upper half of the tile onto the lower half, until one value is left
    tile[t] = i < n ? x[i] : 0.0f;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();                      // the writes of the last step are there
        if (t < half) tile[t] += tile[t + half];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
    // END TASK
}

// Task 2. The sum of v over the 32 lanes of a warp, in each of them. All lanes call it.
__device__ float warp_sum(float v)
{
    // TASK 2: five shuffles: add what the lane 16 away holds, then 8, 4, 2, 1
    for (int away = 16; away > 0; away /= 2)
        v += __shfl_xor_sync(EVERY_LANE, v, away);
    // END TASK
    return v;
}

// Task 2. The sum of v over all threads of the block, in each of them. All threads call it, and once
// in a kernel: a second call might overwrite what a slow warp still reads.
__device__ float block_sum(float v)
{
    __shared__ float of_warp[32];             // [blockDim.x / 32], the sum of each warp
    // TASK 2: sum each warp, meet in of_warp, and let every warp sum what it finds there
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) of_warp[warp] = v;
    __syncthreads();
    v = warp_sum(lane < blockDim.x / 32 ? of_warp[lane] : 0.0f);
    // END TASK
    return v;
}

// Task 2. As block_sum_smem, but any multiple of 32 will do as a block, and no dynamic shared memory.
extern "C" __global__
void block_sum_shfl(const float* x, float* sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = block_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Task 3. Add all of x to out: each thread adds up its own, each block adds once.
//
//   x       float[n]   read
//   out     float[1]   added to
//   n       0 .. 2^40      grid any
extern "C" __global__
void sum_atomic(const float* x, float* out, long long n)
{
    // TASK 3: a grid-stride loop, block_sum, and one atomicAdd
    long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
    // END TASK
}

// Task 4. One sum for each block, no atomics: who adds what is fixed by n and the grid.
//
//   x       float[n]           read, neighbouring floats by neighbouring lanes; n 0 .. 2^40
//   sums    float[gridDim.x]   written; grid any; which part of x a block takes is yours to choose
extern "C" __global__
void partial_sums(const float* __restrict__ x, float* sums, long long n)
{
    // TASK 4: as task 3 without the atomic: six lines pass every test. The rest is for speed: load float4,
    // several before the first add; one begins at a multiple of 16 bytes, so floats at either end are left.
    long long stride = (long long)gridDim.x * blockDim.x;
    long long me = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long head = (16 - (long long)x % 16) / 4 % 4;        // floats before the first float4
    head = head < n ? head : n;
    const float4* x4 = (const float4*)(x + head);
    long long fours = (n - head) / 4, tail = head + 4 * fours;
    float sum = me < head ? x[me] : 0.0f;
    if (me < n - tail) sum += x[tail + me];                   // at most 3 on either side
    long long k = me;
    for (; k + 3 * stride < fours; k += 4 * stride) {
        float4 v[4];
        for (int ahead = 0; ahead < 4; ahead++) v[ahead] = __ldg(x4 + k + ahead * stride);
        for (int ahead = 0; ahead < 4; ahead++)
            sum += (v[ahead].x + v[ahead].y) + (v[ahead].z + v[ahead].w);
    }
    for (; k < fours; k += stride) {
        float4 v = x4[k];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    // END TASK
}

#define HELD 16  // floats of a row that a thread of softmax_row keeps in registers

// Task 5. The largest v of all threads of the block, in each of them; as fmaxf, it may pass over NaN.
__device__ float block_max(float v)
{
    __shared__ float of_warp[32];
    // TASK 5: block_sum, with fmaxf for +. Adding 0 changes no sum: what changes no maximum?
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int away = 16; away > 0; away /= 2) v = fmaxf(v, __shfl_xor_sync(EVERY_LANE, v, away));
    if (lane == 0) of_warp[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? of_warp[lane] : -INFINITY;
    for (int away = 16; away > 0; away /= 2) v = fmaxf(v, __shfl_xor_sync(EVERY_LANE, v, away));
    // END TASK
    return v;
}

// Supplied, for tasks 2 and 5. What each thread holds once it has called block_sum, or block_max.
//
//   x      float[n]                        read
//   held   float[gridDim.x * blockDim.x]   written
extern "C" __global__
void block_sum_held(const float* x, float* held, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    held[i] = block_sum(i < n ? x[i] : 0.0f);
}

extern "C" __global__
void block_max_held(const float* x, float* held, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    held[i] = block_max(i < n ? x[i] : -INFINITY);
}

// Task 5. Each row of y is the softmax of that row of x: exp(x - largest) / their sum.
//
//   x        float[rows, columns]   each element read once
//   y        float[rows, columns]   written; as torch.softmax where a row holds NaN or infinity
//   columns  1 .. 8192      grid rows
extern "C" __global__
void softmax_row(const float* __restrict__ x, float* y, int columns)
{
    extern __shared__ float row[];            // as many bytes as your launch asks for
    x += (long long)blockIdx.x * columns;     // this block's row
    y += (long long)blockIdx.x * columns;
    // TASK 5: load the row once and keep it, in registers or in `row`; then its largest, then the sum
    float v[HELD], largest = -INFINITY, sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        int column = threadIdx.x + k * blockDim.x;
        v[k] = column < columns ? x[column] : -INFINITY;      // exp of it adds nothing
        largest = fmaxf(largest, v[k]);
    }
    largest = block_max(largest);
    #pragma unroll
    for (int k = 0; k < HELD; k++) sum += v[k] = expf(v[k] - largest);
    float scale = 1.0f / block_sum(sum);
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        int column = threadIdx.x + k * blockDim.x;
        if (column < columns) y[column] = v[k] * scale;
    }
    // END TASK
}

// Task 7 (stretch). Whether value a at index i goes before value b at index j: NaN is larger than all
// numbers; of equals, two NaN too, the first wins.
__device__ bool beats(float a, int i, float b, int j)
{
    bool wins = false;
    // TASK 7: NaN first, then values, then indices
    if (isnan(a) || isnan(b))
        wins = isnan(a) && (!isnan(b) || i < j);
    else
        wins = a > b || (a == b && i < j);
    // END TASK
    return wins;
}

// Task 7 (stretch). The largest of each row and where it is, as torch.max(dim=1) has them.
//
//   x        float[rows, columns]   read
//   most     float[rows]            written
//   where    int[rows]              written
//   columns  1 ..      grid rows
extern "C" __global__
void row_argmax(const float* x, float* most, int* where, int columns)
{
    __shared__ float values[32];              // [blockDim.x / 32], of each warp
    __shared__ int places[32];
    x += (long long)blockIdx.x * columns;
    // TASK 7: reduce pairs of value and index, as block_sum reduces values
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = -INFINITY;
    int i = columns;                          // loses against every element
    for (int k = threadIdx.x; k < columns; k += blockDim.x)
        if (beats(x[k], k, v, i)) v = x[k], i = k;
    for (int level = 0; level < 2; level++) {
        for (int away = 16; away > 0; away /= 2) {
            float w = __shfl_xor_sync(EVERY_LANE, v, away);
            int j = __shfl_xor_sync(EVERY_LANE, i, away);
            if (beats(w, j, v, i)) v = w, i = j;
        }
        if (level == 1) break;
        if (lane == 0) values[warp] = v, places[warp] = i;
        __syncthreads();
        bool one = lane < blockDim.x / 32;    // a warp has left its pair for this lane
        v = one ? values[lane] : -INFINITY;
        i = one ? places[lane] : columns;
    }
    if (threadIdx.x == 0) most[blockIdx.x] = v, where[blockIdx.x] = i;
    // END TASK
}

// Supplied, for task 6: every element of x, float[n], is an atomic of its own, added to out, float[1].
extern "C" __global__
void atomic_each(const float* x, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, x[i]);
}

// Supplied, for task 6. out becomes the sum of parts, one atomic a block. atomicAdd gives back what
// was there before it, and before keeps that: it tells who came after whom.
//
//   parts    float[gridDim.x]   read
//   out      float[1]           added to
//   before   float[gridDim.x]   written
extern "C" __global__
void add_as_they_come(const float* parts, float* out, float* before)
{
    if (threadIdx.x == 0) before[blockIdx.x] = atomicAdd(out, parts[blockIdx.x]);
}

// Task 8 (stretch). Compiled where host.py asks for it: the header takes the compiler a while.
#ifdef WHOLE_GRID
#include <cooperative_groups.h>

// The sum of x in one launch, and with the same bits every time: all blocks of the grid meet in the
// middle. A cooperative launch keeps them all resident.
//
//   x, out  float[n], float[1]   read, written
//   sums    float[gridDim.x]     room for a sum of each block
//   n       0 .. 2^40      grid at most what is resident at a time
extern "C" __global__
void sum_grid(const float* x, float* sums, float* out, long long n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    // TASK 8: a sum for each block, grid.sync(), and the last addition by one warp of one block
    long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    grid.sync();
    if (blockIdx.x == 0 && threadIdx.x < 32) {
        sum = 0.0f;
        for (int b = threadIdx.x; b < gridDim.x; b += 32) sum += sums[b];
        sum = warp_sum(sum);
        if (threadIdx.x == 0) out[0] = sum;
    }
    // END TASK
}
#endif
