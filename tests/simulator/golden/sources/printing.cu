// printf and assert.

extern "C" __global__ void prints(const int* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] < 0) {
        printf("x[%d] = %d is negative\n", i, x[i]);
    } else if (i % 16 == 3) {
        printf("%s %5.2f|%-4u|%04x|%c|%lld|%e%%\n", "block", x[i] * 0.5f, 7u, x[i], 'a' + i,
               1LL << 40, 0.25);
    }
}

extern "C" __global__ void asserts(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(x[i] >= 0 && "no negative numbers");
    y[i] = x[i] + 1;
}

extern "C" __global__ void traps(const int* x, int* y)
{
    if (x[threadIdx.x] == 13) __trap();
    y[threadIdx.x] = x[threadIdx.x];
}
