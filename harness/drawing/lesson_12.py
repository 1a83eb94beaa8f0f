"""The pictures of lesson 12: scores in tiles, and where attention lies on a roofline."""

from math import log2

from harness.drawing.canvas import BLUE, GREEN, INK, ON_PAINT, ORANGE, PURPLE, TEAL, Canvas
from references.hardware import H200, MEASURED_H200

_CELL, _TILES = 40.0, 6


def tiles() -> Canvas:
    canvas = Canvas("Scores in tiles: one block goes along a row of tiles and keeps m, l and o")
    left, top, row = 120.0, 58.0, 3  # the row of the block that is drawn

    def paint(i: int, j: int) -> str | None:
        if j > i:
            return None
        return ORANGE if i == row else BLUE

    canvas.grid(
        left,
        top,
        _TILES,
        _TILES,
        (_CELL, _CELL),
        paint,
        tint=lambda i, j: not (i == row and j == 1),
    )
    side = _TILES * _CELL
    canvas.line((left, top), (left + side, top + side), opacity=0.7)
    canvas.text(left + side / 2, top - 40, "keys and values, tile by tile")
    canvas.arrow((left, top - 24), (left + side, top - 24))
    canvas.text(left - 14, top + side / 2 - 12, "queries", anchor="end")
    middle = top + row * _CELL + _CELL / 2
    canvas.text(left - 14, middle, "a block →", anchor="end", colour=ORANGE)
    canvas.text(left + side - _CELL * 1.5, top + _CELL / 2, "not visited")
    x, width = 460.0, 250.0
    boxes = (
        ("m: largest score so far", BLUE),
        ("l: sum of exp(score − m)", GREEN),
        ("o: sum of exp(score − m) · value", TEAL),
    )
    canvas.text(x, top + 4, "all that a block keeps for a query", anchor="start", bold=True)
    for k, (words, colour) in enumerate(boxes):
        y = top + 22 + 38 * k
        canvas.rectangle(x, y, width, 30, colour, outline=None, radius=4)
        canvas.label(x, y, width, 30, words, colour=ON_PAINT)
    below = top + 22 + 38 * 3
    lines = (
        "a new tile with a larger score:",
        "l and o times exp(old m − new m),",
        "then the tile's own terms on top",
        "at the end o / l and m + log l",
    )
    for k, line in enumerate(lines):
        canvas.text(x, below + 18 + 20 * k, line, anchor="start", colour=INK)
    return canvas


def intensity() -> Canvas:
    canvas = Canvas("FLOPs a byte of attention in bf16, from one decode step to a prefill")
    left, width, axis = 60.0, 640.0, 150.0
    low, high = 0.5, 8192.0

    def place(value: float) -> float:
        return left + width * log2(value / low) / log2(high / low)

    ridge = MEASURED_H200.bf16_ridge
    canvas.rectangle(left, axis - 6, place(ridge) - left, 12, ORANGE, outline=None, tint=True)
    canvas.rectangle(
        place(ridge), axis - 6, left + width - place(ridge), 12, BLUE, outline=None, tint=True
    )
    for power in range(0, 14, 2):
        canvas.text(place(2.0**power), axis + 20, f"{2**power}")
    canvas.text(
        left + width / 2, axis + 66, "FLOPs for each byte of queries, keys, values, results"
    )
    canvas.line((place(ridge), axis - 22), (place(ridge), axis + 8), thick=2)
    words = f"ridge of an H200: {ridge:.0f} measured, {H200.bf16_ridge:.0f} by datasheet"
    canvas.text(place(ridge), axis - 132, words)
    canvas.line((place(ridge), axis - 122), (place(ridge), axis - 22), dashed=True)
    canvas.text(left, axis + 42, "bound by memory", anchor="start", colour=ORANGE)
    canvas.text(left + width, axis + 42, "by arithmetic", anchor="end", colour=BLUE)
    mla = 2 * 128 * (576 + 512) / (2 * 576)
    points = (
        (1.0, "decode, each head its own keys", 108, "start"),
        (4.0, "4 heads share them", 86, "start"),
        (64.0, "and 16 guessed tokens", 64, "end"),
        (mla, "128 heads on one latent", 86, "start"),
        (4 * 8192 / 10, "prefill of 8192, 4 heads share", 64, "middle"),
    )
    for value, label, up, anchor in points:
        x = place(value)
        canvas.line((x, axis - up + 10), (x, axis), opacity=0.5)
        canvas.rectangle(x - 4, axis - 4, 8, 8, PURPLE, outline=None, radius=4)
        canvas.text(x, axis - up, label, anchor=anchor, colour=PURPLE)
    return canvas


PICTURES = {"tiles": tiles, "intensity": intensity}
