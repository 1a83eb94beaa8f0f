// The second half of async_copies.cu: masked copies, and whole kernels that copy ahead.

// x [n], mask [n], y [n]: lanes whose mask is 0 copy nothing
extern "C" __global__ void masked_copies_of_4(const float* x, const int* mask, float* y)
{
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = -5.0f;
    __syncthreads();
    if (mask[i]) copy<4>(&tile[t], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void masked_copies_of_16(const float4* x, const int* mask, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = make_float4(-5.0f, -6.0f, -7.0f, -8.0f);
    __syncthreads();
    if (mask[i]) copy_around_l1(&tile[t], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

// a [m, k], b [k, n], c [m, n]; blocks of 16 x 16 threads, a tile of 16 x 16 each: while one is
// multiplied the next is on its way. Multiples of 16.
extern "C" __global__ void matmul_two_stages(const float* a, const float* b, float* c, int n, int k)
{
    __shared__ float left[2][16][16], right[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    copy<4>(&left[0][ty][tx], &a[row * k + tx]);
    copy<4>(&right[0][ty][tx], &b[ty * n + column]);
    commit();
#pragma unroll 1
    for (int first = 0; first < k; first += 16) {
        int now = first / 16 & 1, next = first + 16;
        if (next < k) {
            copy<4>(&left[1 - now][ty][tx], &a[row * k + next + tx]);
            copy<4>(&right[1 - now][ty][tx], &b[(next + ty) * n + column]);
        }
        commit();  // an empty group behind the last tile
        wait_until_left<1>();
        __syncthreads();
#pragma unroll 1  // unrolled, ptxas loads four neighbours at once
        for (int j = 0; j < 16; j++) sum += left[now][ty][j] * right[now][j][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// x, y [blocks, tiles, 128] of float4: y is twice x; up to three tiles on their way
extern "C" __global__ void three_stages(const float4* x, float4* y, int tiles)
{
    __shared__ float4 stage[3][128];
    int t = threadIdx.x;
    const float4* from = x + blockIdx.x * tiles * 128 + t;
    float4* to = y + blockIdx.x * tiles * 128 + t;
#pragma unroll
    for (int ahead = 0; ahead < 2; ahead++) {
        if (ahead < tiles) copy_around_l1(&stage[ahead][t], &from[ahead * 128]);
        commit();
    }
    int slot = 0, next = 2;
#pragma unroll 1
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 2 < tiles) copy_around_l1(&stage[next][t], &from[(tile + 2) * 128]);
        commit();
        wait_until_left<2>();
        float4 v = stage[slot][t];  // of this thread itself: no barrier
        to[tile * 128] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
        slot = slot == 2 ? 0 : slot + 1;
        next = next == 2 ? 0 : next + 1;
    }
}

// The same by the functions of CUDA's header, four stages of 8 bytes a lane, and in reverse order.
extern "C" __global__ void four_stages_by_header(const float2* x, float2* y, int tiles)
{
    __shared__ float2 stage[4][128];
    int t = threadIdx.x;
    const float2* from = x + blockIdx.x * tiles * 128 + t;
    float2* to = y + blockIdx.x * tiles * 128;
#pragma unroll
    for (int ahead = 0; ahead < 3; ahead++) {
        if (ahead < tiles) __pipeline_memcpy_async(&stage[ahead][t], &from[ahead * 128], 8);
        __pipeline_commit();
    }
#pragma unroll 1
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 3 < tiles)
            __pipeline_memcpy_async(&stage[(tile + 3) & 3][t], &from[(tile + 3) * 128], 8);
        __pipeline_commit();
        __pipeline_wait_prior(3);
        __syncthreads();
        to[tile * 128 + t] = stage[tile & 3][127 - t];
        __syncthreads();
    }
}

// x, y [rows, columns], blocks of 32 x 8 threads; a tile of 32 x `pitch` floats
extern "C" __global__ void transposed_by_copies(const float* x, float* y, int rows, int columns, int pitch)
{
    extern __shared__ float tile[];
    int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 32, row = blockIdx.y * 32;
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        copy<4>(&tile[(ty + j) * pitch + tx], &x[(row + ty + j) * columns + column + tx]);
    wait_all();
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        y[(column + ty + j) * rows + row + tx] = tile[tx * pitch + ty + j];
}
