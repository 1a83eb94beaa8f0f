// Loads and stores of every width, of one, two and four elements.
//
//   x   T[n]
//   y   T[n]   each element with its components turned round

template <typename T>
__device__ T turned2(T v) { T r; r.x = v.y; r.y = v.x; return r; }

template <typename T>
__device__ T turned4(T v) { T r; r.x = v.w; r.y = v.z; r.z = v.y; r.w = v.x; return r; }

#define TURN(NAME, TURNED) \
    extern "C" __global__ void turn_##NAME(const NAME* x, NAME* y, int n) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = TURNED(x[i]); \
    }

TURN(char2, turned2)
TURN(uchar4, turned4)
TURN(short2, turned2)
TURN(ushort4, turned4)
TURN(int2, turned2)
TURN(uint4, turned4)
TURN(float2, turned2)
TURN(float4, turned4)
TURN(longlong2, turned2)
TURN(double2, turned2)

// Three floats, which no instruction loads at once.
extern "C" __global__ void turn_float3(const float3* x, float3* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 v = x[i];
    y[i] = make_float3(v.z, v.x, v.y);
}

#define COPY(NAME, T) \
    extern "C" __global__ void copy_##NAME(const T* x, T* y, int n) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i < n) y[i] = static_cast<T>(x[i] + 1); \
    }

COPY(s8, signed char)
COPY(u8, unsigned char)
COPY(s16, short)
COPY(u16, unsigned short)
COPY(s64, long long)
COPY(f64, double)

// Through shared memory, two widths of the same bytes.
extern "C" __global__ void transposed_bytes(const uint4* x, uchar4* y)  // blockDim.x is 32
{
    __shared__ uint4 tile[32];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 32 + t];
    __syncthreads();
    const uchar4* bytes = reinterpret_cast<const uchar4*>(tile);
    for (int k = 0; k < 4; ++k) y[blockIdx.x * 128 + k * 32 + t] = bytes[4 * (t % 32) + k];
}
