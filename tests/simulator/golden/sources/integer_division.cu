// Quotients and remainders: by a variable, and by constants, which become multiplications.
//
//   a, b    T[n]       b is never zero
//   y       T[12][n]   one row for each result

template <typename T>
__device__ void division(const T* a, const T* b, T* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T p = a[i], q = b[i];
    T results[] = {T(p / q),  T(p % q),  T(p / T(3)),  T(p % T(3)),   T(p / T(7)),  T(p % T(7)),
                   T(p / T(16)), T(p % T(16)), T(p / T(100)), T(p % T(100)), T(p / T(125)),
                   T(p % T(125))};
    for (int k = 0; k < 12; ++k) y[k * n + i] = results[k];
}

#define DIVISION(NAME, T) \
    extern "C" __global__ void division_##NAME(const T* a, const T* b, T* y, int n) \
    { \
        division<T>(a, b, y, n); \
    }

DIVISION(s8, signed char)
DIVISION(u8, unsigned char)
DIVISION(s16, short)
DIVISION(u16, unsigned short)
DIVISION(s32, int)
DIVISION(u32, unsigned)
DIVISION(s64, long long)
DIVISION(u64, unsigned long long)
