// Atomics on global memory. Addresses come from data, so that no compiler merges a warp's lanes.

// key [n] in 0 .. bins - 1, count [bins]
extern "C" __global__ void histogram(const int* key, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&count[key[i]], 1);
}

// place [n]: each of 0 .. n - 1 once
extern "C" __global__ void add_spread(const int* place, const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&y[place[i]], x[i]);
}

// neighbouring lanes add to neighbouring words
extern "C" __global__ void add_in_order(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&y[n - 1 - i], x[i]);
}

extern "C" __global__ void maximum_by_key(const int* key, const int* x, int* most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&most[key[i]], x[i]);
}

extern "C" __global__ void float_sum_by_key(const int* key, const float* x, float* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum[key[i]], x[i]);
}

// the old value is used: the place of each element in the bin of its key
extern "C" __global__ void places_in_bins(const int* key, int* count, int* place, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) place[i] = atomicAdd(&count[key[i]], 1);
}

// place [n]: each of 0 .. n - 1 once; old [n]
extern "C" __global__ void exchange(const int* place, int* x, int* old, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) old[i] = atomicExch(&x[place[i]], i);
}

// place [n]: each of 0 .. n - 1 once; words that are 1 are replaced
extern "C" __global__ void compare_and_swap(const int* place, int* x, int* old, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) old[i] = atomicCAS(&x[place[i]], 1, i);
}

// 8 bytes a lane
extern "C" __global__ void long_sum_by_key(const int* key, unsigned long long* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum[key[i]], (unsigned long long)i);
}

// only the lanes whose x is positive add
extern "C" __global__ void masked_sum(const int* key, const int* x, int* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = x[i], bin = key[i];
    if (value > 0) atomicAdd(&sum[bin], value);
}

// One address for all lanes: ptxas adds up within the warp, and one lane goes to memory. Where the
// old value is wanted, a shuffle brings it to the others.
extern "C" __global__ void one_cursor(const int* x, int* cursor, int* place, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) place[i] = atomicAdd(cursor, 1);
}

extern "C" __global__ void one_counter(const int* x, int* count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) atomicAdd(count, 1);
}
