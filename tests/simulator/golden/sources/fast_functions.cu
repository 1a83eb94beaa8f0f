// The fast functions of float: one or two instructions of the special function unit each.
//
//   x, z    float[n]
//   y       float[14][n]   one row for each result

extern "C" __global__ void fast_functions(const float* x, const float* z, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = x[i], q = z[i];
    float results[] = {
        __expf(p), __exp10f(p), __logf(q), __log2f(q), __log10f(q), __sinf(p), __cosf(p),
        __tanf(p), __powf(q, p), __fdividef(p, q), __frsqrt_rn(q), rsqrtf(q), 0.0f, 0.0f,
    };
    __sincosf(p, &results[12], &results[13]);
    for (int k = 0; k < 14; ++k) y[k * n + i] = results[k];
}

// tanh in one instruction, which CUDA C++ reaches by inline assembly alone.
extern "C" __global__ void approximate_instructions(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = x[i], t, e, l, r, s, d;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(p));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(p));
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(l) : "f"(fabsf(p)));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(p));
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(s) : "f"(fabsf(p)));
    asm("div.full.f32 %0, %1, %2;" : "=f"(d) : "f"(p), "f"(p + 3.0f));
    float results[] = {t, e, l, r, s, d};
    for (int k = 0; k < 6; ++k) y[k * n + i] = results[k];
}
