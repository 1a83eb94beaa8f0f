// A right answer of another hand: one element a thread, early returns, pointers that walk.

typedef unsigned int u32;
typedef long long i64;

__device__ u32 place() { return threadIdx.x + blockIdx.x * blockDim.x; }

extern "C" __global__ void strided_copy(const float *x, float *y, int n, int stride)
{
    u32 me = place();
    if (me >= (u32)n)
        return;
    const float *from = x + (i64)stride * me;
    y[me] = *from;
}

extern "C" __global__ void col_sum_strips(const float *a, float *sums, int rows, int columns, int strip)
{
    u32 me = place();
    if (me >= (u32)columns)
        return;
    int left = rows - (int)blockIdx.y * strip;
    if (left > strip)
        left = strip;
    const float *cell = a + (i64)blockIdx.y * strip * columns + me;
    float even = 0.0f, odd = 0.0f;
    for (; left > 1; left -= 2, cell += 2 * columns) {
        even += cell[0];
        odd += cell[columns];
    }
    if (left == 1)
        even += *cell;
    sums[(i64)blockIdx.y * columns + me] = even + odd;
}

extern "C" __global__ void aos_to_soa(const float *xyz, float *x, float *y, float *z, int n)
{
    u32 me = place();
    if (me >= (u32)n)
        return;
    const float3 point = reinterpret_cast<const float3 *>(xyz)[me];
    x[me] = point.x, y[me] = point.y, z[me] = point.z;
}

// float4s only where both ends allow it from the start; else floats, four a thread
extern "C" __global__ void copy_vec4(const float *x, float *y, int n)
{
    u32 me = place();
    bool wide = (((unsigned long long)x | (unsigned long long)y) & 15) == 0;
    if (wide && 4 * me + 3 < (u32)n) {
        ((float4 *)y)[me] = ((const float4 *)x)[me];
        return;
    }
    for (u32 at = 4 * me; at < (u32)n && at < 4 * me + 4; at++)
        y[at] = x[at];
}

extern "C" __global__ void transpose_read_rows(const float *a, float *b, int rows, int columns)
{
    // one flat walk over a
    u32 me = place();
    if (me < (u32)(rows * columns))
        b[me % columns * rows + me / columns] = a[me];
}

extern "C" __global__ void transpose_write_rows(const float *a, float *b, int rows, int columns)
{
    // one flat walk over b
    u32 me = place();
    if (me < (u32)(rows * columns))
        b[me] = a[me % rows * columns + me / rows];
}

extern "C" __global__ void gather(const float *x, const int *indices, float *y, int n)
{
    u32 me = place();
    if (me >= (u32)n)
        return;
    float found = nanf("");
    if (indices[me] >= 0)
        found = x[indices[me]];
    y[me] = found;
}
