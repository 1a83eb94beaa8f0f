"""Trains references/tiny_model.safetensors anew: `python -m benchmarks.train_tiny_model`.

About a minute on two cores. The same seed and the same torch give the same weights to the bit;
another torch gives others that know TEXT as well: the margin at the end says whether they do.
"""

import torch
from safetensors.torch import save_file

from references import tiny_model
from references.forward import forward
from references.models import TINY, random_weights

SEED = 20
STEPS = 700
LEARNING_RATE = 3e-3


def train() -> dict[str, torch.Tensor]:
    """Weights that continue TEXT from BEGIN and from the middle of it, and END behind it."""
    torch.manual_seed(SEED)
    rng = torch.Generator().manual_seed(SEED)
    weights = random_weights(TINY, rng)
    weights["embedding"] *= 0.3  # it is the output projection too: small logits to begin with
    for weight in weights.values():
        weight.requires_grad_()
    optimizer = torch.optim.AdamW(weights.values(), lr=LEARNING_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEPS)
    tokens = torch.tensor([*tiny_model.encode(tiny_model.TEXT), tiny_model.END])
    for step in range(STEPS):
        # Half of the steps begin in the middle, so that a suffix is known as well as the whole.
        start = int(torch.randint(len(tokens) // 2, (), generator=rng)) if step % 2 else 0
        part = tokens[start:]
        logits = forward(weights, TINY, part[:-1])
        loss = torch.nn.functional.cross_entropy(logits, part[1:])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch does not type it
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print(f"step {step + 1}: loss {loss.item():.4f}")
    return {name: weight.detach().clone() for name, weight in weights.items()}


def main() -> None:
    weights = train()
    tokens = torch.tensor(tiny_model.encode(tiny_model.TEXT))
    wide = {name: weight.double() for name, weight in weights.items()}
    best = forward(wide, TINY, tokens).topk(2)
    margin = float((best.values[:, 0] - best.values[:, 1]).min())
    known = best.indices[:-1, 0].eq(tokens[1:]).float().mean().item()
    save_file(weights, tiny_model.WEIGHTS, {"margin": str(margin), "torch": torch.__version__})
    size = tiny_model.WEIGHTS.stat().st_size
    print(f"margin {margin:.3f}, {known:.1%} of the text by heart, {size:,} bytes")


if __name__ == "__main__":
    main()
