// Tensor cores by hand: ldmatrix from shared memory, mma.sync on registers.
//
// Numbers are small and whole, so that every sum is exact. A block is one warp where nothing else is
// said. In a warp, `group` is lane / 4 and `member` lane % 4; a register of 32 bits holds two
// neighbours of 16 bits, the lower index in the lower half.

#include <cuda_fp16.h>

__device__ unsigned shared_address(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void load_1(unsigned (&r)[1], const void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0]) : "r"(shared_address(row)) : "memory");
}

__device__ void load_2(unsigned (&r)[2], const void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)) : "memory");
}

__device__ void load_4(unsigned (&r)[4], const void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

__device__ void load_2_transposed(unsigned (&r)[2], const void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(row)) : "memory");
}

__device__ void load_4_transposed(unsigned (&r)[4], const void* row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

// d += a * b: 16 x 16 halves by 16 x 8
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Rows of 8 halves (one matrix of 8 rows each 8 of them), `pitch` halves apart in shared memory
__device__ const half* stored_rows(const half* x, half* shared, int rows, int pitch)
{
    int lane = threadIdx.x;
    const half* from = x + blockIdx.x * rows * 8;
    for (int i = lane; i < rows * 8; i += 32) shared[i / 8 * pitch + i % 8] = from[i];
    __syncwarp();
    return shared + lane % rows * pitch;
}

// x [blocks, matrices, 8, 8], y [blocks, 32, matrices]: what each lane gets
extern "C" __global__ void matrices_1(const half* x, unsigned* y, int pitch)
{
    extern __shared__ __align__(16) half shared[];
    unsigned r[1];
    load_1(r, stored_rows(x, shared, 8, pitch));
    y[blockIdx.x * 32 + threadIdx.x] = r[0];
}

extern "C" __global__ void matrices_2(const half* x, unsigned* y, int pitch)
{
    extern __shared__ __align__(16) half shared[];
    unsigned r[2];
    load_2(r, stored_rows(x, shared, 16, pitch));
    for (int j = 0; j < 2; j++) y[(blockIdx.x * 2 + j) * 32 + threadIdx.x] = r[j];
}

extern "C" __global__ void matrices_4(const half* x, unsigned* y, int pitch)
{
    extern __shared__ __align__(16) half shared[];
    unsigned r[4];
    load_4(r, stored_rows(x, shared, 32, pitch));
    for (int j = 0; j < 4; j++) y[(blockIdx.x * 4 + j) * 32 + threadIdx.x] = r[j];
}

extern "C" __global__ void matrices_2_transposed(const half* x, unsigned* y, int pitch)
{
    extern __shared__ __align__(16) half shared[];
    unsigned r[2];
    load_2_transposed(r, stored_rows(x, shared, 16, pitch));
    for (int j = 0; j < 2; j++) y[(blockIdx.x * 2 + j) * 32 + threadIdx.x] = r[j];
}

extern "C" __global__ void matrices_4_transposed(const half* x, unsigned* y, int pitch)
{
    extern __shared__ __align__(16) half shared[];
    unsigned r[4];
    load_4_transposed(r, stored_rows(x, shared, 32, pitch));
    for (int j = 0; j < 4; j++) y[(blockIdx.x * 4 + j) * 32 + threadIdx.x] = r[j];
}

// x [blocks, 32, 64] halves, y [blocks, 8, 4, 32]: a tile of rows of 128 bytes, column by column of
// matrices; the 16-byte pieces of a row are swapped by its number, so that no bank is asked twice
extern "C" __global__ void matrices_4_swizzled(const uint4* x, unsigned* y)
{
    __shared__ uint4 tile[32][8];
    int lane = threadIdx.x;
#pragma unroll
    for (int i = lane; i < 256; i += 32) tile[i / 8][i % 8 ^ i / 8 & 7] = x[blockIdx.x * 256 + i];
    __syncwarp();
#pragma unroll
    for (int column = 0; column < 8; column++) {
        unsigned r[4];
        load_4(r, &tile[lane][column ^ lane & 7]);
        for (int j = 0; j < 4; j++) y[((blockIdx.x * 8 + column) * 4 + j) * 32 + lane] = r[j];
    }
}

// x [blocks, 64, 8] halves, place [blocks, 32]: each lane names any row
extern "C" __global__ void matrices_4_gathered(const uint4* x, const int* place, unsigned* y)
{
    __shared__ uint4 tile[64];
    int lane = threadIdx.x;
    tile[lane] = x[blockIdx.x * 64 + lane];
    tile[lane + 32] = x[blockIdx.x * 64 + lane + 32];
    __syncwarp();
    unsigned r[4];
    load_4(r, &tile[place[blockIdx.x * 32 + lane]]);
    for (int j = 0; j < 4; j++) y[(blockIdx.x * 4 + j) * 32 + lane] = r[j];
}

// ---- registers straight from global memory: a by rows, b by columns, d by rows

// Two neighbours of 16 bits from a row of a, or from a column of b
__device__ unsigned two(const unsigned short* from) { return *reinterpret_cast<const unsigned*>(from); }

__device__ void store_pairs(float* d, const float (&sum)[4], int group, int member)
{
    *reinterpret_cast<float2*>(&d[group * 8 + 2 * member]) = make_float2(sum[0], sum[1]);
    *reinterpret_cast<float2*>(&d[(group + 8) * 8 + 2 * member]) = make_float2(sum[2], sum[3]);
}

// a [16, 16], b [8, 16] (a column of the mathematics is a row here), d [16, 8]
#define SIXTEEN_DEEP(name, type)                                                                   \
    extern "C" __global__ void name(const unsigned short* a, const unsigned short* b, float* d)    \
    {                                                                                              \
        int group = threadIdx.x / 4, member = threadIdx.x % 4, tile = blockIdx.x;                  \
        a += tile * 256, b += tile * 128;                                                          \
        float s[4] = {};                                                                           \
        unsigned a0 = two(&a[group * 16 + 2 * member]), a1 = two(&a[(group + 8) * 16 + 2 * member]); \
        unsigned a2 = two(&a[group * 16 + 2 * member + 8]);                                        \
        unsigned a3 = two(&a[(group + 8) * 16 + 2 * member + 8]);                                  \
        unsigned b0 = two(&b[group * 16 + 2 * member]), b1 = two(&b[group * 16 + 2 * member + 8]); \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, " \
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                               \
                     : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])                              \
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                      \
        store_pairs(d + tile * 128, s, group, member);                                             \
    }
SIXTEEN_DEEP(halves_16, "f16")
SIXTEEN_DEEP(bfloats_16, "bf16")

// a [16, 8], b [8, 8]
#define EIGHT_DEEP(name, type)                                                                     \
    extern "C" __global__ void name(const unsigned short* a, const unsigned short* b, float* d)    \
    {                                                                                              \
        int group = threadIdx.x / 4, member = threadIdx.x % 4, tile = blockIdx.x;                  \
        a += tile * 128, b += tile * 64;                                                           \
        float s[4] = {};                                                                           \
        unsigned a0 = two(&a[group * 8 + 2 * member]), a1 = two(&a[(group + 8) * 8 + 2 * member]); \
        unsigned b0 = two(&b[group * 8 + 2 * member]);                                             \
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, " \
                     "{%4, %5}, {%6}, {%0, %1, %2, %3};"                                           \
                     : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "r"(a0), "r"(a1), "r"(b0)); \
        store_pairs(d + tile * 128, s, group, member);                                             \
    }
EIGHT_DEEP(halves_8, "f16")
EIGHT_DEEP(bfloats_8, "bf16")

// The sums are halves too: d [16, 8] of halves
extern "C" __global__ void half_sums_16(const unsigned short* a, const unsigned short* b, unsigned* d)
{
    int group = threadIdx.x / 4, member = threadIdx.x % 4, tile = blockIdx.x;
    a += tile * 256, b += tile * 128;
    unsigned s[2] = {};
    unsigned a0 = two(&a[group * 16 + 2 * member]), a1 = two(&a[(group + 8) * 16 + 2 * member]);
    unsigned a2 = two(&a[group * 16 + 2 * member + 8]), a3 = two(&a[(group + 8) * 16 + 2 * member + 8]);
    unsigned b0 = two(&b[group * 16 + 2 * member]), b1 = two(&b[group * 16 + 2 * member + 8]);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "
                 "{%6, %7}, {%0, %1};"
                 : "+r"(s[0]), "+r"(s[1]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    d[tile * 64 + group * 4 + member] = s[0];
    d[tile * 64 + (group + 8) * 4 + member] = s[1];
}

// a [16, 8], b [8, 8] of float32 as tf32
extern "C" __global__ void tf32_8(const unsigned* a, const unsigned* b, float* d)
{
    int group = threadIdx.x / 4, member = threadIdx.x % 4, tile = blockIdx.x;
    a += tile * 128, b += tile * 64;
    float s[4] = {};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a[group * 8 + member]), "r"(a[(group + 8) * 8 + member]),
                   "r"(a[group * 8 + member + 4]), "r"(a[(group + 8) * 8 + member + 4]),
                   "r"(b[group * 8 + member]), "r"(b[group * 8 + member + 4]));
    store_pairs(d + tile * 128, s, group, member);
}

// a [16, 4], b [8, 4]
extern "C" __global__ void tf32_4(const unsigned* a, const unsigned* b, float* d)
{
    int group = threadIdx.x / 4, member = threadIdx.x % 4, tile = blockIdx.x;
    a += tile * 64, b += tile * 32;
    float s[4] = {};
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a[group * 4 + member]), "r"(a[(group + 8) * 4 + member]), "r"(b[group * 4 + member]));
    store_pairs(d + tile * 128, s, group, member);
}

// a [8, 4], b [8, 4] (columns), d [8, 8] of doubles
extern "C" __global__ void doubles_4(const double* a, const double* b, double* d)
{
    int group = threadIdx.x / 4, member = threadIdx.x % 4, tile = blockIdx.x;
    double s0 = 0.0, s1 = 0.0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(s0), "+d"(s1)
                 : "d"(a[tile * 32 + group * 4 + member]), "d"(b[tile * 32 + group * 4 + member]));
    *reinterpret_cast<double2*>(&d[tile * 64 + group * 8 + 2 * member]) = make_double2(s0, s1);
}

#include "tensor_mma_whole.cuh"
