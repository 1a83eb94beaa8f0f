"""Lesson 05 on a GPU: beside a copy, and beside cuBLAS without TF32."""

import pytest
import torch

from curriculum.lesson_05 import host
from harness.judging.timing import ratio_to_peer


@pytest.mark.speed
@pytest.mark.task(2)
@pytest.mark.parametrize("side", [32, 64])
def test_a_transpose_is_nearly_as_fast_as_a_copy(side, unpoisoned):
    a = torch.rand(8192, 8192, device="cuda")
    b = torch.empty_like(a)
    ratio, said = ratio_to_peer(
        lambda: host.transpose_tiled(a, side), lambda: b.copy_(a), "copy_"
    )
    assert ratio >= 0.55, f"SIDE {side}: {said}"


PRODUCTS = {  # the learner's bar: 0.54 to 0.61 of what the worked solution reached on an H200
    "matmul_naive": (1, 0.06, host.matmul_naive),
    "matmul_tiled, 32 x 32": (3, 0.10, lambda a, b: host.matmul_tiled(a, b, 32)),
    "matmul_regtile, 4 x 4": (4, 0.40, host.matmul_regtile),
    "matmul_regtile, 8 x 8": (4, 0.50, lambda a, b: host.matmul_regtile(a, b, 8)),
    "matmul_buffered, 8 x 8": (7, 0.52, lambda a, b: host.matmul_buffered(a, b, 8)),
}


@pytest.mark.speed
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.task(task)) for name, (task, _, _) in PRODUCTS.items()],
)
def test_a_product_reaches_its_share_of_cublas(name, unpoisoned):
    assert not torch.backends.cuda.matmul.allow_tf32, "the peer would use tensor cores"
    _, bar, multiply = PRODUCTS[name]
    a, b = torch.rand(2, 4096, 4096, device="cuda")
    c = torch.empty_like(a)
    ratio, said = ratio_to_peer(
        lambda: multiply(a, b), lambda: torch.matmul(a, b, out=c), "cuBLAS", repeats=3
    )
    assert (multiply(a, b) - c).abs().max() < 0.02, f"{name} is fast, but wrong"
    assert ratio >= bar, f"{name}: {said}"
