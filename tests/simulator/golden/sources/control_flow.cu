// Paths that part and meet: returns, switches, loops in loops, jumps.
//
//   x   int[n]
//   y   int[n]

extern "C" __global__ void returns_early(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 0;
    if (x[i] < 0) return;
    y[i] = 1;
    for (int k = 0; k < 10; ++k) {
        if (x[i] == k) return;
        y[i] += k;
    }
    y[i] = -y[i];
}

extern "C" __global__ void switches(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    switch (x[i]) {
        case 0: sum += 1;
        case 1: sum += 10;  // falls through
        case 2: sum += 100; break;
        case 5: sum = x[(i + 1) % n]; break;
        case 7:
        case 8: sum = -8; break;
        case 1000: sum = 3; break;
        default: sum = 9999;
    }
    y[i] = sum;
}

// Many neighbouring cases with different work: the compiler makes a table of jumps.
extern "C" __global__ void a_table_of_jumps(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = i + 3;
    switch (x[i]) {
        case 0: v = v * v; break;
        case 1: v = y[i] - 7; break;
        case 2: v = __popc(v); break;
        case 3: v = ~v; break;
        case 4: v = v % 5; break;
        case 5: for (int k = 0; k < v % 7; ++k) v += k * v; break;
        case 6: v = __brev(v); break;
        case 7: v = v << 4; break;
        case 8: v = x[(i * 7) % n]; break;
        case 9: v = -v; break;
    }
    y[i] = v;
}

extern "C" __global__ void loops_in_loops(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], sum = 0, outer = 0;
    do {
        int inner = v % (outer + 3);
        while (inner > 0) {
            if (inner == 5) break;
            if (inner-- % 2) continue;
            sum += inner * outer;
        }
        if (sum > 300) goto out;
        for (int k = outer; k < 6; ++k) {
            for (int m = k; m < 6; m += 2) {
                if (k * m == v % 13) goto next;
                sum += k ^ m;
            }
        }
    next:
        ++outer;
    } while (outer < v % 9);
    sum = -sum;
out:
    y[i] = sum;
}

extern "C" __global__ void greatest_common_divisors(const int* x, const int* z, int* y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int a = x[i], b = z[i];
        while (b) {
            int rest = a % b;
            a = b;
            b = rest;
        }
        y[i] = a;
    }
}

extern "C" __global__ void a_search(const int* sorted, const int* x, int* y, int count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < x[i]) low = middle + 1;
        else high = middle;
    }
    y[i] = low < count && sorted[low] == x[i] ? low : ~low;
}

// Short circuits and a mean of a ragged window.
extern "C" __global__ void windows(const float* x, float* y, int n, int radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    int count = 0;
    for (int k = -radius; k <= radius; ++k) {
        int j = i + k;
        if (j >= 0 && j < n && x[j] > 0.0f) {
            sum += x[j];
            ++count;
        }
    }
    y[i] = count ? sum / count : -1.0f;
}
