// libcu++: types of the standard library.
//
//   x   float[n], or int[n]
//   y   as each kernel says

#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/utility>

// Mandelbrot's iteration: y int[n]
extern "C" __global__ void escapes(const float* re, const float* im, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cuda::std::complex<float> c(re[i], im[i]), z(0.0f, 0.0f);
    int steps = 0;
    while (steps < 30 && cuda::std::norm(z) <= 4.0f) {
        z = cuda::std::complex<float>(z.real() * z.real() - z.imag() * z.imag(), 2 * z.real() * z.imag()) + c;
        ++steps;
    }
    y[i] = steps;
}

// y float[4][n]: product and quotient
extern "C" __global__ void complex_arithmetic(const float* re, const float* im, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cuda::std::complex<float> c(re[i], im[i]), d(im[i] + 2.0f, re[i] - 1.5f);
    auto product = c * d, quotient = c / d;
    y[i] = product.real();
    y[n + i] = product.imag();
    y[2 * n + i] = quotient.real();
    y[3 * n + i] = quotient.imag();
}

__device__ cuda::std::optional<int> root(int v)
{
    for (int k = 0; k * k <= v; ++k)
        if (k * k == v) return k;
    return cuda::std::nullopt;
}

// y int[6][n]
extern "C" __global__ void values(const int* x, int* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cuda::std::array<int, 5> powers = {1, 3, 9, 27, 81};
    int sum = 0;
    for (int p : powers) sum += p * (x[i] % 3);
    y[i] = sum;
    y[n + i] = root(x[i]).value_or(-1);
    y[2 * n + i] = cuda::std::bit_cast<int>(float(x[i]));
    unsigned u = x[i];
    y[3 * n + i] = cuda::std::popcount(u) * 10000 + cuda::std::countl_zero(u) * 100 + cuda::std::countr_zero(u);
    cuda::std::tuple<int, float> pair(x[i], 0.5f);
    y[4 * n + i] = cuda::std::get<0>(pair) + int(cuda::std::get<1>(pair) * 10);
    y[5 * n + i] = x[i] == 7 ? cuda::std::numeric_limits<int>::max() : int(cuda::std::rotl(u, 5));
}
