// Shared memory by words: every degree of conflict, for loads and for stores.

// y [blocks * 64]; stride 1 .. 33
extern "C" __global__ void conflict_load(const float* x, float* y, int stride)
{
    __shared__ float words[64 * 33];
    int t = threadIdx.x;  // 0 .. 63
#pragma unroll 1
    for (int k = t; k < 64 * 33; k += 64) words[k] = x[k];
    __syncthreads();
    y[blockIdx.x * 64 + t] = words[t * stride];
}

// y [blocks * 64]; what a thread writes, its neighbour reads without conflict
extern "C" __global__ void conflict_store(const float* x, float* y, int stride)
{
    __shared__ float words[64 * 33];
    int t = threadIdx.x;
    words[t * stride] = x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t % stride == 0) y[blockIdx.x * 64 + t] = words[t];
}

// x, y [blocks, 32, 32]: rows in, columns out, all 32 words of a column in one bank
extern "C" __global__ void square_tile(const float* x, float* y)
{
    __shared__ float tile[32][32];
    int column = threadIdx.x, row = threadIdx.y, block = blockIdx.x * 1024;
    tile[row][column] = x[block + row * 32 + column];
    __syncthreads();
    y[block + row * 32 + column] = tile[column][row];
}

// the same with a word of padding in each row
extern "C" __global__ void padded_tile(const float* x, float* y)
{
    __shared__ float tile[32][33];
    int column = threadIdx.x, row = threadIdx.y, block = blockIdx.x * 1024;
    tile[column][row] = x[block + row * 32 + column];
    __syncthreads();
    y[block + row * 32 + column] = tile[row][column];
}

// the same without padding: columns change places by XOR
extern "C" __global__ void swizzled_tile(const float* x, float* y)
{
    __shared__ float tile[32][32];
    int column = threadIdx.x, row = threadIdx.y, block = blockIdx.x * 1024;
    tile[row][column ^ row] = x[block + row * 32 + column];
    __syncthreads();
    y[block + row * 32 + column] = tile[column][row ^ column];
}

// index [blocks * 256] in 0 .. 1023, x [1024]
extern "C" __global__ void random_banks(const int* x, const int* index, int* y)
{
    __shared__ int words[1024];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;  // t: 0 .. 255
#pragma unroll 1
    for (int k = t; k < 1024; k += 256) words[k] = x[k];
    __syncthreads();
    y[i] = words[index[i]];
}

// place [blocks, 256]: each of 0 .. 255 once a block
extern "C" __global__ void random_banks_store(const int* x, const int* place, int* y)
{
    __shared__ int words[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    words[place[i]] = x[i];
    __syncthreads();
    y[i] = words[t];
}

// x, y [blocks * blockDim.x]; shared memory of the launch's size: blockDim.x floats
extern "C" __global__ void reversed_in_shared(const float* x, float* y, int stride)
{
    extern __shared__ float dynamic[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    dynamic[t] = x[i];
    __syncthreads();
    y[i] = dynamic[(blockDim.x - 1 - t) * stride % blockDim.x];
}
