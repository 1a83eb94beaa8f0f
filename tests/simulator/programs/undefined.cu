// Values that nobody has given: variables, arrays of a thread, fresh memory.

#include <cuda_fp16.h>
#include <mma.h>

// The sum begins with what its register holds.
extern "C" __global__ void a_sum_that_begins_with_anything(const float* x, float* y, int n)
{
    float sum;
    for (int k = 0; k < n; ++k) sum += x[k * n + threadIdx.x]; // origin
    y[threadIdx.x] = sum; // fault
}

extern "C" __global__ void a_sum_that_begins_with_zero(const float* x, float* y, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += x[k * n + threadIdx.x];
    y[threadIdx.x] = sum;
}

// The variable is given a value in one arm, and used behind both.
extern "C" __global__ void given_in_one_arm(const float* x, float* y)
{
    int i = threadIdx.x;
    float value;
    if (x[i] > 8.0f) value = x[63 - i];
    y[i] = value; // fault
}

extern "C" __global__ void given_and_used_in_one_arm(const float* x, float* y)
{
    int i = threadIdx.x;
    float value;
    if (x[i] > 8.0f) value = x[63 - i];
    __syncthreads();
    y[i] = x[i] > 8.0f ? value : 0.0f;
}

// Four sums of a thread, none of which begins with zero.
extern "C" __global__ void four_sums_that_begin_with_anything(const float* x, float* y, int n)
{
    float sums[4];
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < 4; ++j) sums[j] += x[4 * k + j]; // origin
    for (int j = 0; j < 4; ++j) y[4 * threadIdx.x + j] = sums[j]; // fault
}

// An array that lies in local memory, and one element of it that nobody has written.
extern "C" __global__ void an_element_of_an_array_left_out(const int* order, int* y)
{
    int places[8];
    for (int k = 0; k < 7; ++k) places[order[k] & 7] = k;
    y[threadIdx.x] = places[threadIdx.x & 7]; // fault
}

extern "C" __global__ void an_array_written_in_another_order(const int* order, int* y)
{
    int places[8];
    for (int k = 0; k < 8; ++k) places[order[k] & 7] = k;
    y[threadIdx.x] = places[threadIdx.x & 7];
}

// What the last threads have not loaded goes through shared memory into the result.
extern "C" __global__ void undefined_in_a_tile(const float* x, float* y, int n)
{
    __shared__ float tile[64];
    int i = threadIdx.x;
    float value;
    if (i < n) value = x[i];
    tile[i] = value; // origin
    __syncthreads();
    y[i] = tile[63 - i]; // fault
}

extern "C" __global__ void undefined_in_a_tile_and_dropped(const float* x, float* y, int n)
{
    __shared__ float tile[64];
    int i = threadIdx.x;
    float value;
    if (i < n) value = x[i];
    tile[i] = value;
    __syncthreads();
    float other = tile[63 - i];
    y[i] = 63 - i < n ? other : -1.0f;
}

// A place of shared memory that held an undefined value is written again.
extern "C" __global__ void a_tile_filled_twice(const float* x, float* y, int n)
{
    __shared__ float tile[64];
    int i = threadIdx.x;
    float value;
    if (i < n) value = x[i];
    tile[i] = value;
    __syncthreads();
    tile[63 - i] = x[i];
    __syncthreads();
    y[i] = tile[i];
}

// An index that was computed in one arm.
extern "C" __global__ void an_index_from_anywhere(const int* order, const float* x, float* y)
{
    int i = threadIdx.x, at;
    if (order[i] > 8) at = order[63 - i] - 1;
    y[i] = x[at] + x[at ^ 1]; // fault
}

// A branch with a store in it, on a flag that was set in one arm.
extern "C" __global__ void a_branch_on_anything(const int* order, int* y)
{
    int i = threadIdx.x, flag;
    if (order[i] > 8) flag = order[63 - i];
    __syncthreads();
    if (flag == 3) y[i] = 1; // fault
}

// Both arms of such a branch only compute, and the result is dropped.
extern "C" __global__ void a_branch_that_only_computes(const float* x, float* y, int n)
{
    int i = threadIdx.x;
    float value;
    if (i < n) value = x[i];
    __syncthreads();
    float result = value > 8.0f ? expf(value) : erff(value) * cbrtf(value);
    __syncthreads();
    if (i < n) y[i] = result > 0.0f;
}

// Both arms only compute, and what they give is stored.
extern "C" __global__ void chosen_by_anything(const int* order, int* y)
{
    int i = threadIdx.x, flag, steps = 0;
    if (order[i] > 8) flag = order[63 - i];
    __syncthreads();
    if (flag & 4) // origin
        for (int k = 0; k < i; ++k) steps = steps * 3 + k;
    y[i] = steps + (flag & 3); // fault
}

// All lanes add up; those without an element bring anything.
extern "C" __global__ void a_warp_sum_of_anything(const float* x, float* y, int n)
{
    int i = threadIdx.x;
    float value;
    if (i < n) value = x[i];
    for (int d = 16; d; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d); // origin
    if (i == 0) y[0] = value; // fault
}

extern "C" __global__ void a_warp_sum_of_what_is_there(const float* x, float* y, int n)
{
    int i = threadIdx.x;
    float value;
    if (i < n) value = x[i];
    float given = __shfl_down_sync(0xffffffff, value, 1);
    unsigned above = __ballot_sync(0xffffffff, given > value) & ((1u << (n - 1)) - 1);
    if (i == 0) y[0] = __popc(above);
}

// A flag of a lane without an element takes part in a vote.
extern "C" __global__ void a_vote_of_anything(const float* x, float* y, int n)
{
    int i = threadIdx.x;
    float value;
    if (i < n) value = x[i];
    unsigned large = __ballot_sync(0xffffffff, value > 8.0f || value < 2.0f); // origin
    if (i == 0) y[0] = __popc(large); // fault
}

// What an atomic adds was never given a value in some threads.
extern "C" __global__ void anything_added_by_an_atomic(const float* x, float* total, int n)
{
    float value;
    if (threadIdx.x < n) value = x[threadIdx.x];
    __syncthreads();
    atomicAdd(&total[0], value); // fault
}

extern "C" __global__ void what_is_there_added_by_an_atomic(const float* x, float* total, int n)
{
    float value;
    if (threadIdx.x < n) value = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) atomicAdd(&total[0], value);
}

// A printed value that nobody has given.
extern "C" __global__ void anything_printed(const float* x)
{
    float value;
    if (x[threadIdx.x] > 8.0f) value = x[63 - threadIdx.x];
    printf("%d %f\n", threadIdx.x, value); // fault
}

extern "C" __global__ void what_is_there_printed(const float* x)
{
    float value;
    if (x[threadIdx.x] > 8.0f) value = x[63 - threadIdx.x];
    __syncthreads();
    if (x[threadIdx.x] > 8.0f) printf("%d %f\n", threadIdx.x, value);
}

// A product of tensor cores whose last rows nobody has loaded: they spoil their own rows.
extern "C" __global__ void rows_that_nobody_loaded(const __half* a, float* c, int rows)
{
    __shared__ uint4 tile[32];
    uint4 half_a_row;
    if (threadIdx.x / 2 < rows) half_a_row = reinterpret_cast<const uint4*>(a)[threadIdx.x];
    tile[threadIdx.x] = half_a_row; // origin
    __syncwarp();
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> left;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major> right;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    nvcuda::wmma::load_matrix_sync(left, reinterpret_cast<__half*>(tile), 16);
    nvcuda::wmma::load_matrix_sync(right, a, 16);
    nvcuda::wmma::mma_sync(sums, left, right, sums);
    nvcuda::wmma::store_matrix_sync(c, sums, 16, nvcuda::wmma::mem_row_major); // fault
}

extern "C" __global__ void rows_that_nobody_loaded_nor_stores(const __half* a, float* c, int rows)
{
    __shared__ uint4 tile[32];
    __shared__ float result[256];
    uint4 half_a_row;
    if (threadIdx.x / 2 < rows) half_a_row = reinterpret_cast<const uint4*>(a)[threadIdx.x];
    tile[threadIdx.x] = half_a_row;
    __syncwarp();
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> left;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major> right;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    nvcuda::wmma::load_matrix_sync(left, reinterpret_cast<__half*>(tile), 16);
    nvcuda::wmma::load_matrix_sync(right, a, 16);
    nvcuda::wmma::mma_sync(sums, left, right, sums);
    nvcuda::wmma::store_matrix_sync(result, sums, 16, nvcuda::wmma::mem_row_major);
    __syncwarp();
    for (int k = threadIdx.x; k < 16 * rows; k += 32) c[k] = result[k];
}

// Each thread adds to an element of a fresh tensor.
extern "C" __global__ void added_to_what_nobody_wrote(const float* x, float* y)
{
    y[threadIdx.x] += x[threadIdx.x]; // fault
}

extern "C" __global__ void written_before_it_is_added_to(const float* x, float* y)
{
    y[threadIdx.x] = x[threadIdx.x];
    for (int k = 0; k < 3; ++k) y[threadIdx.x] += x[k];
}

// An atomic reads what is there.
extern "C" __global__ void counted_in_what_nobody_wrote(const int* x, float* y)
{
    atomicAdd(&y[x[threadIdx.x] & 3], 1.0f); // fault
}

// An exchange does not care for what was there, if nobody uses it.
extern "C" __global__ void exchanged_for_what_nobody_wrote(const float* x, float* y, float* z)
{
    float old = atomicExch(&y[threadIdx.x], x[threadIdx.x]); // origin
    z[threadIdx.x] = threadIdx.x % 2 ? old : x[threadIdx.x]; // fault
}

extern "C" __global__ void exchanged_twice(const float* x, float* y, float* z)
{
    atomicExch(&y[threadIdx.x], x[threadIdx.x]);
    z[threadIdx.x] = atomicExch(&y[threadIdx.x], 0.0f);
}

// The sums of some blocks are there, and those of more are added up.
extern "C" __global__ void more_sums_than_blocks(float* parts, float* y, int n)
{
    if (threadIdx.x < n - 2) parts[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += parts[k]; // origin
    if (threadIdx.x == 0) y[0] = sum; // fault
}

extern "C" __global__ void as_many_sums_as_blocks(float* parts, float* y, int n)
{
    if (threadIdx.x < n) parts[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += parts[k];
    if (threadIdx.x == 0) y[0] = sum;
}
