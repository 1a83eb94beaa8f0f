// What a warp finds out about all its lanes: votes, matches, reductions, masks.
//
//   x   int[n]
//   y   unsigned[..][n]   one row for each result

extern "C" __global__ void votes(const int* x, unsigned* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    int v = x[i];
    unsigned results[] = {
        mask, unsigned(__all_sync(mask, v > -5)), unsigned(__any_sync(mask, v > 5)),
        __ballot_sync(mask, v & 1), unsigned(__uni_sync(mask, v > 0)), __match_any_sync(mask, v),
        __match_any_sync(mask, static_cast<long long>(v) << 32 | 1), __activemask(),
        unsigned(__popc(__ballot_sync(mask, v > 0) & ((1u << threadIdx.x % 32) - 1))),
    };
    for (int k = 0; k < 9; ++k) y[k * n + i] = results[k];
    int same;
    y[9 * n + i] = __match_all_sync(mask, v / 100, &same);
    y[10 * n + i] = same;
    y[11 * n + i] = __match_all_sync(mask, 2.5 + v / 100, &same);
    y[12 * n + i] = same;
}

extern "C" __global__ void reductions(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    int v = x[i];
    unsigned u = v;
    int results[] = {
        __reduce_add_sync(mask, v), __reduce_min_sync(mask, v), __reduce_max_sync(mask, v),
        int(__reduce_add_sync(mask, u)), int(__reduce_min_sync(mask, u)),
        int(__reduce_max_sync(mask, u)), int(__reduce_and_sync(mask, u)),
        int(__reduce_or_sync(mask, u)), int(__reduce_xor_sync(mask, u)),
    };
    for (int k = 0; k < 9; ++k) y[k * n + i] = results[k];
}

// One lane of each group of equal keys adds for all of them.
extern "C" __global__ void aggregated_histogram(const int* keys, int* bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned here = __ballot_sync(~0u, i < n);
    if (i >= n) return;
    unsigned same = __match_any_sync(here, keys[i]);
    if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&bins[keys[i]], __popc(same));
}
