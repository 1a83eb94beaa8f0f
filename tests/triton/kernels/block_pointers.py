"""Block pointers, where the installed Triton has them (it gave them up for descriptors in 3.9)."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.kernels.matmul import product
from tests.triton.making import unwritten
from tests.triton.wanted import dotted


@triton.jit
def matmul_by_blocks(
    a, b, c, m, n, k, tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr
):
    row, column = tl.program_id(0) * tile_m, tl.program_id(1) * tile_n
    of_a = tl.make_block_ptr(a, (m, k), (k, 1), (row, 0), (tile_m, tile_k), (1, 0))
    of_b = tl.make_block_ptr(b, (k, n), (n, 1), (0, column), (tile_k, tile_n), (1, 0))
    sums = tl.zeros((tile_m, tile_n), tl.float32)
    for _ in range(0, k, tile_k):
        left = tl.load(of_a, boundary_check=(0, 1), padding_option="zero")
        right = tl.load(of_b, boundary_check=(0, 1), padding_option="zero")
        sums = tl.dot(left, right, sums)
        of_a, of_b = tl.advance(of_a, (0, tile_k)), tl.advance(of_b, (tile_k, 0))
    of_c = tl.make_block_ptr(c, (m, n), (n, 1), (row, column), (tile_m, tile_n), (1, 0))
    tl.store(of_c, sums.to(c.dtype.element_ty), boundary_check=(0, 1))


def _matmul(m=40, n=50, k=70):
    def memory(make):
        inputs = {
            "a": make.normal(m, k, dtype=torch.float16),
            "b": make.normal(k, n, dtype=torch.float16),
        }
        return inputs | {"c": unwritten(m, n, dtype=torch.float16)}

    def run(of):
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 32))
        matmul_by_blocks[grid](of["a"], of["b"], of["c"], m, n, k, 16, 32, 32)

    def wanted(of):
        return {"c": dotted(*product(of["a"], of["b"]), k)}

    return Case("matmul by block pointers f16", memory, run, wanted)


def cases():
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    return [_matmul()] if version < (3, 9) else []
