// bfloat16 and bfloat162: arithmetic, comparisons, functions, conversions.
//
//   a, b, c   __nv_bfloat16[n]
//   y         one row of n for each result

#include <cuda_bf16.h>

typedef __nv_bfloat16 bfloat;
typedef __nv_bfloat162 bfloat2;

extern "C" __global__ void bfloat_arithmetic(const bfloat* a, const bfloat* b, const bfloat* c,
                                             bfloat* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bfloat p = a[i], q = b[i], r = c[i];
    bfloat results[] = {
        p + q, p - q, p * q, p / q, __hadd(p, r), __hsub(p, r), __hmul(p, r), __hfma(p, q, r),
        -p, __habs(p), __hmin(p, q), __hmax(p, q), __hfma_relu(p, q, r), p * q + r,
        __hmin_nan(p, q), __hmax_nan(p, q),
    };
    for (int k = 0; k < 16; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void bfloat_functions(const bfloat* a, bfloat* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bfloat p = a[i], q = __habs(p);
    bfloat results[] = {
        hsqrt(q), hrsqrt(q), hrcp(q), hexp(p), hexp2(p), hlog(q), hlog2(q), hsin(p), hcos(p),
        hfloor(p), hceil(p), htrunc(p), hrint(p),
    };
    for (int k = 0; k < 13; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void bfloat_comparisons(const bfloat* a, const bfloat* b, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bfloat p = a[i], q = b[i];
    bfloat2 pp = __halves2bfloat162(p, q), qq = __halves2bfloat162(q, q);
    int results[] = {
        p < q, p <= q, p > q, p >= q, p == q, p != q, __hgtu(p, q), __hisnan(p),
        __hbeq2(pp, qq), __hblt2(pp, qq),
    };
    for (int k = 0; k < 10; ++k) y[k * n + i] = results[k];
}

// Two elements a thread, n is even.
extern "C" __global__ void bfloat_pairs(const bfloat2* a, const bfloat2* b, bfloat2* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int pairs = n / 2;
    if (i >= pairs) return;
    bfloat2 p = a[i], q = b[i];
    bfloat2 results[] = {
        p + q, __hmul2(p, q), __hfma2(p, q, p), __hmax2(p, q), __lowhigh2highlow(p), __hneg2(p),
        __floats2bfloat162_rn(__low2float(p) * 3.0f, __high2float(q)), __hsub2(__high2bfloat162(p), q),
    };
    for (int k = 0; k < 8; ++k) y[k * pairs + i] = results[k];
}

extern "C" __global__ void bfloat_from(const float* f, const double* d, const int* s,
                                       const unsigned long long* u, bfloat* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bfloat results[] = {
        __float2bfloat16(f[i]), __float2bfloat16_rz(f[i]), __float2bfloat16_ru(f[i]),
        __float2bfloat16_rd(f[i]), __double2bfloat16(d[i]), __int2bfloat16_rn(s[i]),
        __int2bfloat16_rz(s[i]), __uint2bfloat16_rn(s[i]), __ull2bfloat16_rn(u[i]),
        __short2bfloat16_rn(short(s[i])), __ushort_as_bfloat16(s[i] & 0xffff),
    };
    for (int k = 0; k < 11; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void bfloat_to(const bfloat* a, float* f, int* s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bfloat p = a[i];
    f[i] = __bfloat162float(p);
    int words[] = {
        __bfloat162int_rn(p), __bfloat162int_rz(p), __bfloat162int_ru(p), __bfloat162int_rd(p),
        int(__bfloat162uint_rn(p)), __bfloat162short_rz(p), int(p),
    };
    for (int k = 0; k < 7; ++k) s[k * n + i] = words[k];
}
