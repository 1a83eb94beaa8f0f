"""The pictures of lesson 10: a roofline with kernels under it, and what a fused chain saves."""

from math import log10

from harness.drawing.canvas import BLUE, GREEN, GREY, INK, ON_PAINT, ORANGE, TEAL, Canvas
from references.hardware import MEASURED_H200

_LEFT, _TOP, _WIDTH, _HEIGHT = 86.0, 30.0, 600.0, 300.0
_INTENSITY = 1 / 16, 4096.0  # FLOPs a byte, at both ends
_RATE = 0.1, 2000.0  # TFLOP/s


def roofline() -> Canvas:
    canvas = Canvas("The roofline of an H200, both axes by powers, and six kernels under it")
    bandwidth = MEASURED_H200.copy_gigabytes_per_second / 1000  # TB/s
    for rate in (0.1, 1.0, 10.0, 100.0, 1000.0):
        _, y = _place(1.0, rate)
        canvas.line((_LEFT, y), (_LEFT + _WIDTH, y), opacity=0.25)
        canvas.text(_LEFT - 8, y, f"{rate:g}", anchor="end")
    for intensity in (1 / 16, 1 / 4, 1, 4, 16, 64, 256, 1024, 4096):
        x, _ = _place(intensity, 1.0)
        canvas.line((x, _TOP), (x, _TOP + _HEIGHT), opacity=0.25)
        words = f"1/{round(1 / intensity)}" if intensity < 1 else f"{intensity:g}"
        canvas.text(x, _TOP + _HEIGHT + 14, words)
    canvas.text(_LEFT - 8, 14, "TFLOP/s", anchor="end")
    canvas.text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 34, "intensity: FLOPs for each byte moved")
    roofs = (
        (MEASURED_H200.bf16_teraflops, BLUE, "tensor cores, bf16"),
        (MEASURED_H200.fp32_teraflops, ORANGE, "fp32"),
    )
    for peak, colour, name in roofs:
        ridge = peak / bandwidth
        start = _place(_INTENSITY[0], _INTENSITY[0] * bandwidth)
        corner, end = _place(ridge, peak), _place(_INTENSITY[1], peak)
        canvas.line(start, corner, colour=GREY, thick=2)
        canvas.line(corner, end, colour=colour, thick=2)
        canvas.text(end[0], end[1] - 10, f"{name}: {peak:g}", anchor="end", colour=colour)
        canvas.text(corner[0], corner[1] - 12, f"ridge {ridge:.0f}", anchor="end", colour=colour)
    x, y = _place(1.4, 1.4 * bandwidth)
    canvas.text(x - 12, y - 22, f"memory: {1000 * bandwidth:,.0f} GB/s", anchor="end")
    for intensity, peak, words, colour in (
        (1 / 12, MEASURED_H200.fp32_teraflops, "vector add", TEAL),
        (7 / 28, MEASURED_H200.fp32_teraflops, "bias, GELU, residual: three kernels", TEAL),
        (7 / 12, MEASURED_H200.fp32_teraflops, "the three in one kernel", GREEN),
        (1.0, MEASURED_H200.bf16_teraflops, "1 token × a matrix", BLUE),
        (64.0, MEASURED_H200.bf16_teraflops, "64 tokens × a matrix", BLUE),
        (4096 / 3, MEASURED_H200.bf16_teraflops, "matmul 4096³", BLUE),
    ):
        x, y = _place(intensity, min(peak, intensity * bandwidth))
        canvas.rectangle(x - 4, y - 4, 8, 8, colour, outline=None, radius=4)
        last = intensity > 1000
        side = (x, y + 16) if last else (x + 10, y + 8)
        canvas.text(*side, words, anchor="middle" if last else "start", colour=colour)
    return canvas


def _place(intensity: float, rate: float) -> tuple[float, float]:
    """Where a point lies, in pixels."""
    across = log10(intensity / _INTENSITY[0]) / log10(_INTENSITY[1] / _INTENSITY[0])
    up = log10(rate / _RATE[0]) / log10(_RATE[1] / _RATE[0])
    return _LEFT + across * _WIDTH, _TOP + (1 - up) * _HEIGHT


def fusion() -> Canvas:
    canvas = Canvas("Three kernels move seven tensors through memory, one kernel three")
    steps = ("bias", "GELU", "residual")
    canvas.heading(12, "three kernels", "7 tensors, 2 round trips")
    memory = 128.0
    _memory(canvas, memory)
    for k, step in enumerate(steps):
        x = 60.0 + 230 * k
        _kernel(canvas, x, 40, 170, step)
        _moved(canvas, x + 24, memory, 72, ("x", "shifted", "bent")[k], up=True)
        if k == 2:
            _moved(canvas, x + 68, memory, 72, "residual", up=True)
        _moved(canvas, x + 146, memory, 72, ("shifted", "bent", "y")[k], up=False)
    canvas.heading(186, "one kernel", "3 tensors: what comes from outside, and what leaves")
    memory = 302.0
    _memory(canvas, memory)
    _kernel(canvas, 60, 214, 630, "bias, GELU and residual, in registers")
    for x, name, up in ((150, "x", True), (375, "residual", True), (600, "y", False)):
        _moved(canvas, x, memory, 246, name, up)
    return canvas


def _memory(canvas: Canvas, y: float) -> None:
    canvas.rectangle(40, y, 680, 26, ORANGE, outline=None, tint=True)
    canvas.text(380, y + 13, "memory (the bias, one row for all, is not drawn)")


def _kernel(canvas: Canvas, x: float, y: float, width: float, words: str) -> None:
    canvas.rectangle(x, y, width, 32, BLUE, outline=None, radius=4)
    canvas.label(x, y, width, 32, words, colour=ON_PAINT)


def _moved(canvas: Canvas, x: float, memory: float, kernel: float, name: str, up: bool) -> None:
    ends = (x, memory), (x, kernel)
    canvas.arrow(*(ends if up else ends[::-1]), colour=INK)
    canvas.text(x + 6, (memory + kernel) / 2, name, anchor="start", code=True)


PICTURES = {"roofline": roofline, "fusion": fusion}
