"""The picture of lesson 01: what you write, and where the hardware puts it."""

from harness.drawing.canvas import BLUE, GREEN, GREY, ON_PAINT, Canvas
from references.hardware import H200, LANES_PER_WARP, SCHEDULERS_PER_SM


def lattice() -> Canvas:
    canvas = Canvas("A grid of blocks of warps, and the SMs, schedulers and lanes that run them")
    left, right, high = 20.0, 420.0, 34.0
    canvas.heading(14, "you write")
    canvas.text(right, 14, "the hardware does", size=15, anchor="start", bold=True)

    canvas.text(left, 44, "a grid: its blocks are independent", anchor="start")
    for k, words in enumerate(("block 0", "block 1", "block 2", "…")):
        _box(canvas, left + 76 * k, 58, 72, high, words, BLUE if k == 0 else GREY)
    canvas.text(right, 44, f"the chip: {H200.sms} SMs", anchor="start")
    for k, words in enumerate(("SM 0", "SM 1", "…", f"SM {H200.sms - 1}")):
        _box(canvas, right + 80 * k, 58, 76, high, words, BLUE if k == 0 else GREY)
    canvas.arrow((left + 306, 58 + high / 2), (right - 8, 58 + high / 2))

    for x, top, wide in ((left, 72.0, 300.0), (right, 76.0, 316.0)):  # block 0 and SM 0, larger
        canvas.line((x, 94), (x, 122), dashed=True)
        canvas.line((x + top, 94), (x + wide, 122), dashed=True)
    canvas.rectangle(left, 124, 300, 150, BLUE, tint=True, radius=4)
    canvas.rectangle(right, 124, 316, 200, BLUE, tint=True, radius=4)

    canvas.text(left + 10, 142, "a block: up to 1,024 threads", anchor="start")
    for k in range(3):
        first = k * LANES_PER_WARP
        words = f"warp {k}: threads {first} to {first + LANES_PER_WARP - 1}"
        _box(canvas, left + 10, 158 + 38 * k, 280, high, words, GREEN if k == 1 else GREY)
    canvas.arrow((left + 296, 196 + high / 2), (right - 8, 196 + high / 2))

    most = f"at most {H200.warps_per_sm} warps and {H200.blocks_per_sm} blocks at a time"
    canvas.text(right + 10, 142, most, anchor="start")
    for k in range(SCHEDULERS_PER_SM):
        colour = GREEN if k == 1 else GREY
        _box(canvas, right + 10 + 75 * k, 158, 71, 48, f"scheduler\n{k}", colour)
    canvas.text(right + 10, 226, "each picks one ready warp a cycle,", anchor="start")
    canvas.text(right + 10, 246, "for one instruction on its 32 lanes:", anchor="start")
    lane = 296 / 16
    for k in range(LANES_PER_WARP):
        x, y = right + 10 + (k % 16) * lane, 262 + (k // 16) * 26
        canvas.rectangle(x + 0.5, y, lane - 1, 22, GREEN, outline=None)
        canvas.text(x + lane / 2, y + 11, str(k), size=12, colour=ON_PAINT)
    return canvas


def _box(
    canvas: Canvas, x: float, y: float, width: float, height: float, words: str, colour: str
) -> None:
    canvas.rectangle(x, y, width, height, colour, outline=None, radius=3)
    canvas.label(x, y, width, height, words, colour=ON_PAINT)


PICTURES = {"lattice": lattice}
