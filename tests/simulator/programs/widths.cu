// Accesses of different widths, through pointers of every kind.

// Bytes side by side are places of their own.
extern "C" __global__ void bytes_side_by_side(const unsigned char* x, unsigned char* y)
{
    __shared__ unsigned char tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    y[t] = tile[t] + 1;
}

// Two blocks write the two halves of one word.
extern "C" __global__ void two_halves_of_a_word(short* y)
{
    if (threadIdx.x == 0) y[blockIdx.x] = blockIdx.x + 1;
}

// Two threads change different bits of one byte, which is read and written whole.
extern "C" __global__ void two_bits_of_a_byte(unsigned char* y)
{
    if (threadIdx.x % 32 == 0) y[0] |= 1 << threadIdx.x / 32; // both
}

// Some threads write sixteen bytes, others four, side by side.
extern "C" __global__ void wide_and_narrow_side_by_side(const float* x, float* y)
{
    int t = threadIdx.x;
    if (t < 8) reinterpret_cast<float4*>(y)[t] = reinterpret_cast<const float4*>(x)[t];
    else y[24 + t] = x[24 + t];
}

// The wide stores reach into what the narrow ones write.
extern "C" __global__ void wide_and_narrow_that_overlap(const float* x, float* y)
{
    int t = threadIdx.x;
    if (t < 8) reinterpret_cast<float4*>(y)[t] = reinterpret_cast<const float4*>(x)[t]; // first
    else y[23 + t] = x[24 + t]; // second
}

// Four words are read at once, and one of them is written by somebody else.
extern "C" __global__ void a_wide_read_of_a_narrow_write(const int* x, int* y)
{
    __shared__ int4 tile[16];
    int t = threadIdx.x;
    if (t < 16) tile[t] = make_int4(t, t, t, t);
    __syncthreads();
    if (t == 63) reinterpret_cast<int*>(tile)[7] = x[0]; // first
    if (t < 16) {
        int4 four = tile[t]; // second
        y[t] = four.x + four.y + four.z + four.w;
    }
}

// Four words are written one by one, and behind a barrier read at once.
extern "C" __global__ void a_wide_read_behind_a_barrier(const int* x, int* y)
{
    __shared__ int4 tile[16];
    int t = threadIdx.x;
    reinterpret_cast<int*>(tile)[t] = x[t];
    __syncthreads();
    if (t < 16) {
        int4 four = tile[t];
        y[t] = four.x + four.y + four.z + four.w;
    }
}

// A pointer that may lead to shared or to global memory.
extern "C" __global__ void a_race_through_a_generic_pointer(const int* x, int* y, int shared)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    int* at = shared ? tile : y;
    at[t] = x[t]; // first
    y[t + 64] = at[t ^ 32]; // second
}

// The same pointer with a barrier.
extern "C" __global__ void a_barrier_and_a_generic_pointer(const int* x, int* y, int shared)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    int* at = shared ? tile : y;
    at[t] = x[t];
    __syncthreads();
    y[t + 64] = at[t ^ 32];
}

// Doubles are written, their halves are read by others.
extern "C" __global__ void half_of_a_double(double* x, int* y)
{
    int t = threadIdx.x;
    x[t] = 1.5 * t; // first
    y[t] = reinterpret_cast<int*>(x)[2 * (t ^ 1) + 1]; // second
}
