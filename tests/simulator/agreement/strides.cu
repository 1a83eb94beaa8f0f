// Loads and stores whose lanes lie a constant number of elements apart.

// x [n * stride], y [n]
extern "C" __global__ void strided_load(const float* x, float* y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // 0 .. n - 1, and beyond
    if (i < n) y[i] = x[i * stride];
}

// x [n], y [n * stride]
extern "C" __global__ void strided_store(const float* x, float* y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i * stride] = x[i];
}

// x [n * 3], y [n * 2]
extern "C" __global__ void strided_both(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i * 2] = x[i * 3];
}

// x [n], y [n]: the lanes of a warp walk down
extern "C" __global__ void reversed_load(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}

// x [rows, columns], sums [rows]: a lane for each row
extern "C" __global__ void row_sums(const float* x, float* sums, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column) sum += x[row * columns + column];
    sums[row] = sum;
}

// points [n, 3], x [n], y [n], z [n]
extern "C" __global__ void structs_to_arrays(const float* points, float* x, float* y, float* z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = points[3 * i];
    y[i] = points[3 * i + 1];
    z[i] = points[3 * i + 2];
}

// x, y [rows, columns]: blocks of 8 x 16 threads, so that a warp covers four rows of eight
extern "C" __global__ void narrow_tiles(const float* x, float* y, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) y[row * columns + column] = x[row * columns + column] + 1.0f;
}
