// Functions that call themselves and each other.
//
//   x   int[n], small
//   y   int[n]

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ bool is_odd(int n);

__device__ __noinline__ bool is_even(int n)
{
    return n == 0 || is_odd(n - 1);
}

__device__ __noinline__ bool is_odd(int n)
{
    return n != 0 && is_even(n - 1);
}

// Sorts [low, high] of a local array in place.
__device__ __noinline__ void quicksort(int* values, int low, int high)
{
    if (low >= high) return;
    int pivot = values[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (values[i] < pivot) ++i;
        while (values[j] > pivot) --j;
        if (i <= j) {
            int kept = values[i];
            values[i++] = values[j];
            values[j--] = kept;
        }
    }
    quicksort(values, low, j);
    quicksort(values, i, high);
}

struct Node {
    int left, right, value;
};

__device__ __noinline__ int depth(const Node* nodes, int at)
{
    if (at < 0) return 0;
    int left = depth(nodes, nodes[at].left), right = depth(nodes, nodes[at].right);
    return 1 + max(left, right);
}

extern "C" __global__ void numbers_of_fibonacci(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fibonacci(x[i]);
}

extern "C" __global__ void parity(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = is_even(x[i]) ? 2 : 1;
}

extern "C" __global__ void sorted_rows(int* y, int n)  // y [n][8]
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int values[8];
    for (int k = 0; k < 8; ++k) values[k] = y[8 * i + k];
    quicksort(values, 0, 7);
    for (int k = 0; k < 8; ++k) y[8 * i + k] = values[k];
}

extern "C" __global__ void depths(const Node* nodes, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = depth(nodes, i);
}
