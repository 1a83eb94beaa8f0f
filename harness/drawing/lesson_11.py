"""The picture of lesson 11: the kernels of a layer, each as wide as the bytes it moves."""

from harness.drawing.canvas import BLUE, GREEN, INK, ORANGE, Canvas
from references.models import LLAMA_3_8B

_LEFT, _WIDTH = 150.0, 470.0


def bytes_of_a_layer() -> Canvas:
    canvas = Canvas(
        "The bytes of each kernel of a Llama-3-8B layer in one decode step of 16 sequences"
    )
    batch, context = 16, 4096
    s = LLAMA_3_8B
    b, h, width, kv = s.dtype_bytes, s.hidden, s.heads * s.head_dim, s.kv_heads * s.head_dim
    rows = (  # weights, keys and values, activations
        ("norm", h, 0, 2 * batch * h),
        ("qkv", h * (width + 2 * kv), 0, batch * (h + width + 2 * kv)),
        ("rope", 0, 0, 2 * batch * (width + kv)),
        ("kv_write", 0, 2 * batch * kv, 2 * batch * kv),
        ("attention", 0, 2 * batch * context * kv, 2 * batch * width),
        ("output", width * h, 0, batch * (width + h)),
        ("add_norm", h, 0, 4 * batch * h),
        ("gate_up", 2 * h * s.ffn, 0, batch * (h + 2 * s.ffn)),
        ("silu_mul", 0, 0, 3 * batch * s.ffn),
        ("down", s.ffn * h, 0, batch * (s.ffn + h)),
        ("add", 0, 0, 3 * batch * h),
    )
    colours = (("weights, once for all", BLUE), ("keys and values", ORANGE), ("activations", GREEN))
    x = _LEFT
    for words, colour in colours:
        canvas.rectangle(x, 6, 12, 12, colour, outline=None)
        canvas.text(x + 18, 12, words, anchor="start")
        x += 180
    most = max(sum(parts) for _, *parts in rows)
    for k, (name, *parts) in enumerate(rows):
        y = 34.0 + 24 * k
        canvas.text(_LEFT - 10, y + 8, name, anchor="end", code=True)
        x = _LEFT
        for part, (_, colour) in zip(parts, colours, strict=True):
            wide = _WIDTH * part / most
            if part:
                canvas.rectangle(x, y, max(wide, 0.8), 16, colour, outline=None, radius=0)
                x += max(wide, 0.8)
        megabytes = b * sum(parts) / 1e6
        shown = f"{megabytes:.0f} MB" if megabytes >= 10 else f"{megabytes:.1f} MB"
        canvas.text(x + 8, y + 8, shown, anchor="start", colour=INK)
    return canvas


PICTURES = {"layer": bytes_of_a_layer}
