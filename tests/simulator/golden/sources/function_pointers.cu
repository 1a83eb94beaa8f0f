// Calls through a pointer: chosen at run time, from a table, virtual.
//
//   x       float[n]
//   which   int[n]
//   y       float[n]

typedef float (*Operation)(float, float);

__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float subtract(float a, float b) { return a - b; }
__device__ __noinline__ float multiply(float a, float b) { return a * b; }

__device__ Operation table[3] = {add, subtract, multiply};
__constant__ Operation fixed_table[2] = {multiply, add};

extern "C" __global__ void chosen(const float* x, const int* which, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Operation operation = which[i] == 0 ? add : which[i] == 1 ? subtract : multiply;
    y[i] = operation(x[i], 2.0f);
}

extern "C" __global__ void from_a_table(const float* x, const int* which, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = table[which[i]](x[i], 3.0f) + fixed_table[which[i] & 1](x[i], 0.5f);
}

// The same function for a whole block: nobody diverges.
extern "C" __global__ void one_for_all(const float* x, float* y, int n, int which)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table[which](x[i], 4.0f);
}

class Shape {
  public:
    __device__ virtual float area() const = 0;
    __device__ virtual float twice() const { return 2.0f * area(); }
};

class Square : public Shape {
  public:
    __device__ explicit Square(float side) : side_(side) {}
    __device__ float area() const override { return side_ * side_; }

  private:
    float side_;
};

class Rectangle : public Shape {
  public:
    __device__ Rectangle(float width, float height) : width_(width), height_(height) {}
    __device__ float area() const override { return width_ * height_; }
    __device__ float twice() const override { return -area(); }

  private:
    float width_, height_;
};

__device__ __noinline__ float measured(const Shape* shape)
{
    return shape->area() + shape->twice();
}

extern "C" __global__ void virtual_functions(const float* x, const int* which, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Square square(x[i]);
    Rectangle rectangle(x[i], 3.0f);
    y[i] = measured(which[i] ? static_cast<const Shape*>(&square) : &rectangle);
}
