"""What is timed beside Triton's interpreter: a kernel, its data and the true result.

Both processes make the same data from the same seeds. Truths are of torch, in float64.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from benchmarks.simulator_speed import triton_kernels as kernels


@dataclass(frozen=True)
class TritonTask:
    """One kernel with data.

    arguments  tensors and numbers, in the order of the kernel's parameters; then `constants`
    truths     name of an argument that is an output -> what it must hold, and how far from it the
               kernel may be: a share of the largest element
    starts     name of an output -> what it holds before each launch, if not NaN (floats) or -1
    """

    kernel: Any
    grid: tuple[int, ...]
    arguments: dict[str, Any]
    constants: dict[str, Any]
    truths: dict[str, tuple[Tensor, float]]
    starts: dict[str, Tensor] = field(default_factory=dict)
    warps: int = 4

    def clear(self) -> None:
        for name in self.truths:
            output: Tensor = self.arguments[name]
            if name in self.starts:
                output.copy_(self.starts[name])
            else:
                output.fill_(float("nan") if output.is_floating_point() else -1)

    def run(self) -> None:
        self.kernel[self.grid](**self.arguments, **self.constants, num_warps=self.warps)

    def excess(self) -> float:
        """The largest error of any output over what is allowed: right if at most 1."""
        worst = 0.0
        for name, (truth, allowed) in self.truths.items():
            got, wide = self.arguments[name].double(), truth.double()
            scale = max(float(wide.abs().max()), 1e-30)
            error = torch.nan_to_num((got - wide).abs(), nan=torch.inf).max()
            worst = max(
                worst, float(error) / (allowed * scale) if allowed else float(error > 0) * 2
            )
        return worst


def _normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, generator=generator).to(dtype)


_ERROR = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 1e-5}


def add(n: int) -> TritonTask:
    x, y = _normal(n), _normal(n, seed=1)
    arguments = {"x": x, "y": y, "z": torch.empty(n), "n": n}
    grid = (-(-n // 1024),)
    return TritonTask(kernels.add, grid, arguments, {"block": 1024}, {"z": (x + y, 0.0)})


def softmax(rows: int, columns: int, dtype: torch.dtype) -> TritonTask:
    x = _normal(rows, columns, dtype=dtype)
    arguments = {"x": x, "y": torch.empty_like(x), "columns": columns}
    truths = {"y": (x.double().softmax(1), _ERROR[dtype])}
    return TritonTask(kernels.softmax, (rows,), arguments, {"block": 1024}, truths)


def rms_norm(rows: int, columns: int, dtype: torch.dtype) -> TritonTask:
    x, weight = _normal(rows, columns, dtype=dtype), _normal(columns, dtype=dtype)
    arguments = {"x": x, "weight": weight, "y": torch.empty_like(x)}
    arguments |= {"columns": columns, "epsilon": 1e-6}
    truth = torch.nn.functional.rms_norm(x.double(), (columns,), weight.double(), 1e-6)
    truths = {"y": (truth, _ERROR[dtype])}
    return TritonTask(kernels.rms_norm, (rows,), arguments, {"block": 1024}, truths)


def layer_norm(rows: int, columns: int) -> TritonTask:
    x, weight, bias = _normal(rows, columns), _normal(columns), _normal(columns, seed=1)
    arguments = {"x": x, "weight": weight, "bias": bias, "y": torch.empty_like(x)}
    arguments |= {"columns": columns, "epsilon": 1e-5}
    wide = (tensor.double() for tensor in (weight, bias))
    truth = torch.nn.functional.layer_norm(x.double(), (columns,), *wide)
    truths = {"y": (truth, 1e-5)}
    return TritonTask(kernels.layer_norm, (rows,), arguments, {"block": 1024}, truths)


def cross_entropy(rows: int, columns: int) -> TritonTask:
    x = _normal(rows, columns, dtype=torch.float16)
    target = torch.arange(rows) * 7 % columns
    arguments = {"x": x, "target": target, "loss": torch.empty(rows), "columns": columns}
    truth = torch.nn.functional.cross_entropy(x.double(), target, reduction="none")
    truths = {"loss": (truth, 1e-5)}
    return TritonTask(kernels.cross_entropy, (rows,), arguments, {"block": 1024}, truths)


def matmul(n: int, dtype: torch.dtype, precision: str = "ieee") -> TritonTask:
    a, b = _normal(n, n, dtype=dtype), _normal(n, n, dtype=dtype, seed=1)
    arguments = {"a": a, "b": b, "c": torch.empty(n, n), "m": n, "n": n, "k": n}
    tile = 32
    allowed = 2e-3 if precision == "tf32" else 1e-5
    return TritonTask(
        kernels.matmul,
        (n // tile, n // tile),
        arguments,
        {"tile": tile, "precision": precision},
        {"c": (a.double() @ b.double(), allowed)},
    )


def linear_gelu(m: int, k: int, n: int) -> TritonTask:
    x = _normal(m, k, dtype=torch.float16)
    w = _normal(k, n, dtype=torch.float16) / k**0.5
    arguments = {"x": x, "w": w, "y": torch.empty(m, n, dtype=torch.float16)}
    constants = {"n": n, "k": k, "tile": 32}
    truths = {"y": (torch.nn.functional.gelu(x.double() @ w.double()), 2e-3)}
    return TritonTask(kernels.linear_gelu, (m // 32, n // 32), arguments, constants, truths)


def _heads(heads: int, length: int, width: int, dtype: torch.dtype) -> list[Tensor]:
    return [_normal(heads, length, width, dtype=dtype, seed=s) for s in range(4)]


def attention(
    heads: int, length: int, width: int, dtype: torch.dtype, causal: bool = False
) -> TritonTask:
    q, k, v, _ = _heads(heads, length, width, dtype)
    arguments = {"q": q, "k": k, "v": v, "o": torch.empty_like(q)}
    arguments |= {"length": length, "scale": width**-0.5}
    wide = (tensor.double() for tensor in (q, k, v))
    truth = torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=causal)
    constants = {"width": width, "tile": 32, "causal": causal, "precision": "ieee"}
    truths = {"o": (truth, _ERROR[dtype])}
    return TritonTask(kernels.attention, (-(-length // 32), heads), arguments, constants, truths)


def attention_gradients(heads: int, length: int, width: int, dtype: torch.dtype) -> TritonTask:
    q, k, v, upstream = _heads(heads, length, width, dtype)
    scale = width**-0.5
    wide = [tensor.double().requires_grad_() for tensor in (q, k, v)]
    scores = (wide[0] @ wide[1].mT * scale).masked_fill(
        torch.ones(length, length).triu(1).bool(), -torch.inf
    )
    o = scores.softmax(2) @ wide[2]
    o.backward(upstream.double())
    arguments = {"q": q, "k": k, "v": v, "lse": scores.detach().logsumexp(2).float()}
    arguments["delta"] = (o.detach() * upstream.double()).sum(2).float()
    arguments |= {"do": upstream, "dk": torch.empty_like(k), "dv": torch.empty_like(v)}
    arguments |= {"length": length, "scale": scale}
    constants = {"width": width, "tile": 32, "precision": "ieee"}
    gradients = [tensor.grad for tensor in wide[1:]]
    assert gradients[0] is not None and gradients[1] is not None
    truths = {n: (g, _ERROR[dtype]) for n, g in zip(("dk", "dv"), gradients, strict=True)}
    grid = (length // 32, heads)
    return TritonTask(kernels.attention_gradients, grid, arguments, constants, truths)


def adamw(n: int) -> TritonTask:
    p, g, m = (_normal(n, seed=s) for s in range(3))
    v = _normal(n, seed=3).abs()
    first, second = (
        0.9 * m.double() + 0.1 * g.double(),
        0.999 * v.double() + 0.001 * g.double() ** 2,
    )
    after = p.double() - 0.01 * (first / (second.sqrt() + 1e-8) + 0.1 * p.double())
    starts = {"p": p.clone(), "m": m.clone(), "v": v.clone()}
    arguments = {"p": p, "g": g, "m": m, "v": v, "n": n, "rate": 0.01, "decay": 0.1}
    truths = {"p": (after, 1e-5), "m": (first, 1e-6), "v": (second, 1e-6)}
    grid = (-(-n // 1024),)
    return TritonTask(kernels.adamw, grid, arguments, {"block": 1024}, truths, starts)


def dropout(n: int) -> TritonTask:
    """With p = 0 every element is kept, if each random number is above it: all but 1 in 2^31."""
    x = _normal(n)
    arguments = {"x": x, "y": torch.empty(n), "n": n, "p": 0.0, "seed": 42}
    grid = (-(-n // 1024),)
    return TritonTask(kernels.dropout, grid, arguments, {"block": 1024}, {"y": (x, 0.0)})


def cumulative_sum(rows: int, columns: int) -> TritonTask:
    x = _normal(rows, columns)
    arguments = {"x": x, "y": torch.empty_like(x), "columns": columns}
    truths = {"y": (x.double().cumsum(1), 1e-5)}
    return TritonTask(kernels.cumulative_sum, (rows,), arguments, {"block": 1024}, truths)


def largest_place(rows: int, columns: int) -> TritonTask:
    x = _normal(rows, columns)
    arguments = {"x": x, "y": torch.empty(rows, dtype=torch.int32), "columns": columns}
    truths = {"y": (x.argmax(1), 0.0)}
    return TritonTask(kernels.largest_place, (rows,), arguments, {"block": 1024}, truths)


def recurrence(rows: int, columns: int) -> TritonTask:
    decay, x = _normal(rows, columns).sigmoid(), _normal(rows, columns, seed=1)
    state, states = torch.zeros(rows, dtype=torch.float64), []
    for j in range(columns):
        state = decay[:, j].double() * state + x[:, j].double()
        states.append(state)
    arguments = {"decay": decay, "x": x, "y": torch.empty_like(x)}
    truths = {"y": (torch.stack(states, 1), 1e-5)}
    return TritonTask(kernels.recurrence, (rows,), arguments, {"columns": columns}, truths)


def sort_rows(rows: int, columns: int) -> TritonTask:
    x = _normal(rows, columns)
    arguments = {"x": x, "y": torch.empty_like(x)}
    truths = {"y": (x.sort(1).values, 0.0)}
    return TritonTask(kernels.sort_rows, (rows,), arguments, {"columns": columns}, truths)


def histogram(n: int, kinds: int) -> TritonTask:
    x = torch.arange(n, dtype=torch.int32) * 7 % kinds
    x = (x * x) % kinds
    bins = torch.zeros(kinds, dtype=torch.int32)
    arguments = {"x": x, "bins": bins, "n": n}
    truths = {"bins": (torch.bincount(x, minlength=kinds), 0.0)}
    starts = {"bins": torch.zeros(kinds, dtype=torch.int32)}
    constants = {"block": 1024, "kinds": kinds}
    return TritonTask(kernels.histogram, (-(-n // 1024),), arguments, constants, truths, starts)


HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32
BARRED = {  # those that must be 20 times as fast
    "rms_norm 256×1000 fp16": lambda: rms_norm(256, 1000, HALF),
    "softmax 256×1000 fp16": lambda: softmax(256, 1000, HALF),
    "matmul 256³ fp16": lambda: matmul(256, HALF),
    "attention 8×512×64 fp16": lambda: attention(8, 512, 64, HALF),
}
TASKS: dict[str, Callable[[], TritonTask]] = BARRED | {
    "causal attention 8×512×64 fp16": lambda: attention(8, 512, 64, HALF, causal=True),
    "attention 2×128×64 fp16": lambda: attention(2, 128, 64, HALF),
    "attention 2×128×64 fp32": lambda: attention(2, 128, 64, SINGLE),
    "attention gradients 2×128×64 fp16": lambda: attention_gradients(2, 128, 64, HALF),
    "attention gradients 2×128×64 fp32": lambda: attention_gradients(2, 128, 64, SINGLE),
    "matmul 128³ bf16": lambda: matmul(128, BRAIN),
    "matmul 128³ fp32": lambda: matmul(128, SINGLE),
    "matmul 128³ tf32": lambda: matmul(128, SINGLE, "tf32"),
    "linear and gelu 128×256×128 fp16": lambda: linear_gelu(128, 256, 128),
    "layer_norm 256×1000 fp32": lambda: layer_norm(256, 1000),
    "softmax 256×1000 bf16": lambda: softmax(256, 1000, BRAIN),
    "cross_entropy 64×5000 fp16": lambda: cross_entropy(64, 5000),
    "add 100,003 fp32": lambda: add(100_003),
    "adamw 100,003 fp32": lambda: adamw(100_003),
    "dropout 100,003 fp32": lambda: dropout(100_003),
    "cumsum 64×1000 fp32": lambda: cumulative_sum(64, 1000),
    "argmax 64×1000 fp32": lambda: largest_place(64, 1000),
    "associative scan 64×512 fp32": lambda: recurrence(64, 512),
    "sort 16×512 fp32": lambda: sort_rows(16, 512),
    "histogram 20,000 in 64 bins": lambda: histogram(20_000, 64),
}
# In a new process; the first of them stands for what a process does once.
FIRST = (
    "add 100,003 fp32",
    "softmax 256×1000 fp16",
    "rms_norm 256×1000 fp16",
    "matmul 256³ fp16",
    "attention 2×128×64 fp16",
    "attention gradients 2×128×64 fp16",
    "attention gradients 2×128×64 fp32",
)
