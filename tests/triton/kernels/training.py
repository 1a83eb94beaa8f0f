"""Steps of training: cross-entropy with its gradient, optimisers, norms of gradients."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten, zeros
from tests.triton.wanted import rounded, summed

IGNORED = -100


@triton.jit
def cross_entropy(logits, label, loss, gradient, classes, scale, ignored, tile: tl.constexpr):
    """A row's loss; its gradient by the logits, which it may take the place of."""
    row, at = tl.program_id(0), tl.arange(0, tile)
    right = tl.load(label + row)
    if right == ignored:
        tl.store(loss + row, 0.0)
        for first in range(0, classes, tile):
            inside = first + at < classes
            tl.store(gradient + row * classes + first + at, tl.zeros((tile,), tl.float32), inside)
        return
    greatest, total = -float("inf"), 0.0
    for first in range(0, classes, tile):
        inside = first + at < classes
        v = tl.load(logits + row * classes + first + at, inside, -float("inf")).to(tl.float32)
        higher = tl.maximum(greatest, tl.max(v, 0))
        total = total * tl.exp(greatest - higher) + tl.sum(tl.exp(v - higher), 0)
        greatest = higher
    own = tl.load(logits + row * classes + right).to(tl.float32)
    tl.store(loss + row, tl.log(total) + greatest - own)
    for first in range(0, classes, tile):
        inside = first + at < classes
        v = tl.load(logits + row * classes + first + at, inside, -float("inf")).to(tl.float32)
        slope = tl.exp(v - greatest) / total
        slope = tl.where(first + at == right, slope - 1.0, slope) * scale
        tl.store(gradient + row * classes + first + at, slope, inside)


@triton.jit
def adamw(
    weight, gradient, average, square, n, rate, decay, beta1, beta2, correction1, correction2,
    epsilon, tile: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    w, g = tl.load(weight + at, inside), tl.load(gradient + at, inside).to(tl.float32)
    m, v = tl.load(average + at, inside), tl.load(square + at, inside)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    step = (m / correction1) / (tl.sqrt(v / correction2) + epsilon)
    tl.store(weight + at, w - rate * (step + decay * w), inside)
    tl.store(average + at, m, inside)
    tl.store(square + at, v, inside)


@triton.jit
def momentum(weight, gradient, velocity, n, rate, beta, nesterov: tl.constexpr, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    g = tl.load(gradient + at, inside)
    v = beta * tl.load(velocity + at, inside) + g
    step = g + beta * v if nesterov else v
    tl.store(velocity + at, v, inside)
    tl.store(weight + at, tl.load(weight + at, inside) - rate * step, inside)


@triton.jit
def sum_of_squares(x, total, n, tile: tl.constexpr):
    """Each program goes over the whole array in steps of all of them, and adds one number."""
    sums = tl.zeros((tile,), tl.float32)
    for first in range(tl.program_id(0) * tile, n, tl.num_programs(0) * tile):
        at = first + tl.arange(0, tile)
        v = tl.load(x + at, at < n, 0.0).to(tl.float32)
        sums += v * v
    tl.atomic_add(total, tl.sum(sums, 0))


@triton.jit
def divergence(p, log_q, out, columns, tile: tl.constexpr):
    """Kullback-Leibler's, a row a program; p = 0 adds nothing."""
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    a = tl.load(p + row * columns + at, inside, 0.0)
    b = tl.load(log_q + row * columns + at, inside, 0.0)
    terms = tl.where(a > 0, a * (tl.log(tl.where(a > 0, a, 1.0)) - b), 0.0)
    tl.store(out + row, tl.sum(terms, 0))


def _cross_entropy(dtype, rows=13, classes=333, tile=128):
    def memory(make):
        label = make.integers(rows, low=0, high=classes, dtype=torch.int64)
        label[3] = IGNORED
        return {
            "logits": make.rows(rows, classes, dtype),
            "label": label,
            "loss": unwritten(rows),
            "gradient": unwritten(rows, classes, dtype=dtype),
        }

    def run(m):
        names = ("logits", "label", "loss", "gradient")
        scale = 1.0 / (rows - 1)
        cross_entropy[(rows,)](*(m[n] for n in names), classes, scale, IGNORED, tile)

    def wanted(m):
        x, label = m["logits"].double(), m["label"]
        there = (label != IGNORED)[:, None]
        shares = x.softmax(1)
        slope = shares - torch.nn.functional.one_hot(label.clamp(min=0), classes)
        slope = torch.where(there, slope / (rows - 1), 0.0)
        own = x.gather(1, label.clamp(min=0)[:, None])
        loss = torch.where(there, x.logsumexp(1, keepdim=True) - own, 0.0)[:, 0]
        away = (x - x.amax(1, keepdim=True)).abs()
        small = 2.0**-23 * shares * (8 + away) / (rows - 1)
        single = dtype == torch.float32
        return {
            "loss": rounded(loss, 2.0, 2.0**-21 * x.abs().amax(1), apart=None),
            "gradient": rounded(slope, 1.0, small, None if single else 1.0),
        }

    return Case(f"cross-entropy with gradient {dtype}".replace("torch.", ""), memory, run, wanted)


def _adamw(n=1100):
    rate, decay, beta1, beta2, epsilon, step = 1e-3, 0.1, 0.9, 0.99, 1e-8, 3
    corrections = (1 - beta1**step, 1 - beta2**step)

    def memory(make):
        return {
            "weight": make.normal(n),
            "gradient": make.normal(n, dtype=torch.bfloat16),
            "average": make.normal(n, scale=0.1),
            "square": make.uniform(n, low=1e-4),
        }

    def run(m):
        names = ("weight", "gradient", "average", "square")
        sizes = (n, rate, decay, beta1, beta2, *corrections, epsilon)
        adamw[(triton.cdiv(n, 256),)](*(m[x] for x in names), *sizes, 256)

    def wanted(m):
        w, g, a, s = (m[x].double() for x in ("weight", "gradient", "average", "square"))
        average = beta1 * a + (1 - beta1) * g
        square = beta2 * s + (1 - beta2) * g * g
        change = average / corrections[0] / ((square / corrections[1]).sqrt() + epsilon)
        size = (beta1 * a).abs() + ((1 - beta1) * g).abs()
        slack = rate * 2.0**-20 * (size / corrections[0] / (square / corrections[1]).sqrt())
        return {
            "weight": rounded(w - rate * (change + decay * w), 1.0, slack, apart=1.0),
            "average": summed(average, size, 8),  # 1 - beta1 is rounded where beta1 is
            "square": rounded(square, 32.0, apart=0.0),  # and 1 - beta2
        }

    return Case("adamw", memory, run, wanted)


def _momentum(n=600):
    def memory(make):
        return {name: make.normal(n) for name in ("weight", "gradient", "velocity")}

    def run(m):
        names = ("weight", "gradient", "velocity")
        momentum[(3,)](*(m[x] for x in names), n, 0.1, 0.9, True, 256)

    def wanted(m):
        w, g, v = (m[x].double() for x in ("weight", "gradient", "velocity"))
        size = 0.9 * v.abs() + g.abs()
        v = 0.9 * v + g
        size_w = w.abs() + 0.1 * (g.abs() + size)
        return {
            "velocity": summed(v, size, 2),
            "weight": summed(w - 0.1 * (g + 0.9 * v), size_w, 4),
        }

    return Case("momentum of nesterov", memory, run, wanted)


def _squares(n=5000):
    def memory(make):
        return {"x": make.normal(n, dtype=torch.float16), "total": zeros(1)}

    def wanted(m):
        value = m["x"].double().square().sum().view(1)
        return {"total": summed(value, value, 24, apart=None)}

    def run(m):
        sum_of_squares[(5,)](m["x"], m["total"], n, 256)

    return Case("sum of squares", memory, run, wanted, talks=True)


def _divergence(rows=7, columns=90):
    def memory(make):
        p = make.rows(rows, columns).softmax(1)
        p[:, ::9] = 0.0
        return {"p": p, "log_q": make.rows(rows, columns).log_softmax(1), "out": unwritten(rows)}

    def wanted(m):
        p, log_q = m["p"].double(), m["log_q"].double()
        terms = torch.where(p > 0, p * (p.clamp(min=1e-300).log() - log_q), 0.0)
        slack = 2.0**-22 * (terms.abs() + p).sum(1) * 8
        return {"out": rounded(terms.sum(1), 1.0, slack, apart=None)}

    def run(m):
        divergence[(rows,)](m["p"], m["log_q"], m["out"], columns, 128, num_warps=2)

    return Case("divergence of kullback and leibler", memory, run, wanted)


def cases():
    return [
        _cross_entropy(torch.float32),
        _cross_entropy(torch.bfloat16),
        _adamw(),
        _momentum(),
        _squares(),
        _divergence(),
    ]
