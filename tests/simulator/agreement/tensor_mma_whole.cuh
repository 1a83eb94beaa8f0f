// The second half of tensor_mma.cu: whole products.

// a [16, 32], b [8, 32] of signed bytes, d [16, 8] of ints
extern "C" __global__ void bytes_32(const int* a, const int* b, int* d)
{
    int group = threadIdx.x / 4, member = threadIdx.x % 4, tile = blockIdx.x;
    a += tile * 128, b += tile * 64;  // words of four
    int s[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
                 : "r"(a[group * 8 + member]), "r"(a[(group + 8) * 8 + member]),
                   "r"(a[group * 8 + member + 4]), "r"(a[(group + 8) * 8 + member + 4]),
                   "r"(b[group * 8 + member]), "r"(b[group * 8 + member + 4]));
    for (int j = 0; j < 4; j++) d[tile * 128 + (group + j / 2 * 8) * 8 + 2 * member + j % 2] = s[j];
}

// ---- whole products of halves

// a [m, k], b [k, n], c [m, n], multiples of 32; 4 warps, each 16 x 16 of a tile of 32 x 32; rows in
// shared memory are 32 + `more` halves apart
extern "C" __global__ void gemm(const half* a, const half* b, float* c, int n, int k, int more)
{
    extern __shared__ __align__(16) half shared[];
    int pitch = 32 + more, t = threadIdx.x, warp = t / 32, lane = t % 32;
    half *left = shared, *right = shared + 32 * pitch;
    int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    int warp_row = warp / 2 * 16, warp_column = warp % 2 * 16;
    float sum[2][4] = {};
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += 32) {
        int row = t / 4, piece = t % 4 * 8;  // 8 halves a lane
        *reinterpret_cast<uint4*>(&left[row * pitch + piece]) =
            *reinterpret_cast<const uint4*>(&a[(row0 + row) * k + k0 + piece]);
        *reinterpret_cast<uint4*>(&right[row * pitch + piece]) =
            *reinterpret_cast<const uint4*>(&b[(k0 + row) * n + column0 + piece]);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            unsigned first[4], both[4];
            load_4(first, &left[(warp_row + lane % 16) * pitch + kk + lane / 16 * 8]);
            load_4_transposed(both, &right[(kk + lane % 16) * pitch + warp_column + lane / 16 * 8]);
            unsigned second[2][2] = {{both[0], both[1]}, {both[2], both[3]}};
            multiply(sum[0], first, second[0]);
            multiply(sum[1], first, second[1]);
        }
        __syncthreads();
    }
    int group = lane / 4, member = lane % 4;
    for (int j = 0; j < 2; j++) {
        float* to = &c[(row0 + warp_row + group) * n + column0 + warp_column + 8 * j + 2 * member];
        *reinterpret_cast<float2*>(to) = make_float2(sum[j][0], sum[j][1]);
        *reinterpret_cast<float2*>(to + 8 * n) = make_float2(sum[j][2], sum[j][3]);
    }
}

// The same product with a tile of 64 x 64, 32 deep, three stages of copies on their way, and pieces
// of 16 bytes swapped within each two rows so that no bank is asked twice; multiples of 64
extern "C" __global__ void gemm_three_stages(const half* a, const half* b, float* c, int n, int k)
{
    __shared__ uint4 left[3][64][4], right[3][32][8];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    float sum[2][4][4] = {};
    auto fetch = [&](int stage, int k0) {
#pragma unroll
        for (int i = t; i < 256; i += 128) {
            int row = i / 4, piece = i % 4;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"(shared_address(&left[stage][row][piece ^ row / 2 & 3])),
                            "l"(&a[(row0 + row) * k + k0 + piece * 8]) : "memory");
        }
#pragma unroll
        for (int i = t; i < 256; i += 128) {
            int row = i / 8, piece = i % 8;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"(shared_address(&right[stage][row][piece ^ row & 7])),
                            "l"(&b[(k0 + row) * n + column0 + piece * 8]) : "memory");
        }
    };
#pragma unroll
    for (int ahead = 0; ahead < 2; ahead++) {
        if (ahead * 32 < k) fetch(ahead, ahead * 32);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    int now = 0;
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += 32) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (k0 + 64 < k) fetch(now == 0 ? 2 : now - 1, k0 + 64);
        asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            unsigned first[2][4], both[2][4];
            for (int i = 0; i < 2; i++) {
                int row = warp_row + 16 * i + lane % 16, piece = 2 * kk + lane / 16;
                load_4(first[i], &left[now][row][piece ^ row / 2 & 3]);
                int deep = 16 * kk + lane % 16, across = warp_column / 8 + 2 * i + lane / 16;
                load_4_transposed(both[i], &right[now][deep][across ^ deep & 7]);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) {
                    unsigned second[2] = {both[j / 2][j % 2 * 2], both[j / 2][j % 2 * 2 + 1]};
                    multiply(sum[i][j], first[i], second);
                }
        }
        now = now == 2 ? 0 : now + 1;
    }
    int group = lane / 4, member = lane % 4;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            float* to = &c[(row0 + warp_row + 16 * i + group) * n + column0 + warp_column + 8 * j + 2 * member];
            *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(to + 8 * n) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
