// Integer intrinsics: upper halves of products, bits, bytes, dot products, averages.
//
//   a, b, c   inputs [n]
//   y         one row of n for each result

extern "C" __global__ void bits_32(const unsigned* a, const unsigned* b, const unsigned* c,
                                   unsigned* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned p = a[i], q = b[i], r = c[i];
    unsigned results[] = {
        unsigned(__clz(p)), unsigned(__ffs(p)), unsigned(__popc(p)), __brev(p),
        __funnelshift_l(p, q, r), __funnelshift_r(p, q, r),
        __funnelshift_lc(p, q, r), __funnelshift_rc(p, q, r),
        __byte_perm(p, q, r), __byte_perm(p, 0, 0x0123), (p << 5) | (p >> 27),
        (p & q) ^ (~p & r), unsigned(int(p) >> 3), __vadd4(p, q), __vabsdiffu4(p, q),
        __vmaxs2(p, q), __vcmpgtu4(p, q), __vavgu2(p, q), __vsadu4(p, q), __vsadu2(p, q), __vabsdiffs4(p, q),
    };
    for (int k = 0; k < 21; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void bits_64(const unsigned long long* a, const unsigned long long* b,
                                   unsigned long long* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long p = a[i], q = b[i];
    unsigned long long results[] = {
        static_cast<unsigned long long>(__clzll(p)), static_cast<unsigned long long>(__ffsll(p)),
        static_cast<unsigned long long>(__popcll(p)), __brevll(p), __umul64hi(p, q),
        static_cast<unsigned long long>(__mul64hi(p, q)), (p << 13) | (p >> 51), p >> (q & 63),
        p << (q & 63), static_cast<unsigned long long>(static_cast<long long>(p) >> (q & 63)),
    };
    for (int k = 0; k < 10; ++k) y[k * n + i] = results[k];
}

extern "C" __global__ void products(const int* a, const int* b, const int* c, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = a[i], q = b[i], r = c[i];
    unsigned u = p, v = q, w = r;
    int results[] = {
        __mulhi(p, q), int(__umulhi(u, v)), __mul24(p, q), int(__umul24(u, v)),
        __dp4a(p, q, r), int(__dp4a(u, v, w)), __dp2a_lo(p, q, r), __dp2a_hi(p, q, r),
        __hadd(p, q), __rhadd(p, q), int(__uhadd(u, v)), int(__urhadd(u, v)),
        int(__sad(p, q, w)), int(__usad(u, v, w)), min(max(p, -1000), 1000), abs(p),
        max(max(p, q), r), min(min(u, v), w) > 7u,
    };
    for (int k = 0; k < 18; ++k) y[k * n + i] = results[k];
}

// c [2][n]: the 128-bit product of a and b, and behind it [2][n] their sum with carry out.
extern "C" __global__ void products_128(const unsigned long long* a, const unsigned long long* b,
                                        unsigned long long* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long p = a[i], q = b[i], low, high, sum, carry;
    asm("{\n\t"
        ".reg .u32 p0, p1, q0, q1, r0, r1, r2, r3;\n\t"
        "mov.b64 {p0, p1}, %2; mov.b64 {q0, q1}, %3;\n\t"
        "mul.lo.u32 r0, p0, q0; mul.hi.u32 r1, p0, q0;\n\t"
        "mad.lo.cc.u32 r1, p0, q1, r1; madc.hi.u32 r2, p0, q1, 0;\n\t"
        "mad.lo.cc.u32 r1, p1, q0, r1; madc.hi.cc.u32 r2, p1, q0, r2; madc.hi.u32 r3, p1, q1, 0;\n\t"
        "mad.lo.cc.u32 r2, p1, q1, r2; addc.u32 r3, r3, 0;\n\t"
        "mov.b64 %0, {r0, r1}; mov.b64 %1, {r2, r3};\n\t"
        "}"
        : "=l"(low), "=l"(high)
        : "l"(p), "l"(q));
    asm("add.cc.u64 %0, %2, %3; addc.u64 %1, 0, 0;" : "=l"(sum), "=l"(carry) : "l"(p), "l"(q));
    y[i] = low;
    y[n + i] = high;
    y[2 * n + i] = sum;
    y[3 * n + i] = carry;
    y[4 * n + i] = p * q;
    y[5 * n + i] = static_cast<unsigned long long>(static_cast<unsigned>(p)) * static_cast<unsigned>(q);
    y[6 * n + i] = static_cast<long long>(static_cast<int>(p)) * static_cast<int>(q) - 1;
}
