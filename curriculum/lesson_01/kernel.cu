// Lesson 01: every thread writes down who it is.
//
//   whoami   block, thread, lane, sm   int[blocks * threads]   one place per thread of the launch
//            grid    (blocks)
//            block   (threads)         1 .. 1024
//            shared  none
//
//   lanes    lane                      int[x][y][z]            lane[x][y][z]: thread (x, y, z)
//            grid    (1)
//            block   (x, y, z)         at most 1024 threads in all
//            shared  none
//
//   spin     started                   int[blocks]             the SM that ran each block
//            cycles                    how long each block keeps its SM
//            grid    (blocks)
//            block   (threads)
//            shared  none
//
//   chain    y                         float[blocks * threads]
//            steps                     times 32: multiply-adds of each thread, one after another
//            grid    (blocks)
//            block   (threads)
//            shared  none

// Two questions that only the hardware can answer.
__device__ int lane_of_this_thread()
{
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;                                  // 0 .. 31
}

__device__ int sm_of_this_block()
{
    int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;                                    // 0 .. SMs - 1
}

extern "C" __global__
void whoami(int* block, int* thread, int* lane, int* sm)
{
    int place = -1;                               // 0 .. blocks * threads - 1

    // TASK 1: this thread's place in the whole launch. All threads of the blocks before mine come
    // first, then the threads of my own block that are before me.
    // TODO: about 1 line

    if (place < 0) return;                        // a thread without a place writes nothing

    block[place] = blockIdx.x;
    thread[place] = threadIdx.x;
    lane[place] = lane_of_this_thread();
    sm[place] = sm_of_this_block();
}

extern "C" __global__
void lanes(int* lane)
{
    // The array is ordered by x, then y, then z. The hardware has an order of its own.
    int place = (threadIdx.x * blockDim.y + threadIdx.y) * blockDim.z + threadIdx.z;
    lane[place] = lane_of_this_thread();
}

extern "C" __global__
void spin(int* started, long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
    if (threadIdx.x == 0) started[blockIdx.x] = sm_of_this_block();
}

extern "C" __global__
void chain(float* y, int steps)
{
    float x = threadIdx.x * 1e-4f;                // creeps up to 0.5
    for (int step = 0; step < steps; step++) {
        for (int k = 0; k < 32; k++) {
            x = fmaf(x, x, 0.25f);                    // needs the x of the line above: a pure wait
        }
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
