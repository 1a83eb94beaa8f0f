"""Lesson 09 on a GPU: beside cuBLAS, which adds halves up in float32 too."""

import pytest
import torch

from curriculum.lesson_09 import host
from harness.judging.timing import ratio_to_peer

PRODUCTS = {  # the task, the learner's bar, the product; the worked solution passes it by half
    "wmma_gemm": (3, 0.02, host.wmma_gemm),
    "wmma_gemm_pad": (4, 0.02, host.wmma_gemm_pad),
    "gemm_two_stages, 4 x 2": (5, 0.2, lambda a, b: host.gemm_two_stages(a, b, 4, 2)),
    "gemm_fast, 4 x 8": (7, 0.33, lambda a, b: host.gemm_fast(a, b, 4, 8)),
}


@pytest.mark.speed
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.task(task)) for name, (task, _, _) in PRODUCTS.items()],
)
def test_a_product_reaches_its_share_of_cublas(name, unpoisoned):
    _, bar, multiply = PRODUCTS[name]
    a, b = torch.rand(2, 4096, 4096, device="cuda").half() - 0.5
    c = torch.empty_like(a)
    ratio, said = ratio_to_peer(
        lambda: multiply(a, b), lambda: torch.matmul(a, b, out=c), "cuBLAS", repeats=10
    )
    largest = (multiply(a, b) - c.float()).abs().max()
    assert largest < 0.1, f"{name} is fast, but wrong: {largest:.3g} off"
    assert ratio >= bar, f"{name}: {said}"
