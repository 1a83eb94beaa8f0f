"""One element in, one element out: arithmetic, activations, and casts between types."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten
from tests.triton.wanted import converted, exact, rounded

SIZE = 1003  # ragged in tiles of 256
TILE = 256


@triton.jit
def add(x, y, out, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def multiply_add(x, y, z, out, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b, c = tl.load(x + at, inside), tl.load(y + at, inside), tl.load(z + at, inside)
    tl.store(out + at, tl.fma(a, b, c), inside)


@triton.jit
def gelu(x, out, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v = tl.load(x + at, inside).to(tl.float32)
    tl.store(out + at, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), inside)


@triton.jit
def silu(x, out, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v = tl.load(x + at, inside).to(tl.float32)
    tl.store(out + at, v * tl.sigmoid(v), inside)


@triton.jit
def gated(gate, up, out, n, tile: tl.constexpr):
    """SwiGLU: a sigmoid of one half times the other."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    g = tl.load(gate + at, inside).to(tl.float32)
    u = tl.load(up + at, inside).to(tl.float32)
    tl.store(out + at, g / (1.0 + tl.exp(-g)) * u, inside)


@triton.jit
def cast(x, out, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside).to(out.dtype.element_ty), inside)


@triton.jit
def quantise(x, out, scale, n, tile: tl.constexpr):
    """Rounded to whole numbers, ties away from zero, and clamped to int8."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v = tl.load(x + at, inside) * scale
    v = tl.clamp(tl.where(v < 0, tl.ceil(v - 0.5), tl.floor(v + 0.5)), -128.0, 127.0)
    tl.store(out + at, v.to(tl.int8), inside)


@triton.jit
def limits(x, y, least, greatest, careful, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside), tl.load(y + at, inside)
    tl.store(least + at, tl.minimum(a, b), inside)
    tl.store(greatest + at, tl.maximum(a, b), inside)
    tl.store(careful + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL), inside)


def _programs(n=SIZE):
    return (triton.cdiv(n, TILE),)


def short(dtype):
    return str(dtype).removeprefix("torch.").replace("float", "f").replace("int", "i")


def _add(dtype):
    return Case(
        f"add {short(dtype)}",
        lambda make: {
            "x": make.rows(17, 59, dtype).flatten(),
            "y": make.rows(17, 59, dtype).flatten(),
            "out": unwritten(SIZE, dtype=dtype),
        },
        lambda m: add[_programs()](m["x"], m["y"], m["out"], SIZE, TILE),
        # A sum of two halves, rounded to float32 and then to half, is rounded once.
        lambda m: {"out": exact(m["x"] + m["y"])},
    )


def _multiply_add():
    return Case(
        "fma f32",
        lambda make: {
            **{name: make.grid(SIZE) for name in "xyz"},
            "out": unwritten(SIZE),
        },
        lambda m: multiply_add[_programs()](m["x"], m["y"], m["z"], m["out"], SIZE, TILE),
        lambda m: {"out": exact((m["x"].double() * m["y"].double() + m["z"].double()).float())},
    )


def _activation(name, kernel, dtype, truth, slack=0.0, apart=1.0):
    return Case(
        f"{name} {short(dtype)}",
        lambda make: {
            "x": make.normal(SIZE, dtype=dtype, scale=3.0),
            "out": unwritten(SIZE, dtype=dtype),
        },
        lambda m: kernel[_programs()](m["x"], m["out"], SIZE, TILE),
        lambda m: {"out": rounded(truth(m["x"].double()), 1.0, slack, apart)},
    )


def _gated():
    return Case(
        "swiglu bf16",
        lambda make: {
            "gate": make.normal(SIZE, dtype=torch.bfloat16, scale=2.0),
            "up": make.normal(SIZE, dtype=torch.bfloat16),
            "out": unwritten(SIZE, dtype=torch.bfloat16),
        },
        lambda m: gated[_programs()](m["gate"], m["up"], m["out"], SIZE, TILE),
        lambda m: {
            "out": rounded(torch.nn.functional.silu(m["gate"].double()) * m["up"].double())
        },
    )


def _cast(source, target, make_input):
    return Case(
        f"cast {short(source)} to {short(target)}",
        lambda make: {
            "x": make_input(make).to(source),
            "out": unwritten(SIZE, dtype=target),
        },
        lambda m: cast[_programs()](m["x"], m["out"], SIZE, TILE),
        lambda m: {"out": exact(m["x"].to(target))},
        installed=lambda m: {"out": exact(converted(m["x"], target))},
    )


def _spread(make):
    """Both signs, from far below a half's smallest numbers to near its largest ones."""
    return make.normal(SIZE) * 2.0 ** make.uniform(SIZE, low=-26, high=12)


def _quantise():
    return Case(
        "quantise f32 to i8",
        lambda make: {"x": make.normal(SIZE), "out": unwritten(SIZE, dtype=torch.int8)},
        lambda m: quantise[_programs()](m["x"], m["out"], 64.0, SIZE, TILE),
        lambda m: {"out": exact(_nearest(m["x"] * 64.0).clamp(-128, 127).to(torch.int8))},
    )


def _nearest(v):
    return torch.where(v < 0, (v - 0.5).ceil(), (v + 0.5).floor())


def _limits():
    def memory(make):
        x, y = make.normal(SIZE), make.normal(SIZE)
        x[::7], y[::5] = torch.nan, torch.nan
        return {"x": x, "y": y, **{n: unwritten(SIZE) for n in ("least", "greatest", "careful")}}

    def wanted(m):
        careful = torch.maximum(m["x"], m["y"])
        return {
            "least": rounded(torch.fmin(m["x"], m["y"]), 0.0, apart=0.5),
            "greatest": rounded(torch.fmax(m["x"], m["y"]), 0.0, apart=0.5),
            "careful": rounded(careful, 0.0, apart=0.5),
        }

    def run(m):
        outputs = (m["least"], m["greatest"], m["careful"])
        limits[_programs()](m["x"], m["y"], *outputs, SIZE, TILE)

    return Case("minimum and maximum with nan", memory, run, wanted)


def cases():
    half, bfloat, single = torch.float16, torch.bfloat16, torch.float32
    # erf and exp of float32 are polynomials and ex2.approx: some roundings of what they add up.
    return [
        *(_add(t) for t in (single, half, bfloat, torch.float64, torch.int32, torch.int64)),
        _multiply_add(),
        _activation("gelu", gelu, half, torch.nn.functional.gelu, slack=2.0**-22),
        _activation("gelu", gelu, single, torch.nn.functional.gelu, slack=2.0**-22, apart=None),
        _activation("silu", silu, bfloat, torch.nn.functional.silu),
        _activation("silu", silu, single, torch.nn.functional.silu, slack=2.0**-20, apart=4.0),
        _gated(),
        _cast(single, half, _spread),
        _cast(single, bfloat, _spread),
        _cast(single, torch.float8_e5m2, _spread),
        _cast(single, torch.int8, lambda make: make.uniform(SIZE, low=-128, high=127.9)),
        _cast(half, torch.float8_e5m2, _spread),
        _cast(torch.float8_e5m2, half, _spread),
        _cast(bfloat, single, _spread),
        _cast(torch.int8, bfloat, lambda make: make.integers(SIZE, low=-128, high=128)),
        _cast(torch.int64, single, lambda make: make.integers(SIZE, low=-(2**40), high=2**40)),
        _quantise(),
        _limits(),
    ]
