"""Arguments that CuPy would misread in silence are refused, with the line to write."""

import numpy as np
import pytest
import torch

from harness import cuda
from harness.launching.arguments import check_arguments
from harness.telling.learner_error import LaunchError

SOURCE = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
struct Particle { float x, y; };
extern "C" __global__ void vec_add(const float* a, const float* b, float* c, int n) {}
extern "C" __global__ void scale(float* x, float alpha, long long n, bool flip) {}
extern "C" __global__ void halves(const __half* x, __nv_bfloat16* y, const __half2* pairs) {}
extern "C" __global__ void bits(const unsigned char* mask, const bool* flags, unsigned* words) {}
extern "C" __global__ void anything(const void* bytes, Particle* particles, float4* rows) {}
extern "C" __global__ void by_value(float* x, Particle particle, unsigned int seed) {}
"""
ONE = ((1,), (32,))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Find a kernel of SOURCE by name."""
    path = tmp_path_factory.mktemp("arguments") / "kernel.cu"
    path.write_text(SOURCE)
    module = cuda.module(str(path.parent / "host.py"), "kernel.cu")
    return module.get_function


@pytest.fixture
def vec_add(kernel):
    return kernel("vec_add")


def accepts(kernel, *arguments):
    _, signature = kernel._checked_name("compute_80")
    check_arguments(signature, arguments)


def refusal(kernel, *arguments):
    with pytest.raises(LaunchError) as raised:
        kernel(*ONE, arguments)
    report = raised.value.learner_report
    assert len(report.splitlines()) <= 25
    return report


def floats(*shape):
    return torch.zeros(shape or (8,))


def test_what_the_kernel_declares_is_taken(kernel):
    accepts(kernel("vec_add"), floats(), floats(), floats(), np.int32(8))
    accepts(kernel("scale"), floats(), np.float32(2), np.int64(8), np.bool_(True))


def test_a_refusal_shows_the_line_that_launched(vec_add):
    n = 8
    report = refusal(vec_add, floats(), floats(), floats(), n)
    assert "test_launch_arguments.py:" in report and "kernel(*ONE, arguments)" in report


def test_a_python_int_is_refused_with_the_line_to_write(vec_add):
    a, n = floats(), 8
    with pytest.raises(LaunchError) as raised:
        vec_add((1,), (32,), (a, a, a, n * 2))
    assert "np.int32(n * 2)" in str(raised.value)
    assert "argument 4 (n)" in str(raised.value)


def test_arguments_over_several_lines_are_still_quoted(vec_add):
    a, n = floats(), 8
    with pytest.raises(LaunchError) as raised:
        vec_add(
            (1,),
            (32,),
            args=(
                a,
                a,
                a,
                n + 1,
            ),
        )
    assert "np.int32(n + 1)" in str(raised.value)


@pytest.mark.parametrize(
    "index, value, line",
    [(1, 2.0, "np.float32("), (2, 8, "np.int64("), (3, True, "np.bool_(")],
)
def test_every_python_number_is_refused_with_its_own_line(kernel, index, value, line):
    arguments = [floats(), np.float32(2), np.int64(8), np.bool_(True)]
    arguments[index] = value
    assert line in refusal(kernel("scale"), *arguments)


def test_a_double_is_refused_where_a_float_is_declared(kernel):
    report = refusal(kernel("scale"), floats(), np.float64(2), np.int64(8), np.bool_(True))
    assert "np.float64" in report and "`float alpha`" in report and "np.float32(" in report


def test_a_long_is_refused_where_an_int_is_declared(vec_add):
    a = floats()
    with pytest.raises(LaunchError) as raised:
        vec_add((1,), (32,), (a, a, a, np.int64(8)))
    assert "np.int64" in str(raised.value) and "try       np.int32(8)" in str(raised.value)


def test_an_int_is_refused_where_a_float_is_declared_though_both_have_four_bytes(kernel):
    report = refusal(kernel("scale"), floats(), np.int32(2), np.int64(8), np.bool_(True))
    assert "np.float32(" in report


def test_signed_and_unsigned_pass_for_each_other_where_the_value_fits(kernel):
    by_value = kernel("by_value")
    particle = np.zeros(1, dtype=[("x", "f4"), ("y", "f4")])[0]
    accepts(by_value, floats(), particle, np.int32(7))
    assert "np.uint32(" in refusal(by_value, floats(), particle, np.int32(-7))


def test_a_struct_of_another_size_is_refused(kernel):
    report = refusal(kernel("by_value"), floats(), np.float32(1), np.uint32(1))
    assert "8 bytes" in report


def test_int64_elements_are_refused_where_int_is_declared(vec_add):
    a = floats()
    report = refusal(vec_add, a.long(), a, a, np.int32(8))
    assert "torch.int64" in report and "`const float* a`" in report
    assert ".to(torch.float32) on the host, or `long long` in the kernel" in report


def test_half_types_map_to_their_own_names_only(kernel):
    halves, x = kernel("halves"), floats()
    accepts(halves, x.half(), x.bfloat16(), x.half())
    assert "torch.bfloat16" in refusal(halves, x.bfloat16(), x.bfloat16(), x.half())
    assert "torch.float16" in refusal(halves, x.half(), x.half(), x.half())


def test_bool_and_unsigned_types_take_what_has_the_same_bits(kernel):
    bits, x = kernel("bits"), floats()
    accepts(bits, x.to(torch.uint8), x.bool(), x.int())
    accepts(bits, x.bool(), x.to(torch.uint8), x.to(torch.uint32))
    refusal(bits, x.to(torch.uint8), x, x.int())


def test_void_and_structs_take_any_tensor_and_float4_takes_floats(kernel):
    anything, x = kernel("anything"), floats()
    accepts(anything, x.int(), x, x)
    assert "float4* rows" in refusal(anything, x, x, x.double())


def test_a_view_that_is_not_contiguous_is_refused_with_the_reason(vec_add):
    a, view = floats(), torch.zeros(4, 16).T
    report = refusal(vec_add, a, view, a, np.int32(8))
    assert "not contiguous" in report and "strides (1, 16)" in report
    assert ".contiguous()" in report


def test_a_contiguous_slice_is_taken(vec_add):
    whole = floats(16)
    accepts(vec_add, whole[:8], whole[8:], floats(), np.int32(8))


def test_numpy_arrays_are_refused_with_the_conversion(vec_add):
    a = floats()
    report = refusal(vec_add, a.numpy(), a, a, np.int32(8))
    assert "NumPy array" in report and "torch.from_numpy(" in report


def test_none_is_a_null_pointer_and_nothing_else(vec_add):
    a = floats()
    accepts(vec_add, a, None, a, np.int32(8))
    assert "null pointer" in refusal(vec_add, a, a, a, None)


def test_a_tensor_is_refused_where_a_value_is_declared(vec_add):
    a, n = floats(), torch.tensor(8)
    with pytest.raises(LaunchError) as raised:
        vec_add((1,), (32,), (a, a, a, n))
    assert "np.int32(n.item())" in str(raised.value)


def test_a_missing_argument_is_named(vec_add):
    report = refusal(vec_add, floats(), floats(), floats())
    assert "takes 4 arguments, not 3" in report
    assert "add argument 4 (n): `int n`" in report
    assert "vec_add(const float* a, const float* b, float* c, int n)" in report


def test_an_argument_too_many_is_named(vec_add):
    a, n = floats(), 8
    with pytest.raises(LaunchError) as raised:
        vec_add((1,), (32,), (a, a, a, np.int32(n), np.int32(n + 1)))
    assert "leave out np.int32(n + 1)" in str(raised.value)


def test_swapped_arguments_are_named(vec_add):
    a = floats()
    report = refusal(vec_add, a, a, np.int32(8), a)
    assert "argument 3 (c) and argument 4 (n) look swapped" in report


def test_swapped_scalars_are_named(kernel):
    report = refusal(kernel("scale"), floats(), np.int64(8), np.float32(2), np.bool_(True))
    assert "argument 2 (alpha) and argument 3 (n) look swapped" in report


def test_a_wrong_dtype_alone_is_not_called_a_swap(kernel):
    x = floats()
    assert "swapped" not in refusal(kernel("anything"), x, x, x.double())


def test_arguments_without_a_comma_are_no_tuple(vec_add):
    with pytest.raises(LaunchError, match="a comma"):
        vec_add((1,), (32,), floats())


def test_tensors_on_two_devices_are_both_named(vec_add):
    a, elsewhere = floats(), torch.zeros(8, device="meta")
    with pytest.raises(LaunchError) as raised:
        vec_add((1,), (32,), (a, elsewhere, a, np.int32(8)))
    assert "argument 2 (b) lies on meta" in str(raised.value)
