"""As many public models write it: angles in x's own type, halves exchanged, one token at a time."""

import torch
import torch.nn.functional as F

EPSILON = 1e-5
THETA = 10_000.0


def wider(x):
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def rms_norm(x, weight, epsilon=EPSILON):
    y = wider(x)
    root = torch.linalg.vector_norm(y, dim=-1, keepdim=True) / x.shape[-1] ** 0.5
    root = torch.hypot(root, torch.full_like(root, epsilon**0.5))
    return torch.div(y, root).type_as(x) * weight


def rope(x, positions, theta=THETA):
    y, d = wider(x), x.shape[-1]
    inverse = 1.0 / theta ** (torch.arange(0, d, 2, dtype=y.dtype) / d)
    angle = torch.einsum("t,f->tf", positions.to(y.dtype), inverse)
    angle = torch.cat((angle, angle), dim=-1).unsqueeze(1)
    left, right = y.chunk(2, -1)
    return (y * angle.cos() + torch.cat((-right, left), -1) * angle.sin()).type_as(x)


def swiglu(x, gate, up, down):
    opened, plain = F.linear(x, torch.cat((gate, up))).chunk(2, -1)
    return F.linear(F.silu(opened) * plain, down)


class CacheFull(RuntimeError):
    pass


class KVCache:
    """A key and its value lie side by side."""

    def __init__(self, layers, max_tokens, kv_heads, head_dim, dtype=torch.float32):
        self.layers, self.head_dim, self.room = layers, head_dim, max_tokens
        pair = 2 * head_dim
        self.memory = [torch.zeros(kv_heads, max_tokens, pair, dtype=dtype) for _ in range(layers)]
        self.held = dict.fromkeys(range(layers), 0)

    def append(self, layer, key, value):
        old = self.held[layer]
        new = old + len(key)
        if new > self.room:
            raise CacheFull(f"{new - self.room} tokens too many")
        self.memory[layer][:, old:new] = torch.cat((key, value), -1).transpose(0, 1)
        self.held[layer] = new

    def view(self, layer):
        pairs = self.memory[layer][:, : self.held[layer]].transpose(0, 1)
        return pairs.split(self.head_dim, -1)

    @property
    def length(self):
        return sorted(self.held.values())[0]


def grouped_attention(query, key, value):
    count, n = len(query), len(key)
    q, k, v = (x.transpose(0, 1).unsqueeze(0) for x in (query, key, value))
    seen = torch.ones(count, n, dtype=torch.bool).tril(n - count)
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True)
    return mixed.squeeze(0).transpose(0, 1)


def forward(weights, tokens, cache, pos0):
    table = weights["embedding"]
    for offset, token in enumerate(tokens.tolist()):
        x, place = table[token : token + 1], torch.tensor([pos0 + offset])
        for layer in range(cache.layers):
            x = one_layer(x, f"layers.{layer}.", layer, weights, cache, place)
    return F.linear(rms_norm(x, weights["final_norm"]), weights.get("head", table)).squeeze(0)


def one_layer(x, prefix, layer, weights, cache, place):
    def applied(name, to):
        return F.linear(to, weights[prefix + name])

    def maybe_normed(name, heads):
        name = prefix + name
        return rms_norm(heads, weights[name]) if name in weights else heads

    inside = rms_norm(x, weights[prefix + "attention_norm"])
    q, k, v = (applied(n, inside).reshape(1, -1, cache.head_dim) for n in ("query", "key", "value"))
    q, k = rope(maybe_normed("query_norm", q), place), rope(maybe_normed("key_norm", k), place)
    cache.append(layer, k, v)
    x = x + applied("output", grouped_attention(q, *cache.view(layer)).reshape(1, -1))
    inside = rms_norm(x, weights[prefix + "ffn_norm"])
    return x + swiglu(inside, *(weights[prefix + n] for n in ("gate", "up", "down")))
