// A right answer of a third hand: each thread does several things, by templates and grid-stride loops.

struct Walk { long long at, step; };

__device__ Walk walk()
{
    Walk w = { blockIdx.x, gridDim.x };
    w.at = w.at * blockDim.x + threadIdx.x;
    w.step *= blockDim.x;
    return w;
}

template <typename Piece>
__device__ void copy_pieces(const float* x, float* y, int pieces)
{
    const Piece* source = reinterpret_cast<const Piece*>(x);
    Piece* target = reinterpret_cast<Piece*>(y);
    for (Walk w = walk(); w.at < pieces; w.at += w.step) target[w.at] = source[w.at];
}

__device__ int past(const float* p) { return int(reinterpret_cast<unsigned long long>(p) / 4 % 4); }

// Position t of a block of 32 x 8 as a patch of 8 x 32, so that either axis may be the fast one.
__device__ void turn(const float* a, float* b, int rows, int columns, int row, int column)
{
    if (row >= rows || column >= columns) return;
    b += (long long)column * rows;
    a += (long long)row * columns;
    b[row] = a[column];
}

extern "C" {

__global__ void strided_copy(const float* x, float* y, int n, int stride)
{
    for (Walk w = walk(); w.at < n; w.at += w.step) y[w.at] = x[w.at * stride];
}

__global__ void col_sum_strips(const float* a, float* sums, int rows, int columns, int strip)
{
    for (Walk w = walk(); w.at < columns; w.at += w.step) {
        double total = 0.0;
        for (int k = 0; k < strip; ++k) {
            long long row = (long long)blockIdx.y * strip + k;
            if (row < rows) total += a[row * columns + w.at];
        }
        sums[blockIdx.y * (long long)columns + w.at] = float(total);
    }
}

__global__ void aos_to_soa(const float* xyz, float* x, float* y, float* z, int n)
{
    // four points, three float4s in, three float4s out; the last points one by one
    for (Walk w = walk(); w.at < n / 4; w.at += w.step) {
        const float4* in = reinterpret_cast<const float4*>(xyz) + 3 * w.at;
        float4 p = in[0], q = in[1], r = in[2];
        reinterpret_cast<float4*>(x)[w.at] = make_float4(p.x, p.w, q.z, r.y);
        reinterpret_cast<float4*>(y)[w.at] = make_float4(p.y, q.x, q.w, r.z);
        reinterpret_cast<float4*>(z)[w.at] = make_float4(p.z, q.y, r.x, r.w);
    }
    for (Walk w = walk(); w.at < n % 4; w.at += w.step) {
        long long point = n / 4 * 4 + w.at;
        x[point] = xyz[3 * point];
        y[point] = xyz[3 * point + 1];
        z[point] = xyz[3 * point + 2];
    }
}

__global__ void copy_vec4(const float* x, float* y, int n)
{
    if (past(x) % 2 == past(y) % 2 && past(x) != past(y) && past(x) % 2 == 0) {
        copy_pieces<float2>(x, y, n / 2);  // eight bytes apart: float2s still fit
        copy_pieces<float>(x + n / 2 * 2, y + n / 2 * 2, n % 2);
    } else if (past(x) != past(y)) {
        copy_pieces<float>(x, y, n);
    } else {
        int head = min((4 - past(x)) % 4, n), body = (n - head) / 4;
        copy_pieces<float4>(x + head, y + head, body);
        copy_pieces<float>(x, y, head);
        copy_pieces<float>(x + head + 4 * body, y + head + 4 * body, n - head - 4 * body);
    }
}

__global__ void transpose_read_rows(const float* a, float* b, int rows, int columns)
{
    for (int k = 0; k < 4; ++k)
        turn(a, b, rows, columns, blockIdx.y * 32 + threadIdx.y + 8 * k, blockIdx.x * 32 + threadIdx.x);
}

__global__ void transpose_write_rows(const float* a, float* b, int rows, int columns)
{
    for (int k = 0; k < 4; ++k)
        turn(a, b, rows, columns, blockIdx.y * 32 + threadIdx.x, blockIdx.x * 32 + threadIdx.y + 8 * k);
}

__global__ void gather(const float* x, const int* indices, float* y, int n)
{
    for (Walk w = walk(); w.at < n; w.at += w.step)
        y[w.at] = indices[w.at] < 0 ? __int_as_float(-1) : x[indices[w.at]];
}

}
