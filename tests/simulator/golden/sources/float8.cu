// The two formats of 8 bits, which are integer code on compute capability 8.0.
//
//   f       float[n]
//   bytes   unsigned char[4][n]   e4m3, e5m2, e4m3 of a double, e5m2 without saturation
//   back    float[2][n]           what e4m3 and e5m2 stand for
//   halves  half[2][n]            the same by way of half

#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void float8_from(const float* f, const double* d, unsigned char* bytes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bytes[i] = __nv_fp8_e4m3(f[i]).__x;
    bytes[n + i] = __nv_fp8_e5m2(f[i]).__x;
    bytes[2 * n + i] = __nv_cvt_double_to_fp8(d[i], __NV_SATFINITE, __NV_E4M3);
    bytes[3 * n + i] = __nv_cvt_float_to_fp8(f[i], __NV_NOSAT, __NV_E5M2);
}

extern "C" __global__ void float8_to(const unsigned char* bytes, float* back, half* halves, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_fp8_e4m3 p;
    __nv_fp8_e5m2 q;
    p.__x = bytes[i];
    q.__x = bytes[i];
    back[i] = float(p);
    back[n + i] = float(q);
    halves[i] = half(p);
    halves[n + i] = half(q);
}

extern "C" __global__ void float8_dot(const __nv_fp8x4_e4m3* a, const __nv_fp8x4_e4m3* b, float* y,
                                      int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = float4(a[i]), q = float4(b[i]);
    y[i] = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
}
