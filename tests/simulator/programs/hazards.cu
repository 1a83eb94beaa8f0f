// The three orders of a race, between lanes of a warp, warps of a block, and blocks.

// A lane reads what its neighbour has just written.
extern "C" __global__ void read_after_write_between_lanes(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t]; // first
    y[t] = tile[t ^ 1]; // second
}

// A lane overwrites what its neighbour reads.
extern "C" __global__ void write_after_read_between_lanes(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncwarp();
    int other = tile[t ^ 1]; // first
    tile[t] = other + 1; // second
    __syncwarp();
    y[t] = tile[t];
}

// Two lanes write different values to one element.
extern "C" __global__ void write_after_write_between_lanes(const int* x, int* y)
{
    __shared__ int word;
    int t = threadIdx.x;
    if (t == 3) word = x[0]; // first
    if (t == 7) word = x[1]; // second
    __syncwarp();
    y[t] = word;
}

// A warp reads what the other has just written.
extern "C" __global__ void read_after_write_between_warps(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t]; // first
    __syncwarp();
    y[t] = tile[t ^ 32]; // second
}

// A warp overwrites what the other reads.
extern "C" __global__ void write_after_read_between_warps(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    int other = tile[t ^ 32]; // first
    tile[t] = other + 1; // second
    __syncthreads();
    y[t] = tile[t];
}

// Two warps write different values to one element.
extern "C" __global__ void write_after_write_between_warps(const int* x, int* y)
{
    __shared__ int word;
    int t = threadIdx.x;
    if (t == 3) word = x[0]; // first
    if (t == 40) word = x[1]; // second
    __syncthreads();
    y[t] = word;
}

// A block reads what another has just written.
extern "C" __global__ void read_after_write_between_blocks(const int* x, int* middle, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    middle[i] = x[i]; // first
    y[i] = middle[n - 1 - i]; // second
}

// A block overwrites what another reads.
extern "C" __global__ void write_after_read_between_blocks(int* x, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    y[i] = x[n - 1 - i]; // first
    x[i] = -1; // second
}

// Two blocks write different values to one element.
extern "C" __global__ void write_after_write_between_blocks(const int* x, int* y)
{
    if (threadIdx.x == 3 && blockIdx.x == 0) y[0] = x[0]; // first
    if (threadIdx.x == 7 && blockIdx.x == 1) y[0] = x[1]; // second
}

// The index forgets the block: each writes its own values to the same elements.
extern "C" __global__ void an_index_without_the_block(const int* x, int* y)
{
    y[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x]; // both
}

// In place; only at the seam do two blocks meet.
extern "C" __global__ void blur_in_place_by_many_blocks(float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float right = x[i + 1 < n ? i + 1 : i]; // first
    __syncthreads();
    x[i] = (x[i] + right) / 2; // second
}

// The last block steps back so as to be full: right only where the blocks fit exactly.
extern "C" __global__ void doubled_with_a_step_back(float* x, int n)
{
    int begin = min(int(blockIdx.x) * 32, n - 32);
    x[begin + threadIdx.x] *= 2; // both
}

// Every element is changed by its own thread alone.
extern "C" __global__ void changed_by_its_own_thread(float* x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        x[i] = 2 * x[i];
        x[i] = x[i] + 1;
    }
}

// All read the same elements, nobody writes them.
extern "C" __global__ void read_by_all(const int* x, int* y, int n)
{
    int sum = 0;
    for (int k = 0; k < n; ++k) sum += x[k];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum + threadIdx.x;
}

// A permutation sends no two threads to one element.
extern "C" __global__ void scattered_by_a_permutation(const int* to, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[to[i]] = i;
}

// An index that comes twice sends two threads to one element.
extern "C" __global__ void scattered_to_one_place_twice(const int* to, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[to[i]] = i; // both
}

// Two kernels in a row: the second reads what other blocks of the first wrote.
extern "C" __global__ void first_of_two_launches(const int* x, int* y, int* z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}

extern "C" __global__ void second_of_two_launches(const int* x, int* y, int* z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    z[i] = y[n - 1 - i] + x[i];
}

__device__ int visits;

// A variable of the module, counted up by the first thread of each block.
extern "C" __global__ void a_module_variable(int* y)
{
    if (threadIdx.x == 0) {
        visits = visits + 1; // both
        y[blockIdx.x] = 1;
    }
}

__device__ void put(int* to, int value)
{
    *to = value; // both
}

// The race is inside a function that both threads call.
extern "C" __global__ void inside_a_function(int* y)
{
    if (threadIdx.x == 0) put(&y[blockIdx.x / 2], blockIdx.x);
}

// In place, but through a second name: the two pointers lead into one tensor.
extern "C" __global__ void shifted_through_a_second_name(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) y[i] = x[i + 1]; // both
}

// Through a second name, each thread at its own element.
extern "C" __global__ void changed_through_a_second_name(const int* x, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + 1;
}

// The step of the loop is the block's size instead of the grid's: elements are visited twice.
extern "C" __global__ void a_grid_stride_that_is_too_short(int* x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) x[i] += 1; // both
}

// Arrays in local memory belong to their thread, whatever their addresses are.
extern "C" __global__ void local_memory_of_each_thread(const int* x, int* y)
{
    int room[16], t = threadIdx.x;
    for (int k = 0; k < 16; ++k) room[(x[k] + t) % 16] = k * t;
    y[blockIdx.x * 64 + t] = room[x[3] % 16];
}
