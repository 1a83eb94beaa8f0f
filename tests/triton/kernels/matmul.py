"""Products of matrices of every type: stages, warps, groups of programs, an epilogue."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.kernels.elementwise import short
from tests.triton.making import unwritten
from tests.triton.wanted import dotted, exact, rounded, summed


@triton.jit
def matmul(
    a, b, c, m, n, k, a_row, a_column, b_row, b_column,
    tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr,
    total: tl.constexpr, precision: tl.constexpr = "ieee",
):  # fmt: skip
    """c [m, n] = a [m, k] b [k, n], a program for each tile of c."""
    row = tl.program_id(0) * tile_m + tl.arange(0, tile_m)
    column = tl.program_id(1) * tile_n + tl.arange(0, tile_n)
    sums = tl.zeros((tile_m, tile_n), total)
    for first in range(0, k, tile_k):
        depth = first + tl.arange(0, tile_k)
        in_a = (row[:, None] < m) & (depth[None, :] < k)
        in_b = (depth[:, None] < k) & (column[None, :] < n)
        left = tl.load(a + row[:, None] * a_row + depth[None, :] * a_column, in_a, other=0)
        right = tl.load(b + depth[:, None] * b_row + column[None, :] * b_column, in_b, other=0)
        sums = tl.dot(left, right, sums, input_precision=precision, out_dtype=total)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * n + column[None, :], sums.to(c.dtype.element_ty), inside)


@triton.jit
def matmul_grouped(
    a, b, bias, c, m, n, k,
    tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr, group: tl.constexpr,
):  # fmt: skip
    """Programs in groups of rows of tiles, so that they share b in L2; then bias and GELU."""
    program = tl.program_id(0)
    high, wide = tl.cdiv(m, tile_m), tl.cdiv(n, tile_n)
    first_row = program // (group * wide) * group
    rows = min(high - first_row, group)
    row = (first_row + program % (group * wide) % rows) * tile_m + tl.arange(0, tile_m)
    column = program % (group * wide) // rows * tile_n + tl.arange(0, tile_n)
    sums = tl.zeros((tile_m, tile_n), tl.float32)
    for first in range(0, k, tile_k):
        depth = first + tl.arange(0, tile_k)
        left = tl.load(
            a + row[:, None] * k + depth[None, :],
            (row[:, None] < m) & (depth[None, :] < k), other=0.0,
        )  # fmt: skip
        right = tl.load(
            b + depth[:, None] * n + column[None, :],
            (depth[:, None] < k) & (column[None, :] < n), other=0.0,
        )  # fmt: skip
        sums = tl.dot(left, right, sums)
    sums += tl.load(bias + column, column < n, other=0.0).to(tl.float32)[None, :]
    sums = 0.5 * sums * (1.0 + tl.erf(sums * 0.7071067811865476))
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * n + column[None, :], sums.to(c.dtype.element_ty), inside)


@triton.jit
def matmul_batched(a, b, c, k, size: tl.constexpr, tile_k: tl.constexpr):
    """c [batch, size, size]: a grid of programs for the batch, a tile for each product."""
    at = tl.arange(0, size)
    a += tl.program_id(0) * size * k
    b += tl.program_id(0) * size * k
    sums = tl.zeros((size, size), tl.float32)
    for first in tl.range(0, k, tile_k, num_stages=2):
        depth = first + tl.arange(0, tile_k)
        left = tl.load(a + at[:, None] * k + depth[None, :], depth[None, :] < k, other=0.0)
        right = tl.load(b + at[:, None] * k + depth[None, :], depth[None, :] < k, other=0.0)
        sums = tl.dot(left, tl.trans(right), sums)
    at_c = tl.program_id(0) * size * size + at[:, None] * size + at[None, :]
    tl.store(c + at_c, sums.to(c.dtype.element_ty))


@triton.jit
def matrix_vector(a, x, out, rows, columns, height: tl.constexpr, width: tl.constexpr):
    row = tl.program_id(0) * height + tl.arange(0, height)
    total = tl.zeros((height, width), tl.float32)
    for first in range(0, columns, width):
        column = first + tl.arange(0, width)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        weights = tl.load(a + row[:, None] * columns + column[None, :], inside, other=0.0)
        total += weights.to(tl.float32) * tl.load(x + column, column < columns, other=0.0)[None, :]
    tl.store(out + row, tl.sum(total, 1), row < rows)


def product(a, b):
    """(a b, |a| |b|) in float64."""
    return a.double() @ b.double(), a.double().abs() @ b.double().abs()


def _case(
    name, source, m, n, k, tile, total=tl.float32, target=None, precision="ieee",
    transposed=False, truth=None, **options,
):  # fmt: skip
    target = source if target is None else target

    def memory(make):
        if source == torch.int8:
            a, b = (make.integers(*s, low=-128, high=128, dtype=source) for s in ((m, k), (k, n)))
        else:
            a, b = make.normal(m, k, dtype=source), make.normal(k, n, dtype=source)
        b = b.t().contiguous() if transposed else b
        return {"a": a, "b": b, "c": unwritten(m, n, dtype=target)}

    def run(memory_):
        a, b = memory_["a"], memory_["b"].t() if transposed else memory_["b"]
        grid = (triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1]))
        strides = (*a.stride(), *b.stride())
        matmul[grid](a, b, memory_["c"], m, n, k, *strides, *tile, total, precision, **options)

    def wanted(memory_):
        a, b = memory_["a"], memory_["b"].t() if transposed else memory_["b"]
        return {"c": (truth or _dot)(a, b, k)}

    return Case(f"matmul {name}", memory, run, wanted)


def _dot(a, b, k):
    return dotted(*product(a, b), k)


def _float32_dot(a, b, k):
    return summed(*product(a, b), k)


def _float64_dot(a, b, k):
    return summed(*product(a, b), k, unit=2.0**-53)


def _truncated_dot(a, b, k):
    """Tensor cores read the upper 19 bits of a float32 as tf32."""
    a, b = ((x.view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b))
    return dotted(*product(a, b), k)


def _three_dots(a, b, k):
    """tf32 of the factors and of what that leaves: 2^-21 of each product is lost."""
    value, magnitude = product(a, b)
    return rounded(value, 1.0, (k / 16 + 3) * 2.0**-20 * magnitude, apart=None)


def _half_dot(a, b, k):
    """Each instruction, of 16 products, rounds its sums to half."""
    value, magnitude = product(a, b)
    return rounded(value, 1.0, (k / 16 + 1) * 2.0**-11 * magnitude, apart=None)


def _whole_dot(a, b, k):
    return exact((a.double() @ b.double()).to(torch.int32))


def _grouped():
    m, n, k = 49, 100, 72
    tiles = triton.cdiv(m, 16) * triton.cdiv(n, 32)

    def memory(make):
        return {
            "a": make.normal(m, k, dtype=torch.float16),
            "b": make.normal(k, n, dtype=torch.float16, scale=0.2),
            "bias": make.normal(n, dtype=torch.float16),
            "c": unwritten(m, n, dtype=torch.float16),
        }

    def run(of):
        names = ("a", "b", "bias", "c")
        matmul_grouped[(tiles,)](*(of[x] for x in names), m, n, k, 16, 32, 32, 3, num_stages=3)

    def wanted(of):
        value, magnitude = product(of["a"], of["b"])
        linear = value + of["bias"].double()
        # The slope of GELU is at most 1.13.
        slack = 1.13 * (k / 16 + 1) * 2.0**-21 * magnitude + 2.0**-21
        return {"c": rounded(torch.nn.functional.gelu(linear), 1.0, slack, apart=None)}

    return Case("matmul grouped with bias and gelu f16", memory, run, wanted)


def _batched():
    def memory(make):
        inputs = {x: make.normal(5, 16, 40, dtype=torch.bfloat16) for x in "ab"}
        return {**inputs, "c": unwritten(5, 16, 16, dtype=torch.bfloat16)}

    def wanted(of):
        return {"c": dotted(*product(of["a"], of["b"].mT), 40)}

    def run(of):
        matmul_batched[(5,)](of["a"], of["b"], of["c"], 40, 16, 32, num_warps=1)

    return Case("matmul batched bf16", memory, run, wanted)


def _vector():
    def memory(make):
        return {
            "a": make.normal(45, 300, dtype=torch.float16),
            "x": make.normal(300),
            "out": unwritten(45),
        }

    def wanted(of):
        return {"out": summed(*product(of["a"], of["x"]), 20)}

    def run(of):
        matrix_vector[(12,)](of["a"], of["x"], of["out"], 45, 300, 4, 128)

    return Case("matrix times vector f16", memory, run, wanted)


def cases():
    half, bfloat, single, double = torch.float16, torch.bfloat16, torch.float32, torch.float64
    small = (33, 41, 50)
    return [
        _case("f16 one stage", half, *small, (32, 32, 32), num_stages=1),
        _case("f16 two stages", half, 64, 48, 96, (32, 16, 32), num_stages=2, num_warps=2),
        _case("f16 three stages", half, 64, 64, 128, (64, 32, 32), num_stages=3, num_warps=4),
        _case("f16 one warp", half, 31, 24, 80, (16, 16, 16), num_stages=3, num_warps=1),
        _case("bf16 eight warps", bfloat, 61, 64, 112, (64, 64, 32), num_stages=2, num_warps=8),
        _case("f16 of transposed b", half, *small, (32, 32, 32), transposed=True, num_warps=2),
        _case(
            f"{short(half)} sums", half, *small, (32, 32, 32), tl.float16, truth=_half_dot
        ),
        _case("f16 to f32", half, *small, (16, 32, 16), target=single, num_stages=2),
        _case(
            "tf32", single, *small, (32, 32, 32), precision="tf32", truth=_truncated_dot
        ),
        _case(
            "tf32 three times", single, *small, (32, 32, 16), precision="tf32x3", num_warps=8,
            truth=_three_dots,
        ),  # fmt: skip
        _case("f32", single, 17, 19, 37, (16, 16, 16), truth=_float32_dot, num_warps=4),
        _case("f64", double, 17, 19, 37, (16, 16, 16), tl.float64, truth=_float64_dot, num_warps=2),
        _case(
            "i8", torch.int8, *small, (32, 32, 32), tl.int32, torch.int32, truth=_whole_dot,
            num_stages=2,
        ),  # fmt: skip
        _grouped(),
        _batched(),
        _vector(),
    ]
