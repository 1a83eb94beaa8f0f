"""The Triton kernels that are timed beside Triton's own interpreter.

Arrays are contiguous, rows by rows; sizes are those of `triton_tasks.py`. Nothing here is tuned:
both sides run the same code.
"""

import triton
import triton.language as tl

LOG2_E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def add(x, y, z, n, block: tl.constexpr):
    """z [n] = x + y"""
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < n
    tl.store(z + i, tl.load(x + i, there) + tl.load(y + i, there), there)


@triton.jit
def softmax(x, y, columns, block: tl.constexpr):
    """y [rows, columns], a program for each row"""
    j = tl.arange(0, block)
    first = tl.program_id(0) * columns
    row = tl.load(x + first + j, j < columns, other=-float("inf")).to(tl.float32)
    weights = tl.exp(row - tl.max(row, 0))
    tl.store(y + first + j, weights / tl.sum(weights, 0), j < columns)


@triton.jit
def rms_norm(x, weight, y, columns, epsilon, block: tl.constexpr):
    """y [rows, columns], a program for each row"""
    j = tl.arange(0, block)
    there = j < columns
    first = tl.program_id(0) * columns
    row = tl.load(x + first + j, there, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(row * row, 0) / columns + epsilon)
    w = tl.load(weight + j, there, other=0.0).to(tl.float32)
    tl.store(y + first + j, row * scale * w, there)


@triton.jit
def layer_norm(x, weight, bias, y, columns, epsilon, block: tl.constexpr):
    """y [rows, columns], a program for each row"""
    j = tl.arange(0, block)
    there = j < columns
    first = tl.program_id(0) * columns
    row = tl.load(x + first + j, there, other=0.0).to(tl.float32)
    mean = tl.sum(row, 0) / columns
    apart = tl.where(there, row - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, 0) / columns + epsilon)
    w = tl.load(weight + j, there, other=0.0)
    b = tl.load(bias + j, there, other=0.0)
    tl.store(y + first + j, apart * scale * w + b, there)


@triton.jit
def cross_entropy(x, target, loss, columns, block: tl.constexpr):
    """loss [rows] of x [rows, columns] and target [rows], a piece of a row at a time"""
    row = tl.program_id(0)
    largest = tl.full((block,), -float("inf"), tl.float32)
    total = tl.zeros((block,), tl.float32)
    for first in range(0, columns, block):
        j = first + tl.arange(0, block)
        value = tl.load(x + row * columns + j, j < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(largest, value)
        total = total * tl.exp(largest - higher) + tl.exp(value - higher)
        largest = higher
    top = tl.max(largest, 0)
    everything = tl.sum(total * tl.exp(largest - top), 0)
    wanted = tl.load(x + row * columns + tl.load(target + row)).to(tl.float32)
    tl.store(loss + row, top + tl.log(everything) - wanted)


@triton.jit
def matmul(a, b, c, m, n, k, tile: tl.constexpr, precision: tl.constexpr):
    """c [m, n] = a [m, k] b [k, n], a program for each tile of c"""
    rows = tl.program_id(0) * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    depth = tl.arange(0, tile)
    sums = tl.zeros((tile, tile), tl.float32)
    for first in range(0, k, tile):
        d = first + depth
        left = tl.load(
            a + rows[:, None] * k + d[None, :], (rows[:, None] < m) & (d[None, :] < k), other=0.0
        )
        right = tl.load(
            b + d[:, None] * n + columns[None, :],
            (d[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        sums = tl.dot(left, right, sums, input_precision=precision)
    there = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], sums, there)


@triton.jit
def attention(q, k, v, o, length, scale, width: tl.constexpr, tile: tl.constexpr,
              causal: tl.constexpr, precision: tl.constexpr):  # fmt: skip
    """o [heads, length, width], a program for `tile` rows of a head; causal: each row sees its own
    column and those before"""
    first_row = tl.program_id(0) * tile
    head = tl.program_id(1) * length * width
    rows = first_row + tl.arange(0, tile)
    d = tl.arange(0, width)
    queries = tl.load(
        q + head + rows[:, None] * width + d[None, :], rows[:, None] < length, other=0.0
    )
    largest = tl.full((tile,), -float("inf"), tl.float32)
    total = tl.zeros((tile,), tl.float32)
    sums = tl.zeros((tile, width), tl.float32)
    end = first_row + tile if causal else length
    for first in range(0, end, tile):
        columns = first + tl.arange(0, tile)
        there = columns[:, None] < length
        keys = tl.load(k + head + columns[:, None] * width + d[None, :], there, other=0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision=precision) * (scale * LOG2_E)
        seen = columns[None, :] < length
        if causal:
            seen = rows[:, None] >= columns[None, :]
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(largest - higher)
        total = total * shrink + tl.sum(weights, 1)
        values = tl.load(v + head + columns[:, None] * width + d[None, :], there, other=0.0)
        sums = tl.dot(
            weights.to(values.dtype), values, sums * shrink[:, None], input_precision=precision
        )
        largest = higher
    tl.store(
        o + head + rows[:, None] * width + d[None, :], sums / total[:, None], rows[:, None] < length
    )


@triton.jit
def attention_gradients(q, k, v, lse, delta, do, dk, dv, length, scale, width: tl.constexpr,
                        tile: tl.constexpr, precision: tl.constexpr):  # fmt: skip
    """dk and dv [heads, length, width], causal; lse and delta [heads, length]; `length` is a
    multiple of `tile`; a program for `tile` keys of a head"""
    first_key = tl.program_id(0) * tile
    head = tl.program_id(1)
    columns = first_key + tl.arange(0, tile)
    d = tl.arange(0, width)
    start = head * length * width
    keys = tl.load(k + start + columns[:, None] * width + d[None, :])
    values = tl.load(v + start + columns[:, None] * width + d[None, :])
    key_sums = tl.zeros((tile, width), tl.float32)
    value_sums = tl.zeros((tile, width), tl.float32)
    for first in range(first_key, length, tile):
        rows = first + tl.arange(0, tile)
        queries = tl.load(q + start + rows[:, None] * width + d[None, :])
        upstream = tl.load(do + start + rows[:, None] * width + d[None, :])
        scores = tl.dot(queries, tl.trans(keys), input_precision=precision) * (scale * LOG2_E)
        level = tl.load(lse + head * length + rows) * LOG2_E
        weights = tl.exp2(scores - level[:, None])
        weights = tl.where(rows[:, None] >= columns[None, :], weights, 0.0)
        value_sums = tl.dot(
            tl.trans(weights.to(upstream.dtype)), upstream, value_sums, input_precision=precision
        )
        slopes = tl.dot(upstream, tl.trans(values), input_precision=precision)
        slopes = weights * (slopes - tl.load(delta + head * length + rows)[:, None])
        key_sums = tl.dot(
            tl.trans(slopes.to(queries.dtype)), queries, key_sums, input_precision=precision
        )
    tl.store(dk + start + columns[:, None] * width + d[None, :], key_sums * scale)
    tl.store(dv + start + columns[:, None] * width + d[None, :], value_sums)


@triton.jit
def adamw(p, g, m, v, n, rate, decay, block: tl.constexpr):
    """One step of p [n], in place, with moments m and v of beta 0.9 and 0.999"""
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < n
    slope = tl.load(g + i, there)
    first = 0.9 * tl.load(m + i, there) + 0.1 * slope
    second = 0.999 * tl.load(v + i, there) + 0.001 * slope * slope
    value = tl.load(p + i, there)
    value = value - rate * (first / (tl.sqrt(second) + 1e-8) + decay * value)
    tl.store(p + i, value, there)
    tl.store(m + i, first, there)
    tl.store(v + i, second, there)


@triton.jit
def dropout(x, y, n, p, seed, block: tl.constexpr):
    """y [n]: x / (1 - p) where the random number of its place is above p, else 0"""
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < n
    kept = tl.rand(seed, i) > p
    tl.store(y + i, tl.where(kept, tl.load(x + i, there) / (1 - p), 0.0), there)


@triton.jit
def cumulative_sum(x, y, columns, block: tl.constexpr):
    """y [rows, columns], a program for each row"""
    j = tl.arange(0, block)
    at = tl.program_id(0) * columns + j
    tl.store(y + at, tl.cumsum(tl.load(x + at, j < columns, other=0.0), 0), j < columns)


@triton.jit
def largest_place(x, y, columns, block: tl.constexpr):
    """y [rows]: where the largest of each row is"""
    j = tl.arange(0, block)
    row = tl.program_id(0)
    values = tl.load(x + row * columns + j, j < columns, other=-float("inf"))
    tl.store(y + row, tl.argmax(values, 0))


@triton.jit
def _decayed(decay_left, sum_left, decay_right, sum_right):
    return decay_left * decay_right, sum_left * decay_right + sum_right


@triton.jit
def recurrence(decay, x, y, columns: tl.constexpr):
    """y[j] = decay[j] y[j - 1] + x[j] along each row"""
    at = tl.program_id(0) * columns + tl.arange(0, columns)
    pair = tl.load(decay + at), tl.load(x + at)
    _, sums = tl.associative_scan(pair, 0, _decayed)
    tl.store(y + at, sums)


@triton.jit
def sort_rows(x, y, columns: tl.constexpr):
    """y [rows, columns], each row in rising order"""
    at = tl.program_id(0) * columns + tl.arange(0, columns)
    tl.store(y + at, tl.sort(tl.load(x + at)))


@triton.jit
def histogram(x, bins, n, block: tl.constexpr, kinds: tl.constexpr):
    """bins [kinds] += how often each value occurs in x [n]"""
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < n
    counts = tl.histogram(tl.load(x + i, there, other=0), kinds, mask=there)
    tl.atomic_add(bins + tl.arange(0, kinds), counts)


@triton.jit
def linear_gelu(x, w, y, n: tl.constexpr, k: tl.constexpr, tile: tl.constexpr):
    """y [m, n] = gelu(x [m, k] w [k, n]), a program for each tile of y; whole tiles"""
    rows = tl.program_id(0) * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    depth = tl.arange(0, tile)
    sums = tl.zeros((tile, tile), tl.float32)
    for first in range(0, k, tile):
        left = tl.load(x + rows[:, None] * k + first + depth[None, :])
        right = tl.load(w + (first + depth[:, None]) * n + columns[None, :])
        sums = tl.dot(left, right, sums)
    sums = 0.5 * sums * (1 + tl.erf(sums * 0.7071067811865476))
    tl.store(y + rows[:, None] * n + columns[None, :], sums)
