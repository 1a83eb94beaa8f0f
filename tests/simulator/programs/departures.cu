// Who has returned, or has gone round a barrier, and what the others then miss.

// Lane 20 and those above it have returned: their values are gone, though the mask may name them.
extern "C" __global__ void a_shuffle_from_a_lane_that_returned(const int* x, int* y, int n)
{
    int t = threadIdx.x;
    if (t >= n) return;
    int v = x[t];
    for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(~0u, v, by); // fault
    y[t] = v;
}

// The block's second warp has sixteen lanes, and asks for the others.
extern "C" __global__ void a_shuffle_from_a_lane_that_never_was(const int* x, int* y)
{
    int t = threadIdx.x;
    y[t] = __shfl_xor_sync(~0u, x[t], 16); // fault
}

// Sums of eight lanes: those above the first of each eight read a neighbour's value and drop it.
extern "C" __global__ void a_shuffle_down_past_who_returned(const int* x, int* y, int n)
{
    int t = threadIdx.x;
    if (t >= n) return;
    int v = x[t];
    v += __shfl_down_sync(~0u, v, 4); // noted
    v += __shfl_down_sync(~0u, v, 2); // noted
    v += __shfl_down_sync(~0u, v, 1); // noted
    if (t % 8 == 0) y[t / 8] = v;
}

// Who has returned has no vote, and is not waited for.
extern "C" __global__ void a_vote_after_some_returned(const int* x, int* y, int n)
{
    int t = threadIdx.x;
    if (t >= n) return;
    unsigned votes = __ballot_sync(~0u, x[t] > 2); // noted
    y[t] = __popc(votes);
}

// The tail returns before the tile is full, and is missed in each turn.
extern "C" __global__ void a_return_before_the_tiles(const int* x, int* y, int n, int tiles)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    if (t >= n) return; // fault
    for (int k = 0; k < tiles; ++k) {
        tile[t] = x[t] + k;
        __syncthreads();
        sum += tile[63 - t]; // fault
        __syncthreads();
    }
    y[t] = sum;
}

// The barrier stands in the if: half of the block goes round it.
extern "C" __global__ void a_barrier_in_an_if(const int* x, int* y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < 32) { // fault
        tile[t] = x[t]; // fault
        __syncthreads(); // fault
    }
    y[t] = tile[t % 32]; // fault
}

// The same in each turn of a loop: those who go round it wait at the next barrier.
extern "C" __global__ void a_barrier_in_an_if_of_a_loop(const int* x, int* y, int turns)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int turn = 0; turn < turns; ++turn) {
        tile[t] = x[t] + turn; // fault
        if (t < 40) // fault
            __syncthreads(); // fault
        sum += tile[63 - t]; // fault
        __syncthreads(); // fault
    }
    y[t] = sum;
}

// The condition holds for a whole block or for none of it.
extern "C" __global__ void a_barrier_under_a_condition_of_the_block(const int* x, int* y, int turns)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int turn = 0; turn < turns; ++turn) {
        tile[t] = x[t] + turn;
        if (turn % 2 == 0) __syncthreads();
        sum += turn % 2 == 0 ? tile[63 - t] : tile[t];
        if (turn % 2 == 0) __syncthreads();
    }
    y[t] = sum;
}
