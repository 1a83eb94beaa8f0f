// Atomics on shared memory, at addresses that come from data. float and 8-byte sums are not here:
// ptxas makes loops of them, whose trips no PTX tells.

// x [blocks * 256], y [blocks * 256]; stride 1 .. 32: lanes add to words that lie so far apart
extern "C" __global__ void shared_add_strided(const int* x, int* y, int stride)
{
    __shared__ int words[1024];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;  // t: 0 .. 255
#pragma unroll 1
    for (int k = t; k < 1024; k += 256) words[k] = 0;
    __syncthreads();
    atomicAdd(&words[(t & 31) * stride + (t >> 5)], x[i]);
    __syncthreads();
    y[i] = words[t];
}

// place [blocks, 256]: each of 0 .. 255 once a block
extern "C" __global__ void shared_add_spread(const int* place, const int* x, int* y)
{
    __shared__ int words[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    words[t] = t;
    __syncthreads();
    atomicAdd(&words[place[i]], x[i]);
    __syncthreads();
    y[i] = words[t];
}

// key [blocks * 256] in 0 .. 255
extern "C" __global__ void shared_histogram(const int* key, int* y)
{
    __shared__ int count[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    count[t] = 0;
    __syncthreads();
    atomicAdd(&count[key[i]], 1);
    __syncthreads();
    y[i] = count[t];
}

// key [blocks * 256] in 0 .. 255
extern "C" __global__ void shared_maximum(const int* key, const int* x, int* y)
{
    __shared__ int most[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    most[t] = -1;
    __syncthreads();
    atomicMax(&most[key[i]], x[i]);
    __syncthreads();
    y[i] = most[t];
}

// the old value is used: a place in the list of the key
extern "C" __global__ void shared_places(const int* key, int* y, int rounds)
{
    __shared__ int count[256];  // of which 64 are used
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    count[t] = 0;
    __syncthreads();
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) sum += atomicAdd(&count[(key[i] + k) & 63], 3);
    y[i] = sum;
}

// place [blocks, 256]: each of 0 .. 255 once a block; the old values go out
extern "C" __global__ void shared_exchange(const int* place, const int* x, int* y)
{
    __shared__ int words[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    words[t] = -t;
    __syncthreads();
    y[i] = atomicExch(&words[place[i]], x[i]);
}

// the same, where the old value is the one that was looked for
extern "C" __global__ void shared_compare_and_swap(const int* place, const int* x, int* y)
{
    __shared__ int words[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    words[t] = t & 1;
    __syncthreads();
    y[i] = atomicCAS(&words[place[i]], 1, x[i]);
}

// as the histogram, but down: only counting up by one is an instruction of its own
extern "C" __global__ void shared_count_down(const int* key, int* y)
{
    __shared__ int count[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    count[t] = 0;
    __syncthreads();
    atomicSub(&count[key[i]], 1);
    __syncthreads();
    y[i] = count[t];
}

// counting up, where the old value is wanted
extern "C" __global__ void shared_count_and_look(const int* key, int* y)
{
    __shared__ int count[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    count[t] = 0;
    __syncthreads();
    y[i] = atomicAdd(&count[key[i]], 1);
}

// key [blocks * 256] in 0 .. 255
extern "C" __global__ void shared_bits(const int* key, const int* x, int* y)
{
    __shared__ int bits[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    bits[t] = 0;
    __syncthreads();
    atomicOr(&bits[key[i]], 1 << (x[i] & 31));
    __syncthreads();
    y[i] = bits[t];
}

// 0, 1 .. 5, 0, 1 ..
extern "C" __global__ void shared_wrapping_count(const int* key, unsigned* y)
{
    __shared__ unsigned count[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    count[t] = 0;
    __syncthreads();
    atomicInc(&count[key[i]], 5);
    __syncthreads();
    y[i] = count[t];
}

// 8 bytes a lane; place [blocks, 256]: each of 0 .. 255 once a block
extern "C" __global__ void shared_exchange_longs(const int* place, const unsigned long long* x, unsigned long long* y)
{
    __shared__ unsigned long long items[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    items[t] = t;
    __syncthreads();
    y[i] = atomicExch(&items[place[i]], x[i]);
}

extern "C" __global__ void shared_compare_and_swap_longs(const int* place, const unsigned long long* x, unsigned long long* y)
{
    __shared__ unsigned long long items[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    items[t] = t & 1;
    __syncthreads();
    y[i] = atomicCAS(&items[place[i]], 1ull, x[i]);
}
