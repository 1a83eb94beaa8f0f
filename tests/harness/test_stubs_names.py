"""A region may declare only what it alone uses: the stub has to compile without it."""

import pytest

from harness.stubs.cutting import StubError, stub_of


def in_kernel(body):
    return "__global__ void f(float* y, int n)\n{\n" + body + "}\n"


def in_function(body):
    return "def f(n):\n" + body


def refused(text, suffix):
    with pytest.raises(StubError) as caught:
        stub_of(text, suffix)
    return caught.value


@pytest.mark.parametrize(
    "declaration",
    [
        "float sum = 0.0f;",
        "const float sum = y[n - 1];",
        "float other = max(y[0], y[1]), sum = 0.0f;",
        "float* sum = y;",
        "unsigned long long sum = 0;",
        "__shared__ float sum[32];",
        "wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;",
        "auto sum = y[0];",
    ],
)
def test_a_cuda_region_that_declares_what_later_lines_use_is_refused(declaration):
    error = refused(
        in_kernel(f"    // TASK 1: a.\n    {declaration}\n    // END TASK\n    y[0] = *sum;\n"),
        ".cu",
    )
    assert "declares `sum`, which line 6 uses" in error.what


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("float sum = 0.0f; y[1] = sum;", "y[0] = 1.0f;"),
        ("for (int i = 0; i < n; ++i) y[i] = 0;", "for (int i = 0; i < n; ++i) y[i] += 1;"),
        ("int i = 0; y[i] = 0;", "for (int i = 0; i < n; ++i) y[i] += 1;"),
        ("if (n > 0) { float sum = 0; y[1] = sum; }", "float* sum = y; y[0] = *sum;"),
        ("float x = 0; y[1] = x;", "y[0] = threadIdx.x;  // x and sum"),
        ("y[0] = n * n;", "y[1] = n;"),
    ],
)
def test_a_cuda_region_may_declare_what_it_alone_uses(answer, after):
    body = f"    // TASK 1: a.\n    {answer}\n    // END TASK\n    {after}\n"
    assert after in stub_of(in_kernel(body), ".cu")


def test_a_name_used_in_another_function_is_another_name():
    text = in_kernel("    // TASK 1: a.\n    int i = 0; y[i] = 0;\n    // END TASK\n")
    stub_of(text + "__device__ int g(int i) { return i; }\n", ".cu")


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("total = n + 1", "return total"),
        ("for i in range(n): pass", "return i"),
        ("import math", "return math.pi"),
        ("with open(n) as file: pass", "return file"),
        ("(total := n)", "total += 1"),
        ("total = 1", "total = total + 1"),
        ("def g(): return 1", "return g()"),
        ("a, b = n", "return [a for _ in range(3)]"),
    ],
)
def test_a_python_region_that_binds_what_later_lines_read_is_refused(answer, after):
    text = in_function(f"    # TASK 1: a.\n    {answer}\n    # END TASK\n    {after}\n")
    error = refused(text, ".py")
    assert "which line 5 uses after the region" in error.what
    assert error.line == 3


@pytest.mark.parametrize(
    ("before", "answer", "after"),
    [
        ("total = 0", "total += n", "return total"),
        ("total = 0", "total = [i for i in range(n)]", "return [i for i in total]"),
        ("total = 0", "for i in range(n): total += i", "for i in range(n): total += i"),
        ("total = 0", "size = 3", "size = 4; return size"),
        ("total = 0", "n += 1", "return n"),
        ("total = 0", "size = 3", "return lambda size: size"),
    ],
)
def test_a_python_region_may_bind_what_it_alone_reads(before, answer, after):
    text = in_function(
        f"    {before}\n    # TASK 1: a.\n    {answer}\n    # END TASK\n    {after}\n"
    )
    assert after in stub_of(text, ".py")
