// Arithmetic of float and double with every rounding, comparisons, minima and the parts of a number.
//
//   a, b, c   T[n]
//   y         T[..][n]   one row for each result

extern "C" __global__ void rounded_float(const float* a, const float* b, const float* c, float* y,
                                         int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = a[i], q = b[i], r = c[i];
    float results[] = {
        __fadd_rn(p, q), __fadd_rz(p, q), __fadd_ru(p, q), __fadd_rd(p, q),
        __fsub_rn(p, q), __fsub_rz(p, q), __fsub_ru(p, q), __fsub_rd(p, q),
        __fmul_rn(p, q), __fmul_rz(p, q), __fmul_ru(p, q), __fmul_rd(p, q),
        __fmaf_rn(p, q, r), __fmaf_rz(p, q, r), __fmaf_ru(p, q, r), __fmaf_rd(p, q, r),
        __fdiv_rn(p, q), __fdiv_rz(p, q), __fdiv_ru(p, q), __fdiv_rd(p, q),
        __frcp_rn(q), __frcp_rz(q), __frcp_ru(q), __frcp_rd(q),
        __fsqrt_rn(fabsf(p)), __fsqrt_rz(fabsf(p)), __fsqrt_ru(fabsf(p)), __fsqrt_rd(fabsf(p)),
        p * q + r, p / q, sqrtf(fabsf(r)), __saturatef(p),
    };
    for (int k = 0; k < 32; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void rounded_double(const double* a, const double* b, const double* c,
                                          double* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double p = a[i], q = b[i], r = c[i];
    double results[] = {
        __dadd_rn(p, q), __dadd_rz(p, q), __dadd_ru(p, q), __dadd_rd(p, q),
        __dsub_rn(p, q), __dsub_rz(p, q), __dsub_ru(p, q), __dsub_rd(p, q),
        __dmul_rn(p, q), __dmul_rz(p, q), __dmul_ru(p, q), __dmul_rd(p, q),
        __fma_rn(p, q, r), __fma_rz(p, q, r), __fma_ru(p, q, r), __fma_rd(p, q, r),
        __ddiv_rn(p, q), __ddiv_rz(p, q), __ddiv_ru(p, q), __ddiv_rd(p, q),
        __drcp_rn(q), __drcp_rz(q), __drcp_ru(q), __drcp_rd(q),
        __dsqrt_rn(fabs(p)), __dsqrt_rz(fabs(p)), __dsqrt_ru(fabs(p)), __dsqrt_rd(fabs(p)),
        p * q + r, p / q, sqrt(fabs(r)), p - q,
    };
    for (int k = 0; k < 32; ++k) y[k * n + i] = results[k];
}

template <typename T>
__device__ void comparisons(const T* a, const T* b, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T p = a[i], q = b[i];
    int results[] = {
        p < q, p <= q, p > q, p >= q, p == q, p != q, !(p < q), !(p <= q), !(p > q), !(p >= q),
        isnan(p) != 0, isinf(p) != 0, signbit(p) != 0, isfinite(p) != 0, p != p || q != q,
        p < q && q < T(100),
    };
    for (int k = 0; k < 16; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void comparisons_float(const float* a, const float* b, int* y, int n)
{
    comparisons(a, b, y, n);
}

extern "C" __global__ void comparisons_double(const double* a, const double* b, int* y, int n)
{
    comparisons(a, b, y, n);
}

extern "C" __global__ void parts_float(const float* a, const float* b, float* y, int* e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = a[i], q = b[i];
    int exponent;
    float whole;
    float fraction = frexpf(p, &exponent);
    float behind = modff(p, &whole);
    float results[] = {
        fminf(p, q), fmaxf(p, q), fabsf(p), -p, copysignf(p, q), floorf(p), ceilf(p), truncf(p),
        rintf(p), roundf(p), nearbyintf(p), fdimf(p, q), fraction, behind, whole, ldexpf(p, 3),
        scalbnf(p, -5), logbf(p), nextafterf(p, q), fmodf(p, q), remainderf(p, q),
    };
    for (int k = 0; k < 21; ++k) y[k * n + i] = results[k];
    e[i] = exponent;
    e[n + i] = ilogbf(p);
    e[2 * n + i] = __float_as_int(p);
}

extern "C" __global__ void parts_double(const double* a, const double* b, double* y, int* e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double p = a[i], q = b[i];
    int exponent;
    double whole;
    double fraction = frexp(p, &exponent);
    double behind = modf(p, &whole);
    double results[] = {
        fmin(p, q), fmax(p, q), fabs(p), -p, copysign(p, q), floor(p), ceil(p), trunc(p),
        rint(p), round(p), nearbyint(p), fdim(p, q), fraction, behind, whole, ldexp(p, 3),
        scalbn(p, -5), logb(p), nextafter(p, q), fmod(p, q), remainder(p, q),
    };
    for (int k = 0; k < 21; ++k) y[k * n + i] = results[k];
    e[i] = exponent;
    e[n + i] = __double2hiint(p);
    e[2 * n + i] = __double2loint(__hiloint2double(__double2loint(p), __double2hiint(p)));
}
