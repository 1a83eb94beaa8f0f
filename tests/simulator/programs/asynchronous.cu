// Copies into shared memory that go on by themselves, and tensor cores that read them.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

// Started, committed, waited for, and a barrier for the others.
extern "C" __global__ void a_copy_waited_for(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[t] = tile[63 - t];
}

// A barrier does not wait for copies.
extern "C" __global__ void a_copy_not_waited_for(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 4); // first
    __pipeline_commit();
    __syncthreads();
    y[t] = tile[63 - t]; // second
}

// Each thread waits for its own copies, and none for those of the others.
extern "C" __global__ void a_copy_waited_for_by_its_own_thread(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 4); // first
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[63 - t]; // second
}

// What a thread has copied itself, it may read behind its wait without a barrier.
extern "C" __global__ void a_copy_for_its_own_thread(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[t] + 1;
}

// Two stages: one is copied while the other is read.
extern "C" __global__ void two_stages(const int* x, int* y, int tiles)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &x[(k + 1) * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[k % 2][63 - t];
        __syncthreads();
    }
    y[t] = sum;
}

// The wait lets one more copy go on than the loop reads behind it.
extern "C" __global__ void two_stages_and_a_wait_too_weak(const int* x, int* y, int tiles)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4); // first
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &x[(k + 1) * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        sum += tile[k % 2][63 - t]; // second
        __syncthreads();
    }
    y[t] = sum;
}

// A stage is copied anew while other threads still read it.
extern "C" __global__ void two_stages_without_the_barrier_behind(const int* x, int* y, int tiles)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &x[(k + 1) * 64 + t], 4); // second
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[k % 2][63 - t]; // first
    }
    y[t] = sum;
}

// The source is changed before the copy has read it.
extern "C" __global__ void a_source_changed_too_early(int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[t], 4); // first
    __pipeline_commit();
    x[t] = -1; // second
    __pipeline_wait_prior(0);
    y[t] = tile[t];
}

// A tile of halves is filled by all warps, a barrier, and one multiplies it.
extern "C" __global__ void a_matrix_filled_by_the_block(const half* a, float* c)
{
    __shared__ half tile[256];
    int t = threadIdx.x;
    for (int k = t; k < 256; k += 64) tile[k] = a[k];
    __syncthreads();
    if (t >= 32) return;
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, tile, 16);
    wmma::load_matrix_sync(right, tile, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

// The warp that multiplies does not wait for the one that fills.
extern "C" __global__ void a_matrix_read_too_early(const half* a, float* c)
{
    __shared__ half tile[256];
    int t = threadIdx.x;
    for (int k = t; k < 256; k += 64) tile[k] = a[k]; // first
    __syncwarp();
    if (t >= 32) return;
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, tile, 16); // second
    for (int k = 0; k < sum.num_elements; ++k) sum.x[k] = __half2float(left.x[k % left.num_elements]);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

// Half of the warp stays away from an instruction of the whole warp.
extern "C" __global__ void half_a_warp_at_the_tensor_cores(const half* a, float* c)
{
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, __half2float(a[threadIdx.x]));
    if (threadIdx.x < 16)
        wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major); // fault
}
