// Lesson 12: attention in one pass over keys and values, tile by tile.
//
//   q     float[H, Tq, d]    Tq queries of each head
//   k, v  float[KV, Tk, d]   query head h reads key head h / (H / KV)
//   o     float[H, Tq, d]    written
//   lse   float[H, Tq]       written: log of the sum of exp(score); a query that sees no key has
//                            -INFINITY here and zeros in o
//   d     1 .. D
//   grid  (ceil(Tq / BR), H): a block has the queries from BR * blockIdx.x on of head blockIdx.y
//   block (SIDE * SIDE)
//
// Query i stands at key i + Tk - Tq, also where that is below 0: the last query at the last key.

#define INFINITY __int_as_float(0x7f800000)

#ifndef BR
#define BR 16  // queries of a block, and keys of a tile: multiples of SIDE. 64 and 32 on a GPU
#define BC 16
#endif
#ifndef D
#define D 64   // the widest head, a multiple of SIDE
#endif
#define SIDE 16             // thread t has x = t % SIDE, y = t / SIDE, and
#define ROWS (BR / SIDE)    //   the queries y, y + SIDE, … of the block
#define KEYS (BC / SIDE)    //   their scores with the keys x, x + SIDE, … of a tile
#define COLUMNS (D / SIDE)  //   the columns x, x + SIDE, … of their results

struct Mask {
    int causal;     // 1: a query sees no key behind its own
    int window;     // > 0: of its own key and those before it, only this many
    int sinks;      //   and the first `sinks` keys of all
    float softcap;  // > 0: scores bend towards ± softcap
};

// May a query that stands at key `at` look at key j?
__device__ bool sees(int at, int j, const Mask& mask)
{
    bool seen = !mask.causal || j <= at;
    // TASK 8: the window, and the sinks that are seen beyond it
    // TODO: about 1 line
    return seen;
}

// What becomes of a score, already scaled.
__device__ float bent(float score, const Mask& mask)
{
    // TASK 8: softcap * tanh(score / softcap), if there is a softcap
    // TODO: about 1 line
    return score;
}

// Does no query of a block, whose first stands at key `at`, see any of the BC keys from `first` on?
// Called for tiles that begin before the last query's own key.
__device__ bool skipped(int at, int first, const Mask& mask)
{
    bool skip = false;
    // TASK 8: tiles that lie before every window and hold no sink
    // TODO: about 1 line
    return skip;
}

// Rows of d floats from global into shared memory, coalesced; zeros from row `count` and column d on.
template <int rows, int width>
__device__ void bring(float (&tile)[rows][width], const float* from, int count, int d)
{
    for (int i = threadIdx.x; i < rows * D; i += SIDE * SIDE) {
        int row = i / D, column = i % D;
        tile[row][column] = row < count && column < d ? from[row * d + column] : 0.0f;
    }
}

__device__ void attend(float* o, float* lse, const float* q, const float* k, const float* v, int H,
                       int KV, int Tq, int Tk, int d, float scale, const Mask& mask)
{
    __shared__ __align__(16) float q_tile[BR][D + 4], k_tile[BC][D + 4], v_tile[BC][D];
    __shared__ __align__(16) float weights[BR][BC + 4];
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    int head = blockIdx.y, first = blockIdx.x * BR;  // the block's first query
    int at = first + Tk - Tq;                        // the key at which that stands
    float m[ROWS], l[ROWS] = {}, sums[ROWS][COLUMNS] = {};  // l: of this thread's keys alone
    for (int i = 0; i < ROWS; i++) m[i] = -INFINITY;
    bring(q_tile, q + ((long long)head * Tq + first) * d, Tq - first, d);
    // TASK 3: for each tile of keys that any of these queries sees, and that is not `skipped`: bring
    // keys and values, score, fold the scores into m, l and sums. The 16 lanes of a query have its
    // scores between them, and share its weights. Where do barriers stand?
    // TODO: about 42 lines
    for (int i = 0; i < ROWS; i++) {
        for (int apart = SIDE / 2; apart > 0; apart /= 2)
            l[i] += __shfl_xor_sync(0xffffffff, l[i], apart);
        int query = first + y + SIDE * i;
        if (query >= Tq) continue;
        long long row = (long long)head * Tq + query;
        for (int c = 0; c < COLUMNS; c++)
            if (x + SIDE * c < d) o[row * d + x + SIDE * c] = l[i] == 0.0f ? 0.0f : sums[i][c] / l[i];
        if (x == 0) lse[row] = m[i] + logf(l[i]);
    }
}

extern "C" __global__ __launch_bounds__(SIDE * SIDE)
void flash_fwd(float* o, float* lse, const float* q, const float* k, const float* v, int H, int KV,
               int Tq, int Tk, int d, float scale, int causal)
{
    attend(o, lse, q, k, v, H, KV, Tq, Tk, d, scale, {causal, 0, 0, 0.0f});
}

// The same with the rest of the mask.
extern "C" __global__ __launch_bounds__(SIDE * SIDE)
void flash_fwd_masked(float* o, float* lse, const float* q, const float* k, const float* v, int H, int KV,
                      int Tq, int Tk, int d, float scale, int causal, int window, int sinks, float softcap)
{
    attend(o, lse, q, k, v, H, KV, Tq, Tk, d, scale, {causal, window, sinks, softcap});
}
