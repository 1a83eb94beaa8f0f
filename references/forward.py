"""The forward pass of a Llama-shaped model over a whole sequence at once, with no cache."""

import torch
from torch import Tensor

from references.attention import attention
from references.models import ModelShape

EPSILON = 1e-5
THETA = 10_000.0


def rms_norm(x: Tensor, weight: Tensor, epsilon: float = EPSILON) -> Tensor:
    """x[..., h] over its root mean square along h, times weight[h].

    The quotient is computed in float32 at least, rounded to x's dtype, then multiplied.
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + epsilon)
    return (wide * scale).to(x.dtype) * weight


def rope(x: Tensor, positions: Tensor, theta: float = THETA) -> Tensor:
    """x[T, H, d] with each pair (i, i + d/2) turned by positions[T] * theta^(-2i/d)."""
    half = x.shape[-1] // 2
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    steps = torch.arange(half, dtype=torch.float64, device=x.device)
    angles = positions.to(torch.float64)[:, None] * theta ** (-steps / half)
    cosine = angles.cos().to(wide.dtype)[:, None]
    sine = angles.sin().to(wide.dtype)[:, None]
    first, second = wide[..., :half], wide[..., half:]
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    return torch.cat(turned, dim=-1).to(x.dtype)


def swiglu(x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """(silu(x @ gate.T) * (x @ up.T)) @ down.T, for x[..., hidden]."""
    return (torch.nn.functional.silu(x @ gate.T) * (x @ up.T)) @ down.T


def forward(weights: dict[str, Tensor], shape: ModelShape, tokens: Tensor) -> Tensor:
    """tokens[T] → logits[T, vocab], each position seeing itself and what is before it."""
    count = tokens.shape[0]
    positions = torch.arange(count, device=tokens.device)
    x = weights["embedding"][tokens]
    for layer in range(shape.layers):

        def weight(name: str, layer: int = layer) -> Tensor:
            return weights[f"layers.{layer}.{name}"]

        normed = rms_norm(x, weight("attention_norm"))
        heads = {
            name: (normed @ weight(name).T).view(count, -1, shape.head_dim)
            for name in ("query", "key", "value")
        }
        if shape.qk_norm:
            for name in ("query", "key"):
                heads[name] = rms_norm(heads[name], weight(f"{name}_norm"))
        query, key = rope(heads["query"], positions), rope(heads["key"], positions)
        mixed, _ = attention(
            query.transpose(0, 1), key.transpose(0, 1), heads["value"].transpose(0, 1), causal=True
        )
        x = x + mixed.transpose(0, 1).reshape(count, -1) @ weight("output").T
        normed = rms_norm(x, weight("ffn_norm"))
        x = x + swiglu(normed, weight("gate"), weight("up"), weight("down"))
    x = rms_norm(x, weights["final_norm"])
    return x @ weights["embedding" if shape.tied else "head"].T
