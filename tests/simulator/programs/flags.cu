// Handing data on by a flag: volatile words and fences.
// A fence stands before the flag is raised, and another after it was seen.

// One thread writes, raises a flag; a thread of another block waits for it and reads.
extern "C" __global__ void a_flag_between_blocks(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        flag[0] = 1;
    } else {
        while (flag[0] == 0);
        __threadfence();
        y[0] = data[0];
    }
}

// The flag may be seen before the data.
extern "C" __global__ void no_fence_before_the_flag(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        flag[0] = 1;
    } else {
        while (flag[0] == 0);
        __threadfence();
        y[0] = data[0]; // second
    }
}

// The data may be read before the flag.
extern "C" __global__ void no_fence_after_the_flag(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        __threadfence();
        flag[0] = 1;
    } else {
        while (flag[0] == 0);
        y[0] = data[0]; // second
    }
}

// A fence for the block orders nothing that another block sees.
extern "C" __global__ void a_fence_of_the_block_between_blocks(volatile int* flag, int* data,
                                                               int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42; // first
        __threadfence_block();
        flag[0] = 1;
    } else {
        while (flag[0] == 0);
        __threadfence_block();
        y[0] = data[0]; // second
    }
}

// A plain word is no flag: the compiler may keep it in a register.
extern "C" __global__ void a_plain_flag(int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        flag[0] = 1; // first
    } else if (flag[0] != 0) { // second
        __threadfence();
        y[0] = 1;
    }
}

// One side is volatile, the other is not.
extern "C" __global__ void a_flag_volatile_on_one_side(int* flag, int* y)
{
    if (blockIdx.x == 0)
        *static_cast<volatile int*>(flag) = 1; // first
    else if (flag[0] != 0) // second
        y[0] = 1;
}

// What is written after the flag was raised is not handed on.
extern "C" __global__ void written_after_the_flag(volatile int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        flag[0] = 1;
        data[1] = 43; // first
    } else {
        while (flag[0] == 0);
        __threadfence();
        y[0] = data[0] + data[1]; // second
    }
}

// A whole block hands on to a whole block: barriers on both sides of the flag.
extern "C" __global__ void a_flag_and_barriers(volatile int* flag, int* data, int* y)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 10 * t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            flag[0] = 1;
        }
    } else {
        if (t == 0) {
            while (flag[0] == 0);
            __threadfence();
        }
        __syncthreads();
        y[t] = data[63 - t];
    }
}

// Each thread has its own fence, and one raises the flag behind a barrier.
extern "C" __global__ void a_fence_of_each_thread(volatile int* flag, int* data, int* y)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 10 * t;
        __threadfence();
        __syncthreads();
        if (t == 0) flag[0] = 1;
    } else {
        if (t == 0) while (flag[0] == 0);
        __syncthreads();
        __threadfence();
        y[t] = data[63 - t];
    }
}

// The flag is raised before the others of the block have written.
extern "C" __global__ void no_barrier_before_the_flag(volatile int* flag, int* data, int* y)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 10 * t; // first
        if (t == 0) {
            __threadfence();
            flag[0] = 1;
        }
    } else {
        if (t == 0) {
            while (flag[0] == 0);
            __threadfence();
        }
        __syncthreads();
        y[t] = data[63 - t]; // second
    }
}

// One thread waits for the flag, and the others do not wait for it.
extern "C" __global__ void no_barrier_after_the_flag(volatile int* flag, int* data, int* y)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 10 * t; // first
        __syncthreads();
        if (t == 0) {
            __threadfence();
            flag[0] = 1;
        }
    } else {
        if (t == 0) {
            while (flag[0] == 0);
            __threadfence();
        }
        y[t] = data[63 - t]; // second
    }
}

// A flag in shared memory between two warps: a fence for the block is enough.
extern "C" __global__ void a_flag_between_warps(const int* x, int* y)
{
    __shared__ int data, raised;
    volatile int* flag = &raised;
    if (threadIdx.x == 0) raised = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = x[0];
        __threadfence_block();
        flag[0] = 1;
    } else if (threadIdx.x == 32) {
        while (flag[0] == 0);
        __threadfence_block();
        y[0] = data;
    }
}

// A flag in shared memory between two warps, and no fence.
extern "C" __global__ void a_flag_between_warps_without_fences(const int* x, int* y)
{
    __shared__ int data, raised;
    volatile int* flag = &raised;
    if (threadIdx.x == 0) raised = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = x[0]; // first
        flag[0] = 1;
    } else if (threadIdx.x == 32) {
        while (flag[0] == 0);
        y[0] = data; // second
    }
}

// Atomics raise the flag and look at it; the fences are the same.
extern "C" __global__ void a_flag_raised_by_an_exchange(int* flag, int* data, int* y)
{
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0);
        __threadfence();
        y[0] = data[0];
    }
}
