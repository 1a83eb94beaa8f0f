// Atomics of 16 and twice 16 bits, and those that are loops of compare and swap.
//
//   x      float[n]
//   cells  as each kernel says

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void atomics_half(const float* x, half* cells, int n)  // cells [4]
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&cells[0], __float2half(x[i]));
    atomicAdd(reinterpret_cast<half2*>(&cells[2]), __floats2half2_rn(x[i], -x[i]));
}

extern "C" __global__ void atomics_bfloat(const float* x, __nv_bfloat16* cells, int n)  // cells [4]
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&cells[0], __float2bfloat16(x[i]));
    atomicAdd(reinterpret_cast<__nv_bfloat162*>(&cells[2]), __floats2bfloat162_rn(x[i], -x[i]));
}

__device__ float atomic_max(float* cell, float value)
{
    int* words = reinterpret_cast<int*>(cell);
    int seen = *words;
    while (__int_as_float(seen) < value) {
        int assumed = seen;
        seen = atomicCAS(words, assumed, __float_as_int(value));
        if (seen == assumed) break;
    }
    return __int_as_float(seen);
}

// cells float[2]; shorts [2]: a compare and swap of 16 bits beside a neighbour that nobody touches.
extern "C" __global__ void loops_of_swaps(const float* x, float* cells, unsigned short* shorts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomic_max(&cells[0], x[i]);
    if (x[i] >= 0.0f) {
        atomicMax(reinterpret_cast<int*>(&cells[1]), __float_as_int(x[i]));
    } else {
        atomicMin(reinterpret_cast<unsigned*>(&cells[1]), __float_as_uint(x[i]));
    }
    unsigned short seen = shorts[0], assumed;
    do {
        assumed = seen;
        seen = atomicCAS(&shorts[0], assumed, static_cast<unsigned short>(assumed + 7));
    } while (seen != assumed);
}

// A lock that every thread takes once, for a sum that is no atomic.
extern "C" __global__ void behind_a_lock(const float* x, int* lock, float* sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *reinterpret_cast<volatile float*>(sum) += x[i];
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
