// Lesson 02: the same bytes from different places.
//
//   copy                 x     float[window]          read once for every row of y
//                        y     float[rows][window]    each row a copy of x
//                        grid  (ceil(window / blockDim.x), rows)
//                        block (threads)              shared none
//
//   read_window          x     float[window]          read `repeats` times, from a new start each
//                        sums  float[threads of the launch]
//                        shift                        how far the start moves, 0 .. window - 1
//                        grid  (blocks)               block (threads)   shared none
//
//   most_common_array    x     unsigned[n]            sixteen digits of two bits each
//   most_common_registers
//                        digit int[n]                 the digit, 0 .. 3, that x[i] has most often;
//                                                     the smallest of those, if several
//                        grid  (ceil(n / blockDim.x)) block (threads)   shared none

extern "C" __global__
void copy(const float* x, float* y, int window)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;    // 0 .. window - 1, and beyond in the last block
    long long row = blockIdx.y;                       // 0 .. rows - 1

    if (i < window) {
        // TASK 1: put element i of x into element i of this row of y. The rows of y lie one after
        // another, `window` elements each.
        // TODO: about 1 line
    }
}

extern "C" __global__
void read_window(const float* x, float* sums, int window, int repeats, int shift)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int start = 0;                                    // 0 .. window - 1
    float sum = 0.0f;

    for (int repeat = 0; repeat < repeats; repeat++) {
        for (int i = thread; i < window; i += 8 * threads) {
            float part[8];                            // eight loads under way, then eight sums
            for (int k = 0; k < 8; k++) {
                int at = i + k * threads;
                int from = at < window - start ? start + at : start + at - window;
                part[k] = at < window ? x[from] : 0.0f;
            }
            for (int k = 0; k < 8; k++) sum += part[k];
        }
        start = start < window - shift ? start + shift : start + shift - window;
    }
    sums[thread] = sum;
}

extern "C" __global__
void most_common_array(const unsigned* x, int* digit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    int seen[4] = {0, 0, 0, 0};
    for (unsigned k = 0, rest = x[i]; k < 16; k++, rest >>= 2) {
        seen[rest % 4] += 1;                          // which element? Known only at run time
    }

    int best = 0;
    for (int d = 1; d < 4; d++) {
        if (seen[d] > seen[best]) best = d;
    }
    digit[i] = best;
}

extern "C" __global__
void most_common_registers(const unsigned* x, int* digit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    int seen[4] = {0, 0, 0, 0};
    for (unsigned k = 0, rest = x[i]; k < 16; k++, rest >>= 2) {
        for (int d = 0; d < 4; d++) {
            seen[d] += rest % 4 == d;                 // d is 0, 1, 2, 3 once the loop is unrolled
        }
    }

    int best = 0, most = seen[0];
    for (int d = 1; d < 4; d++) {
        if (seen[d] > most) {
            best = d;
            most = seen[d];
        }
    }
    digit[i] = best;
}
