// Lesson 06: lanes that part, lanes that wait, and lanes that talk.
//
//   grid    ceil(n / threads of a block), one-dimensional
//   block   a multiple of 32 threads; what else is asked stands above each kernel
//   shared  none, except settle

#define EVERY_LANE 0xffffffffu  // a mask with a bit for each of the 32 lanes of a warp

// Supplied: the two arms of a branch. Both scramble a number `trips` times, as random number
// generators do.
__device__ unsigned even_arm(unsigned v, int trips)
{
    for (int k = 0; k < trips; k++) {
        v = v * 1664525u + 1013904223u;
        v ^= v >> 16;
    }
    return v;
}

__device__ unsigned odd_arm(unsigned v, int trips)
{
    for (int k = 0; k < trips; k++) {
        v = v * 22695477u + 1u;
        v ^= v >> 15;
    }
    return v;
}

// Supplied. y[i] is x[i] after the odd arm where i is odd, after the even arm elsewhere: in every
// warp both arms are wanted.
//
//   x       int[n]   read
//   y       int[n]   written
//   trips   0 ..
extern "C" __global__
void branch_parity(const int* x, int* y, int n, int trips)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (threadIdx.x % 2 == 1)
        y[i] = odd_arm(x[i], trips);
    else
        y[i] = even_arm(x[i], trips);
}

// Supplied. The same with a condition of any pattern.
//
//   condition   int[n]   the odd arm where it is not 0
extern "C" __global__
void branch_on(const int* condition, const int* x, int* y, int n, int odd_trips, int even_trips)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (condition[i] != 0)
        y[i] = odd_arm(x[i], odd_trips);
    else
        y[i] = even_arm(x[i], even_trips);
}

// Supplied. A loop of as many trips as the element says.
//
//   trips   int[n]   0 ..
//   y       int[n]   written
extern "C" __global__
void walk(const int* trips, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = odd_arm(i, trips[i]);
}

// Task 1. y is exactly what branch_parity makes of x. The grid is the same, and each element is
// somebody's; but no warp needs both arms.
//
//   x, y    int[n]   read, written
//   block   a multiple of 64
extern "C" __global__
void branch_aligned(const int* x, int* y, int n, int trips)
{
    int t = threadIdx.x;  // 0 .. blockDim.x - 1
    // TASK 1: let one half of the block's warps take the odd arm, the other half the even one.
    // Then find which element of the block this thread takes.
    // TODO: about 9 lines
}

// Task 2. Halve an even number, make 3 v + 1 of an odd one: how many steps until it is 1?
//
//   x       int[n]   read, any value
//   steps   int[n]   the number of steps; -1 where x is 0 or less; -2 where cap steps do not do
//   cap     0 ..
extern "C" __global__
void collatz_steps(const int* x, int* steps, int n, int cap)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TASK 2: one loop, one step a trip. Below 2^31 a start may rise above 7 * 10^18 on its way.
    // TODO: about 9 lines
}

// Task 3. How many of each 32 elements are above 0? One vote of the warp, no memory in between.
//
//   x       int[n]               read
//   counts  int[ceil(n / 32)]    written
extern "C" __global__
void vote_count(const int* x, int* counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TASK 3: all 32 lanes vote, also those without an element; one lane writes, if any has one
    // TODO: about 2 lines
}

// Task 4. In place: each element becomes the first one of its warp.
//
//   x       float[n]   read and written
//   block   (threads) or (columns, rows)
extern "C" __global__
void broadcast_first(float* x, int n)
{
    int t = threadIdx.y * blockDim.x + threadIdx.x;        // as the hardware counts threads
    int i = blockIdx.x * blockDim.x * blockDim.y + t;
    // TASK 4: read, shuffle with all 32 lanes, write
    // TODO: about 3 lines
}

// Task 4. In place: the m elements of a warp move round in a ring. Lane k gets the element of lane
// k + shift, counted modulo m. m is 32, but less in the last warp.
//
//   x       float[n]   read and written
//   shift   any int, negative too
//   block   (threads) or (columns, rows)
extern "C" __global__
void rotate_lanes(float* x, int n, int shift)
{
    int t = threadIdx.y * blockDim.x + threadIdx.x;        // as the hardware counts threads
    int i = blockIdx.x * blockDim.x * blockDim.y + t;
    // TASK 4: find the lane, m, and the lane to read from; % of a negative number is not positive
    // TODO: about 6 lines
}

// Task 5. A block holds its m elements as a ring. In round r = 0, 1, 2, … each element with
// rounds[i] > r becomes the mean of its two neighbours, all of them at once; the others rest. In the
// end y is each element less the first one of its block.
//
//   x       float[n]   read
//   rounds  int[n]     read, 0 .. most
//   y       float[n]   written
//   m       blockDim.x, but less in the last block: 1 ..
//   shared  blockDim.x floats
extern "C" __global__
void settle(const float* x, const int* rounds, float* y, int n, int most)
{
    extern __shared__ float ring[];                        // [blockDim.x]
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int m = min((int)blockDim.x, n - (i - t));             // elements of this block
    int left = (t + m - 1) % m, right = (t + 1) % m;       // the neighbours, if t < m
    // TASK 5: every thread of the block, also one that rests or has no element, comes to every barrier
    // TODO: about 10 lines
}

// Task 7 (stretch). Each warp moves its elements above 0 to the front of its own 32 places, in
// order, and says how many there are. The places behind them keep what they held.
//
//   x       float[n]             read; NaN is not above 0
//   out     float[n]             partly written
//   counts  int[ceil(n / 32)]    written
extern "C" __global__
void warp_compact(const float* x, float* out, int* counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    // TASK 7: a vote tells each lane how many lanes before it keep their element
    // TODO: about 5 lines
}
