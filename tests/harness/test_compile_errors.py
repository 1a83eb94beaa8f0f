"""A file that does not compile is told at the learner's line, in 12 lines at most."""

import pytest

from harness.launching.compile_errors import CompileError
from harness.launching.compiler import compile_file

KERNEL = 'extern "C" __global__ void f(float* a, int n) {{ {body} }}\n'


@pytest.fixture
def report(tmp_path, monkeypatch):
    """Compile a text as kernel.cu in the working directory; return the report of its error."""
    monkeypatch.chdir(tmp_path)

    def compile_text(source, architecture="compute_80"):
        path = tmp_path / "kernel.cu"
        path.write_text(source, encoding="utf-8")
        with pytest.raises(CompileError) as raised:
            compile_file(path, architecture)
        text = raised.value.learner_report
        assert str(raised.value) == text
        assert len(text.splitlines()) <= 12
        return text

    return compile_text


def test_an_error_names_file_line_and_column_and_draws_a_caret(report):
    text = report('extern "C" __global__ void f(float* a) {\n    a[0] = value;\n}\n')
    lines = text.splitlines()
    assert lines[0] == 'kernel.cu:2:12: identifier "value" is undefined'
    assert lines[2] == "  a[0] = value;"
    assert lines[3].index("^") == lines[2].index("value")


def test_the_caret_stands_right_behind_tabs(report):
    lines = report('extern "C" __global__ void f(float* a) {\n\t\ta[0] = value;\n}').splitlines()
    assert lines[0].startswith("kernel.cu:2:10:")
    assert lines[3].index("^") == lines[2].index("value")


def test_a_missing_semicolon_is_told_at_the_line_that_lacks_it(report):
    text = report('extern "C" __global__ void f(float* a) {\n  a[0] = 1\n\n  a[1] = 2;\n}')
    assert "a ; is missing at the end of line 2: a[0] = 1" in text
    lines = text.splitlines()
    assert lines[0] == 'kernel.cu:2:11: expected a ";"'
    assert lines[2:4] == ["  a[0] = 1", "          ^"]


def test_a_semicolon_missing_before_comments_is_told_behind_the_code(report):
    source = 'extern "C" __global__ void f(float* a) {\n  a[0] = 1 // one\n  // two\n  a[1] = 2;\n}'
    assert report(source).startswith('kernel.cu:2:11: expected a ";"')


def test_a_missing_semicolon_inside_a_line_is_told_at_the_caret(report):
    assert "a ; is missing before the caret" in report(KERNEL.format(body="a[0] = 1 a[1] = 2;"))


def test_an_open_brace_is_told_where_it_opened(report):
    text = report('extern "C" __global__ void f(float* a)\n{\n  a[0] = 1;\n')
    assert text.startswith("kernel.cu:2: expected a")
    assert "never closed" in text


@pytest.mark.parametrize("header", ["stdio.h", "iostream", "cmath", "vector", "torch/extension.h"])
def test_a_host_header_is_answered_with_what_is_built_in(report, header):
    text = report(f"#include <{header}>\n" + KERNEL.format(body=""))
    assert text.startswith("kernel.cu:1:")
    assert "device code only" in text and "printf" in text


def test_a_header_of_fixed_width_integers_is_answered_with_the_device_one(report):
    assert "#include <cuda/std/cstdint>" in report("#include <stdint.h>\n")


def test_a_missing_cuda_header_names_the_package_that_ships_it(report):
    assert 'pip install "nvidia-cuda-crt' in report("#include <crt/nowhere.h>\n")


def test_main_is_answered_with_host_py(report):
    text = report(KERNEL.format(body="") + "int main() { f<<<1, 1>>>(0, 0); }\n")
    assert "neither __global__ nor __device__" in text
    assert "remove main()" in text


def test_a_launch_inside_a_kernel_is_answered_with_host_py(report):
    text = report(KERNEL.format(body="") + "__device__ void g(float* a) { f<<<1, x>>>(a, 1); }")
    assert "no <<< >>> in this file" in text


def test_a_function_without_a_mark_is_told_which_marks_there_are(report):
    assert "__device__ before a function" in report("float twice(float x) { return 2 * x; }\n")


@pytest.mark.parametrize(
    "written, meant",
    [
        ("__syncthread()", "__syncthreads"),
        ("a[0] = threadidx.x", "threadIdx"),
        ("float total = 0; a[0] = totl", "total"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_likely_one(report, written, meant):
    assert f"did you mean {meant}?" in report(KERNEL.format(body=written + ";"))


@pytest.mark.parametrize(
    "name, header", [("half", "cuda_fp16.h"), ("__nv_bfloat16", "cuda_bf16.h")]
)
def test_a_half_type_without_its_header_is_answered_with_the_include(report, name, header):
    assert f"add #include <{header}>" in report(KERNEL.format(body=f"{name} x;"))


def test_a_host_call_is_told_to_belong_to_the_host(report):
    assert "belongs to the host" in report(KERNEL.format(body="cudaMalloc(&a, 4);"))


def test_a_returning_kernel_is_told_to_return_nothing(report):
    assert "declare it void" in report('extern "C" __global__ int f(float* a) { return 1; }')


def test_a_write_through_a_const_pointer_is_told_to_be_const(report):
    source = 'extern "C" __global__ void f(const float* a) { a[0] = 1; }'
    assert "is const" in report(source)


def test_many_errors_stay_short_and_say_how_many_are_left(report):
    body = "".join(f"missing_{i}(); " for i in range(30))
    text = report(KERNEL.format(body=body))
    assert "and 2" in text.splitlines()[-1] and "more" in text.splitlines()[-1]


def test_an_error_inside_a_template_points_into_the_learners_file(report):
    source = (
        "template <class T> __device__ T add(T a, T b) { return a.x + b; }\n"
        'extern "C" __global__ void f(float* a) { a[0] = add(a[1], a[2]); }\n'
    )
    assert report(source).startswith("kernel.cu:1:")


def test_the_assembler_names_an_unknown_instruction(report):
    text = report(KERNEL.format(body='asm("frobnicate;");'), "sm_80")
    assert "frobnicate" in text


def test_too_much_static_shared_memory_is_answered_with_the_dynamic_kind(report):
    body = "__shared__ float s[20000]; s[n] = n; __syncthreads(); a[0] = s[0];"
    assert "extern __shared__" in report(KERNEL.format(body=body), "sm_80")


@pytest.mark.parametrize(
    "body, names",
    [
        ("int i = blockIdx * blockDim.x; a[i] = 1;", "blockIdx.x"),
        ("int i = blockIdx.x * blockDim; a[i] = 1;", "blockDim.x"),
        ("int i = blockIdx[0]; a[i] = 1;", "blockIdx.x"),
        ("int i = threadIdx; a[i] = 1;", "threadIdx.x"),
        ("a[threadIdx] = 1;", "threadIdx.x"),
        ("int i = blockIdx * blockDim; a[i] = 1;", "blockIdx.x and blockDim.x"),
    ],
)
def test_an_index_without_its_axis_is_answered_with_x(report, body, names):
    assert f"use {names}: " in report(KERNEL.format(body=body))


@pytest.mark.parametrize("body", ["\n# mine\na[0] = 1;", "a[0] = 1; # mine\n"])
def test_a_comment_of_python_is_answered_with_the_slashes(report, body):
    assert "comments are // in CUDA C++" in report(KERNEL.format(body=body))


@pytest.mark.parametrize(
    "source, line",
    [
        ("{\n  if (n) {\n    a[0] = 1;\n  }\n  }\n  a[1] = 2;\n  return;\n}\n", 6),
        ("{\n  a[0] = 1;\n}\n}\n", 5),
    ],
)
def test_a_brace_too_many_is_told_in_one_line_with_a_try(report, source, line):
    head = 'extern "C" __global__ void f(float* a, int n)\n'
    text = report(head + source + KERNEL.replace("f(", "g(").format(body="a[0] = 1;"))
    assert text.splitlines()[0] == f"kernel.cu:{line}: a }} too many"
    assert "try       count the braces above" in text
    assert "then" not in text and "declaration" not in text
