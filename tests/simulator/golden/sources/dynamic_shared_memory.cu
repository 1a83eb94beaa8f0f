// Shared memory sized by the launch, cut into several arrays of different types.
//
//   x      float[blocks][blockDim.x]
//   means  double[blocks]
//   ranks  unsigned char[blocks][blockDim.x]

struct alignas(16) Pair {
    float value;
    int index;
};

extern __shared__ double workspace[];  // double[w], Pair[w], unsigned char[w], w = blockDim.x

extern "C" __global__ void several_arrays(const float* x, double* means, int* largest,
                                          unsigned char* ranks)
{
    __shared__ int before;  // static memory in front of it
    int w = blockDim.x, t = threadIdx.x, i = blockIdx.x * w + t;
    double* sums = workspace;
    Pair* pairs = reinterpret_cast<Pair*>(workspace + (w + 1) / 2 * 2);
    unsigned char* own_ranks = reinterpret_cast<unsigned char*>(pairs + w);
    sums[t] = x[i];
    pairs[t] = Pair{x[i], t};
    if (t == 0) before = blockIdx.x;
    __syncthreads();
    int rank = 0;
    for (int k = 0; k < w; ++k) rank += pairs[k].value < x[i] || (pairs[k].value == x[i] && k < t);
    own_ranks[t] = static_cast<unsigned char>(rank);
    __syncthreads();
    if (t == 0) {
        double sum = 0.0;
        Pair best = pairs[0];
        for (int k = 0; k < w; ++k) {
            sum += sums[k];
            if (pairs[k].value > best.value) best = pairs[k];
        }
        means[before] = sum / w;
        largest[before] = best.index;
    }
    ranks[i] = own_ranks[w - 1 - t];
}
