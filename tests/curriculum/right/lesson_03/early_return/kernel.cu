// A right answer of another hand: unsigned arithmetic, early returns, pointers that walk.

typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    const u32 me = threadIdx.x + blockDim.x * blockIdx.x;
    if (me >= (u32)n)
        return;
    const float *from = a + me;
    c[me] = *from + *(b + me);
}

extern "C" __global__ void axpy(const float *x, float *y, float a, int n)
{
    const u32 me = threadIdx.x + blockDim.x * blockIdx.x;
    if (me >= (u32)n)
        return;
    float *cell = y + me;
    *cell = fmaf(x[me], a, *cell);
}

extern "C" __global__ void vec_add_gs(const float *a, const float *b, float *c, long long n)
{
    u64 me = blockIdx.x;
    me = me * blockDim.x + threadIdx.x;
    while (me < (u64)n) {
        c[me] = b[me] + a[me];
        me += (u64)gridDim.x * blockDim.x;
    }
}

extern "C" __global__ void add_u8(const unsigned char *a, const unsigned char *b,
                                  unsigned char *c, long long n)
{
    u64 me = blockIdx.x;
    me = me * blockDim.x + threadIdx.x;
    while (me < (u64)n) {
        int sum = a[me] + b[me];
        c[me] = sum & 255;
        me += (u64)gridDim.x * blockDim.x;
    }
}

extern "C" __global__ void add_2d(const float *a, float *out, float s,
                                  int rows, int cols, int pitch)
{
    // one flat walk over rows * cols, by every thread of the grid
    u64 width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    u64 me = (blockIdx.y * blockDim.y + threadIdx.y) * width + blockIdx.x * blockDim.x + threadIdx.x;
    for (; me < (u64)rows * cols; me += width * height) {
        u64 at = me / cols * pitch + me % cols;
        out[at] = s + a[at];
    }
}

extern "C" __global__ void saturating_add_i32(const int *a, const int *b, int *c, int n)
{
    const u32 me = threadIdx.x + blockDim.x * blockIdx.x;
    if (me >= (u32)n)
        return;
    int p = a[me], q = b[me];
    int sum = (int)((u32)p + (u32)q);
    // it overflowed if both have one sign and the sum has the other
    if (((p ^ sum) & (q ^ sum)) < 0)
        sum = p < 0 ? (int)0x80000000u : 0x7fffffff;
    c[me] = sum;
}

// A tile that lies before n as a whole needs no guards; the last one goes one by one.
extern "C" __global__ void vec_add_four(const float *a, const float *b, float *c, int n)
{
    const u32 width = blockDim.x, tile = 4 * width * blockIdx.x;
    u32 me = tile + threadIdx.x;
    if (tile + 4 * width <= (u32)n) {
        const float *p = a + me, *q = b + me;
        float s0 = p[0] + q[0], s1 = p[width] + q[width];
        float s2 = p[2 * width] + q[2 * width], s3 = p[3 * width] + q[3 * width];
        c[me] = s0;
        c[me + width] = s1;
        c[me + 2 * width] = s2;
        c[me + 3 * width] = s3;
        return;
    }
    for (; me < (u32)n; me += width)
        c[me] = a[me] + b[me];
}
