// Constant memory and the variables of a module: scalars, arrays, structs, pointers, texts.
//
//   y   as each kernel says

struct Layer {
    int rows;
    float scale;
    double shift;
    unsigned char flags[4];
};

__constant__ float weights[8] = {0.5f, -1.0f, 2.0f, 1e-3f, 4.0f};
__constant__ Layer layers[2] = {{3, 0.5f, 100.0, {1, 2, 3, 4}}, {-7, 2.0f, -0.25, {9, 8, 7, 6}}};
__constant__ int one = 41;
__constant__ const char* names[3] = {"lane", "warp", "block"};
__constant__ short grid_of_shorts[2][3] = {{1, -2, 3}, {-4, 5, -6}};
__device__ long long longs[2] = {1LL << 40, -5};
__device__ unsigned launches = 0;
__device__ const float4 corners[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};

extern "C" __global__ void constants(const int* x, double* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = x[i] & 1;
    const Layer& layer = layers[k];
    y[i] = weights[x[i] & 7] + one;
    y[n + i] = layer.rows * layer.scale + layer.shift + layer.flags[x[i] & 3];
    y[2 * n + i] = grid_of_shorts[k][(x[i] >> 1) % 3];
    y[3 * n + i] = double(longs[k]);
    y[4 * n + i] = names[x[i] % 3][k];
    y[5 * n + i] = corners[k].y * corners[1 - k].w;
}

extern "C" __global__ void counts_launches(unsigned* y)
{
    if (threadIdx.x == 0) y[0] = atomicAdd(&launches, 1u);
}
