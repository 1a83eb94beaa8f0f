// Lesson 13: keys and values in blocks, written and found through tables.
//
// A cache is float[blocks, bs, KV, D]: `blocks` blocks of `bs` tokens, KV heads of D floats each. It
// may have more than 2^31 floats, so offsets into it are computed in 64 bits.
// D is a multiple of 4, 4 .. 128: lane i of a warp has the floats 4 i .. 4 i + 3 of a head, if any.

#ifndef GROUP
#define GROUP 1  // query heads on each key head; the host compiles paged_attn_shared for each one
#endif

#define INFINITY __int_as_float(0x7f800000)

constexpr int AT_ONCE = 4;  // tokens whose keys and values a warp has on their way together
constexpr int RUN = 16;     // tokens that a warp takes one behind the other, in dense_attn_decode
constexpr int WARPS = 8;    // of a block, at most
constexpr unsigned ALL = 0xffffffff;

// What a warp has seen of the tokens of one query: lesson 12's running softmax.
struct Seen {
    float most = -INFINITY;  // the largest score
    float sum = 0.0f;        // of exp(score - most)
    float4 mix = {};         // of exp(score - most) * value: the lane's four floats of it
};

__device__ int lane() { return threadIdx.x % 32; }
// The shuffle changes no value. It tells the compiler that all lanes have the same one, so that they
// stay together in a loop over warp(), and shuffles inside it need no detour.
__device__ int warp() { return __shfl_sync(ALL, threadIdx.x / 32, 0); }
__device__ int warps() { return blockDim.x / 32; }

// The lane's four floats of a head that begins at `head`; zeros beyond D.
__device__ float4 four(const float* head, int D)
{
    return 4 * lane() < D ? reinterpret_cast<const float4*>(head)[lane()] : float4{};
}

__device__ float4 query_of(const float* head, int D, float scale)
{
    float4 query = four(head, D);
    return {query.x * scale, query.y * scale, query.z * scale, query.w * scale};
}

// scores[t] = query · keys[t], the same in every lane. Side by side, so that the shuffles of one need
// not wait for those of another.
__device__ void dots(float (&scores)[AT_ONCE], float4 query, const float4 (&keys)[AT_ONCE])
{
    for (int t = 0; t < AT_ONCE; ++t)
        scores[t] = query.x * keys[t].x + query.y * keys[t].y + query.z * keys[t].z
                    + query.w * keys[t].w;
    for (int apart = 16; apart > 0; apart /= 2)
        for (int t = 0; t < AT_ONCE; ++t) scores[t] += __shfl_xor_sync(ALL, scores[t], apart);
}

// Ask for the first `count` of AT_ONCE tokens, whose heads begin `stride` floats apart; zeros for the
// others. Where all are there nothing is asked before a load, and all loads are under way together.
__device__ void fetch(float4 (&rows)[AT_ONCE], const float* head, int count, int stride, int D)
{
    if (count >= AT_ONCE) {
        for (int t = 0; t < AT_ONCE; ++t) rows[t] = four(head + t * stride, D);
        return;
    }
    bool mine = 4 * lane() < D;
    for (int t = 0; t < AT_ONCE; ++t) {
        rows[t] = float4{};
        if (mine && t < count) rows[t] = reinterpret_cast<const float4*>(head + t * stride)[lane()];
    }
}

// Task 5. Take the first `count` of AT_ONCE tokens into what has been seen; count >= 1.
__device__ void take_in(Seen& seen, float4 query, const float4 (&keys)[AT_ONCE],
                        const float4 (&values)[AT_ONCE], int count)
{
    // TASK 5: `dots` has the scores. The largest may be new: then what was seen so far shrinks by
    // exp(old - new), once for all of them. A token from `count` on has no weight, whatever its key.
    float scores[AT_ONCE], most = seen.most;
    dots(scores, query, keys);
    for (int t = 0; t < AT_ONCE; ++t) {
        if (t >= count) scores[t] = -INFINITY;
        most = fmaxf(most, scores[t]);
    }
    float shrink = expf(seen.most - most);
    seen.most = most;
    seen.sum *= shrink;
    float4 mix = {seen.mix.x * shrink, seen.mix.y * shrink, seen.mix.z * shrink, seen.mix.w * shrink};
    for (int t = 0; t < AT_ONCE; ++t) {
        float weight = expf(scores[t] - most);
        seen.sum += weight;
        mix.x += weight * values[t].x;
        mix.y += weight * values[t].y;
        mix.z += weight * values[t].z;
        mix.w += weight * values[t].w;
    }
    seen.mix = mix;
    // END TASK
}

// Look at `count` tokens that lie side by side. keys and values: the head's floats in the first.
__device__ void look(Seen& seen, float4 query, const float* keys, const float* values, int count,
                     int stride, int D)
{
    for (int first = 0; first < count; first += AT_ONCE) {
        float4 key[AT_ONCE], value[AT_ONCE];
        fetch(key, keys + first * stride, count - first, stride, D);
        fetch(value, values + first * stride, count - first, stride, D);
        take_in(seen, query, key, value, count - first);
    }
}

// Merge what all warps have seen, as in lesson 12, into out[D]; zeros if they have seen nothing.
// log, where there is one, gets the logarithm of the sum of exp(score).
__device__ void finish(float* out, float* log, Seen seen, int D)
{
    __shared__ float most[WARPS], sum[WARPS];
    __shared__ float4 mix[WARPS][32];
    int own = warp();
    if (lane() == 0) {
        most[own] = seen.most;
        sum[own] = seen.sum;
    }
    mix[own][lane()] = seen.mix;
    __syncthreads();
    float top = -INFINITY, whole = 0.0f;
    for (int w = 0; w < warps(); ++w) top = fmaxf(top, most[w]);
    for (int w = 0; w < warps(); ++w) whole += sum[w] == 0 ? 0.0f : sum[w] * expf(most[w] - top);
    for (int i = threadIdx.x; i < D; i += blockDim.x) {
        float total = 0.0f;
        for (int w = 0; w < warps(); ++w) {
            float part = reinterpret_cast<const float*>(mix[w])[i];
            total += sum[w] == 0 ? 0.0f : part * expf(most[w] - top);
        }
        out[i] = whole == 0 ? 0.0f : total / whole;
    }
    if (log && threadIdx.x == 0) *log = whole == 0 ? -INFINITY : top + logf(whole);
    __syncthreads();  // the next call writes to the same places
}

// Task 4. Put a token's keys and values into its slot of both caches.
//
//   kc, vc  float[blocks, bs, KV, D]  written where a slot says so
//   k, v    float[n, KV, D]           read
//   slots   int[n]                    block * bs + place in the block; negative: write nothing
//   grid    one block for each token, n of them
//   block   any
extern "C" __global__
void write_kv(float* kc, float* vc, const float* k, const float* v, const int* slots, int n, int KV,
              int D)
{
    // TASK 4: where does the token begin in k and v, and where in the caches? Four floats at a time.
    int slot = slots[blockIdx.x], quads = KV * D / 4;
    if (slot < 0) return;
    long long from = (long long)blockIdx.x * quads, to = (long long)slot * quads;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        reinterpret_cast<float4*>(kc)[to + i] = reinterpret_cast<const float4*>(k)[from + i];
        reinterpret_cast<float4*>(vc)[to + i] = reinterpret_cast<const float4*>(v)[from + i];
    }
    // END TASK
}

// Complete: one new token of each sequence over a cache without blocks, as in lesson 12.
//
//   out           float[B, H, D]            written
//   q             float[B, H, D]            read
//   keys, values  float[B, longest, KV, D]  read
//   lens          int[B]                    tokens of each sequence, 0 .. longest
//   scale         of the scores
//   grid          (H, B)
//   block         a multiple of 32, up to 256
extern "C" __global__
void dense_attn_decode(float* out, const float* q, const float* keys, const float* values,
                       const int* lens, int H, int KV, int D, int longest, float scale)
{
    int head = blockIdx.x, sequence = blockIdx.y, len = lens[sequence];
    long long row = ((long long)sequence * H + head) * D;
    float4 query = query_of(q + row, D, scale);
    Seen seen;
    int kv_head = head / (H / KV);
    for (int first = warp() * RUN; first < len; first += warps() * RUN) {
        long long token = (long long)sequence * longest + first;
        long long at = (token * KV + kv_head) * D;
        look(seen, query, keys + at, values + at, min(RUN, len - first), KV * D, D);
    }
    finish(out + row, nullptr, seen, D);
}

// Task 5. The same over a cache in blocks.
//
//   out, q   float[B, H, D]            written; read
//   kc, vc   float[blocks, bs, KV, D]  read where a table says so
//   tables   int[B, max_blocks]        tables[b][i] is the block that holds the tokens i * bs and on
//                                      of sequence b; what stands behind its last block means nothing
//   lens     int[B]                    tokens of each sequence, 0 .. max_blocks * bs; 0: out is 0
//   scale    of the scores
//   grid     (H, B); query head h reads key head h / (H / KV)
//   block    a multiple of 32, up to 256
extern "C" __global__
void paged_attn_decode(float* out, const float* q, const float* kc, const float* vc,
                       const int* tables, const int* lens, int H, int KV, int D, int bs,
                       int max_blocks, float scale)
{
    int head = blockIdx.x, sequence = blockIdx.y;
    long long row = ((long long)sequence * H + head) * D;
    float4 query = query_of(q + row, D, scale);
    Seen seen;
    // TASK 5: each warp takes blocks of the table, one behind the other, and reads an entry once. Of
    // the last block only the tokens that are there.
    int kv_head = head / (H / KV), len = lens[sequence];
    const int* table = tables + (long long)sequence * max_blocks;
    for (int i = warp(); i * bs < len; i += warps()) {
        long long token = (long long)table[i] * bs;
        long long at = (token * KV + kv_head) * D;
        look(seen, query, kc + at, vc + at, min(bs, len - i * bs), KV * D, D);
    }
    // END TASK
    finish(out + row, nullptr, seen, D);
}

// Task 7. The same, with GROUP query heads in a block: a key and a value are read once for all of
// them. And in parts, so that few long sequences keep a large GPU busy.
//
//   mixed      float[parts, B, KV * GROUP, D]  written: what each part alone would answer
//   logs       float[parts, B, KV * GROUP]     written: logarithms of its sum of exp(score)
//   grid       (KV, B, parts): part p takes blocks p, p + parts, p + 2 parts, … of the table
//   all else   as above
extern "C" __global__
void paged_attn_shared(float* mixed, float* logs, const float* q, const float* kc, const float* vc,
                       const int* tables, const int* lens, int KV, int D, int bs, int max_blocks,
                       float scale)
{
    int kv_head = blockIdx.x, sequence = blockIdx.y, part = blockIdx.z, parts = gridDim.z;
    int head = (sequence * KV + kv_head) * GROUP;  // the first one, counted over all sequences
    Seen seen[GROUP];
    // TASK 7: GROUP queries in registers. For each AT_ONCE tokens: fetch once, take_in for each query.
    float4 query[GROUP];
    for (int g = 0; g < GROUP; ++g) query[g] = query_of(q + (long long)(head + g) * D, D, scale);
    int len = lens[sequence];
    const int* table = tables + (long long)sequence * max_blocks;
    for (int i = part + warp() * parts; i * bs < len; i += warps() * parts) {
        long long at = ((long long)table[i] * bs * KV + kv_head) * D;
        int count = min(bs, len - i * bs);
        for (int first = 0; first < count; first += AT_ONCE) {
            float4 keys[AT_ONCE], values[AT_ONCE];
            fetch(keys, kc + at + first * KV * D, count - first, KV * D, D);
            fetch(values, vc + at + first * KV * D, count - first, KV * D, D);
            for (int g = 0; g < GROUP; ++g) take_in(seen[g], query[g], keys, values, count - first);
        }
    }
    // END TASK
    #pragma unroll
    for (int g = 0; g < GROUP; ++g) {
        long long row = (long long)part * gridDim.y * KV * GROUP + head + g;
        finish(mixed + row * D, logs + row, seen[g], D);
    }
}

// How much a part counts beside the largest one; one that has seen nothing, not at all.
__device__ float share(float log, float top) { return log == -INFINITY ? 0.0f : expf(log - top); }

// Complete: the answer from those of all parts, weighed by their sums.
//
//   out    float[rows, D]         written
//   mixed  float[parts, rows, D]  read
//   logs   float[parts, rows]     read
//   grid   one block for each row
//   block  any
extern "C" __global__
void merge_parts(float* out, const float* mixed, const float* logs, int parts, int rows, int D)
{
    int row = blockIdx.x;
    float top = -INFINITY, whole = 0.0f;
    for (int p = 0; p < parts; ++p) top = fmaxf(top, logs[p * rows + row]);
    for (int p = 0; p < parts; ++p) whole += share(logs[p * rows + row], top);
    for (int i = threadIdx.x; i < D; i += blockDim.x) {
        float total = 0.0f;
        for (int p = 0; p < parts; ++p) {
            float part = mixed[((long long)p * rows + row) * D + i];
            total += share(logs[p * rows + row], top) * part;
        }
        out[(long long)row * D + i] = whole == 0 ? 0.0f : total / whole;
    }
}
