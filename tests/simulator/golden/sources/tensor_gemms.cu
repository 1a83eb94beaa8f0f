// Whole products C [m, n] = A [m, k] B [k, n] on tensor cores; all matrices lie row by row.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// One warp a tile of shape M x N; m, n, k multiples of M, N, K. Tile number: x in the grid.
template <int M, int N, int K, typename T, typename Held, typename Sum>
__device__ void by_tiles(const Held* a, const Held* b, Sum* c, int m, int n, int k)
{
    int row = blockIdx.x / (n / N) * M;
    int column = blockIdx.x % (n / N) * N;
    if (row >= m) return;
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    wmma::fill_fragment(sum, Sum(0));
    #pragma unroll 1
    for (int i = 0; i < k; i += K) {
        wmma::load_matrix_sync(left, a + row * k + i, k);
        wmma::load_matrix_sync(right, b + i * n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

#define BY_TILES(name, M, N, K, T, Held, Sum)                                              \
    extern "C" __global__ void name(const Held* a, const Held* b, Sum* c, int m, int n, int k) \
    {                                                                                      \
        by_tiles<M, N, K, T, Held, Sum>(a, b, c, m, n, k);                                 \
    }
BY_TILES(half_to_float, 16, 16, 16, half, half, float)
BY_TILES(half_to_half, 16, 16, 16, half, half, half)
BY_TILES(half_tall, 32, 8, 16, half, half, float)
BY_TILES(half_wide, 8, 32, 16, half, half, float)
BY_TILES(bfloat, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, float)
BY_TILES(tensor_float, 16, 16, 8, wmma::precision::tf32, float, float)
BY_TILES(doubles, 8, 8, 4, double, double, double)
BY_TILES(signed_char, 16, 16, 16, signed char, signed char, int)
BY_TILES(unsigned_char, 16, 16, 16, unsigned char, unsigned char, int)

// Any m, n, k: one warp a tile of 16 x 16, taken through shared memory with zeros past the edges.
extern "C" __global__ void with_edges(const half* a, const half* b, float* c, int m, int n, int k)
{
    __shared__ __align__(32) half tile_a[16 * 16];
    __shared__ __align__(32) half tile_b[16 * 16];
    __shared__ __align__(32) float tile_c[16 * 16];
    int lane = threadIdx.x;
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    #pragma unroll 1
    for (int i = 0; i < k; i += 16) {
        #pragma unroll 1
        for (int e = lane; e < 256; e += 32) {
            int y = e / 16, x = e % 16;
            tile_a[e] = row + y < m && i + x < k ? a[(row + y) * k + i + x] : __float2half(0.0f);
            tile_b[e] = i + y < k && column + x < n ? b[(i + y) * n + column + x] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(left, tile_a, 16);
        wmma::load_matrix_sync(right, tile_b, 16);
        wmma::mma_sync(sum, left, right, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(tile_c, sum, 16, wmma::mem_row_major);
    __syncwarp();
    #pragma unroll 1
    for (int e = lane; e < 256; e += 32) {
        int y = row + e / 16, x = column + e % 16;
        if (y < m && x < n) c[y * n + x] = tile_c[e];
    }
}

// m, n multiples of 64, k of 32: four warps a tile of 64 x 64, lines padded by 8 halves.
constexpr int LINE_A = 40, LINE_B = 72;

__device__ void stage(half* tile_a, half* tile_b, const half* a, const half* b, int row, int column,
                      int i, int n, int k)
{
    #pragma unroll 1
    for (int e = threadIdx.x; e < 64 * 4; e += 128)
        *(uint4*)&tile_a[e / 4 * LINE_A + e % 4 * 8] = *(const uint4*)&a[(row + e / 4) * k + i + e % 4 * 8];
    #pragma unroll 1
    for (int e = threadIdx.x; e < 32 * 8; e += 128)
        *(uint4*)&tile_b[e / 8 * LINE_B + e % 8 * 8] = *(const uint4*)&b[(i + e / 8) * n + column + e % 8 * 8];
}

extern "C" __global__ void blocked(const half* a, const half* b, float* c, int m, int n, int k)
{
    __shared__ __align__(32) half tile_a[64 * LINE_A];
    __shared__ __align__(32) half tile_b[32 * LINE_B];
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    int down = threadIdx.x / 64 * 32, across = threadIdx.x / 32 % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++) wmma::fill_fragment(sums[y][x], 0.0f);
    #pragma unroll 1
    for (int i = 0; i < k; i += 32) {
        stage(tile_a, tile_b, a, b, row, column, i, n, k);
        __syncthreads();
        for (int j = 0; j < 32; j += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2];
            for (int y = 0; y < 2; y++)
                wmma::load_matrix_sync(left[y], &tile_a[(down + 16 * y) * LINE_A + j], LINE_A);
            for (int x = 0; x < 2; x++)
                wmma::load_matrix_sync(right[x], &tile_b[j * LINE_B + across + 16 * x], LINE_B);
            for (int y = 0; y < 2; y++)
                for (int x = 0; x < 2; x++)
                    wmma::mma_sync(sums[y][x], left[y], right[x], sums[y][x]);
        }
        __syncthreads();
    }
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++)
            wmma::store_matrix_sync(&c[(row + down + 16 * y) * n + column + across + 16 * x],
                                    sums[y][x], n, wmma::mem_row_major);
}

// The same by ldmatrix and mma.sync.
extern "C" __global__ void by_hand(const half* a, const half* b, float* c, int m, int n, int k)
{
    __shared__ __align__(32) half tile_a[64 * LINE_A];
    __shared__ __align__(32) half tile_b[32 * LINE_B];
    int row = blockIdx.y * 64, column = blockIdx.x * 64, lane = threadIdx.x % 32;
    int down = threadIdx.x / 64 * 32, across = threadIdx.x / 32 % 2 * 32;
    float sums[2][4][4] = {};
    #pragma unroll 1
    for (int i = 0; i < k; i += 32) {
        stage(tile_a, tile_b, a, b, row, column, i, n, k);
        __syncthreads();
        for (int j = 0; j < 32; j += 16) {
            unsigned left[2][4], right[4][2];
            for (int y = 0; y < 2; y++) {
                half* at = &tile_a[(down + 16 * y + lane % 16) * LINE_A + j + lane / 16 * 8];
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(left[y][0]), "=r"(left[y][1]), "=r"(left[y][2]), "=r"(left[y][3])
                             : "r"((unsigned)__cvta_generic_to_shared(at)));
            }
            for (int x = 0; x < 4; x++) {
                half* at = &tile_b[(j + lane % 16) * LINE_B + across + 8 * x];
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                             : "=r"(right[x][0]), "=r"(right[x][1])
                             : "r"((unsigned)__cvta_generic_to_shared(at)));
            }
            for (int y = 0; y < 2; y++)
                for (int x = 0; x < 4; x++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(sums[y][x][0]), "+f"(sums[y][x][1]), "+f"(sums[y][x][2]),
                                   "+f"(sums[y][x][3])
                                 : "r"(left[y][0]), "r"(left[y][1]), "r"(left[y][2]),
                                   "r"(left[y][3]), "r"(right[x][0]), "r"(right[x][1]));
        }
        __syncthreads();
    }
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 4; x++)
            for (int e = 0; e < 4; e++)
                c[(row + down + 16 * y + lane / 4 + e / 2 * 8) * n + column + across + 8 * x
                  + lane % 4 * 2 + e % 2] = sums[y][x][e];
}

// c [16, 16] = max(0, scale (a / 2) b + c): by the elements of fragments, wherever they are.
extern "C" __global__ void elementwise(const half* a, const half* b, float* c, float scale)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, bias;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::load_matrix_sync(bias, c, 16, wmma::mem_row_major);
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < left.num_elements; i++)
        left.x[i] = __float2half(__half2float(left.x[i]) * 0.5f);
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = fmaxf(0.0f, scale * sum.x[i] + bias.x[i]);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
