// The functions of double, one kernel each: y[i] = f(x[i]) or f(x[i], z[i]), all arrays double[n].

#define OF_ONE(NAME) \
    extern "C" __global__ void k_##NAME(const double* x, double* y, int n) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = NAME(x[i]); \
    }

#define OF_TWO(NAME) \
    extern "C" __global__ void k_##NAME(const double* x, const double* z, double* y, int n) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = NAME(x[i], z[i]); \
    }

OF_ONE(exp)
OF_ONE(exp2)
OF_ONE(expm1)
OF_ONE(log)
OF_ONE(log2)
OF_ONE(log10)
OF_ONE(log1p)
OF_ONE(sin)
OF_ONE(cos)
OF_ONE(tan)
OF_ONE(asin)
OF_ONE(atan)
OF_ONE(sinh)
OF_ONE(tanh)
OF_ONE(erf)
OF_ONE(erfc)
OF_ONE(rsqrt)
OF_ONE(cbrt)
OF_TWO(pow)
OF_TWO(atan2)
OF_TWO(hypot)
