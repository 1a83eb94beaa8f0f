// Branches that the lanes of a warp take differently, around loops that no compiler predicates.

// trips [n], each at least 1
extern "C" __global__ void trips_by_lane(const int* trips, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = trips[i];
    float value = 1.0f;
#pragma unroll 1
    do {
        value = value * 0.75f + 1.0f;
    } while (--left > 0);
    y[i] = value;
}

// on [n] is 0 or 1, trips 64
extern "C" __global__ void loop_in_each_arm(const int* on, float* y, int n, int trips)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = (float)(i & 7);
    if (on[i]) {
#pragma unroll 1
        for (int k = 0; k < trips; ++k) value = value * 0.5f + 1.0f;
    } else {
#pragma unroll 1
        for (int k = 0; k < trips; ++k) value = value * 0.25f - 2.0f;
    }
    y[i] = value;
}

// lanes with 0 in on [n] leave after a loop of their own
extern "C" __global__ void early_return(const int* on, float* y, int n, int trips)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = (float)(i & 15);
    if (!on[i]) {
#pragma unroll 1
        for (int k = 0; k < trips; ++k) value = value * 0.25f - 1.0f;
        y[i] = value;
        return;
    }
#pragma unroll 1
    for (int k = 0; k < trips; ++k) value = value * 0.5f + 1.0f;
    y[i] = value * value;
}

// outer, inner [n], each at least 1
extern "C" __global__ void nested_loops(const int* outer, const int* inner, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = 0.0f;
    int rounds = outer[i], trips = inner[i];
#pragma unroll 1
    do {
        int left = trips;
#pragma unroll 1
        do {
            value = value * 0.75f + 1.0f;
        } while (--left > 0);
        value -= 3.0f;
    } while (--rounds > 0);
    y[i] = value;
}

// kind [n] in 0 .. 3
extern "C" __global__ void switch_of_loops(const int* kind, float* y, int n, int trips)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = (float)(i & 7);
    switch (kind[i]) {
    case 0:
#pragma unroll 1
        for (int k = 0; k < trips; ++k) value = value * 0.5f + 1.0f;
        break;
    case 1:
#pragma unroll 1
        for (int k = 0; k < trips + 3; ++k) value = value * 0.25f - 2.0f;
        break;
    case 2:
#pragma unroll 1
        for (int k = 0; k < trips + 5; ++k) value = value * 0.125f + 5.0f;
        break;
    default:
#pragma unroll 1
        for (int k = 0; k < trips + 7; ++k) value = value * -0.5f + 0.5f;
    }
    y[i] = value;
}

// x [n], each at least 1; steps [n]
extern "C" __global__ void collatz(const int* x, int* steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned value = x[i];
    int count = 0;
#pragma unroll 1
    while (value != 1) {
        value = value & 1 ? 3 * value + 1 : value / 2;
        ++count;
    }
    steps[i] = count;
}

// keys [size] ascending, wanted [n], place [n]: each lane's search ends when it finds its key
extern "C" __global__ void search_until_found(const int* keys, const int* wanted, int* place, int n, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int key = wanted[i], low = 0, high = size - 1, found = -1;
#pragma unroll 1
    while (low <= high) {
        int middle = (low + high) >> 1;
        int here = keys[middle];
        if (here == key) {
            found = middle;
            break;
        }
        if (here < key) low = middle + 1;
        else high = middle - 1;
    }
    place[i] = found;
}

// A short store in each arm: a branch in PTX, two predicated stores in machine code.
extern "C" __global__ void short_arms(const int* on, float* y, float* z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (on[i]) y[i] = 1.0f;
    else z[i] = 2.0f;
}
