"""The rows of lessons 10 to 13: fused chains, attention, paged keys and values."""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.gpu_rows import Work, floats, row


@row("bias_gelu_add", 10, "torch: add, gelu, add", "16,384 × 4096 float32")
def _() -> Work:
    from curriculum.lesson_10 import host

    x, residual = floats(2, 16_384, 4096)
    bias = floats(4096)
    return Work(
        lambda: host.fused(x, bias, residual),
        lambda: torch.nn.functional.gelu(x + bias) + residual,
        12 * x.numel(),
        1e-5,
        operations=7 * x.numel(),
    )


@row("add_rms_norm", 11, "torch: add_, rms_norm", "4096 × 4096 float32")
def _() -> Work:
    from curriculum.lesson_11 import host

    x, sums, theirs = (floats(4096, 4096) for _ in range(3))
    sums.zero_()
    theirs.zero_()
    weight = floats(4096)

    def apart() -> Tensor:
        theirs.add_(x)
        return torch.nn.functional.rms_norm(theirs, (4096,), weight, 1e-5)

    ours = lambda: host.add_rms_norm(sums, x, weight)  # noqa: E731
    # The sums grow with each call, and their norm stays the same.
    return Work(ours, apart, 16 * x.numel(), 1e-3)


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


for _name, _heads, _kernel, _peer in (
    ("paged, beside dense", 8, "paged_attention", "the same without blocks"),
    ("paged", 8, "paged_attention", "gather, then SDPA"),
    ("paged, 32 heads", 32, "paged_attention", "gather, then SDPA"),
    ("paged_attn_shared", 32, "paged_attention_shared", "gather, then SDPA"),
):

    @row(_name, 13, _peer, f"32 × 2048 tokens, {_heads} heads on 8, float32")
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
