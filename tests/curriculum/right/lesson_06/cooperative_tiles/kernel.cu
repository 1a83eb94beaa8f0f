// A right answer of a third hand: cooperative groups name the warp and the block.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

struct Even { static __device__ unsigned step(unsigned v) { v *= 1664525u; v += 1013904223u; return v ^ v >> 16; } };
struct Odd { static __device__ unsigned step(unsigned v) { v *= 22695477u; v += 1u; return v ^ v >> 15; } };

template <class Arm>
__device__ void arm(const int* from, int* to, int trips)
{
    unsigned v = *from;
    for (int left = trips; left > 0; left--)
        v = Arm::step(v);
    *to = v;
}

__device__ int place()
{
    return cg::this_grid().block_rank() * cg::this_thread_block().size()
        + cg::this_thread_block().thread_rank();
}

__device__ cg::thread_block_tile<32> warp()
{
    return cg::tiled_partition<32>(cg::this_thread_block());
}

extern "C" __global__ void branch_parity(const int* x, int* y, int n, int trips)
{
    int at = place();
    if (at < n) {
        if (at % 2) arm<Odd>(x + at, y + at, trips);
        else arm<Even>(x + at, y + at, trips);
    }
}

extern "C" __global__ void branch_on(const int* condition, const int* x, int* y, int n,
                                     int odd_trips, int even_trips)
{
    int at = place();
    if (at < n) {
        if (condition[at]) arm<Odd>(x + at, y + at, odd_trips);
        else arm<Even>(x + at, y + at, even_trips);
    }
}

extern "C" __global__ void walk(const int* trips, int* y, int n)
{
    int at = place();
    if (at >= n) return;
    unsigned v = at;
    for (int left = trips[at]; left > 0; left--)
        v = Odd::step(v);
    y[at] = v;
}

extern "C" __global__ void branch_aligned(const int* x, int* y, int n, int trips)
{
    // the last warp takes the first elements: any order will do, as long as each comes once
    auto block = cg::this_thread_block();
    int pairs = block.size() / 2, back = block.size() - 1 - block.thread_rank();
    int at = (place() - block.thread_rank()) + (back < pairs ? 2 * back : 2 * (back - pairs) + 1);
    if (at < n) {
        if (back >= pairs) arm<Odd>(x + at, y + at, trips);
        else arm<Even>(x + at, y + at, trips);
    }
}

extern "C" __global__ void collatz_steps(const int* x, int* steps, int n, int cap)
{
    int at = place();
    if (at >= n) return;
    int left = cap;
    long long v = x[at];
    bool hopeless = v < 1;
    while (!hopeless && v != 1) {
        if (left-- == 0) {
            steps[at] = -2;
            return;
        }
        long long half = v / 2;
        v = v == 2 * half ? half : v + (v << 1) + 1;
    }
    steps[at] = hopeless ? -1 : cap - left;
}

extern "C" __global__ void vote_count(const int* x, int* counts, int n)
{
    auto tile = warp();
    int at = place(), value = at < n ? x[at] : 0;
    auto lanes = tile.ballot(0 < value);
    if (tile.thread_rank() == 0 && at < n)
        counts[at / tile.size()] = __popc(lanes);
}

extern "C" __global__ void broadcast_first(float* x, int n)
{
    int at = place();
    float value = 0;
    if (at < n) value = x[at];
    value = warp().shfl(value, 0);
    if (at < n) x[at] = value;
}

extern "C" __global__ void rotate_lanes(float* x, int n, int shift)
{
    auto tile = warp();
    int at = place(), rank = tile.thread_rank(), room = n - (at - rank);
    room = room > 32 ? 32 : room;
    float value = 0;
    int source = 0;
    if (rank < room) {
        value = x[at];
        source = shift % room;
        source += source < 0 ? room : 0;
        source += rank;
        source -= source >= room ? room : 0;
    }
    value = tile.shfl(value, source);
    if (rank < room) x[at] = value;
}

extern "C" __global__ void settle(const float* x, const int* rounds, float* y, int n, int most)
{
    extern __shared__ float now[];
    auto block = cg::this_thread_block();
    int rank = block.thread_rank(), at = place();
    int cells = min(n - (at - rank), int(block.size()));
    float own = 0;  // the cell lives in a register too
    int until = 0;
    if (rank < cells) {
        now[rank] = own = x[at];
        until = rounds[at];
    }
    for (int round = 0; round != most; ++round) {
        block.sync();
        if (round < until)
            own = (now[(rank + 1) % cells] + now[(rank + cells - 1) % cells]) * 0.5f;
        block.sync();
        if (rank < cells) now[rank] = own;
    }
    block.sync();
    if (rank < cells) y[at] = own - now[0];
}

extern "C" __global__ void warp_compact(const float* x, float* out, int* counts, int n)
{
    auto tile = warp();
    int at = place(), rank = tile.thread_rank();
    float value = at < n ? x[at] : 0.f;
    unsigned all = tile.ballot(value > 0), mine = 0;
    for (int lane = 0; lane < 32; lane++)
        mine += lane < rank ? all >> lane & 1 : 0;
    if (all >> rank & 1)
        out[at - rank + mine] = value;
    if (rank == 0 && at < n)
        counts[at / 32] = __popc(all);
}
