// Copies from global into shared memory that go on by themselves (cp.async), and what waits for them.
//
// A copy of 4, 8 or 16 bytes a lane passes through the L1 cache (.ca), one of 16 may go around it
// (.cg). Blocks have 128 threads where nothing else is said.

#include <cuda_pipeline.h>

__device__ unsigned shared_address(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

template <int bytes>
__device__ void copy(void* to, const void* from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :: "r"(shared_address(to)), "l"(from), "n"(bytes) : "memory");
}

// The first `valid` bytes come from global memory, the others are zero.
template <int bytes>
__device__ void copy_or_zero(void* to, const void* from, int valid)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :: "r"(shared_address(to)), "l"(from), "n"(bytes), "r"(valid) : "memory");
}

__device__ void copy_around_l1(void* to, const void* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(shared_address(to)), "l"(from) : "memory");
}

__device__ void copy_around_l1_or_zero(void* to, const void* from, int valid)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(to)), "l"(from), "r"(valid) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int groups>
__device__ void wait_until_left() { asm volatile("cp.async.wait_group %0;" :: "n"(groups) : "memory"); }

__device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// x [step * n], y [n]: a lane's element is `step` elements behind its neighbour's in global memory
extern "C" __global__ void copies_of_4(const float* x, float* y, int step)
{
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<4>(&tile[t], &x[i * step]);
    wait_all();
    __syncthreads();
    y[i] = tile[t ^ 1];
}

extern "C" __global__ void copies_of_8(const float2* x, float2* y, int step)
{
    __shared__ float2 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<8>(&tile[t], &x[i * step]);
    wait_all();
    __syncthreads();
    y[i] = tile[t ^ 1];
}

extern "C" __global__ void copies_of_16(const float4* x, float4* y, int step)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<16>(&tile[t], &x[i * step]);
    wait_all();
    __syncthreads();
    y[i] = tile[t ^ 1];
}

extern "C" __global__ void copies_of_16_around_l1(const float4* x, float4* y, int step)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_around_l1(&tile[t], &x[i * step]);
    wait_all();
    __syncthreads();
    y[i] = tile[t ^ 1];
}

// x [n], place [n] into x, y [n]
extern "C" __global__ void gathered_copies_of_4(const float* x, const int* place, float* y)
{
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<4>(&tile[t], &x[place[i]]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void gathered_copies_of_16(const float4* x, const int* place, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_around_l1(&tile[t], &x[place[i]]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

// Lanes write `step` elements apart in shared memory: 128 * step + 31 elements of it.
extern "C" __global__ void copies_of_4_into_banks(const float* x, float* y, int step)
{
    extern __shared__ float words[];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<4>(&words[t * step], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = words[(t ^ 1) * step];
}

extern "C" __global__ void copies_of_8_into_banks(const float2* x, float2* y, int step)
{
    extern __shared__ float2 pairs[];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<8>(&pairs[t * step], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = pairs[(t ^ 1) * step];
}

extern "C" __global__ void copies_of_16_into_banks(const float4* x, float4* y, int step)
{
    extern __shared__ float4 fours[];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_around_l1(&fours[t * step], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = fours[(t ^ 1) * step];
}

// place [n]: a permutation of each 128, into shared memory
extern "C" __global__ void scattered_copies_of_4(const float* x, const int* place, float* y)
{
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<4>(&tile[place[i]], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void scattered_copies_of_8(const float2* x, const int* place, float2* y)
{
    __shared__ float2 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<8>(&tile[place[i]], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void scattered_copies_of_16(const float4* x, const int* place, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<16>(&tile[place[i]], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void scattered_copies_of_16_around_l1(const float4* x, const int* place, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_around_l1(&tile[place[i]], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

// from [n] into x, to [n]: a permutation of each 128. Banks are in each other's way on both sides.
extern "C" __global__ void rearranged_copies_of_4(const float* x, const int* from, const int* to, float* y)
{
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<4>(&tile[to[i]], &x[from[i]]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void rearranged_copies_of_8(const float2* x, const int* from, const int* to, float2* y)
{
    __shared__ float2 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<8>(&tile[to[i]], &x[from[i]]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void rearranged_copies_of_16(const float4* x, const int* from, const int* to, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy<16>(&tile[to[i]], &x[from[i]]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

extern "C" __global__ void rearranged_copies_of_16_around_l1(const float4* x, const int* from, const int* to, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_around_l1(&tile[to[i]], &x[from[i]]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

// Two lanes side by side copy a sector of 32 bytes; `to` [n / 2] is a permutation of each 64, and
// `swapped` 1 exchanges the halves.
extern "C" __global__ void sectors_around_l1(const float4* x, const int* to, float4* y, int swapped)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_around_l1(&tile[2 * to[i / 2] + ((i ^ swapped) & 1)], &x[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

// x [n], y [blocks * 128] elements of 4, 8 and 16 bytes: past n there are zeros
extern "C" __global__ void tail_of_4(const float* x, float* y, int n)
{
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_or_zero<4>(&tile[t], &x[i < n ? i : 0], i < n ? 4 : 0);
    wait_all();
    __syncthreads();
    y[i] = tile[t ^ 1];
}

extern "C" __global__ void tail_of_8(const float* x, float2* y, int n)
{
    __shared__ float2 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, left = min(max(n - 2 * i, 0), 2);
    copy_or_zero<8>(&tile[t], &x[left ? 2 * i : 0], 4 * left);
    wait_all();
    __syncthreads();
    y[i] = tile[t ^ 1];
}

extern "C" __global__ void tail_of_16(const float* x, float4* y, int n)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, left = min(max(n - 4 * i, 0), 4);
    copy_around_l1_or_zero(&tile[t], &x[left ? 4 * i : 0], 4 * left);
    wait_all();
    __syncthreads();
    y[i] = tile[t ^ 1];
}

// x [4 * n], valid [n] bytes, y [4 * n]: whatever number of bytes, also none, in each lane
extern "C" __global__ void pieces_of_16(const float* x, const int* valid, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    copy_or_zero<16>(&tile[t], &x[4 * i], valid[i]);
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

// x [n], ignored [n], y [n]: a lane that ignores its source gets zero
extern "C" __global__ void ignored_sources(const float4* x, const int* ignored, float4* y)
{
    __shared__ float4 tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    asm volatile("{.reg .pred p;\n setp.ne.s32 p, %2, 0;\n"
                 " cp.async.cg.shared.global [%0], [%1], 16, p;}"
                 :: "r"(shared_address(&tile[t])), "l"(&x[i]), "r"(ignored[i]) : "memory");
    wait_all();
    __syncthreads();
    y[i] = tile[t];
}

#include "async_copies_whole.cuh"
