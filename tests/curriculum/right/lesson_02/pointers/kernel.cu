// Pointers moved to their place first, then used.

extern "C" __global__ void copy(const float* x, float* y, int window)
{
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= window) return;
    float* mine = y + (size_t)window * blockIdx.y;
    mine[i] = x[i];
}

extern "C" __global__ void read_window(const float* x, float* sums, int window, int repeats, int shift)
{
    const int threads = blockDim.x * gridDim.x;
    const int me = threadIdx.x + blockDim.x * blockIdx.x;
    float total = 0;
    long long start = 0;
    while (repeats-- > 0) {
        for (long long i = me; i < window; i += threads) total += x[(start + i) % window];
        start = (start + shift) % window;
    }
    sums[me] = total;
}

extern "C" __global__ void most_common_array(const unsigned* x, int* digit, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) {
        int tally[4] = {};
        unsigned word = x[i];
        for (int k = 0; k < 32; k += 2) tally[word >> k & 3]++;
        int winner = 3;
        for (int d = 2; d >= 0; --d)
            if (tally[d] >= tally[winner]) winner = d;
        digit[i] = winner;
    }
}

extern "C" __global__ void most_common_registers(const unsigned* x, int* digit, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) {
        unsigned word = x[i], low = word & 0x55555555u, high = word >> 1 & 0x55555555u;
        int threes = __popc(low & high), ones = __popc(low) - threes, twos = __popc(high) - threes;
        int most = 16 - ones - twos - threes, winner = 0;
        if (ones > most) { most = ones; winner = 1; }
        if (twos > most) { most = twos; winner = 2; }
        if (threes > most) { winner = 3; }
        digit[i] = winner;
    }
}
