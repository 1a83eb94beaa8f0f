// The functions of float, one kernel each: y[i] = f(x[i]) or f(x[i], z[i]), all arrays float[n].

#define OF_ONE(NAME) \
    extern "C" __global__ void k_##NAME(const float* x, float* y, int n) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = NAME(x[i]); \
    }

#define OF_TWO(NAME) \
    extern "C" __global__ void k_##NAME(const float* x, const float* z, float* y, int n) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = NAME(x[i], z[i]); \
    }

OF_ONE(expf)
OF_ONE(exp2f)
OF_ONE(exp10f)
OF_ONE(expm1f)
OF_ONE(logf)
OF_ONE(log2f)
OF_ONE(log10f)
OF_ONE(log1pf)
OF_ONE(sinf)
OF_ONE(cosf)
OF_ONE(tanf)
OF_ONE(sinpif)
OF_ONE(cospif)
OF_ONE(asinf)
OF_ONE(acosf)
OF_ONE(atanf)
OF_ONE(sinhf)
OF_ONE(coshf)
OF_ONE(tanhf)
OF_ONE(asinhf)
OF_ONE(acoshf)
OF_ONE(atanhf)
OF_ONE(erff)
OF_ONE(erfcf)
OF_ONE(erfinvf)
OF_ONE(normcdff)
OF_ONE(tgammaf)
OF_ONE(lgammaf)
OF_ONE(rsqrtf)
OF_ONE(cbrtf)
OF_TWO(powf)
OF_TWO(atan2f)
OF_TWO(hypotf)

extern "C" __global__ void k_sincosf(const float* x, float* y, int n)  // y [2][n]
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sincosf(x[i], &y[i], &y[n + i]);
}

extern "C" __global__ void k_powif(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = powf(x[i], 3.0f) + 1.0f / (1.0f + expf(-x[i]));  // a cube and a sigmoid
}
