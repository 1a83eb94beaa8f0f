// Lesson 12, task 4: one query of each head over many keys, the keys split among blocks.
//
//   q     float[B, H, d]       one token of each of B sequences
//   k, v  float[B, KV, S, d]   room for S keys; the first lens[b] of sequence b are there
//   lens  int[B]               0 .. S
//   d     a multiple of 4, 4 .. 128; rows are given as float4, four floats that lie side by side
//
// GROUP = H / KV query heads, h = GROUP * kv .. GROUP * kv + GROUP - 1, read key head kv: together.

#define INFINITY __int_as_float(0x7f800000)

#ifndef GROUP
#define GROUP 4
#endif
#define WARPS 8
#define BATCH 4  // keys that a warp loads before it looks at the first

__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__device__ float4 times(float a, float4 b) { return make_float4(a * b.x, a * b.y, a * b.z, a * b.w); }

__device__ void add(float4& sum, float a, float4 b)  // sum += a b
{
    sum.x += a * b.x, sum.y += a * b.y, sum.z += a * b.z, sum.w += a * b.w;
}

// Keys chunk * s .. of split s = blockIdx.x, for the GROUP heads of key head blockIdx.y in sequence
// blockIdx.z. A split without keys writes zeros and -INFINITY.
//
//   part_o    float[B, H, splits, d]   each split's own result, divided by its own sum
//   part_lse  float[B, H, splits]
//   grid      (splits, KV, B)
//   block     (32 * WARPS): warp w takes the keys BATCH * w .. of every BATCH * WARPS; a lane has a
//             float4 of each row, lanes from d / 4 on nothing
extern "C" __global__ __launch_bounds__(32 * WARPS)
void flash_decode(float4* part_o, float* part_lse, const float4* q, const float4* k, const float4* v,
                  const int* lens, int S, int d, int chunk, float scale)
{
    __shared__ float tops[WARPS][GROUP], totals[WARPS][GROUP];
    __shared__ float4 results[WARPS][GROUP][32];
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quads = d / 4;
    int kv = blockIdx.z * gridDim.y + blockIdx.y;  // the key head, counted through all sequences
    int begin = blockIdx.x * chunk, end = min(lens[blockIdx.z], begin + chunk);
    k += (long long)kv * S * quads;
    v += (long long)kv * S * quads;
    float m[GROUP], l[GROUP];
    float4 query[GROUP], sums[GROUP];
    for (int g = 0; g < GROUP; g++) {
        query[g] = lane < quads ? times(scale, q[(kv * GROUP + g) * quads + lane]) : zero;
        m[g] = -INFINITY, l[g] = 0.0f, sums[g] = zero;
    }
    // TASK 4: for each BATCH of this warp's keys: load their rows once; for each head the scores,
    // summed over the lanes, and one step of the running softmax. Rows from `end` on do not count.
    // TODO: about 25 lines
    for (int g = 0; g < GROUP; g++) {
        results[warp][g][lane] = sums[g];
        if (lane == 0) tops[warp][g] = m[g], totals[warp][g] = l[g];
    }
    __syncthreads();
    // Supplied: the WARPS states of each head become one, and are stored; a thread for each float4.
    for (int i = threadIdx.x; i < GROUP * quads; i += 32 * WARPS) {
        int g = i / quads, column = i % quads;
        float top = -INFINITY, total = 0.0f;
        float4 sum = zero;
        for (int w = 0; w < WARPS; w++) top = fmaxf(top, tops[w][g]);
        for (int w = 0; w < WARPS && top > -INFINITY; w++) {
            float weight = expf(tops[w][g] - top);
            total += weight * totals[w][g];
            add(sum, weight, results[w][g][column]);
        }
        int part = (kv * GROUP + g) * gridDim.x + blockIdx.x;
        part_o[(long long)part * quads + column] = total == 0.0f ? zero : times(1.0f / total, sum);
        if (column == 0) part_lse[part] = top + logf(total);
    }
}

// The splits of each head as one result; splits that saw no key have no weight.
//
//   o       float[B, H, d]
//   grid    (B * H)
//   block   (32)
extern "C" __global__ __launch_bounds__(32)
void merge_splits(float4* o, const float4* part_o, const float* part_lse, int splits, int d)
{
    int lane = threadIdx.x, quads = d / 4;
    part_o += (long long)blockIdx.x * splits * quads;
    part_lse += (long long)blockIdx.x * splits;
    // TASK 4: the largest of all part_lse; then the weighed mean of the parts, in order
    // TODO: about 11 lines
}
