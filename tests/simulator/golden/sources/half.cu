// half and half2: arithmetic, comparisons, functions, conversions.
//
//   a, b, c   half[n]
//   y         one row of n for each result

#include <cuda_fp16.h>

extern "C" __global__ void half_arithmetic(const half* a, const half* b, const half* c, half* y,
                                           int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half p = a[i], q = b[i], r = c[i];
    half results[] = {
        p + q, p - q, p * q, p / q, __hadd(p, r), __hsub(p, r), __hmul(p, r), __hfma(p, q, r),
        -p, __habs(p), __hmin(p, q), __hmax(p, q), __hadd_sat(p, q), __hfma_sat(p, q, r),
        __hfma_relu(p, q, r), __hmin_nan(p, q), __hmax_nan(p, q), p * q + r,
    };
    for (int k = 0; k < 18; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void half_functions(const half* a, half* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half p = a[i], q = __habs(p);
    half results[] = {
        hsqrt(q), hrsqrt(q), hrcp(q), hexp(p), hexp2(p), hexp10(p), hlog(q), hlog2(q), hlog10(q),
        hsin(p), hcos(p), hfloor(p), hceil(p), htrunc(p), hrint(p),
    };
    for (int k = 0; k < 15; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void half_comparisons(const half* a, const half* b, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half p = a[i], q = b[i];
    half2 pp = __halves2half2(p, q), qq = __halves2half2(q, q);
    int results[] = {
        p < q, p <= q, p > q, p >= q, p == q, p != q, __hltu(p, q), __hneu(p, q), __hisnan(p),
        __hisinf(p), __hbeq2(pp, qq), __hblt2(pp, qq), int(__half_as_ushort(__low2half(__hgt2(pp, qq)))),
        int(__heq2_mask(pp, qq)),
    };
    for (int k = 0; k < 14; ++k) y[k * n + i] = results[k];
}

// Two elements a thread, the last one alone if n is odd.
extern "C" __global__ void half_pairs(const half* a, const half* b, half* y, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    if (i + 1 == n) {
        for (int k = 0; k < 8; ++k) y[k * n + i] = __float2half(float(k));
        return;
    }
    half2 p = __halves2half2(a[i], a[i + 1]), q = __halves2half2(b[i], b[i + 1]);
    half2 results[] = {
        p + q, __hmul2(p, q), __hfma2(p, q, p), __hmax2(p, q), h2rcp(q), __lowhigh2highlow(p),
        __floats2half2_rn(__low2float(p) * 3.0f, __high2float(q)), __hsub2(__high2half2(p), q),
    };
    for (int k = 0; k < 8; ++k) {
        y[k * n + i] = __low2half(results[k]);
        y[k * n + i + 1] = __high2half(results[k]);
    }
}

extern "C" __global__ void half_from(const float* f, const double* d, const int* s,
                                     const unsigned long long* u, half* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half results[] = {
        __float2half(f[i]), __float2half_rz(f[i]), __float2half_ru(f[i]), __float2half_rd(f[i]),
        __double2half(d[i]), __int2half_rn(s[i]), __int2half_rz(s[i]), __uint2half_rn(s[i]),
        __ull2half_rn(u[i]), __ll2half_rn(u[i]), __short2half_rn(short(s[i])),
        __ushort2half_rd(static_cast<unsigned short>(s[i])), __ushort_as_half(s[i] & 0xffff),
    };
    for (int k = 0; k < 13; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void half_to(const half* a, float* f, int* s, long long* l, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half p = a[i];
    f[i] = __half2float(p);
    int words[] = {
        __half2int_rn(p), __half2int_rz(p), __half2int_ru(p), __half2int_rd(p),
        int(__half2uint_rn(p)), __half2short_rz(p), int(__half2ushort_rd(p)), int(p),
    };
    for (int k = 0; k < 8; ++k) s[k * n + i] = words[k];
    l[i] = __half2ll_rz(p);
    l[n + i] = __half2ull_rn(p);
}
