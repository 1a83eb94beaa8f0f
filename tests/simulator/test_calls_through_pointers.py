"""Calls through pointers: tables, virtual functions, lambdas, one target or one for each lane."""

import numpy as np
import pytest

from simulator import parse
from tests.simulator.compiled import compiled, kernel_of, ptx_of, run, written

TABLE = """typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int power(int a, int b)
{
    int product = 1;
    for (int k = 0; k < b; ++k) product *= a;
    return product;
}
"""
WANT = [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a**b]


@pytest.mark.parametrize("space", ["__device__", "__constant__"])
@pytest.mark.parametrize("threads", [1, 32, 45])
def test_a_table_of_functions_chosen_by_each_lane(space, threads):
    kernel = compiled(
        f"""{TABLE}{space} Operation table[3] = {{add, multiply, power}};
extern "C" __global__ void k(int* y)
{{
    int t = threadIdx.x;
    y[t] = table[t % 3](t, t % 4) - table[(t + 1) % 3](3, 2);
}}""",
        "k",
    )
    y = np.zeros(threads, np.int32)
    run(kernel, 1, threads, y)
    want = [WANT[t % 3](t, t % 4) - WANT[(t + 1) % 3](3, 2) for t in range(threads)]
    assert y.tolist() == want


def test_a_pointer_that_the_code_makes():
    kernel = compiled(
        f"""{TABLE}extern "C" __global__ void k(int* y, int n)
{{
    Operation chosen = n > 3 ? power : threadIdx.x & 1 ? multiply : add;
    y[threadIdx.x] = chosen(threadIdx.x, n);
}}""",
        "k",
    )
    for n in (2, 4):
        y = np.zeros(45, np.int32)
        run(kernel, 1, 45, y, n)
        assert y.tolist() == [WANT[2 if n > 3 else t % 2](t, n) for t in range(45)]


def test_a_table_of_structs_with_functions_in_them():
    kernel = compiled(
        f"""{TABLE}struct Row {{ int scale; Operation call; }};
__device__ Row rows[3] = {{{{10, add}}, {{20, multiply}}, {{30, power}}}};
extern "C" __global__ void k(int* y)
{{
    Row row = rows[threadIdx.x % 3];
    y[threadIdx.x] = row.scale * row.call(2, 3);
}}""",
        "k",
    )
    y = np.zeros(7, np.int32)
    run(kernel, 1, 7, y)
    assert y.tolist() == [(50, 120, 240)[t % 3] for t in range(7)]


def test_a_packed_table_spells_its_pointers_byte_by_byte():
    kernel = compiled(
        f"""{TABLE}#pragma pack(1)
struct Row {{ char scale; Operation call; float more; const int* base; }};
__device__ int bases[4] = {{100, 200, 300, 400}};
__device__ Row rows[2] = {{{{10, add, 0.5f, bases + 1}}, {{20, power, 1.5f, bases + 3}}}};
extern "C" __global__ void k(float* y)
{{
    const Row& row = rows[threadIdx.x & 1];
    unsigned long long call = 0, base = 0;
    for (int k = 0; k < 8; ++k) {{
        call |= (unsigned long long)((const unsigned char*)&row.call)[k] << 8 * k;
        base |= (unsigned long long)((const unsigned char*)&row.base)[k] << 8 * k;
    }}
    int a = row.scale * ((Operation)call)(2, 3), b = *(const int*)base;
    y[threadIdx.x] = a + b;
}}""",
        "k",
    )
    y = np.zeros(33, np.float32)
    run(kernel, 1, 33, y)
    assert y.tolist() == [560 if t & 1 else 250 for t in range(33)]


def test_virtual_functions():
    kernel = compiled(
        """struct Shape
{
    int side;
    __device__ Shape(int side) : side(side) {}
    __device__ virtual int area() const = 0;
    __device__ virtual int edges() const { return 4; }
    __device__ int both() const { return 1000 * edges() + area(); }
};
struct Square : Shape
{
    __device__ Square(int s) : Shape(s) {}
    __device__ int area() const override { return side * side; }
};
struct Triangle : Shape
{
    int height;
    __device__ Triangle(int s, int h) : Shape(s), height(h) {}
    __device__ int area() const override { return side * height / 2; }
    __device__ int edges() const override { return 3; }
};
extern "C" __global__ void k(int* y)
{
    int t = threadIdx.x;
    Square square(t);
    Triangle triangle(t, 6);
    const Shape* shape = t % 3 == 0 ? (const Shape*)&square : (const Shape*)&triangle;
    y[t] = shape->both();
}""",
        "k",
    )
    y = np.zeros(45, np.int32)
    run(kernel, 1, 45, y)
    assert y.tolist() == [4000 + t * t if t % 3 == 0 else 3000 + 3 * t for t in range(45)]


def test_a_lambda_through_a_pointer():
    kernel = compiled(
        """__device__ __noinline__ float mapped(float (*f)(float), float v) { return f(v) + f(-v); }
extern "C" __global__ void k(float* y, int n)
{
    float (*twice)(float) = [](float v) { return 2.0f * v + 1.0f; };
    float (*square)(float) = [](float v) { return v * v; };
    y[threadIdx.x] = mapped(threadIdx.x < n ? twice : square, threadIdx.x);
}""",
        "k",
    )
    y = np.zeros(45, np.float32)
    run(kernel, 1, 45, y, 20)
    assert y.tolist() == [2 if t < 20 else 2 * t * t for t in range(45)]


def test_addresses_of_functions_are_distinct_values():
    kernel = compiled(
        f"""{TABLE}__device__ Operation table[3] = {{add, multiply, power}};
extern "C" __global__ void k(unsigned long long* y)
{{
    y[0] = (unsigned long long)(Operation)add;
    y[1] = (unsigned long long)(Operation)multiply;
    y[2] = (unsigned long long)(Operation)power;
    for (int k = 0; k < 3; ++k) y[3 + k] = (unsigned long long)table[k];
    printf("%d\\n", table[1] == multiply);
}}""",
        "k",
    )
    y = np.zeros(6, np.uint64)
    assert run(kernel, 1, 1, y).output == "1\n"
    assert len(set(y[:3].tolist())) == 3 and y.all()
    np.testing.assert_array_equal(y[3:], y[:3])


def test_a_pointer_that_one_kernel_keeps_is_called_by_the_next():
    """The second kernel names no function: it knows only the variable."""
    source = f"""{TABLE}__device__ Operation kept;
extern "C" __global__ void keep(int which) {{ kept = which ? multiply : add; }}
extern "C" __global__ void use(int* y) {{ y[threadIdx.x] = kept(threadIdx.x, 5); }}"""
    module = parse(ptx_of(source))
    keep, use = (kernel_of(module, source, name) for name in ("keep", "use"))
    for which in (1, 0):
        run(keep, 1, 1, which)
        y = np.zeros(33, np.int32)
        run(use, 1, 33, y)
        assert y.tolist() == [WANT[which](t, 5) for t in range(33)]


def test_recursion_through_a_pointer():
    kernel = compiled(
        """__device__ int (*next)(int);
__device__ int down(int n) { return n <= 0 ? 7 : 2 * next(n - 1) - n; }
extern "C" __global__ void k(int* y)
{
    next = down;
    __syncthreads();
    y[threadIdx.x] = next(threadIdx.x % 9);
}""",
        "k",
    )

    def down(n):
        return 7 if n <= 0 else 2 * down(n - 1) - n

    y = np.zeros(45, np.int32)
    run(kernel, 1, 45, y)
    assert y.tolist() == [down(t % 9) for t in range(45)]


def test_a_function_has_shared_memory_of_its_own():
    kernel = compiled(
        """typedef int (*Step)(int);
__device__ int rotate(int v)
{
    __shared__ int box[64];
    box[threadIdx.x] = v;
    __syncthreads();
    return box[(threadIdx.x + 1) % blockDim.x];
}
__device__ Step step = rotate;
extern "C" __global__ void k(int* y)
{
    __shared__ int mine[64];
    mine[threadIdx.x] = threadIdx.x * threadIdx.x;
    int v = step(threadIdx.x);
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = mine[v] + blockIdx.x;
}""",
        "k",
    )
    y = np.zeros((3, 50), np.int32)
    run(kernel, 3, 50, y)
    assert y.tolist() == [[((t + 1) % 50) ** 2 + b for t in range(50)] for b in range(3)]


def test_instructions_of_a_called_function_are_counted_at_its_own_lines():
    kernel = compiled(
        """typedef float (*Step)(const float*, int);
__device__ float near(const float* x, int t)
{
    return x[t];
}
__device__ float far(const float* x, int t)
{
    return x[32 * t];
}
__device__ Step steps[2] = {near, far};
extern "C" __global__ void k(const float* x, float* y)
{
    int warp = threadIdx.x / 32;
    y[threadIdx.x] = steps[warp == 2](x, threadIdx.x % 32);
}""",
        "k",
    )
    x, y = np.arange(1024, dtype=np.float32), np.zeros(96, np.float32)
    lines = run(kernel, 1, 96, x, y).lines
    assert y.tolist() == [*range(32), *range(32), *range(0, 1024, 32)]
    near, far = lines[kernel.line("return x[t]")], lines[kernel.line("return x[32")]
    assert (near.global_load_requests, near.global_load_sectors) == (2, 8)
    assert (far.global_load_requests, far.global_load_sectors) == (1, 32)
    assert near.thread_instructions == 32 * near.warp_instructions > 0
    assert far.thread_instructions == 32 * far.warp_instructions > 0


def test_a_function_that_ends_its_threads():
    kernel = written(
        """ld.param.u64 y, [k_y]; mov.u32 t, %tid.x; mad.wide.u32 y, t, 4, y; mov.u64 f, part;
        { .param .b32 q; st.param.b32 [q], t; kind: .callprototype _ (.param .b32 _);
        call f, (q), kind; } bar.sync 0; st.global.u32 [y], t; ret;""",
        ".param .u64 k_y",
        [("u64", "y, f"), ("b32", "t")],
        """.func part (.param .b32 v) { .reg .b32 a; .reg .pred p, q; ld.param.b32 a, [v];
        setp.lt.u32 p, a, 7; @p exit; setp.lt.u32 q, a, 30; @q ret; }""",
    )
    y = np.zeros(45, np.uint32)
    run(kernel, 1, 45, y)
    assert y.tolist() == [t if t >= 7 else 0 for t in range(45)]
