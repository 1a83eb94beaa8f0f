// Pointers and bytes: which memory an address means, copies, unions, bit fields, structs of pointers.
//
//   x   int[n]
//   y   as each kernel says

struct Flags {
    unsigned low : 5;
    int middle : 11;
    unsigned high : 16;
};

union Word {
    int whole;
    short halves[2];
    unsigned char bytes[4];
    Flags flags;
};

struct View {
    const int* data;
    int stride;
    __device__ int operator[](int i) const { return data[i * stride]; }
};

struct Record {
    char tag;
    int values[5];
    double weight;
};

__constant__ int fixed[4] = {4, 5, 6, 7};

// y int[n]: bits 0 to 3 for global, shared, local and constant memory
extern "C" __global__ void __launch_bounds__(64) spaces(const int* x, int* y, int n)
{
    __shared__ int tile[64];
    int mine[4], i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = 1;
    for (int k = 0; k < 4; ++k) mine[(k + x[0]) & 3] = k;
    if (i >= n) return;
    const void* any = i % 4 == 0 ? static_cast<const void*>(x + i)
                    : i % 4 == 1 ? static_cast<const void*>(tile + i % 64)
                    : i % 4 == 2 ? static_cast<const void*>(mine + (x[i] & 3)) : &fixed[x[i] & 3];
    y[i] = __isGlobal(any) + 2 * __isShared(any) + 4 * __isLocal(any) + 8 * __isConstant(any);
}

extern "C" __global__ void shared_by_address(const int* x, int* y, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, v;
    tile[t] = i < n ? x[i] : 0;
    __syncthreads();
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t ^ 1]));
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address));
    if (i < n) y[i] = v;
}

// y int[5][n]
extern "C" __global__ void unions_and_fields(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Word word;
    word.whole = x[i];
    y[i] = word.halves[1] * 2 + word.halves[0];
    y[n + i] = word.bytes[3] + word.bytes[x[i] & 3];
    y[2 * n + i] = word.flags.low * 3 + word.flags.middle;
    word.flags.middle = -3;
    word.flags.high += 1;
    y[3 * n + i] = word.whole;
    float f;
    memcpy(&f, &x[i], sizeof f);
    y[4 * n + i] = f > 1.0f;
}

__device__ __noinline__ int summed(View view, const View* other, int i)
{
    return view[i] + 10 * (*other)[i];
}

extern "C" __global__ void structs_of_pointers(const int* x, int stride, int* y, const int* null, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    View view = {x, stride}, next = {x + 1, stride};
    y[i] = summed(view, &next, i) + (null ? *null : 1000);
}

// Records are copied whole: y Record[n] of x Record[n], turned round, one field changed.
extern "C" __global__ void records(const Record* x, Record* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Record record = x[n - 1 - i];
    record.values[i % 5] = -1;
    memset(&record.values[0], 0x11, sizeof(int));
    record.weight += record.tag;
    y[i] = record;
}

// A large table by value, indexed at run time.
struct Table {
    float cells[32];
};

extern "C" __global__ void by_value(const __grid_constant__ Table table, const int* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table.cells[x[i] & 31];
}
