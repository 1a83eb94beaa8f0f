"""One head, one token, one pair at a time."""

import math

import torch

EPSILON, THETA = 1e-5, 10_000.0


def _widened(x):
    return x if x.dtype == torch.float64 else x.float()


def rms_norm(x, weight, epsilon=EPSILON):
    h = x.shape[-1]
    rows = []
    for row in _widened(x).reshape(-1, h):
        rows.append(row * (row.dot(row) / h + epsilon).rsqrt())
    return torch.stack(rows).reshape(x.shape).to(x.dtype) * weight


def rope(x, positions, theta=THETA):
    turned = _widened(x).clone()
    d = x.shape[-1]
    for i in range(d // 2):
        for t, position in enumerate(positions.tolist()):
            angle = position / theta ** (2 * i / d)
            c, s = math.cos(angle), math.sin(angle)
            a, b = turned[t, :, i].clone(), turned[t, :, d // 2 + i].clone()
            turned[t, :, i] = c * a - s * b
            turned[t, :, d // 2 + i] = s * a + c * b
    return turned.to(x.dtype)


def swiglu(x, gate, up, down):
    opened = x @ gate.t()
    return torch.nn.functional.linear(opened * opened.sigmoid() * (x @ up.t()), down)


class CacheFull(RuntimeError):
    pass


class KVCache:
    def __init__(self, layers, max_tokens, kv_heads, head_dim, dtype=torch.float32):
        self.layers, self.head_dim, self.kv_heads = layers, head_dim, kv_heads
        self.store = [
            [torch.zeros(max_tokens, kv_heads, head_dim, dtype=dtype), None, 0]
            for _ in range(layers)
        ]
        for entry in self.store:
            entry[1] = torch.zeros_like(entry[0])

    def append(self, layer, key, value):
        entry = self.store[layer]
        room = entry[0].shape[0] - entry[2]
        if len(key) > room:
            raise CacheFull(f"{len(key)} tokens do not fit into {room} places")
        for row_key, row_value in zip(key, value, strict=True):
            entry[0][entry[2]].copy_(row_key)
            entry[1][entry[2]].copy_(row_value)
            entry[2] += 1

    def view(self, layer):
        key, value, n = self.store[layer]
        return key.narrow(0, 0, n), value.narrow(0, 0, n)

    @property
    def length(self):
        return self.store[-1][2]


def grouped_attention(query, key, value):
    count, heads, d = query.shape
    n, kv_heads, _ = key.shape
    result = torch.empty_like(query)
    for t in range(count):
        last = n - count + t + 1
        for h in range(heads):
            g = h * kv_heads // heads
            scores = key[:last, g] @ query[t, h] * d**-0.5
            result[t, h] = torch.softmax(scores, 0) @ value[:last, g]
    return result


def forward(weights, tokens, cache, pos0):
    where = pos0 + torch.arange(len(tokens))
    rows = torch.nn.functional.embedding(tokens, weights["embedding"])
    for layer in range(cache.layers):
        w = lambda name: weights[f"layers.{layer}.{name}"]  # noqa: E731, B023
        inside = rms_norm(rows, w("attention_norm"))
        q, k, v = (
            torch.nn.functional.linear(inside, w(n)).unflatten(-1, (-1, cache.head_dim))
            for n in ("query", "key", "value")
        )
        if f"layers.{layer}.query_norm" in weights:
            q, k = rms_norm(q, w("query_norm")), rms_norm(k, w("key_norm"))
        q, k = rope(q, where), rope(k, where)
        cache.append(layer, k, v)
        seen = grouped_attention(q, *cache.view(layer)).flatten(1)
        rows = rows + torch.nn.functional.linear(seen, w("output"))
        rows = rows + swiglu(rms_norm(rows, w("ffn_norm")), w("gate"), w("up"), w("down"))
    head = weights["head"] if "head" in weights else weights["embedding"]
    return head @ rms_norm(rows[-1:], weights["final_norm"])[0]
