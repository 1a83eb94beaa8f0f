// Conversions between all integer and float types, and those that name their rounding.
//
//   x   From[n]
//   y   one array for each type: To[n]

template <typename From>
__device__ void to_all(const From* x, signed char* s8, unsigned char* u8, short* s16,
                       unsigned short* u16, int* s32, unsigned* u32, long long* s64,
                       unsigned long long* u64, float* f32, double* f64, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    From v = x[i];
    s8[i] = static_cast<signed char>(v);
    u8[i] = static_cast<unsigned char>(v);
    s16[i] = static_cast<short>(v);
    u16[i] = static_cast<unsigned short>(v);
    s32[i] = static_cast<int>(v);
    u32[i] = static_cast<unsigned>(v);
    s64[i] = static_cast<long long>(v);
    u64[i] = static_cast<unsigned long long>(v);
    f32[i] = static_cast<float>(v);
    f64[i] = static_cast<double>(v);
}

#define CONVERT(NAME, T) \
    extern "C" __global__ void convert_##NAME( \
        const T* x, signed char* s8, unsigned char* u8, short* s16, unsigned short* u16, int* s32, \
        unsigned* u32, long long* s64, unsigned long long* u64, float* f32, double* f64, int n) \
    { \
        to_all(x, s8, u8, s16, u16, s32, u32, s64, u64, f32, f64, n); \
    }

CONVERT(s8, signed char)
CONVERT(u8, unsigned char)
CONVERT(s16, short)
CONVERT(u16, unsigned short)
CONVERT(s32, int)
CONVERT(u32, unsigned)
CONVERT(s64, long long)
CONVERT(u64, unsigned long long)
CONVERT(f32, float)
CONVERT(f64, double)

// y32 [16][n], y64 [12][n]
extern "C" __global__ void rounded_to_integer(const float* f, const double* d, int* y32,
                                              long long* y64, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = f[i];
    double q = d[i];
    int words[] = {
        __float2int_rn(p), __float2int_rz(p), __float2int_ru(p), __float2int_rd(p),
        int(__float2uint_rn(p)), int(__float2uint_rz(p)), int(__float2uint_ru(p)),
        int(__float2uint_rd(p)), __double2int_rn(q), __double2int_rz(q), __double2int_ru(q),
        __double2int_rd(q), int(__double2uint_rn(q)), int(__double2uint_rz(q)), int(lrintf(p)),
        int(lroundf(p)),
    };
    for (int k = 0; k < 16; ++k) y32[k * n + i] = words[k];
    long long longs[] = {
        __float2ll_rn(p), __float2ll_rz(p), __float2ll_ru(p), __float2ll_rd(p),
        static_cast<long long>(__float2ull_rn(p)), static_cast<long long>(__float2ull_rz(p)),
        __double2ll_rn(q), __double2ll_rz(q), __double2ll_ru(q), __double2ll_rd(q),
        static_cast<long long>(__double2ull_rn(q)), static_cast<long long>(__double2ull_rd(q)),
    };
    for (int k = 0; k < 12; ++k) y64[k * n + i] = longs[k];
}

// y32 [20][n], y64 [10][n]
extern "C" __global__ void rounded_to_float(const int* s, const long long* l, const double* d,
                                            float* y32, double* y64, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = s[i];
    unsigned u = p;
    long long q = l[i];
    unsigned long long v = q;
    float singles[] = {
        __int2float_rn(p), __int2float_rz(p), __int2float_ru(p), __int2float_rd(p),
        __uint2float_rn(u), __uint2float_rz(u), __uint2float_ru(u), __uint2float_rd(u),
        __ll2float_rn(q), __ll2float_rz(q), __ll2float_ru(q), __ll2float_rd(q),
        __ull2float_rn(v), __ull2float_rz(v), __ull2float_ru(v), __ull2float_rd(v),
        __double2float_rn(d[i]), __double2float_rz(d[i]), __double2float_ru(d[i]),
        __double2float_rd(d[i]),
    };
    for (int k = 0; k < 20; ++k) y32[k * n + i] = singles[k];
    double doubles[] = {
        __int2double_rn(p), __uint2double_rn(u), __ll2double_rn(q), __ll2double_rz(q),
        __ll2double_ru(q), __ll2double_rd(q), __ull2double_rn(v), __ull2double_rz(v),
        __ull2double_ru(v), __ull2double_rd(v),
    };
    for (int k = 0; k < 10; ++k) y64[k * n + i] = doubles[k];
}

extern "C" __global__ void same_bits(const int* s, const long long* l, float* f, double* d, int* sy,
                                     long long* ly, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    f[i] = __int_as_float(s[i]);
    d[i] = __longlong_as_double(l[i]);
    sy[i] = __float_as_int(__uint_as_float(s[i] ^ 1));
    ly[i] = __double_as_longlong(__hiloint2double(s[i], ~s[i]));
}
