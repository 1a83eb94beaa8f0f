// Counters and histograms: what atomics order, and what they do not.

// Each block counts in shared memory, then adds what it found.
extern "C" __global__ void histogram_in_shared_memory(const int* x, int* counts)
{
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&counts[t], bins[t]);
}

// Cleared by some threads while others count already.
extern "C" __global__ void histogram_cleared_too_late(const int* x, int* counts)
{
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0; // first
    atomicAdd(&bins[x[blockIdx.x * 64 + t]], 1); // second
    __syncthreads();
    if (t < 16) atomicAdd(&counts[t], bins[t]);
}

// Merged while other threads still count. In shared memory this is a race, not a look.
extern "C" __global__ void histogram_merged_too_early(const int* x, int* counts)
{
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * 64 + t]], 1); // first
    if (t < 16) atomicAdd(&counts[t], bins[t]); // second
}

// Never cleared.
extern "C" __global__ void histogram_never_cleared(const int* x, int* counts)
{
    __shared__ int bins[16];
    int t = threadIdx.x;
    atomicAdd(&bins[x[blockIdx.x * 64 + t]], 1); // fault
    __syncthreads();
    if (t < 16) atomicAdd(&counts[t], bins[t]);
}

// ++ reads, adds and writes: what another thread adds in between is lost.
extern "C" __global__ void histogram_without_atomics(const int* x, int* counts)
{
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    ++bins[x[blockIdx.x * 64 + t]]; // both
    __syncthreads();
    if (t < 16) atomicAdd(&counts[t], bins[t]);
}

// Each block stores its own counts over those of the others.
extern "C" __global__ void histogram_stored_and_not_merged(const int* x, int* counts)
{
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    if (t < 16) counts[t] = bins[t]; // both
}

// Each thread adds to one sum without an atomic.
extern "C" __global__ void a_sum_without_atomics(const float* x, float* sum)
{
    *sum += x[threadIdx.x]; // both
}

// One thread of each block adds to one sum without an atomic.
extern "C" __global__ void an_update_lost_between_blocks(const float* x, float* sum)
{
    if (threadIdx.x == 0) *sum += x[blockIdx.x]; // both
}

// Floats that are not negative order as their bits do.
extern "C" __global__ void greatest_by_its_bits(const float* x, int* bits)
{
    atomicMax(bits, __float_as_int(x[blockIdx.x * blockDim.x + threadIdx.x]));
}

// A look that spares most atomics: both sides are strong, so it is only out of date.
extern "C" __global__ void a_look_before_the_atomic(const int* x, int* best)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (*static_cast<volatile int*>(best) < v) atomicMax(best, v);
}

// The same look through a plain read.
extern "C" __global__ void a_plain_look_before_the_atomic(const int* x, int* best)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (*best < v) // noted
        atomicMax(best, v); // noted
}

// The loop around a compare and swap begins with a plain read of the old value.
extern "C" __global__ void a_product_by_compare_and_swap(const float* x, int* bits)
{
    int seen = *bits, expected; // noted
    do {
        expected = seen;
        float product = __int_as_float(expected) * x[blockIdx.x];
        seen = atomicCAS(bits, expected, __float_as_int(product)); // noted
    } while (seen != expected);
}

// A plain store takes away what others add at the same time.
extern "C" __global__ void a_counter_reset_by_a_store(int* count)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) count[0] = 0; // first
        else atomicAdd(count, 1); // second
    }
}

// A thread may read plainly what only it has added to.
extern "C" __global__ void read_by_the_one_who_added(const int* x, int* y)
{
    __shared__ int bins[64];
    int t = threadIdx.x;
    bins[t] = 1;
    atomicAdd(&bins[t], x[t]);
    y[t] = bins[t];
}

// A counter hands out places, each to one thread.
extern "C" __global__ void places_from_a_counter(const int* x, int* count, int* y)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v > 0) y[atomicAdd(count, 1)] = 1;
}

// Blocks draw their work from a queue.
extern "C" __global__ void work_from_a_queue(int* head, int* y, int n)
{
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(head, 1);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine * 64 >= n) return;
        y[mine * 64 + threadIdx.x] += mine;
    }
}

// The item is drawn anew while others still look for the last one.
extern "C" __global__ void work_from_a_queue_drawn_too_early(int* head, int* y, int n)
{
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(head, 1); // second
        __syncthreads();
        if (item * 64 >= n) return; // first
        y[item * 64 + threadIdx.x] += 1; // first
    }
}
