// Arithmetic, logic, shifts and comparisons of every integer width.
//
//   a, b    T[n]
//   y       T[16][n]   one row for each result
//
//   grid    ceil(n / blockDim.x)

template <typename T>
__device__ void arithmetic(const T* a, const T* b, T* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int last = 8 * sizeof(T) - 1;  // the longest shift
    T p = a[i], q = b[i];
    T results[] = {
        T(p + q), T(p - q), T(p * q), T(p & q), T(p | q), T(p ^ q), T(~p), T(-p),
        p < q ? p : q, p > q ? p : q, T(p << (q & last)), T(p >> (q & last)),
        T(p * q + p), T(p < 0 ? -p : p), T((p < q) + 2 * (p <= q) + 4 * (p == q) + 8 * (p != q)),
        T(!p || (q & 1 && p > 5)),
    };
    for (int k = 0; k < 16; ++k) y[k * n + i] = results[k];
}

#define ARITHMETIC(NAME, T) \
    extern "C" __global__ void arithmetic_##NAME(const T* a, const T* b, T* y, int n) \
    { \
        arithmetic<T>(a, b, y, n); \
    }

ARITHMETIC(s8, signed char)
ARITHMETIC(u8, unsigned char)
ARITHMETIC(s16, short)
ARITHMETIC(u16, unsigned short)
ARITHMETIC(s32, int)
ARITHMETIC(u32, unsigned)
ARITHMETIC(s64, long long)
ARITHMETIC(u64, unsigned long long)
