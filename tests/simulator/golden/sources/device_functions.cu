// Functions that stay functions: values, structs and pointers go in and come out.
//
//   x   float[n], or int[n]
//   y   as each kernel says

struct Moments {
    float sum;
    double squares;
    int count;
    char tag[3];
};

__device__ __noinline__ float polynomial(float x, const float* coefficients, int degree)
{
    float value = coefficients[degree];
    for (int k = degree - 1; k >= 0; --k) value = value * x + coefficients[k];
    return value;
}

__device__ __noinline__ Moments combined(Moments a, Moments b)
{
    Moments both = {a.sum + b.sum, a.squares + b.squares, a.count + b.count, {a.tag[0], b.tag[1], 7}};
    return both;
}

__device__ __noinline__ void swap(int& a, int& b)
{
    int kept = a;
    a = b;
    b = kept;
}

__device__ __noinline__ short narrow(signed char a, unsigned short b, bool negate)
{
    short v = a * 3 + b;
    return negate ? -v : v;
}

__device__ __noinline__ float4 turned(float4 v)
{
    return make_float4(v.w, v.x, v.y, v.z);
}

extern "C" __global__ void values(const float* x, const float* coefficients, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = polynomial(x[i], coefficients, 3);
    if (i & 1) v = polynomial(v, coefficients, 1);
    y[i] = v;
}

extern "C" __global__ void structs(const float* x, float* sums, double* squares, int* counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Moments all = {0.0f, 0.0, 0, {1, 2, 3}};
    for (int k = 0; k <= i % 4; ++k) {
        Moments one = {x[i] + k, double(x[i]) * x[i], 1, {char(k), char(k + 1), char(k + 2)}};
        all = combined(all, one);
    }
    sums[i] = all.sum;
    squares[i] = all.squares;
    counts[i] = all.count * 1000 + all.tag[0] * 100 + all.tag[1] * 10 + all.tag[2];
}

extern "C" __global__ void references(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = x[i], b = 5 - x[i];
    if (a > b) swap(a, b);
    y[i] = a;
    y[n + i] = b;
    y[2 * n + i] = narrow(static_cast<signed char>(a), static_cast<unsigned short>(b), i & 1);
}

extern "C" __global__ void vectors(const float4* x, float4* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = turned(x[i]);
}
