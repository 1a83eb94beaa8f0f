"""Shapes of public models, and every weight that such a shape has.

Sources: the `config.json` that each model's authors publish with its weights.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder of the Llama kind: RMSNorm, rotary positions, grouped queries, SwiGLU."""

    name: str
    layers: int
    hidden: int
    heads: int  # of queries
    kv_heads: int  # of keys and values; divides heads
    head_dim: int  # a figure of its own: hidden // heads is wrong for Qwen3
    ffn: int  # columns of the gate and of the up projection
    vocab: int
    tied: bool = False  # the output projection is the embedding table
    qk_norm: bool = False  # an RMSNorm over head_dim for queries and one for keys
    dtype_bytes: int = 2


LLAMA_2_7B = ModelShape("Llama-2-7B", 32, 4096, 32, 32, 128, 11008, 32000)
LLAMA_2_13B = ModelShape("Llama-2-13B", 40, 5120, 40, 40, 128, 13824, 32000)
LLAMA_2_70B = ModelShape("Llama-2-70B", 80, 8192, 64, 8, 128, 28672, 32000)
LLAMA_3_8B = ModelShape("Llama-3-8B", 32, 4096, 32, 8, 128, 14336, 128256)
LLAMA_3_70B = ModelShape("Llama-3-70B", 80, 8192, 64, 8, 128, 28672, 128256)
LLAMA_31_405B = ModelShape("Llama-3.1-405B", 126, 16384, 128, 8, 128, 53248, 128256)
QWEN3_06B = ModelShape("Qwen3-0.6B", 28, 1024, 16, 8, 128, 3072, 151936, tied=True, qk_norm=True)
# The model of tiny_model.py: bytes, and four marks.
TINY = ModelShape("tiny", 2, 64, 4, 2, 16, 176, 260, tied=True, dtype_bytes=4)

MODELS = (
    LLAMA_2_7B,
    LLAMA_2_13B,
    LLAMA_2_70B,
    LLAMA_3_8B,
    LLAMA_3_70B,
    LLAMA_31_405B,
    QWEN3_06B,
)


def weight_shapes(shape: ModelShape) -> dict[str, tuple[int, ...]]:
    """Every weight by name, matrices as [outputs, inputs], so that `x @ w.T` applies one."""
    s, d = shape, shape.head_dim
    shapes: dict[str, tuple[int, ...]] = {"embedding": (s.vocab, s.hidden)}
    for layer in range(s.layers):
        shapes |= {
            f"layers.{layer}.attention_norm": (s.hidden,),
            f"layers.{layer}.query": (s.heads * d, s.hidden),
            f"layers.{layer}.key": (s.kv_heads * d, s.hidden),
            f"layers.{layer}.value": (s.kv_heads * d, s.hidden),
            f"layers.{layer}.output": (s.hidden, s.heads * d),
            f"layers.{layer}.ffn_norm": (s.hidden,),
            f"layers.{layer}.gate": (s.ffn, s.hidden),
            f"layers.{layer}.up": (s.ffn, s.hidden),
            f"layers.{layer}.down": (s.hidden, s.ffn),
        }
        if s.qk_norm:
            shapes[f"layers.{layer}.query_norm"] = shapes[f"layers.{layer}.key_norm"] = (d,)
    shapes["final_norm"] = (s.hidden,)
    if not s.tied:
        shapes["head"] = (s.vocab, s.hidden)
    return shapes


def empty_weights(shape: ModelShape) -> dict[str, Tensor]:
    """The weights on torch's meta device: shapes that hold nothing, for counting."""
    return {name: torch.empty(of, device="meta") for name, of in weight_shapes(shape).items()}


def random_weights(
    shape: ModelShape, rng: torch.Generator, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    """Weights of unit gain, norms about 1 and of spread scale; embeddings of unit variance."""
    weights = {}
    for name, of in weight_shapes(shape).items():
        drawn = torch.randn(of, generator=rng)
        if len(of) == 1:
            drawn = 1 + 0.2 * drawn
        elif name != "embedding":
            drawn /= of[1] ** 0.5
        weights[name] = drawn.to(dtype)
    return weights
