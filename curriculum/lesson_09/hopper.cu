// Lesson 09, task 8 (stretch), to read: gemm_two_stages once more, for Hopper alone. Complete as it is.
//
//   A block is one *warpgroup*, 128 threads. One of them starts copies of whole boxes (TMA); a barrier
//   in shared memory (mbarrier) counts the bytes that have come; all 128 multiply together (wgmma),
//   straight from shared memory, without a fragment of a or b in any register.
//
//   a_map     tensor map of half[M, K]: boxes of 64 rows, 64 halves, swizzled over 128 bytes
//   b_map     tensor map of half[K, N]: boxes of 64 rows, 64 halves, likewise
//   c         float[M, N]   written
//   M, N, K   multiples of 64 * DOWN, COLUMNS and 64, none of them 0
//   grid      (N / COLUMNS, M / (64 * DOWN))      block     (128)
//   shared    STAGES * STAGE_BYTES + 1024, dynamic

#ifndef COLUMNS
#define COLUMNS 128   // 64 or 128, of c for each block
#define DOWN 2        // 64 rows of c, for each block
#define STAGES 4
#endif
#define BOX_BYTES (64 * 64 * 2)
#define STAGE_BYTES ((DOWN + COLUMNS / 64) * BOX_BYTES)
#ifndef EXPECTED
#define EXPECTED STAGE_BYTES
#endif

typedef unsigned long long Descriptor;  // of a tile in shared memory, for wgmma

__device__ unsigned shared_address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }

__device__ void start(unsigned barrier)  // one arrival and no byte open the first phase
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(barrier) : "memory");
}
__device__ void expect(unsigned barrier)  // arrive, and say how many bytes are to come
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(barrier), "n"(EXPECTED) : "memory");
}
__device__ void copy_box(unsigned to, const void* map, int column, int row, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier) : "memory");
}
__device__ void wait(unsigned barrier, unsigned phase)  // until that phase of the barrier is over
{
    asm volatile("{ .reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
                 "@!over bra again; }" :: "r"(barrier), "r"(phase) : "memory");
}
// Rows of 128 bytes, swizzled; `next` bytes from one 64 columns to the next 64.
__device__ Descriptor tile(unsigned at, int next)
{
    return at >> 4 | (Descriptor)(next >> 4) << 16 | (Descriptor)(1024 >> 4) << 32 | 1ull << 62;
}
__device__ void multiply(float (&c)[COLUMNS / 2], Descriptor a, Descriptor b)
{
#define F(i) "+f"(c[i])
#define EIGHT(i) F(i), F(i + 1), F(i + 2), F(i + 3), F(i + 4), F(i + 5), F(i + 6), F(i + 7)
#if COLUMNS == 64
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, 1, 1, 1, 0, 1;"
        : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24) : "l"(a), "l"(b));
#else
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 1;"
        : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)
        : "l"(a), "l"(b));
#endif
}

extern "C" __global__ __launch_bounds__(128)
void gemm_hopper(const unsigned char* a_map, const unsigned char* b_map, float* c, int N, int K)
{
    extern __shared__ unsigned char raw[];
    __shared__ unsigned long long arrived[STAGES];
    unsigned stages = shared_address(raw) + 1023 & ~1023u;  // the swizzle wants multiples of 1024
    int row = blockIdx.y * 64 * DOWN, column = blockIdx.x * COLUMNS, tiles = K / 64;
    float sums[DOWN][COLUMNS / 2] = {};
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) start(shared_address(&arrived[s]));
        asm volatile("fence.proxy.async; // or the first TMA copy may not see them" ::: "memory");
    }
    __syncthreads();

    #pragma unroll 1
    for (int t = 0; t < tiles + STAGES - 1; t++) {
        if (t < tiles && threadIdx.x == 0) {  // one thread starts the copies for all
            unsigned to = stages + t % STAGES * STAGE_BYTES, barrier = shared_address(&arrived[t % STAGES]);
            expect(barrier);
            for (int i = 0; i < DOWN; i++)
                copy_box(to + i * BOX_BYTES, a_map, 64 * t, row + 64 * i, barrier);
            for (int j = 0; j < COLUMNS / 64; j++)
                copy_box(to + (DOWN + j) * BOX_BYTES, b_map, column + 64 * j, 64 * t, barrier);
        }
        int now = t - (STAGES - 1);
        if (now < 0) continue;
        unsigned a = stages + now % STAGES * STAGE_BYTES, b = a + DOWN * BOX_BYTES;
        wait(shared_address(&arrived[now % STAGES]), now / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned; // before the first wgmma.mma_async" ::: "memory");
        #pragma unroll
        for (int k = 0; k < 64; k += 16)
            #pragma unroll
            for (int i = 0; i < DOWN; i++)
                multiply(sums[i], tile(a + i * BOX_BYTES + 2 * k, 16), tile(b + 128 * k, BOX_BYTES));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();  // the stage may be written over
    }

    int lane = threadIdx.x % 32;  // each warp has 16 rows, held like c of mma.m16n8k16
    c += (row + threadIdx.x / 32 * 16 + lane / 4) * N + column + lane % 4 * 2;
    #pragma unroll
    for (int i = 0; i < 2 * DOWN; i++)
        #pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
            const float* pair = &sums[i / 2][4 * j + i % 2 * 2];
            *(float2*)&c[(i / 2 * 64 + i % 2 * 8) * N + 8 * j] = make_float2(pair[0], pair[1]);
        }
}
