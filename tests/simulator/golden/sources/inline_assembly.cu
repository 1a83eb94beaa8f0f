// Inline assembly: scopes, predicates, labels, and instructions that no intrinsic gives.
//
//   x   unsigned[n]
//   y   unsigned[..][n]   one row for each result

// Each call has a register `t` and a label of its own, in braces.
__device__ unsigned collatz(unsigned v)
{
    unsigned steps;
    asm("{\n\t"
        ".reg .u32 t, odd;\n\t"
        ".reg .pred p, q;\n\t"
        "mov.u32 t, %1;\n\t"
        "mov.u32 %0, 0;\n\t"
        "AGAIN:\n\t"
        "setp.le.u32 p, t, 1;\n\t"
        "@p bra DONE;\n\t"
        "and.b32 odd, t, 1; setp.eq.u32 q, odd, 1;\n\t"
        "@q mad.lo.u32 t, t, 3, 1; @!q shr.u32 t, t, 1;\n\t"
        "add.u32 %0, %0, 1;\n\t"
        "bra AGAIN;\n\t"
        "DONE:\n\t"
        "}"
        : "=r"(steps)
        : "r"(v));
    return steps;
}

extern "C" __global__ void scopes(const unsigned* x, unsigned* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i], a, b, c;
    asm("{ .reg .u32 t; add.u32 t, %1, 7; { .reg .u32 t; mov.u32 t, 5; xor.b32 %0, %1, t; } "
        "mad.lo.u32 %0, %0, 2, t; }"
        : "=r"(a)
        : "r"(v));
    asm volatile("{.reg .pred p;setp.gt.u32 p,%1,100;@p mov.u32 %0,1;@!p mov.u32 %0,2;}"
                 : "=r"(b)
                 : "r"(v));
    asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(c) : "r"(v));
    y[i] = a;
    y[n + i] = b;
    y[2 * n + i] = c;
    y[3 * n + i] = collatz(v % 50) + 100 * collatz(v % 9);
}

extern "C" __global__ void instructions(const unsigned* x, unsigned* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i], w = x[n - 1 - i];
    unsigned r[12];
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(r[0]) : "r"(v), "r"(w), "r"(v >> 3));
    asm("bfe.u32 %0, %1, 5, 9;" : "=r"(r[1]) : "r"(v));
    asm("bfe.s32 %0, %1, %2, 6;" : "=r"(r[2]) : "r"(v), "r"(w & 31));
    asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(r[3]) : "r"(v), "r"(w));
    asm("bfind.u32 %0, %1;" : "=r"(r[4]) : "r"(v));
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r[5]) : "r"(v), "r"(w), "r"(w & 3));
    asm("sad.u32 %0, %1, %2, 100;" : "=r"(r[6]) : "r"(v), "r"(w));
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r[7]) : "r"(v), "r"(w), "r"(int(v)));
    asm("set.lt.u32.u32 %0, %1, %2;" : "=r"(r[8]) : "r"(v), "r"(w));
    asm("{ .reg .pred p, q; setp.gt.u32 q, %1, 9; setp.lt.and.u32 p|q, %1, %2, q; selp.u32 %0, 3, 4, q; }"
        : "=r"(r[9]) : "r"(v), "r"(w));
    asm("cnot.b32 %0, %1;" : "=r"(r[10]) : "r"(v & 1));
    asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r[11]) : "r"(v), "r"(w));
    for (int k = 0; k < 12; ++k) y[k * n + i] = r[k];
}

// Who am I, from the special registers.
extern "C" __global__ void special_registers(unsigned* y)
{
    unsigned r[11];
    asm("mov.u32 %0, %%laneid;" : "=r"(r[0]));
    asm("mov.u32 %0, %%warpid;" : "=r"(r[1]));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r[2]));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(r[3]));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(r[4]));
    asm("mov.u32 %0, %%tid.y;" : "=r"(r[5]));
    asm("mov.u32 %0, %%ntid.z;" : "=r"(r[6]));
    asm("mov.u32 %0, %%ctaid.y;" : "=r"(r[7]));
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(r[8]));
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r[9]));
    asm("mov.u32 %0, WARP_SZ;" : "=r"(r[10]));
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    for (int k = 0; k < 11; ++k) y[11 * i + k] = r[k];
}
