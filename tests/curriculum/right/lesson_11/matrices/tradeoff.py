"""Sums over small tables."""

from collections import namedtuple

from references.roofline import Kernel


def _matrices(s):
    """(name, inputs, outputs) of a layer's products, as they are launched."""
    q, kv = s.heads * s.head_dim, s.kv_heads * s.head_dim
    return (
        ("qkv", s.hidden, q + 2 * kv),
        ("output", q, s.hidden),
        ("gate_up", s.hidden, s.ffn * 2),
        ("down", s.ffn, s.hidden),
    )


def _layer(s):
    norms = 2 * s.hidden + 2 * s.head_dim * bool(s.qk_norm)
    return sum(i * o for _, i, o in _matrices(s)), norms


def param_count(shape):
    matrices, norms = _layer(shape)
    table = shape.hidden * shape.vocab
    return table + (0 if shape.tied else table) + shape.hidden + shape.layers * (matrices + norms)


def kv_bytes_per_token(shape):
    return shape.dtype_bytes * shape.layers * sum([shape.kv_heads * shape.head_dim] * 2)


def max_kv_tokens(memory_bytes, share, shape, activation_bytes=0):
    taken = activation_bytes + shape.dtype_bytes * param_count(shape)
    free = int(share * memory_bytes) - taken
    return 0 if free < 0 else free // kv_bytes_per_token(shape)


def kv_equals_weights_tokens(shape):
    quotient, _ = divmod(shape.dtype_bytes * param_count(shape), kv_bytes_per_token(shape))
    return quotient


class StepCost(namedtuple("StepCost", "weight_bytes kv_bytes flops")):
    def floor_seconds(self, hardware):
        times = (self.weight_bytes + self.kv_bytes) / hardware.bytes_per_second, self.flops / (
            hardware.flops_per_second["bf16"]
        )
        return max(times)


def step_cost(shape, batch, context):
    matrices, norms = _layer(shape)
    head = shape.vocab * shape.hidden
    weights = shape.layers * (matrices + norms) + head + shape.hidden
    each = 2 * (shape.layers * matrices + head)
    each += shape.layers * 4 * context * shape.head_dim * shape.heads
    kv = kv_bytes_per_token(shape)
    return StepCost(weights * shape.dtype_bytes, kv * batch * context, each * batch)


def kernel_chain(shape, batch, q_len, context):
    t, b, s = batch * q_len, shape.dtype_bytes, shape
    q, kv = s.heads * s.head_dim, s.kv_heads * s.head_dim
    sums = {
        "norm": s.hidden * (2 * t + 1),
        "rope": 2 * t * q + 2 * t * kv,
        "kv_write": 2 * t * kv + 2 * t * kv,
        "add_norm": s.hidden * (4 * t + 1),
        "silu_mul": t * s.ffn * 3,
        "add": t * s.hidden * 3,
        "final_norm": s.hidden * (2 * batch + 1),
    }
    made = {name: Kernel(name, b * elements, 0) for name, elements in sums.items()}
    for name, i, o in (*_matrices(s), ("head", s.hidden, s.vocab)):
        rows = batch if name == "head" else t
        made[name] = Kernel(name, b * (i * o + rows * (i + o)), 2 * rows * i * o)
    pairs = batch * (q_len * context - q_len * (q_len - 1) // 2)
    bytes_ = b * 2 * (t * q + batch * context * kv)
    made["attention"] = Kernel("attention", bytes_, 4 * q * pairs)
    order = ["norm", "qkv", "rope", "kv_write", "attention", "output"]
    order += ["add_norm", "gate_up", "silu_mul", "down", "add"]
    names = order * s.layers + ["final_norm", "head"]
    return [made[name] for name in names]


def split_kv_bytes(shape, gpus):
    whole, rest = divmod(shape.kv_heads, gpus)
    return 2 * shape.layers * (whole + (rest > 0)) * shape.head_dim * shape.dtype_bytes


def all_reduce_bytes(shape, gpus, tokens):
    elements = tokens * shape.hidden * 2 * shape.layers
    return int(elements * shape.dtype_bytes * 2 * (gpus - 1) / gpus)


def latent_kv_bytes(layers, latent, rope_dim, dtype_bytes=2):
    return dtype_bytes * (latent * layers + rope_dim * layers)
