"""Everything from one table of matrices; fractions until the end."""

from dataclasses import dataclass
from fractions import Fraction

from references.roofline import Kernel


def matrices(s):
    """{name: (inputs, outputs)} of one layer."""
    q, kv = s.heads * s.head_dim, s.kv_heads * s.head_dim
    return {
        "qkv": (s.hidden, q + 2 * kv),
        "output": (q, s.hidden),
        "gate_up": (s.hidden, 2 * s.ffn),
        "down": (s.ffn, s.hidden),
    }


def norms(s):
    return (2 * s.layers + 1) * s.hidden + 2 * s.layers * s.head_dim * s.qk_norm


def multiplied(s):
    return s.layers * sum(a * b for a, b in matrices(s).values()) + s.hidden * s.vocab


def param_count(shape):
    return norms(shape) + multiplied(shape) + (not shape.tied) * shape.hidden * shape.vocab


def kv_bytes_per_token(shape):
    return latent_kv_bytes(shape.layers, shape.kv_heads * shape.head_dim,
                           shape.kv_heads * shape.head_dim, shape.dtype_bytes)


def max_kv_tokens(memory_bytes, share, shape, activation_bytes=0):
    taken = shape.dtype_bytes * param_count(shape) + activation_bytes
    tokens = Fraction(int(memory_bytes * share) - taken, kv_bytes_per_token(shape))
    return int(tokens) if tokens > 0 else 0


def kv_equals_weights_tokens(shape):
    return int(Fraction(param_count(shape) * shape.dtype_bytes, kv_bytes_per_token(shape)))


@dataclass
class StepCost:
    weight_bytes: int
    kv_bytes: int
    flops: int

    def floor_seconds(self, hardware):
        seconds = Fraction(self.weight_bytes + self.kv_bytes) / Fraction(hardware.bytes_per_second)
        rate = Fraction(hardware.flops_per_second["bf16"])
        return float(max(seconds, self.flops / rate))


def step_cost(shape, batch, context):
    pairs = 2 * shape.layers * shape.heads * shape.head_dim * context
    return StepCost(
        flops=2 * batch * (multiplied(shape) + pairs),
        kv_bytes=context * kv_bytes_per_token(shape) * batch,
        weight_bytes=(multiplied(shape) + norms(shape)) * shape.dtype_bytes,
    )


def kernel_chain(shape, batch, q_len, context):
    rows, h = q_len * batch, shape.hidden
    q, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    scores = sum(batch * (context - later) for later in range(q_len))
    moved = {
        "norm": h * (2 * rows + 1),
        "rope": rows * 2 * q + rows * 2 * kv,
        "kv_write": rows * 4 * kv,
        "attention": batch * (q_len * q + context * kv) * 2,
        "add_norm": h * (4 * rows + 1),
        "silu_mul": rows * (shape.ffn + shape.ffn + shape.ffn),
        "add": rows * (h + h + h),
        "final_norm": h * (2 * batch + 1),
    }

    def kernel(name):
        if name in moved:
            flops = 4 * q * scores if name == "attention" else 0
            return Kernel(name, moved[name] * shape.dtype_bytes, flops)
        inputs, outputs = matrices(shape).get(name, (h, shape.vocab))
        m = batch if name == "head" else rows
        numbers = inputs * outputs + m * (inputs + outputs)
        return Kernel(name, numbers * shape.dtype_bytes, 2 * m * inputs * outputs)

    a_layer = "norm qkv rope kv_write attention output add_norm gate_up silu_mul down add"
    return [kernel(name) for name in [*a_layer.split() * shape.layers, "final_norm", "head"]]


def split_kv_bytes(shape, gpus):
    most = max(len(range(gpu, shape.kv_heads, gpus)) for gpu in range(gpus))
    return most * kv_bytes_per_token(shape) // shape.kv_heads


def all_reduce_bytes(shape, gpus, tokens):
    one = tokens * shape.hidden * shape.dtype_bytes
    return int(2 * shape.layers * one * 2 * Fraction(gpus - 1, gpus))


def latent_kv_bytes(layers, latent, rope_dim, dtype_bytes=2):
    return layers * dtype_bytes * latent + layers * dtype_bytes * rope_dim
