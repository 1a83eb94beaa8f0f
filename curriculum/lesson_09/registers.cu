// One instruction of the tensor cores on registers that the host has filled. Complete as it is.
//
//   a       unsigned[32, 4]   two halves each, the one with the lower index in the lower half
//   b       unsigned[32, 2]
//   c       float[32, 4]      the four sums of each lane
//   grid    (1)      block (32)
extern "C" __global__
void multiply_registers(const unsigned* a, const unsigned* b, float* c)
{
    a += 4 * threadIdx.x, b += 2 * threadIdx.x, c += 4 * threadIdx.x;
    float sum[4] = {};
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int r = 0; r < 4; r++) c[r] = sum[r];
}
