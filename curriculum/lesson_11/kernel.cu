// Lesson 11: the residual sum and the norm behind it, in one kernel.

// Task 5. For each row: residual += x, then y = residual / sqrt(mean(residual^2) + epsilon) * weight.
//
//   y         float[rows, hidden]   written
//   residual  float[rows, hidden]   read, and replaced by the sum
//   x         float[rows, hidden]   read
//   weight    float[hidden]         read
//             all four are given as float4, four floats that lie side by side
//   hidden    a multiple of 4, 4 .. 16,384
//   grid      one block for each row
//   block     a multiple of 32, up to 1024
//   shared    hidden * 4 bytes, to keep the row in
extern "C" __global__
void add_rms_norm(float4* y, float4* residual, const float4* x, const float4* weight, int hidden,
                  float epsilon)
{
    extern __shared__ float4 row[];  // [hidden / 4]
    __shared__ float sums[32];       // one for each warp of the block
    int quads = hidden / 4;
    // 64 bits: rows * hidden may pass 2^31 floats.
    y += (long long)blockIdx.x * quads;
    residual += (long long)blockIdx.x * quads;
    x += (long long)blockIdx.x * quads;
    // TASK 5: add, keep the sums in `row`, write them to residual, and square them on the way. A sum
    // over the block as in lesson 07, then the second half of the work, from `row`.
    // TODO: about 20 lines
}
