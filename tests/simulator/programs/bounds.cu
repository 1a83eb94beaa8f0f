// Accesses that are wrong by themselves: outside, misaligned, unwritten, unwanted.

// The last block reaches past the end.
extern "C" __global__ void past_the_end(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i]; // fault
}

// The guard lets one too many through.
extern "C" __global__ void one_past_the_end(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        y[i] = 1; // fault
}

// The first thread looks to its left.
extern "C" __global__ void before_the_beginning(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i - 1]; // fault
}

// An index that leaves the block's shared memory.
extern "C" __global__ void outside_shared_memory(const float* x, float* y)
{
    extern __shared__ float tile[];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[t + 1]; // fault
}

// Four floats at once begin at a multiple of sixteen bytes.
extern "C" __global__ void four_floats_from_the_second(const float* x, float4* y)
{
    y[threadIdx.x] = reinterpret_cast<const float4*>(x + 1)[threadIdx.x]; // fault
}

// const is taken away by a cast.
extern "C" __global__ void written_through_a_cast(const float* x)
{
    const_cast<float*>(x)[threadIdx.x] = 0; // fault
}

// Nobody has written this element.
extern "C" __global__ void never_written(const float* x, float* y, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    y[t] = tile[t ^ 1]; // fault
}

// Only another block has written, and its shared memory is not ours.
extern "C" __global__ void written_by_another_block(const float* x, float* y)
{
    __shared__ float scale;
    if (blockIdx.x == 0 && threadIdx.x == 0) scale = x[0];
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = scale; // fault
}

// A tile for a stencil, and its two ends are forgotten.
extern "C" __global__ void a_halo_never_written(const float* x, float* y)
{
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = x[t];
    __syncthreads();
    y[t] = tile[t] + tile[t + 1] + tile[t + 2]; // fault
}

// The same tile with its ends.
extern "C" __global__ void a_halo_of_zeros(const float* x, float* y)
{
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = x[t];
    if (t == 0) tile[0] = 0;
    if (t == 63) tile[65] = 0;
    __syncthreads();
    y[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

// Only the part that was written is read.
extern "C" __global__ void a_tile_that_is_not_full(const float* x, float* y, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    if (t < n) y[t] = tile[n - 1 - t];
}

// The programmer's own check.
extern "C" __global__ void an_assertion(const int* x, int* y)
{
    assert(x[threadIdx.x] >= 0); // fault
    y[threadIdx.x] = x[threadIdx.x];
}

// The programmer's own end.
extern "C" __global__ void a_trap(const int* x, int* y)
{
    if (x[threadIdx.x] < 0) __trap(); // fault
    y[threadIdx.x] = x[threadIdx.x];
}

__device__ int down(const int* x, int n)
{
    int room[512];
    for (int k = 0; k < 4; ++k) room[(x[k] + 100 * k) % 512] = n;
    return n == 0 ? room[x[0]] : down(x, n - x[0]) + room[x[1]]; // fault
}

// A recursion that never reaches its end.
extern "C" __global__ void a_recursion_without_an_end(const int* x, int* y)
{
    y[threadIdx.x] = down(x, 1 + threadIdx.x);
}

__device__ int one(int v) { return v + 1; }
__device__ int two(int v) { return v + 2; }

using function = int (*)(int);
__device__ function functions[3] = {one, two}; // the third is a null pointer

// A table of functions with a hole.
extern "C" __global__ void a_call_of_nothing(const int* x, int* y)
{
    int i = threadIdx.x;
    y[i] = functions[x[i]](i); // fault
}
