// Lanes that read the same word of shared memory, or words that stand in each other's way.

// x, y [blocks * 128]: all read the word of one lane, another one in each turn
extern "C" __global__ void one_word(const float* x, float* y, int turns)
{
    __shared__ float words[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    words[t] = x[i];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < turns; ++k) sum += words[(blockIdx.x + k * 5) & 127];
    y[i] = sum;
}

// shift 0 .. 5: one word for 2^shift lanes
extern "C" __global__ void word_of_a_group(const float* x, float* y, int shift)
{
    __shared__ float words[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    words[t] = x[i];
    __syncthreads();
    y[i] = words[t >> shift];
}

// odd and even lanes each share a word; both words lie in one bank
extern "C" __global__ void two_words_of_a_bank(const float* x, float* y)
{
    __shared__ float words[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    words[t] = x[i];
    __syncthreads();
    y[i] = words[(t & 1) * 32 + (t >> 5)];
}

// lanes share five words in turn
extern "C" __global__ void words_in_turn(const int* x, int* y, int words_shared)
{
    __shared__ int words[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    words[t] = x[i];
    __syncthreads();
    y[i] = words[t % words_shared];
}

// all lanes read bytes of one word
extern "C" __global__ void bytes_of_a_word(const unsigned char* x, int* y)
{
    __shared__ unsigned char items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    y[i] = items[(t >> 5) * 4 + (t & 3)];
}

// one 16-byte item for 2^shift lanes
extern "C" __global__ void float4_of_a_group(const float4* x, float4* y, int shift)
{
    __shared__ float4 items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    y[i] = items[t >> shift];
}

// one 8-byte item for 2^shift lanes
extern "C" __global__ void double_of_a_group(const double* x, double* y, int shift)
{
    __shared__ double items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    y[i] = items[t >> shift];
}

// lanes share a few 16-byte items in turn
extern "C" __global__ void float4_in_turn(const float4* x, float4* y, int shared)
{
    __shared__ float4 items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    y[i] = items[t % shared];
}

// lanes share a few 8-byte items in turn
extern "C" __global__ void doubles_in_turn(const double* x, double* y, int shared)
{
    __shared__ double items[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    items[t] = x[i];
    __syncthreads();
    y[i] = items[t % shared];
}
