// D = A B + C of one warp, in every shape, type and layout that <mma.h> has for compute capability
// 8.0. The name says how a and b lie, by rows or by columns; c lies as a does, and becomes d.
//
// memory  6,656 words: a [m, k] at byte 0, lines lda elements apart; b [k, n] at byte 8192, lines
//         ldb apart; c [m, n] at byte 16384, lines ldc apart
// shared  the warp takes all of it through dynamic shared memory of as many bytes

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <typename Layout> struct IsRows { static constexpr bool value = false; };
template <> struct IsRows<wmma::row_major> { static constexpr bool value = true; };

template <int m, int n, int k, typename T, typename Held, typename Sum, typename LayoutA,
          typename LayoutB>
__device__ __forceinline__ void product(unsigned* memory, int lda, int ldb, int ldc)
{
    const Held* a = (const Held*)memory;
    const Held* b = (const Held*)(memory + 2048);
    Sum* c = (Sum*)(memory + 4096);
    constexpr bool rows = IsRows<LayoutA>::value;
    constexpr wmma::layout_t layout = rows ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> left;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> right;
    wmma::fragment<wmma::accumulator, m, n, k, Sum> sum;
    wmma::load_matrix_sync(left, a, lda);
    wmma::load_matrix_sync(right, b, ldb);
    wmma::load_matrix_sync(sum, c, ldc, layout);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, ldc, layout);
}

#define KERNEL(name, m, n, k, T, Held, Sum, la, lb)                                        \
    extern "C" __global__ void name##_##m##x##n##x##k##_##la##_##lb(                       \
        unsigned* memory, int lda, int ldb, int ldc, int shared)                           \
    {                                                                                      \
        extern __shared__ __align__(128) uint4 tiles[];                                    \
        if (!shared) {                                                                     \
            product<m, n, k, T, Held, Sum, wmma::la##_major, wmma::lb##_major>(            \
                memory, lda, ldb, ldc);                                                    \
            return;                                                                        \
        }                                                                                  \
        _Pragma("unroll 1")                                                                \
        for (int i = threadIdx.x; i < 1664; i += 32) tiles[i] = ((uint4*)memory)[i];       \
        __syncwarp();                                                                      \
        product<m, n, k, T, Held, Sum, wmma::la##_major, wmma::lb##_major>(                \
            (unsigned*)tiles, lda, ldb, ldc);                                              \
        __syncwarp();                                                                      \
        _Pragma("unroll 1")                                                                \
        for (int i = threadIdx.x; i < 1664; i += 32) ((uint4*)memory)[i] = tiles[i];       \
    }
#define BOTH(name, m, n, k, T, Held, Sum)                                                  \
    KERNEL(name, m, n, k, T, Held, Sum, row, col)                                          \
    KERNEL(name, m, n, k, T, Held, Sum, col, row)
#define SHAPES(name, T, Sum)                                                               \
    BOTH(name, 16, 16, 16, T, T, Sum)                                                      \
    BOTH(name, 32, 8, 16, T, T, Sum)                                                       \
    BOTH(name, 8, 32, 16, T, T, Sum)

SHAPES(half_to_float, half, float)
SHAPES(half_to_half, half, half)
SHAPES(bfloat, __nv_bfloat16, float)
SHAPES(signed_char, signed char, int)
SHAPES(unsigned_char, unsigned char, int)
BOTH(tensor_float, 16, 16, 8, wmma::precision::tf32, float, float)
BOTH(doubles, 8, 8, 4, double, double, double)
