"""What `gpu.py` measures: for each solution its input, its peer, its least work, its error."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

ROWS: list["Row"] = []


@dataclass
class Work:
    """One problem on the GPU.

    ours, theirs  the solution and what an engineer would call instead; both return their result
    bytes         the fewest that must be read and written in memory
    operations    floating-point operations, or 0 where they do not matter
    allowed       the largest difference between the two results, absolute
    """

    ours: Callable[[], Tensor]
    theirs: Callable[[], Tensor]
    bytes: int
    allowed: float
    operations: int = 0
    tensor_cores: bool = False

    def apart(self) -> float:
        """The largest difference between the two results."""
        ours, theirs = self.ours(), self.theirs()
        return float((ours.double().reshape(-1) - theirs.double().reshape(-1)).abs().max())


@dataclass
class Row:
    name: str
    lesson: int
    peer: str
    shape: str
    make: Callable[[], Work]


def row(name: str, lesson: int, peer: str, shape: str) -> Callable[[Callable[[], Work]], None]:
    """Add a row whose work is made when its turn comes."""

    def add(make: Callable[[], Work]) -> None:
        ROWS.append(Row(name, lesson, peer, shape, make))

    return add


def floats(*shape: int) -> Tensor:
    return torch.rand(*shape, device="cuda")


@row("vec_add", 3, "torch.add(out=)", "2^26 float32")
def _() -> Work:
    from curriculum.lesson_03 import host

    a, b, c = floats(3, 1 << 26)
    return Work(lambda: host.vec_add(a, b), lambda: torch.add(a, b, out=c), 12 << 26, 0.0)


@row("vec_add_four", 3, "torch.add(out=)", "2^26 float32")
def _() -> Work:
    from curriculum.lesson_03 import host

    a, b, c = floats(3, 1 << 26)
    return Work(lambda: host.vec_add_four(a, b), lambda: torch.add(a, b, out=c), 12 << 26, 0.0)


@row("strided_copy, stride 1", 4, "Tensor.copy_", "2^27 float32")
def _() -> Work:
    from curriculum.lesson_04 import host

    n = 1 << 27
    x, y = floats(n), torch.empty(n, device="cuda")
    return Work(lambda: host.strided_copy(x, n, 1), lambda: y.copy_(x), 8 * n, 0.0)


@row("copy_vec4", 4, "Tensor.copy_", "2^27 float32")
def _() -> Work:
    from curriculum.lesson_04 import host

    n = 1 << 27
    x, y, z = floats(n), torch.empty(n, device="cuda"), torch.empty(n, device="cuda")

    def ours() -> Tensor:
        host.copy_vec4(x, y)
        return y

    return Work(ours, lambda: z.copy_(x), 8 * n, 0.0)


@row("col_sum", 4, "Tensor.sum(0)", "8192 × 8192 float32")
def _() -> Work:
    from curriculum.lesson_04 import host

    a = floats(8192, 8192)
    return Work(lambda: host.col_sum(a), lambda: a.sum(0), 4 << 26, 0.05)


for _side in ("read", "write"):

    @row(f"transpose_{_side}_rows", 4, "Tensor.copy_", "8192 × 8192 float32")
    def _(side: str = _side) -> Work:
        return _transposed(4, lambda host, a: host.transpose(a, side))


for _tile in (32, 64):

    @row(f"transpose_tiled, side {_tile}", 5, "Tensor.copy_", "8192 × 8192 float32")
    def _(tile: int = _tile) -> Work:
        return _transposed(5, lambda host, a: host.transpose_tiled(a, tile))


def _transposed(lesson: int, call: Callable[..., Tensor]) -> Work:
    """A transpose beside a plain copy of as many bytes: what it would reach if it were free."""
    if lesson == 4:
        from curriculum.lesson_04 import host
    else:
        from curriculum.lesson_05 import host  # type: ignore[no-redef]
    a = floats(8192, 8192)
    b = torch.empty_like(a)
    work = Work(lambda: call(host, a), lambda: b.copy_(a), 8 << 26, 0.0)
    work.apart = lambda: float((work.ours() - a.t()).abs().max())  # type: ignore[method-assign]
    return work


PRODUCTS: dict[str, Callable[..., Tensor]] = {
    "matmul_naive": lambda host, a, b: host.matmul_naive(a, b),
    "matmul_tiled, 32": lambda host, a, b: host.matmul_tiled(a, b, 32),
    "matmul_regtile, 4 × 4": lambda host, a, b: host.matmul_regtile(a, b, 4),
    "matmul_regtile, 8 × 8": lambda host, a, b: host.matmul_regtile(a, b, 8),
    "matmul_buffered, 8 × 8": lambda host, a, b: host.matmul_buffered(a, b, 8),
}
for _name, _multiply in PRODUCTS.items():

    @row(_name, 5, "cuBLAS, no TF32", "4096³ float32")
    def _(multiply: Callable[..., Tensor] = _multiply) -> Work:
        from curriculum.lesson_05 import host

        a, b = floats(2, 4096, 4096)
        c = torch.empty_like(a)
        return Work(
            lambda: multiply(host, a, b),
            lambda: torch.matmul(a, b, out=c),
            12 << 24,
            0.02,
            operations=2 << 36,
        )


@row("sum_atomic", 7, "torch.sum", "2^28 float32")
def _() -> Work:
    from curriculum.lesson_07 import host

    x = floats(1 << 28)
    return Work(lambda: host.sum_atomic(x), lambda: x.sum(), 4 << 28, 2000.0)


@row("sum_two_pass", 7, "torch.sum", "2^28 float32")
def _() -> Work:
    from curriculum.lesson_07 import host

    x = floats(1 << 28)
    return Work(lambda: host.sum_two_pass(x), lambda: x.sum(), 4 << 28, 2000.0)


@row("softmax_row", 7, "torch.softmax", "4096 × 4096 float32")
def _() -> Work:
    from curriculum.lesson_07 import host

    x = torch.randn(4096, 4096, device="cuda")
    return Work(lambda: host.softmax_row(x), lambda: torch.softmax(x, 1), 8 << 24, 1e-6)


@row("copy4, 4 under way", 8, "Tensor.copy_", "2^27 float32")
def _() -> Work:
    from curriculum.lesson_08 import host

    n = 1 << 27
    x, y = floats(n), torch.empty(n, device="cuda")
    return Work(lambda: host.copy(x, 4, 132 * 8), lambda: y.copy_(x), 8 * n, 0.0)


TENSOR_PRODUCTS: dict[str, Callable[..., Tensor]] = {
    "wmma_gemm": lambda host, a, b: host.wmma_gemm(a, b),
    "wmma_gemm_pad": lambda host, a, b: host.wmma_gemm_pad(a, b),
    "gemm_two_stages, 4 × 2": lambda host, a, b: host.gemm_two_stages(a, b, 4, 2),
    "gemm_fast, 4 × 8": lambda host, a, b: host.gemm_fast(a, b, 4, 8),
}
for _name, _multiply in TENSOR_PRODUCTS.items():

    @row(_name, 9, "cuBLAS", "4096³ float16")
    def _(multiply: Callable[..., Tensor] = _multiply) -> Work:
        from curriculum.lesson_09 import host

        a, b = floats(2, 4096, 4096).half() - 0.5
        c = torch.empty_like(a)
        return Work(
            lambda: multiply(host, a, b),
            lambda: torch.matmul(a, b, out=c),
            8 << 24,
            0.1,
            operations=2 << 36,
            tensor_cores=True,
        )


@row("flash_fwd, 64 × 32", 12, "bmm, softmax, bmm", "16 heads of 4096 × 64, float32")
def _() -> Work:
    from curriculum.lesson_12 import host

    q, k, v = torch.randn(3, 16, 4096, 64, device="cuda")
    return Work(
        lambda: host.flash_fwd(q, k, v, rows=64, keys=32)[0],
        lambda: torch.bmm((torch.bmm(q, k.transpose(1, 2)) / 8).softmax(-1), v),
        4 * 4 * q.numel(),
        1e-4,
        operations=4 * 64 * 16 * 4096**2,
    )


@row("flash_fwd_mma", 12, "scaled_dot_product_attention", "64 heads of 4096 × 64, float16")
def _() -> Work:
    from curriculum.lesson_12 import host

    q, k, v = torch.randn(3, 64, 4096, 64, device="cuda").half()
    peer = torch.nn.functional.scaled_dot_product_attention
    return Work(
        lambda: host.flash_fwd_mma(q, k, v, down=2)[0],
        lambda: peer(q[None], k[None], v[None]),
        4 * 2 * q.numel(),
        2e-3,
        operations=4 * 64 * 64 * 4096**2,
        tensor_cores=True,
    )


@row(
    "flash_decode, 33 splits",
    12,
    "scaled_dot_product_attention",
    "32 heads on 8, 2^15 × 128 float32",
)
def _() -> Work:
    from curriculum.lesson_12 import host

    q = torch.randn(1, 32, 128, device="cuda")
    k, v = torch.randn(2, 1, 8, 1 << 15, 128, device="cuda")
    lens = torch.full((1,), 1 << 15, dtype=torch.int32, device="cuda")
    peer = torch.nn.functional.scaled_dot_product_attention
    return Work(
        lambda: host.flash_decode(q, k, v, lens, 33),
        lambda: peer(q[:, :, None], k, v, enable_gqa=True),
        2 * k.nbytes,
        1e-4,
    )


def _caches(kv_heads: int) -> list[Tensor]:
    """32 sequences of 2048 tokens in blocks of 16 that lie in any order: keys, values, tables."""
    keys, values = (torch.randn(4096, 16, kv_heads, 128, device="cuda") for _ in range(2))
    return [keys, values, torch.randperm(4096, device="cuda").int().view(32, 128)]


def _gathered(cache: Tensor, tables: Tensor) -> Tensor:
    """[32, 2048, kv_heads, 128]: the tokens side by side."""
    return cache[tables.long()].flatten(1, 2)


for _heads, _kernel, _peer in (
    (8, "paged_attention", "the same without blocks"),
    (8, "paged_attention", "gather, then SDPA"),
    (32, "paged_attention", "gather, then SDPA"),
    (32, "paged_attention_shared", "gather, then SDPA"),
):

    @row(_kernel, 13, _peer, f"32 × 2048 tokens, {_heads} heads on 8, float32")
    def _(heads: int = _heads, kernel: str = _kernel, peer: str = _peer) -> Work:
        from curriculum.lesson_13 import host

        keys, values, tables = _caches(8)
        query = torch.randn(32, heads, 128, device="cuda")
        lens = torch.full((32,), 2048, dtype=torch.int32, device="cuda")
        ours: Callable[..., Tensor] = getattr(host, kernel)
        near = [_gathered(cache, tables) for cache in (keys, values)]

        def without_blocks() -> Tensor:
            return host.dense_attention(query, near[0], near[1], lens)

        def gathered() -> Tensor:
            k, v = (_gathered(cache, tables).transpose(1, 2) for cache in (keys, values))
            attend = torch.nn.functional.scaled_dot_product_attention
            return attend(query[:, :, None], k, v, enable_gqa=heads > 8)[:, :, 0]

        return Work(
            lambda: ours(query, keys, values, tables, lens),
            gathered if peer.startswith("gather") else without_blocks,
            4 * (keys.numel() + values.numel()),
            1e-4,
        )


@row("write_kv", 13, "index_copy_, twice", "65,536 tokens, 8 heads of 128, float32")
def _() -> Work:
    from curriculum.lesson_13 import host

    keys, values, _ = _caches(8)
    new = torch.randn(1 << 16, 8, 128, device="cuda")
    slots = torch.randperm(1 << 16, device="cuda")
    narrow = slots.int()

    def ours() -> Tensor:
        host.write_kv(keys, values, new, new, narrow)
        return keys.flatten(0, 1)

    def theirs() -> Tensor:
        for cache in (keys, values):
            cache.flatten(0, 1).index_copy_(0, slots, new)
        return keys.flatten(0, 1)

    return Work(ours, theirs, 4 * 4 * new.numel(), 0.0)
