"""A small trained model whose greedy answers stand firm: bytes in, bytes out, 260 tokens.

Random weights make a poor oracle: they repeat one token for ever, with next to nothing between the
best and the second best, so that any rounding may turn the answer. This model has learned TEXT by
heart. `benchmarks/train_tiny_model.py` trains it anew and writes its weights, with the least margin
between the best two logits along TEXT, below which no test should rest on it.
"""

from functools import cache
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor

from references.forward import forward
from references.models import TINY

WEIGHTS = Path(__file__).with_name("tiny_model.safetensors")
BEGIN, END, PAD, UNUSED = 256, 257, 258, 259  # tokens that are no bytes
# One sentence a line. The last has characters of two, three and four bytes.
TEXT = (
    "A warp is thirty-two lanes that run one instruction. "
    "Bytes move through memory; a kernel decides how often. "
    "Keys and values are all that a later token needs. "
    "Café, 日本語 and 🌶 are bytes too."
)


def encode(text: str) -> list[int]:
    """BEGIN and the bytes of the text in UTF-8."""
    return [BEGIN, *text.encode()]


@cache
def weights(dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    """The trained weights by the names of models.weight_shapes(TINY); do not write to them."""
    return {name: weight.to(dtype) for name, weight in load_file(WEIGHTS).items()}


def recorded_margin() -> float:
    """The least margin along TEXT in float64, as the training script measured it."""
    with safe_open(WEIGHTS, framework="pt") as file:
        return float(file.metadata()["margin"])


def margin(tokens: list[int], dtype: torch.dtype = torch.float64) -> float:
    """The least distance between the best and the second best logit, over all positions."""
    best = forward(weights(dtype), TINY, torch.tensor(tokens)).topk(2).values
    return float((best[:, 0] - best[:, 1]).min())


def continued(tokens: list[int], count: int) -> list[int]:
    """The `count` tokens that follow when the best is always taken, computed in float64."""
    tokens = list(tokens)
    for _ in range(count):
        logits = forward(weights(torch.float64), TINY, torch.tensor(tokens))
        tokens.append(int(logits[-1].argmax()))
    return tokens[-count:] if count else []
