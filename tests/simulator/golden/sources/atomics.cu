// Atomics on global and shared memory, of all types; order among threads is never seen.
//
//   x    inputs [n]
//   ...  cells, each updated by all threads

extern "C" __global__ void atomics_int(const int* x, int* cells, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i];
    unsigned* words = reinterpret_cast<unsigned*>(cells);
    atomicAdd(&cells[0], v);
    atomicSub(&cells[1], v);
    atomicMin(&cells[2], v);
    atomicMax(&cells[3], v);
    atomicAnd(&cells[4], v);
    atomicOr(&cells[5], v);
    atomicXor(&cells[6], v);
    atomicMin(&words[7], static_cast<unsigned>(v));
    atomicMax(&words[8], static_cast<unsigned>(v));
    atomicInc(&words[9], 6u);
    atomicDec(&words[10], 6u);
    atomicAdd_block(&cells[11], v);
    atomicAdd_system(&cells[12], v);
    atomicMax_system(&cells[13], v);
    atomicExch(&cells[14], 77);
    atomicCAS(&cells[15], 0, 5);
    atomicCAS_block(&cells[15], 5, 9);
    atomicAdd(&words[16], static_cast<unsigned>(v));
}

extern "C" __global__ void atomics_long(const unsigned long long* x, unsigned long long* cells, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = x[i];
    long long s = v;
    long long* signed_cells = reinterpret_cast<long long*>(cells);
    atomicAdd(&cells[0], v);
    atomicMin(&cells[1], v);
    atomicMax(&cells[2], v);
    atomicMin(&signed_cells[3], s);
    atomicMax(&signed_cells[4], s);
    atomicAnd(&cells[5], v);
    atomicOr(&cells[6], v);
    atomicXor(&cells[7], v);
    atomicExch(&cells[8], 1ULL << 40);
    atomicCAS(&cells[9], 0ULL, 3ULL << 40);
    atomicAdd_system(&cells[10], v);
}

// Sums of whole numbers, so that every order gives the same bits.
extern "C" __global__ void atomics_float(const float* x, float* singles, double* doubles, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&singles[0], x[i]);
    atomicAdd_block(&singles[1], x[i]);
    atomicAdd_system(&singles[2], x[i]);
    atomicExch(&singles[3], 2.5f);
    atomicAdd(&doubles[0], double(x[i]));
    atomicAdd_block(&doubles[1], double(x[i]));
}

// The old values: tickets [n] are a permutation, so are those that a loop of compare and swap drew.
extern "C" __global__ void tickets(int* counter, int* drawn, int* swapped, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    drawn[i] = atomicAdd(&counter[0], 1);
    int seen = counter[1], assumed;
    do {
        assumed = seen;
        seen = atomicCAS(&counter[1], assumed, assumed + 3);
    } while (seen != assumed);
    swapped[i] = seen;
}

// Shared memory: bins of the block, then added to those of the grid.
extern "C" __global__ void atomics_shared(const int* x, int* bins, float* sums, int n)
{
    __shared__ int own_bins[16];
    __shared__ float own_sum;
    __shared__ unsigned long long own_long;
    __shared__ unsigned own_least, own_turn;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int k = t; k < 16; k += blockDim.x) own_bins[k] = 0;
    if (t == 0) {
        own_sum = 0.0f;
        own_long = 0;
        own_least = ~0u;
        own_turn = 0;
    }
    __syncthreads();
    if (i < n) {
        atomicAdd(&own_bins[x[i] & 15], 1);
        atomicAdd(&own_sum, float(x[i] & 15));
        atomicAdd(&own_long, 1ULL << 33);
        atomicMin(&own_least, static_cast<unsigned>(x[i]));
        atomicInc(&own_turn, 4u);
    }
    __syncthreads();
    for (int k = t; k < 16; k += blockDim.x) atomicAdd(&bins[k], own_bins[k]);
    if (t == 0) {
        atomicAdd(&sums[0], own_sum);
        atomicAdd(&sums[1], float(own_long >> 33));
        atomicMax(reinterpret_cast<int*>(&bins[16]), int(own_least & 0xffff));
        atomicAdd(&bins[17], int(own_turn));
    }
}
