// Tensor cores by nvcuda::wmma: tiles loaded from global and from shared memory, multiplied, stored.
//
// Numbers are small and whole, so that every sum is exact. A block is one warp where nothing else is
// said; tile number blockIdx.x of each operand belongs to it.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <int m, int n, int k, typename Input, typename Sum, typename Left, typename Right>
__device__ void multiply_tile(const Input* a, int a_stride, const Input* b, int b_stride, Sum* c, int c_stride)
{
    wmma::fragment<wmma::matrix_a, m, n, k, Input, Left> left;
    wmma::fragment<wmma::matrix_b, m, n, k, Input, Right> right;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> sum;
    wmma::fill_fragment(sum, Sum(0));
    wmma::load_matrix_sync(left, a, a_stride);
    wmma::load_matrix_sync(right, b, b_stride);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, c_stride, wmma::mem_row_major);
}

using Row = wmma::row_major;
using Column = wmma::col_major;

// a, b of 16 x a_stride or b_stride halves a tile, c [16, 16]: the four layouts
#define HALF_TILE(name, Left, Right)                                                              \
    extern "C" __global__ void name(const half* a, const half* b, float* c, int a_stride, int b_stride) \
    {                                                                                             \
        int tile = blockIdx.x;                                                                    \
        multiply_tile<16, 16, 16, half, float, Left, Right>(                                      \
            a + tile * 16 * a_stride, a_stride, b + tile * 16 * b_stride, b_stride, c + tile * 256, 16); \
    }
HALF_TILE(half_row_row, Row, Row)
HALF_TILE(half_row_column, Row, Column)
HALF_TILE(half_column_row, Column, Row)
HALF_TILE(half_column_column, Column, Column)

// a [16, 16], b [16, 16], c [16, 16] of halves, sums in halves too
extern "C" __global__ void half_sums(const half* a, const half* b, half* c)
{
    int tile = blockIdx.x * 256;
    multiply_tile<16, 16, 16, half, half, Row, Row>(a + tile, 16, b + tile, 16, c + tile, 16);
}

// The two other shapes: 32 x 8 and 8 x 32
extern "C" __global__ void half_tall(const half* a, const half* b, float* c)
{
    int tile = blockIdx.x;
    multiply_tile<32, 8, 16, half, float, Row, Row>(a + tile * 512, 16, b + tile * 128, 8, c + tile * 256, 8);
}

extern "C" __global__ void half_wide(const half* a, const half* b, float* c)
{
    int tile = blockIdx.x;
    multiply_tile<8, 32, 16, half, float, Row, Column>(a + tile * 128, 16, b + tile * 512, 16, c + tile * 256, 32);
}

extern "C" __global__ void bfloat_tile(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c)
{
    int tile = blockIdx.x * 256;
    multiply_tile<16, 16, 16, __nv_bfloat16, float, Row, Column>(a + tile, 16, b + tile, 16, c + tile, 16);
}

// a [16, 8], b [8, 16]: float32 whose last 13 bits are not looked at
extern "C" __global__ void tf32_tile(const float* a, const float* b, float* c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, Row> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, Row> right;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a + blockIdx.x * 128, 8);
    wmma::load_matrix_sync(right, b + blockIdx.x * 128, 16);
    for (int i = 0; i < left.num_elements; i++) left.x[i] = wmma::__float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; i++) right.x[i] = wmma::__float_to_tf32(right.x[i]);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + blockIdx.x * 256, sum, 16, wmma::mem_row_major);
}

// a [8, 4], b [4, 8], c [8, 8]
extern "C" __global__ void double_tile(const double* a, const double* b, double* c)
{
    int tile = blockIdx.x;
    multiply_tile<8, 8, 4, double, double, Row, Column>(a + tile * 32, 4, b + tile * 32, 4, c + tile * 64, 8);
}

extern "C" __global__ void byte_tile(const signed char* a, const signed char* b, int* c)
{
    int tile = blockIdx.x * 256;
    multiply_tile<16, 16, 16, signed char, int, Row, Column>(a + tile, 16, b + tile, 16, c + tile, 16);
}

// Sums that begin with what is there: c [16, 16] by columns, loaded and stored with a stride
extern "C" __global__ void sums_go_on(const half* a, const half* b, float* c, int stride)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, Row> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, Row> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    float* own = c + blockIdx.x * 16 * stride;
    wmma::load_matrix_sync(sum, own, stride, wmma::mem_col_major);
    wmma::load_matrix_sync(left, a + blockIdx.x * 256, 16);
    wmma::load_matrix_sync(right, b + blockIdx.x * 256, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(own, sum, stride, wmma::mem_col_major);
}

// Fragments through shared memory, where rows are `pitch` halves apart: a multiple of 8
template <typename Left, typename Right>
__device__ void through_shared(const half* a, const half* b, float* c, int pitch, half* shared)
{
    half *left = shared, *right = shared + 16 * pitch;
    int lane = threadIdx.x;
#pragma unroll
    for (int row = lane / 16; row < 16; row += 2) {
        left[row * pitch + lane % 16] = a[blockIdx.x * 256 + row * 16 + lane % 16];
        right[row * pitch + lane % 16] = b[blockIdx.x * 256 + row * 16 + lane % 16];
    }
    __syncwarp();
    multiply_tile<16, 16, 16, half, float, Left, Right>(left, pitch, right, pitch, c + blockIdx.x * 256, 16);
}

extern "C" __global__ void shared_row_row(const half* a, const half* b, float* c, int pitch)
{
    extern __shared__ __align__(32) half shared[];
    through_shared<Row, Row>(a, b, c, pitch, shared);
}

extern "C" __global__ void shared_row_column(const half* a, const half* b, float* c, int pitch)
{
    extern __shared__ __align__(32) half shared[];
    through_shared<Row, Column>(a, b, c, pitch, shared);
}

extern "C" __global__ void shared_column_row(const half* a, const half* b, float* c, int pitch)
{
    extern __shared__ __align__(32) half shared[];
    through_shared<Column, Row>(a, b, c, pitch, shared);
}

// x [16, 8] of float32 by rows that are `pitch` apart in shared memory, as tf32; y as x times y^T
extern "C" __global__ void shared_tf32(const float* a, const float* b, float* c, int pitch)
{
    extern __shared__ __align__(32) float words[];
    float *left = words, *right = words + 16 * pitch;
    int lane = threadIdx.x;
#pragma unroll
    for (int row = lane / 8; row < 16; row += 4) {
        left[row * pitch + lane % 8] = a[blockIdx.x * 128 + row * 8 + lane % 8];
        right[row * pitch + lane % 8] = b[blockIdx.x * 128 + row * 8 + lane % 8];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, Row> first;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, Column> second;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(first, left, pitch);
    wmma::load_matrix_sync(second, right, pitch);
    wmma::mma_sync(sum, first, second, sum);
    wmma::store_matrix_sync(c + blockIdx.x * 256, sum, 16, wmma::mem_row_major);
}

// a, b [16, 16]; the sums go through shared memory, `pitch` floats (a multiple of 4) a row, and out
// of it lane by lane
extern "C" __global__ void shared_sums(const half* a, const half* b, float* c, int pitch)
{
    extern __shared__ __align__(32) float sums[];
    int tile = blockIdx.x * 256, lane = threadIdx.x;
    multiply_tile<16, 16, 16, half, float, Row, Row>(a + tile, 16, b + tile, 16, sums, pitch);
    __syncwarp();
#pragma unroll
    for (int row = lane / 16; row < 16; row += 2)
        c[tile + row * 16 + lane % 16] = sums[row * pitch + lane % 16];
}

// The sums wait in shared memory between the two halves of the work.
extern "C" __global__ void shared_sums_again(const half* a, const half* b, float* c, int pitch)
{
    extern __shared__ __align__(32) float sums[];
    int tile = blockIdx.x * 256;
    multiply_tile<16, 16, 16, half, float, Row, Row>(a + tile, 16, b + tile, 16, sums, pitch);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, Column> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, Column> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(sum, sums, pitch, wmma::mem_row_major);
    wmma::load_matrix_sync(left, a + tile, 16);
    wmma::load_matrix_sync(right, b + tile, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + tile, sum, 16, wmma::mem_row_major);
}

// a [m, k], b [k, n] of halves, c [m, n]; blocks of 4 warps, a tile of 32 x 32 through shared memory
// whose rows are `pitch` halves apart. Any m, n, k: what is missing is zero, and c is written lane
// by lane.
extern "C" __global__ void half_gemm(const half* a, const half* b, float* c, int m, int n, int k, int pitch)
{
    extern __shared__ __align__(32) half shared[];
    half *left = shared, *right = shared + 32 * pitch;
    float* sums = reinterpret_cast<float*>(shared + 64 * pitch);  // [4][16][16]
    int t = threadIdx.x, warp = t / 32, row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    int warp_row = warp / 2 * 16, warp_column = warp % 2 * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, Row> first;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, Row> second;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += 32) {
#pragma unroll 1
        for (int i = t; i < 32 * 32; i += 128) {
            int row = i / 32, column = i % 32;
            half zero = __float2half(0.0f), x = zero, y = zero;
            if (row0 + row < m && k0 + column < k) x = a[(row0 + row) * k + k0 + column];
            if (k0 + row < k && column0 + column < n) y = b[(k0 + row) * n + column0 + column];
            left[row * pitch + column] = x;
            right[row * pitch + column] = y;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            wmma::load_matrix_sync(first, left + warp_row * pitch + kk, pitch);
            wmma::load_matrix_sync(second, right + kk * pitch + warp_column, pitch);
            wmma::mma_sync(sum, first, second, sum);
        }
        __syncthreads();
    }
    float* own = sums + warp * 256;
    wmma::store_matrix_sync(own, sum, 16, wmma::mem_row_major);
    __syncwarp();
#pragma unroll 1
    for (int i = t % 32; i < 256; i += 32) {
        int row = row0 + warp_row + i / 16, column = column0 + warp_column + i % 16;
        if (row < m && column < n) c[row * n + column] = own[i];
    }
}
