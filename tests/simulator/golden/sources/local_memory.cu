// Memory of a thread's own: arrays indexed at run time, arrays too large for registers, pointers.
//
//   x   int[n], or as the kernel says
//   y   as the kernel says

extern "C" __global__ void insertion_sort(const int* x, int* y, int n)  // x, y [n][12]
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int mine[12];
#pragma unroll 1
    for (int k = 0; k < 12; ++k) {
        int value = x[12 * i + k], j = k;
        while (j > 0 && mine[j - 1] > value) {
            mine[j] = mine[j - 1];
            --j;
        }
        mine[j] = value;
    }
#pragma unroll 1
    for (int k = 0; k < 12; ++k) y[12 * i + k] = mine[k];
}

extern "C" __global__ void digits(const unsigned* x, int* y, int n)  // y [10][n]
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char counts[10] = {};
    for (unsigned v = x[i]; v; v /= 10) ++counts[v % 10];
    for (int k = 0; k < 10; ++k) y[k * n + i] = counts[k];
}

struct Mixed {
    double d;
    short s[3];
    float4 v;
    signed char c;
};

extern "C" __global__ void structs_of_all_widths(const int* x, double* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Mixed mixed[3];
#pragma unroll 1
    for (int k = 0; k < 3; ++k) {
        mixed[(k + i) % 3].d = x[i] * 0.25 + k;
        mixed[(k + i) % 3].s[k] = short(x[i] - k);
        mixed[(k + i) % 3].s[(k + 1) % 3] = short(k);
        mixed[(k + i) % 3].s[(k + 2) % 3] = short(100 * k);
        mixed[(k + i) % 3].v = make_float4(k, k + 1, k + 2, x[i]);
        mixed[(k + i) % 3].c = static_cast<signed char>(-k);
    }
    const Mixed* chosen = &mixed[x[i] & 1];
    y[i] = chosen->d + chosen->s[0] + chosen->s[1] + chosen->s[2] + chosen->v.x + chosen->v.w + chosen->c;
}

// 8 KB a thread.
extern "C" __global__ void sieve(int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool crossed[512];
    int limit = 64 + i % 448, primes = 0;
    for (int k = 0; k < 512; ++k) crossed[k] = false;
#pragma unroll 1
    for (int k = 2; k < limit; ++k) {
        if (crossed[k]) continue;
        ++primes;
        for (int m = k * k; m < limit; m += k) crossed[m] = true;
    }
    y[i] = primes;
}
