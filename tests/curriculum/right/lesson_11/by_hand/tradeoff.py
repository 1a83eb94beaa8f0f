"""The weights by their names, the chain as text."""

from dataclasses import dataclass
from math import prod

from references.models import weight_shapes
from references.roofline import Kernel


def param_count(shape):
    return sum(map(prod, weight_shapes(shape).values()))


def kv_bytes_per_token(shape):
    a_layer = 2 * (shape.kv_heads * shape.head_dim)
    return a_layer * shape.dtype_bytes * shape.layers


def max_kv_tokens(memory_bytes, share, shape, activation_bytes=0):
    budget = memory_bytes * share - activation_bytes
    budget -= param_count(shape) * shape.dtype_bytes
    return int(budget // kv_bytes_per_token(shape)) if budget > 0 else 0


def kv_equals_weights_tokens(shape):
    return int(param_count(shape) / (kv_bytes_per_token(shape) / shape.dtype_bytes))


@dataclass
class StepCost:
    weight_bytes: int
    kv_bytes: int
    flops: int

    def floor_seconds(self, hardware):
        bytes_ = self.kv_bytes + self.weight_bytes
        computing = self.flops / hardware.flops_per_second["bf16"]
        return max(computing, bytes_ / hardware.bytes_per_second)


def step_cost(shape, batch, context):
    used = {n: prod(s) for n, s in weight_shapes(shape).items() if shape.tied or n != "embedding"}
    matrices = sum(size for n, size in used.items() if not n.endswith("norm"))
    scores = shape.layers * shape.heads * shape.head_dim * context
    return StepCost(
        sum(used.values()) * shape.dtype_bytes,
        kv_bytes_per_token(shape) * context * batch,
        (matrices + 2 * scores) * 2 * batch,
    )


def kernel_chain(shape, batch, q_len, context):
    h, q, k = shape.hidden, shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    t = q_len * batch
    pairs = batch * sum(context - q_len + i + 1 for i in range(q_len))
    found = []

    def put(name, elements, flops=0):
        found.append(Kernel(name, elements * shape.dtype_bytes, flops))

    def product(name, m, n, width):
        put(name, m * n + m * width + n * width, 2 * m * n * width)

    for _ in range(shape.layers):
        put("norm", h + 2 * h * t)
        product("qkv", t, q + k + k, h)
        put("rope", t * (q + k) * 2)
        put("kv_write", t * k * 4)
        put("attention", 2 * t * q + 2 * batch * context * k, 4 * pairs * q)
        product("output", t, h, q)
        put("add_norm", h + 4 * h * t)
        product("gate_up", t, 2 * shape.ffn, h)
        put("silu_mul", 3 * shape.ffn * t)
        product("down", t, h, shape.ffn)
        put("add", 3 * h * t)
    put("final_norm", h + 2 * h * batch)
    product("head", batch, shape.vocab, h)
    return found


def split_kv_bytes(shape, gpus):
    each = max(1, (shape.kv_heads + gpus - 1) // gpus)
    return kv_bytes_per_token(shape) // shape.kv_heads * each


def all_reduce_bytes(shape, gpus, tokens):
    per_sum = tokens * shape.hidden * shape.dtype_bytes
    return shape.layers * 2 * per_sum * 2 * (gpus - 1) // gpus


def latent_kv_bytes(layers, latent, rope_dim, dtype_bytes=2):
    return sum(layers * part * dtype_bytes for part in (latent, rope_dim))
