"""A kernel that cannot be found is answered with the one that was meant."""

import pytest
import torch

from harness import cuda
from harness.telling.learner_error import LaunchError

SOURCE = """
extern "C" __global__ void vec_add(float* a) {}
extern "C" __global__ void vec_mul(float* a) {}
__global__ void plain(const float* a,
                      int n) {}
template <int N> __global__ void unrolled(float* a) {}
"""


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def launch(name, source=SOURCE):
        (tmp_path / "kernel.cu").write_text(source)
        kernel = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function(name)
        with pytest.raises(LaunchError) as raised:
            kernel((1,), (32,), (torch.zeros(1),))
        return raised.value.learner_report

    return launch


def test_a_misspelt_name_lists_the_kernels_and_the_closest(refusal):
    report = refusal("vec_ad")
    assert report.startswith("kernel.cu has no kernel vec_ad")
    assert "did you mean vec_add?" in report
    assert "plain, vec_add, vec_mul" in report


def test_a_kernel_without_extern_c_is_answered_with_the_line_to_write(refusal):
    report = refusal("plain")
    assert 'not declared extern "C"' in report
    assert "kernel.cu:4    __global__ void plain(const float* a," in report
    assert 'extern "C" __global__ void plain(const float* a, int n)' in report


def test_a_template_is_told_to_be_one(refusal):
    assert "is a template" in refusal("unrolled")


def test_a_file_without_kernels_says_so(refusal):
    assert "no kernel at all" in refusal("vec_add", "// nothing here\n")


def test_a_missing_file_says_how_to_restore_it(tmp_path):
    kernel = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function("vec_add")
    with pytest.raises(LaunchError, match="lesson reset"):
        kernel((1,), (32,), (torch.zeros(1),))


def test_nothing_is_compiled_before_the_first_launch(tmp_path):
    (tmp_path / "kernel.cu").write_text("this is no CUDA")
    kernel = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function("vec_add")
    assert "vec_add" in repr(kernel)
