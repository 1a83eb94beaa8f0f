"""Complex numbers turn, einsum attends, and one slab holds the cache."""

import torch
import torch.nn.functional as F

EPSILON = 1e-5
THETA = 10_000.0


def rms_norm(x, weight, epsilon=EPSILON):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return weight * F.rms_norm(x.to(wide), x.shape[-1:], eps=epsilon).to(x.dtype)


def rope(x, positions, theta=THETA):
    wide = x.double()
    pairs = torch.complex(*wide.chunk(2, -1))
    exponents = torch.linspace(0, 1, x.shape[-1] // 2 + 1, dtype=torch.float64)[:-1]
    angles = torch.outer(positions.double(), theta**-exponents)
    spun = pairs * torch.polar(torch.ones_like(angles), angles).unsqueeze(1)
    return torch.cat((spun.real, spun.imag), dim=-1).to(x.dtype)


def swiglu(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


class CacheFull(RuntimeError):
    """No room."""


class KVCache:
    def __init__(self, layers, max_tokens, kv_heads, head_dim, dtype=torch.float32):
        self.layers, self.max_tokens = layers, max_tokens
        self.kv_heads, self.head_dim = kv_heads, head_dim
        self._slab = torch.empty(2, layers, max_tokens, kv_heads, head_dim, dtype=dtype)
        self._held = torch.zeros(layers, dtype=torch.long)

    def append(self, layer, key, value):
        places = slice(int(self._held[layer]), int(self._held[layer]) + key.shape[0])
        if places.stop > self.max_tokens:
            raise CacheFull(f"no room for {key.shape[0]} tokens behind {places.start}")
        self._slab[:, layer, places] = torch.stack((key, value))
        self._held[layer] += key.shape[0]

    def view(self, layer):
        return tuple(self._slab[:, layer, : int(self._held[layer])].unbind(0))

    @property
    def length(self):
        return int(self._held.amin())


def grouped_attention(query, key, value):
    count, heads, d = query.shape
    n, groups = key.shape[:2]
    folded = query.reshape(count, groups, heads // groups, d)
    scores = torch.einsum("tgrd,ngd->grtn", folded, key).div(d**0.5)
    own = torch.arange(n - count, n).unsqueeze(1)
    scores = torch.where(torch.arange(n) <= own, scores, float("-inf"))
    mixed = torch.einsum("grtn,ngd->tgrd", torch.softmax(scores, dim=-1), value)
    return mixed.reshape(count, heads, d)


def _layer(x, w, layer, cache, positions):
    heads = lambda name, y: F.linear(y, w[name]).view(len(x), -1, cache.head_dim)  # noqa: E731
    normed = rms_norm(x, w["attention_norm"])
    query, key = heads("query", normed), heads("key", normed)
    if "key_norm" in w:
        query, key = rms_norm(query, w["query_norm"]), rms_norm(key, w["key_norm"])
    cache.append(layer, rope(key, positions), heads("value", normed))
    keys, values = cache.view(layer)
    mixed = grouped_attention(rope(query, positions), keys, values).flatten(1)
    x = x + F.linear(mixed, w["output"])
    return x + swiglu(rms_norm(x, w["ffn_norm"]), w["gate"], w["up"], w["down"])


def forward(weights, tokens, cache, pos0):
    positions = torch.arange(len(tokens)).add(pos0)
    x = weights["embedding"].index_select(0, tokens)
    for layer in range(cache.layers):
        prefix = f"layers.{layer}."
        own = {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}
        x = _layer(x, own, layer, cache, positions)
    table = "head" if "head" in weights else "embedding"
    return F.linear(rms_norm(x, weights["final_norm"])[-1], weights[table])
