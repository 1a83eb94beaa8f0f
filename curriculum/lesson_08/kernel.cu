// Lesson 08: a copy whose threads have ILP loads under way.

#ifndef ILP      // the command line of the compiler may say another
#define ILP 4    // loads that a thread has under way: 1, 2, 4 or 8
#endif

// Task 3. Copy x to y, four floats a load. A tile is ILP * blockDim.x float4; a thread's ILP float4 lie
// blockDim.x apart. The blocks of the grid take tile after tile, gridDim.x apart.
//
//   x       float[n]   read; begins at a multiple of 16 bytes
//   y       float[n]   written; begins at a multiple of 16 bytes, and is no part of x
//   n       0 .. 2^30, any number: up to three floats are left over behind the last float4
//   grid    any, of fewer than 2^27 threads
//   block   a multiple of 32
//   shared  any: not used, but asked for to make blocks rare
extern "C" __global__
void copy4(const float* x, float* y, int n)
{
    const float4* from = (const float4*)x;  // [quads]
    float4* to = (float4*)y;                // [quads]
    int quads = n / 4;
    // TASK 3: in each tile, make all ILP loads before the first store. Then the floats left over.
    // TODO: about 16 lines
}
