// Each thread keeps to one element, named in the hardware's words.
#define ELEMENT (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" {

__global__ void copy(const float* __restrict__ x, float* __restrict__ y, int window)
{
    long long element = ELEMENT;
    if (element < window) y[element + (long long)blockIdx.y * window] = x[element];
}

__global__ void read_window(const float* x, float* sums, int window, int repeats, int shift)
{
    int at = 0, step = gridDim.x * blockDim.x;
    sums[ELEMENT] = 0.0f;
    float s = 0.0f;
    for (int r = 0; r != repeats; ++r, at = (at + (long long)shift) % window)
        for (int i = ELEMENT; i < window; i += step) s += x[(at + (long long)i) % window];
    sums[ELEMENT] = s;
}

__global__ void most_common_array(const unsigned* x, int* digit, int n)
{
    if (ELEMENT >= n) return;
    int times[4] = {0};
    for (unsigned word = x[ELEMENT], left = 16; left; --left, word /= 4) ++times[word & 3];
    int d = 0;
    for (int other = 1; other < 4; ++other) d = times[other] > times[d] ? other : d;
    digit[ELEMENT] = d;
}

__global__ void most_common_registers(const unsigned* x, int* digit, int n)
{
    if (ELEMENT >= n) return;
    unsigned word = x[ELEMENT];
    int zero = 0, one = 0, two = 0, three = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        int d = word >> (2 * k) & 3;
        zero += d == 0, one += d == 1, two += d == 2, three += d == 3;
    }
    int best = max(max(zero, one), max(two, three));
    digit[ELEMENT] = zero == best ? 0 : one == best ? 1 : two == best ? 2 : 3;
}

}
