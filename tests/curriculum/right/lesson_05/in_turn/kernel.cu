// A right answer of a third hand: exchanged columns instead of padding, tiles in turn everywhere, templates.

#ifndef WIDTH
#define WIDTH 16
#endif

struct Sizes { int M, N, K; };

template <int Rows, int Columns>
struct Tile {
    float cell[Rows][Columns];

    // All threads of the block together; zeros where the matrix ends.
    __device__ void fill(const float* matrix, int top, int left, int rows, int columns)
    {
        int threads = blockDim.x * blockDim.y;
        for (int e = threadIdx.y * blockDim.x + threadIdx.x; e < Rows * Columns; e += threads) {
            int r = e / Columns, c = e % Columns;
            bool inside = top + r < rows && left + c < columns;
            cell[r][c] = inside ? matrix[(long long)(top + r) * columns + left + c] : 0.0f;
        }
    }
};

extern "C" {

__global__ void matmul_naive(const float* a, const float* b, float* c, int M, int N, int K)
{
    for (int row = blockIdx.y; row < M; row += gridDim.y)
        for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < N; column += gridDim.x * blockDim.x) {
            float even = 0.0f, odd = 0.0f;
            int k = 0;
            for (; k + 1 < K; k += 2) {
                even += a[row * K + k] * b[k * N + column];
                odd += a[row * K + k + 1] * b[(k + 1) * N + column];
            }
            if (k < K) even += a[row * K + k] * b[k * N + column];
            c[row * N + column] = even + odd;
        }
}

// Element (r, c) of a tile of 32 lies at [r][c ^ r]: a column then lies in 32 banks, without a pad.
__global__ void transpose_tiled(const float* a, float* b, int rows, int columns)
{
    __shared__ float turned[32][32];
    int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32, lane = threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += blockDim.y) {
        bool inside = r0 + r < rows && c0 + lane < columns;
        turned[r][lane ^ r] = inside ? a[(r0 + r) * columns + c0 + lane] : 0.0f;
    }
    __syncthreads();
    for (int c = threadIdx.y; c < 32; c += blockDim.y) {
        float value = turned[lane][c ^ lane];
        if (c0 + c < columns && r0 + lane < rows) b[(c0 + c) * rows + r0 + lane] = value;
    }
}

__global__ void matmul_tiled(const float* a, const float* b, float* c, int M, int N, int K)
{
    __shared__ Tile<WIDTH, WIDTH> left[2], right[2];
    int top = blockIdx.y * WIDTH, side = blockIdx.x * WIDTH;
    float dot = 0.0f;
    for (int step = 0; step * WIDTH < K; ++step) {
        Tile<WIDTH, WIDTH> &l = left[step & 1], &r = right[step & 1];
        l.fill(a, top, step * WIDTH, M, K);
        r.fill(b, step * WIDTH, side, K, N);
        __syncthreads();  // the next fill goes to the other tiles: one barrier is enough
        for (int k = 0; k < WIDTH; ++k) dot += l.cell[threadIdx.y][k] * r.cell[k][threadIdx.x];
    }
    if (top + threadIdx.y < M && side + threadIdx.x < N)
        c[(top + threadIdx.y) * N + side + threadIdx.x] = dot;
}

}

// A thread owns Each rows in a row, and for its columns float4s that lie 64 floats apart.
template <int Each>
__device__ void product(const float* a, const float* b, float* c, Sizes size)
{
    __shared__ Tile<16 * Each, 17> left[2];  // the 17th column, of the next tile, is never used
    __shared__ __align__(16) Tile<16, 16 * Each> right[2];
    int top = blockIdx.y * 16 * Each, side = blockIdx.x * 16 * Each;
    int y = threadIdx.x / 16 * Each, x = threadIdx.x % 16 * 4;
    float total[Each][Each];
    #pragma unroll
    for (int e = 0; e < Each * Each; ++e) total[e / Each][e % Each] = 0.0f;

    for (int step = 0; step * 16 < size.K; ++step) {
        auto &l = left[step & 1];
        auto &r = right[step & 1];
        for (int e = threadIdx.x; e < 256 * Each; e += 256) {
            int row = top + e / 16, k = step * 16 + e % 16;
            l.cell[e / 16][e % 16] = row < size.M && k < size.K ? a[(long long)row * size.K + k] : 0.0f;
        }
        r.fill(b, step * 16, side, size.K, size.N);
        __syncthreads();
        #pragma unroll 4
        for (int k = 0; k < 16; ++k) {
            float4 beside[Each / 4];
            #pragma unroll
            for (int j = 0; j < Each / 4; ++j)
                beside[j] = *reinterpret_cast<const float4*>(&r.cell[k][x + 64 * j]);
            #pragma unroll
            for (int i = 0; i < Each; ++i) {
                float down = l.cell[y + i][k];
                #pragma unroll
                for (int j = 0; j < Each / 4; ++j) {
                    total[i][4 * j] += down * beside[j].x;
                    total[i][4 * j + 1] += down * beside[j].y;
                    total[i][4 * j + 2] += down * beside[j].z;
                    total[i][4 * j + 3] += down * beside[j].w;
                }
            }
        }
    }
    #pragma unroll
    for (int i = 0; i < Each; ++i)
        #pragma unroll
        for (int j = 0; j < Each; ++j) {
            int row = top + y + i, column = side + x + j / 4 * 64 + j % 4;
            if (row < size.M && column < size.N) c[(long long)row * size.N + column] = total[i][j];
        }
}

#ifndef TM
#define TM 4
#endif

extern "C" {

__global__ __launch_bounds__(256) void matmul_regtile(
    const float* a, const float* b, float* c, int M, int N, int K)
{
    product<TM>(a, b, c, Sizes{M, N, K});
}

__global__ __launch_bounds__(256) void matmul_buffered(
    const float* a, const float* b, float* c, int M, int N, int K)
{
    product<TM>(a, b, c, Sizes{M, N, K});
}

__global__ void stencil3(const float* x, float* y, int n)
{
    extern __shared__ float halo[];
    float* mine = halo + 1;
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned last = blockDim.x - 1;
    mine[threadIdx.x] = at < n ? x[at] : 0.0f;
    if (threadIdx.x == last) {
        mine[last + 1] = at + 1 < n ? x[at + 1] : 0.0f;
        long long before = at - last - 1;
        halo[0] = before >= 0 ? x[before] : 0.0f;
    }
    __syncthreads();
    if (at >= n) return;
    float ends = mine[(int)threadIdx.x - 1] + mine[threadIdx.x + 1];
    y[at] = (ends + mine[threadIdx.x] + mine[threadIdx.x]) / 4.0f;
}

}
