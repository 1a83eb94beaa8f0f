"""Functions of libdevice and of the language, and assembly of the kernel's own."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.triton.cases import Case
from tests.triton.kernels.elementwise import short
from tests.triton.making import unwritten
from tests.triton.wanted import exact, rounded

SIZE, TILE = 509, 256


@triton.jit
def smooth(x, y, erf, tanh, power, logarithm, exponential, root, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside, 1.0), tl.load(y + at, inside, 1.0)
    tl.store(erf + at, libdevice.erf(b), inside)
    tl.store(tanh + at, libdevice.tanh(b), inside)
    tl.store(power + at, libdevice.pow(a, b), inside)
    tl.store(logarithm + at, libdevice.log1p(a), inside)
    tl.store(exponential + at, libdevice.expm1(b), inside)
    tl.store(root + at, libdevice.cbrt(a), inside)


@triton.jit
def circular(x, y, sine, cosine, angle, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside, 1.0), tl.load(y + at, inside, 1.0)
    tl.store(sine + at, libdevice.sin(a), inside)
    tl.store(cosine + at, libdevice.cos(a), inside)
    tl.store(angle + at, libdevice.atan2(a, b), inside)


@triton.jit
def steps(x, y, floor, nearest, towards, rest, sign, next_one, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside, 1.0), tl.load(y + at, inside, 1.0)
    tl.store(floor + at, tl.floor(a) + tl.ceil(b), inside)
    tl.store(nearest + at, libdevice.rint(a), inside)
    tl.store(towards + at, libdevice.trunc(a), inside)
    tl.store(rest + at, libdevice.fmod(a, b), inside)
    tl.store(sign + at, libdevice.copysign(a, b), inside)
    tl.store(next_one + at, libdevice.nextafter(a, b), inside)


@triton.jit
def careful(x, y, quotient, root, fast_root, product, n, tile: tl.constexpr):
    """Rounded once, where the plain forms may not be."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside, 1.0), tl.load(y + at, inside, 1.0)
    tl.store(quotient + at, tl.div_rn(a, b), inside)
    tl.store(root + at, tl.sqrt_rn(a), inside)
    tl.store(fast_root + at, tl.rsqrt(a), inside)
    tl.store(product + at, libdevice.mul_rz(a, b), inside)


@triton.jit
def plain(x, exp2, log2, sigmoid, sine, n, tile: tl.constexpr):
    """The language's own, as the fast instructions give them."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v = tl.load(x + at, inside, 1.0)
    tl.store(exp2 + at, tl.exp2(v), inside)
    tl.store(log2 + at, tl.log2(v), inside)
    tl.store(sigmoid + at, tl.sigmoid(v), inside)
    tl.store(sine + at, tl.sin(v), inside)


@triton.jit
def assembly(x, y, least, blended, n, tile: tl.constexpr):
    """lop3 with a table of the kernel's own, one word at a time; min of two halves at a time."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside, 0), tl.load(y + at, inside, 0)
    blend = tl.inline_asm_elementwise(
        "lop3.b32 $0, $1, $2, 0x00FF00FF, 0xCA;", "=r,r,r", [a, b], tl.int32, True, 1
    )
    tl.store(blended + at, blend, inside)
    pair = tl.inline_asm_elementwise(
        "min.f16x2 $0, $1, $2;",
        "=r,r,r",
        [a.to(tl.float16), b.to(tl.float16)],
        tl.float16,
        True,
        2,
    )
    tl.store(least + at, pair, inside)


def _function(name, kernel, make_inputs, truths, dtype=torch.float32, apart=None):
    """truths: output -> (function of float64, ulps); 0 ulps: bit for bit."""
    outputs = list(truths)

    def memory(make):
        x, y = make_inputs(make)
        return {"x": x.to(dtype), "y": y.to(dtype)} | {
            n: unwritten(SIZE, dtype=dtype) for n in outputs
        }

    def run(m):
        inputs = (m["x"],) if kernel is plain else (m["x"], m["y"])
        kernel[(2,)](*inputs, *(m[n] for n in outputs), SIZE, TILE)

    def wanted(m):
        x, y = m["x"].double(), m["y"].double()
        return {
            n: exact(of(x, y).to(dtype)) if ulps == 0 else rounded(of(x, y), ulps, apart=apart)
            for n, (of, ulps) in truths.items()
        }

    return Case(f"{name} {short(dtype)}", memory, run, wanted)


def _positive(make):
    return make.uniform(SIZE, low=0.01, high=9.0), make.normal(SIZE, scale=2.0)


def _any(make):
    return make.normal(SIZE, scale=30.0), make.normal(SIZE, scale=2.0)


# Ulps: what NVIDIA states for each function, and the half of a rounding.
_SMOOTH = {
    "erf": (lambda x, y: torch.erf(y), 3),
    "tanh": (lambda x, y: torch.tanh(y), 3),
    "power": (lambda x, y: x**y, 9),
    "logarithm": (lambda x, y: torch.log1p(x), 2),
    "exponential": (lambda x, y: torch.expm1(y), 2),
    "root": (lambda x, y: x ** (1 / 3), 2),
}
_CIRCULAR = {
    "sine": (lambda x, y: torch.sin(x), 3),
    "cosine": (lambda x, y: torch.cos(x), 3),
    "angle": (lambda x, y: torch.atan2(x, y), 4),
}
_STEPS = {
    "floor": (lambda x, y: torch.floor(x) + torch.ceil(y), 0),
    "nearest": (lambda x, y: torch.round(x), 0),
    "towards": (lambda x, y: torch.trunc(x), 0),
    "rest": (lambda x, y: torch.fmod(x, y), 0),
    "sign": (lambda x, y: torch.copysign(x, y), 0),
    "next_one": (lambda x, y: torch.nextafter(x.float(), y.float()), 0),
}


def _towards_zero(x, y):
    """The float32 next to a product of two float32 on the side of zero."""
    product = x * y  # exact in float64
    near = product.float()
    beyond = near.double().abs() > product.abs()
    return torch.where(beyond, torch.nextafter(near, torch.zeros_like(near)), near)


_CAREFUL = {
    "quotient": (lambda x, y: x / y, 0),
    "root": (lambda x, y: x.sqrt(), 0),
    "fast_root": (lambda x, y: x.rsqrt(), 2),
    "product": (_towards_zero, 0),
}
# ex2.approx and lg2.approx: 2 ulps, lg2 near 1 an absolute error instead.
_PLAIN = {
    "exp2": (lambda x, y: torch.exp2(x), 3),
    "log2": (lambda x, y: torch.log2(x), 3),
    "sigmoid": (lambda x, y: torch.sigmoid(x), 6),
    "sine": (lambda x, y: torch.sin(x), 3),
}


def _assembly():
    def memory(make):
        return {
            **{n: make.integers(SIZE, low=-2000, high=2000) for n in "xy"},
            "least": unwritten(SIZE, dtype=torch.float16),
            "blended": unwritten(SIZE, dtype=torch.int32),
        }

    def run(m):
        names = ("x", "y", "least", "blended")
        assembly[(2,)](*(m[n] for n in names), SIZE, TILE)

    def wanted(m):
        x, y = m["x"], m["y"]
        # 0xCA: where a bit of the first is set the second's, elsewhere the third's.
        return {
            "least": exact(torch.minimum(x, y).half()),
            "blended": exact((x & y) | (~x & 0x00FF00FF)),
        }

    return Case("assembly in a kernel", memory, run, wanted)


def cases():
    double = torch.float64

    def above_two(make):
        return make.uniform(SIZE, low=2.0, high=30.0), make.normal(SIZE)

    return [
        _function("smooth functions", smooth, _positive, _SMOOTH),
        _function("smooth functions", smooth, _positive, _SMOOTH, double, apart=1.0),
        _function("circular functions", circular, _any, _CIRCULAR),
        _function("circular functions", circular, _any, _CIRCULAR, double, apart=1.0),
        _function("steps", steps, _any, _STEPS),
        _function("careful arithmetic", careful, _positive, _CAREFUL),
        _function("fast functions", plain, above_two, _PLAIN),
        _assembly(),
    ]
