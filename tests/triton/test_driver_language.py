"""Triton's language on the simulator, feature by feature, each against torch or NumPy."""

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

import harness.triton_driver  # noqa: F401
from harness.triton_driver.triton_internals import version
from tests.triton.wanted import converted

pytestmark = pytest.mark.simulated

N = 1000
BLOCK = 256


@triton.jit
def dot(
    a, b, c,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x = tl.load(a + i * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j)
    tl.store(c + i * N + j, tl.dot(x, y, out_dtype=OUT, input_precision=HOW))


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dot_is_exact_where_every_product_and_sum_is(dtype, warps):
    a = (torch.arange(64 * 32) % 13 - 6).reshape(64, 32).to(dtype)
    b = (torch.arange(32 * 64) % 11 - 5).reshape(32, 64).to(dtype)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    c = torch.empty(64, 64, dtype=wide)
    out = tl.float64 if dtype == torch.float64 else tl.float32
    dot[(1,)](a, b, c, 64, 64, 32, out, "ieee", num_warps=warps)
    assert torch.equal(c, (a.double() @ b.double()).to(wide))


def test_a_tf32_dot_sees_the_upper_19_bits_of_its_factors():
    a, b = torch.randn(32, 32), torch.randn(32, 32)
    c = torch.empty(32, 32)
    dot[(1,)](a, b, c, 32, 32, 32, tl.float32, "tf32")
    cut = [(x.view(torch.int32) & ~0x1FFF).view(torch.float32).double() for x in (a, b)]
    assert torch.allclose(c.double(), cut[0] @ cut[1], rtol=1e-6, atol=1e-5)
    assert not torch.allclose(c.double(), a.double() @ b.double(), rtol=1e-6, atol=1e-5)


def test_a_dot_of_bytes_is_exact():
    a, b = (torch.randint(-128, 128, (32, 32), dtype=torch.int8) for _ in "ab")
    c = torch.empty(32, 32, dtype=torch.int32)
    dot[(1,)](a, b, c, 32, 32, 32, tl.int32, None)
    assert torch.equal(c, (a.long() @ b.long()).int())


@triton.jit
def convert(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n).to(y.dtype.element_ty), mask=i < n)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (torch.float32, torch.float16),
        (torch.float32, torch.bfloat16),
        (torch.float64, torch.float32),
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float8_e5m2),
        (torch.float8_e5m2, torch.float16),
        (torch.float8_e5m2, torch.float32),
        (torch.float32, torch.int32),
        (torch.int32, torch.float32),
        (torch.int8, torch.float16),
        (torch.float32, torch.int8),
        (torch.int64, torch.float64),
    ],
)
def test_conversions_round_as_torch_does(source, target):
    x = torch.linspace(-100, 100, N).to(source)
    y = torch.empty(N, dtype=target)
    convert[(triton.cdiv(N, BLOCK),)](x, y, N, B=BLOCK)
    assert torch.equal(y.double(), converted(x, target).double())


@triton.jit
def functions(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    total = libdevice.tanh(v) + libdevice.erf(v) + libdevice.log1p(tl.abs(v)) + libdevice.sin(v)
    total += libdevice.pow(tl.abs(v), v) + tl.exp(v) + tl.sqrt(tl.abs(v))
    total += libdevice.atan2(v, v + 1)
    tl.store(y + i, total)


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 4e-5), (torch.float64, 1e-12)])
def test_libdevice(dtype, error):
    x = torch.linspace(-3, 3, 512, dtype=dtype)
    y = torch.empty_like(x)
    functions[(1,)](x, y, B=512)
    w = x.double()
    want = w.tanh() + w.erf() + w.abs().log1p() + w.sin() + w.abs() ** w + w.exp()
    want += w.abs().sqrt() + torch.atan2(w, w + 1)
    assert ((y - want).abs() <= error * want.abs().clamp(min=1)).all()


@triton.jit
def random_numbers(uniform, normal, integers, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(uniform + i, tl.rand(seed, i))
    tl.store(normal + i, tl.randn(seed, i))
    tl.store(integers + i, tl.randint(seed, i))


def philox(seed, offset):
    """The first word of Philox 4×32-10 (Salmon et al., SC 2011) at counter (offset, 0, 0, 0)."""
    c, k = [offset, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0]


def test_random_numbers_are_those_of_philox():
    uniform, normal = torch.empty(4096), torch.empty(4096)
    integers = torch.empty(4096, dtype=torch.int32)
    random_numbers[(4,)](uniform, normal, integers, 2**31 + 42, B=1024)
    want = [philox(2**31 + 42, offset) for offset in range(0, 4096, 101)]
    assert [word & 0xFFFFFFFF for word in integers[::101].tolist()] == want
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.03
    assert abs(normal.mean()) < 0.06 and abs(normal.std() - 1) < 0.05


@triton.jit
def both(a, b):
    return a * 3 + b


@triton.jit
def compose(a1, b1, a2, b2):
    """The affine map x -> a2 (a1 x + b1) + b2."""
    return a1 * a2, a2 * b1 + b2


@triton.jit
def larger(a, i, b, j):
    first = (a > b) | ((a == b) & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)


@triton.jit
def scans(x, sums, products, a, b, best, ROWS: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * B + tl.arange(0, B)[None, :]
    v = tl.load(x + i)
    tl.store(sums + i, tl.cumsum(v, 1))
    tl.store(products + i, tl.cumprod(v, 1, reverse=True))
    u, w = tl.associative_scan((v, v + 1), 1, compose)
    tl.store(a + i, u)
    tl.store(b + i, w)
    _, where = tl.reduce((v, tl.broadcast_to(tl.arange(0, B)[None, :], (ROWS, B))), 1, larger)
    tl.store(best + tl.arange(0, ROWS), where)


def test_scans_and_reductions_with_functions_of_ones_own():
    x = torch.rand(4, 128, dtype=torch.float64) + 0.5
    out = [torch.empty_like(x) for _ in range(4)]
    best = torch.empty(4, dtype=torch.int32)
    scans[(1,)](x, *out, best, ROWS=4, B=128)
    sums, products, a, b = out
    assert torch.allclose(sums, x.cumsum(1))
    assert torch.allclose(products, x.flip(1).cumprod(1).flip(1))
    want_a, want_b = x.clone(), x + 1
    for k in range(1, 128):
        want_a[:, k] = want_a[:, k - 1] * x[:, k]
        want_b[:, k] = x[:, k] * want_b[:, k - 1] + x[:, k] + 1
    assert torch.allclose(a, want_a) and torch.allclose(b, want_b)
    assert best.tolist() == x.argmax(1).tolist()


@triton.jit
def order(x, rising, falling, counts, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(rising + i, tl.sort(v))
    tl.store(falling + i, tl.flip(tl.sort(v), 0))
    tl.store(counts + tl.arange(0, 16), tl.histogram(v % 16, 16))


def test_sort_flip_and_histogram():
    x = (torch.arange(256, dtype=torch.int32) * 7919) % 1009
    rising, falling = torch.empty_like(x), torch.empty_like(x)
    counts = torch.empty(16, dtype=torch.int32)
    order[(1,)](x, rising, falling, counts, B=256)
    assert torch.equal(rising, x.sort().values)
    assert torch.equal(falling, x.sort(descending=True).values)
    assert torch.equal(counts.long(), torch.bincount(x % 16, minlength=16))


@triton.jit
def double_by_descriptor(x, y, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [M, N])
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [M, N])
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    target.store(at, source.load(at) * 2)


def test_descriptors_made_in_a_kernel_keep_to_ragged_edges():
    x, y = torch.randn(50, 60), torch.full((50, 60), torch.nan)
    double_by_descriptor[(4, 2)](x, y, 50, 60, M=16, N=32)
    assert torch.equal(y, x * 2)


@triton.jit
def double_a_part(source, target):
    target.store([0, 0], source.load([8, 16]) * 2)


def test_descriptors_made_on_the_host():
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, y = torch.randn(64, 64), torch.full((16, 32), torch.nan)
    made = [TensorDescriptor.from_tensor(tensor, [16, 32]) for tensor in (x, y)]
    double_a_part[(1,)](*made)
    assert torch.equal(y, x[8:24, 16:48] * 2)


@triton.jit
def double_by_block_pointer(x, y, rows, columns, M: tl.constexpr, N: tl.constexpr):
    at = (tl.program_id(0) * M, tl.program_id(1) * N)
    source = tl.make_block_ptr(x, (rows, columns), (columns, 1), at, (M, N), (1, 0))
    target = tl.make_block_ptr(y, (rows, columns), (columns, 1), at, (M, N), (1, 0))
    tl.store(target, tl.load(source, boundary_check=(0, 1)) * 2, boundary_check=(0, 1))


@pytest.mark.skipif(version >= "3.9", reason="Triton 3.9 took block pointers out")
def test_block_pointers_keep_to_ragged_edges():
    x, y = torch.randn(50, 60), torch.full((50, 60), torch.nan)
    double_by_block_pointer[(4, 2)](x, y, 50, 60, M=16, N=32)
    assert torch.equal(y, x * 2)


@triton.jit
def assembly(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.inline_asm_elementwise(
        "{ .reg .f32 t; mul.f32 t, $1, 0f40000000; add.f32 $0, t, $1; }",
        "=f,f",
        [tl.load(x + i)],
        dtype=tl.float32,
        is_pure=True,
        pack=1,
    )
    tl.store(y + i, v)


def test_inline_assembly():
    x, y = torch.randn(512), torch.empty(512)
    assembly[(1,)](x, y, B=512)
    assert torch.equal(y, x * 2 + x)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        at = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + at, mask=(rows[:, None] < m) & (at < k), other=0.0)
        inside = (at[:, None] < k) & (columns < n)
        y = tl.load(b + at[:, None] * n + columns, mask=inside, other=0.0)
        total = tl.dot(x, y, total)
    inside = (rows[:, None] < m) & (columns < n)
    tl.store(c + rows[:, None] * n + columns, total, mask=inside)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("sizes", [(64, 64, 128), (40, 50, 70)])
def test_a_pipelined_loop_is_right_at_each_depth(sizes, stages):
    m, n, k = sizes
    a, b = (torch.randint(-4, 5, s).half() for s in ((m, k), (k, n)))
    c = torch.empty(m, n)
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    compiled = matmul[grid](a, b, c, m, n, k, 32, 32, 32, num_stages=stages)
    assert torch.equal(c, a.float() @ b.float())
    assert compiled.metadata.num_stages == stages
