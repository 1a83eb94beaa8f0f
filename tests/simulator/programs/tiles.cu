// Shared memory of one block, ordered by __syncthreads().

// A product by tiles: filled before it is used, used before it is filled again.
extern "C" __global__ void product_by_tiles(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[8][8], right[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 8) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int j = 0; j < 8; ++j) sum += left[y][j] * right[j][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// The tile is read before the other threads have filled it.
extern "C" __global__ void product_without_the_barrier_before(const float* a, const float* b,
                                                              float* c, int n)
{
    __shared__ float left[8][8], right[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 8) {
        left[y][x] = a[row * n + k + x]; // first
        right[y][x] = b[(k + y) * n + column]; // first
        for (int j = 0; j < 8; ++j) sum += left[y][j] * right[j][x]; // second
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// The tile is filled anew while others still read what was in it.
extern "C" __global__ void product_without_the_barrier_behind(const float* a, const float* b,
                                                              float* c, int n)
{
    __shared__ float left[8][8], right[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 8) {
        left[y][x] = a[row * n + k + x]; // second
        right[y][x] = b[(k + y) * n + column]; // second
        __syncthreads();
        for (int j = 0; j < 8; ++j) sum += left[y][j] * right[j][x]; // first
    }
    c[row * n + column] = sum;
}

// A sum as a tree: one barrier after the fill, one after each step.
extern "C" __global__ void sum_by_tree(const float* x, float* y)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = tile[0];
}

// The first step adds what the other warp may not have written yet.
extern "C" __global__ void tree_without_the_first_barrier(const float* x, float* y)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 64 + t]; // first
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half]; // second
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = tile[0];
}

// A step adds what the step before may not have written yet.
extern "C" __global__ void tree_without_the_barrier_in_the_loop(const float* x, float* y)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2)
        if (t < half) tile[t] += tile[t + half]; // both
    if (t == 0) y[blockIdx.x] = tile[0];
}

// Two tiles in turn: one barrier an iteration is enough.
extern "C" __global__ void double_buffer(const float* x, float* y, int tiles)
{
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    tile[0][t] = x[t];
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) tile[(k + 1) % 2][t] = x[(k + 1) * 64 + t];
        sum += tile[k % 2][63 - t];
        __syncthreads();
    }
    y[t] = sum;
}

// Two tiles in turn, and a barrier only every second time.
extern "C" __global__ void double_buffer_with_half_its_barriers(const float* x, float* y, int tiles)
{
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    tile[0][t] = x[t];
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) tile[(k + 1) % 2][t] = x[(k + 1) * 64 + t]; // first
        sum += tile[k % 2][63 - t]; // second
        if (k % 2) __syncthreads();
    }
    y[t] = sum;
}

// The same memory holds floats, and after a barrier integers.
extern "C" __global__ void memory_used_twice(const float* x, int* y)
{
    __shared__ int words[64];
    float* floats = reinterpret_cast<float*>(words);
    int t = threadIdx.x;
    floats[t] = x[t];
    __syncthreads();
    float other = floats[63 - t];
    __syncthreads();
    words[t] = int(other);
    __syncthreads();
    y[t] = words[t ^ 32];
}

// Each thread has eight elements of its own: nobody else looks, so nobody waits.
extern "C" __global__ void scratch_of_each_thread(const int* x, int* y)
{
    __shared__ int scratch[64][9];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 8; ++k) scratch[t][k] = x[t] * k;
    for (int k = 0; k < 8; ++k) sum += scratch[t][(k * 3) % 8];
    y[t] = sum;
}

// One element too many: a thread's last one is its neighbour's first.
extern "C" __global__ void scratch_one_too_long(const int* x, int* y)
{
    __shared__ int scratch[65 * 8];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k <= 8; ++k) scratch[t * 8 + k] = x[t] * k + t; // both
    for (int k = 1; k < 8; ++k) sum += scratch[t * 8 + k];
    y[t] = sum;
}

// One thread prepares, a barrier, all read.
extern "C" __global__ void prepared_by_one_thread(const int* x, int* y)
{
    __shared__ int scale;
    if (threadIdx.x == 5) scale = x[0];
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = scale * threadIdx.x;
}

// One thread replaces the default, and the others do not wait for it.
extern "C" __global__ void replaced_without_a_barrier(const int* x, int* y)
{
    __shared__ int scale;
    if (threadIdx.x == 0) scale = 1;
    __syncthreads();
    if (threadIdx.x == 0) scale = x[0]; // first
    y[blockIdx.x * 64 + threadIdx.x] = scale * threadIdx.x; // second
}

// One thread prepares each row, and does so while others still read the last one.
extern "C" __global__ void prepared_anew_too_early(const int* x, int* y)
{
    __shared__ int scale;
    for (int row = 0; row < 2; ++row) {
        if (threadIdx.x == 0) scale = x[row]; // second
        __syncthreads();
        y[row * 64 + threadIdx.x] = scale * threadIdx.x; // first
    }
}

// A barrier that counts is a barrier too.
extern "C" __global__ void ordered_by_a_barrier_that_counts(const int* x, int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    int positive = __syncthreads_count(x[t] > 0);
    y[t] = tile[t ^ 32] + 1000 * positive;
}

// In place: all have read before anybody writes.
extern "C" __global__ void blur_in_place_by_one_block(float* x)
{
    int t = threadIdx.x, last = blockDim.x - 1;
    float mean = (x[t > 0 ? t - 1 : 0] + x[t] + x[t < last ? t + 1 : last]) / 3;
    __syncthreads();
    x[t] = mean;
}

// In place, and nobody waits until the neighbours have read.
extern "C" __global__ void blur_in_place_without_a_barrier(float* x)
{
    int t = threadIdx.x, last = blockDim.x - 1;
    float left = x[t > 0 ? t - 1 : 0], right = x[t < last ? t + 1 : last]; // first
    x[t] = (left + right) / 2; // second
}

// Dynamic shared memory, cut into two parts that meet at a barrier.
extern "C" __global__ void dynamic_memory_in_two_parts(const int* x, int* y)
{
    extern __shared__ int memory[];
    int t = threadIdx.x, n = blockDim.x;
    int *low = memory, *high = memory + n;
    low[t] = x[t];
    high[n - 1 - t] = 10 * x[t];
    __syncthreads();
    y[t] = low[n - 1 - t] + high[t];
}

// Dynamic shared memory, cut into two parts that overlap by one element.
extern "C" __global__ void dynamic_memory_in_parts_that_overlap(const int* x, int* y)
{
    extern __shared__ int memory[];
    int t = threadIdx.x, n = blockDim.x;
    int *low = memory, *high = memory + n - 1;
    low[t] = x[t]; // first
    high[t] = 10 * x[t] + 1; // second
    __syncthreads();
    y[t] = low[n - 1 - t] + high[t];
}

// Only the last block, which is not full, leaves its barrier out.
extern "C" __global__ void reversed_without_a_barrier_in_the_last_block(const int* x, int* y, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, begin = blockIdx.x * 64, count = min(64, n - begin);
    if (t < count) tile[t] = x[begin + t]; // first
    if (count == 64) __syncthreads();
    if (t < count) y[begin + t] = tile[count - 1 - t]; // second
}

// Three warps at one element and no order between them.
extern "C" __global__ void three_parties(const int* x, int* y)
{
    __shared__ int word;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    if (threadIdx.x == 0) word = x[0]; // any
    if (threadIdx.x == 32) word = x[1]; // any
    if (threadIdx.x == 64) y[0] = word; // any
}

// All threads write the same value: the outcome is certain.
extern "C" __global__ void the_same_value_from_all(const int* x, int* y)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] < 0) found = 1; // noted
    __syncthreads();
    y[threadIdx.x] = found;
}

// All threads write the same value, but some look while others still write.
extern "C" __global__ void the_same_value_read_too_early(const int* x, int* y)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] < 0) found = 1; // first
    y[threadIdx.x] = found; // second
}
