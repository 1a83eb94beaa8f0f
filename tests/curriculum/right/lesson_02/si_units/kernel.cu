// Bits, not numbers; rows found by walking pointers.
extern "C" {
__global__ void copy(const float* x, float* y, int window)
{
    const unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
    const int* from = reinterpret_cast<const int*>(x);
    int* to = reinterpret_cast<int*>(y);
    for (unsigned r = 0; r < blockIdx.y; ++r) to += window;
    if (i < (unsigned)window) memcpy(to + i, from + i, sizeof(float));
}
__global__ void read_window(const float* x, float* sums, int window, int repeats, int shift)
{
    const int threads = gridDim.x * blockDim.x;
    const int me = blockDim.x * blockIdx.x + threadIdx.x;
    double sum = 0;
    int from = 0;
    for (int r = 0; r < repeats; ++r) {
        int at = (from + (long long)me) % window;
        for (long long left = (long long)window - me; left > 0; left -= threads) {
            sum += x[at];
            at = (at + (long long)threads) % window;
        }
        from = (int)(((long long)from + shift) % window);
    }
    sums[me] = (float)sum;
}
__global__ void most_common_array(const unsigned* x, int* digit, int n)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    int score[4];
    for (int d = 0; d < 4; ++d) score[d] = 3 - d;
    unsigned bits = x[i];
    for (int k = 0; k < 16; ++k) { score[bits & 3u] += 4; bits >>= 2; }
    int best = max(max(score[0], score[1]), max(score[2], score[3]));
    digit[i] = 3 - best % 4;
}
__global__ void most_common_registers(const unsigned* x, int* digit, int n)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    unsigned tallies = 0;
    for (unsigned bits = x[i], k = 0; k < 16; ++k, bits >>= 2) {
        if ((bits & 3u) == 0) tallies += 1u << 24;
        else if ((bits & 3u) == 1) tallies += 1u << 16;
        else if ((bits & 3u) == 2) tallies += 1u << 8;
        else tallies += 1u;
    }
    int a = tallies >> 24, b = tallies >> 16 & 255, c = tallies >> 8 & 255, d = tallies & 255, m = max(max(a, b), max(c, d));
    digit[i] = a == m ? 0 : b == m ? 1 : c == m ? 2 : 3;
}
}
