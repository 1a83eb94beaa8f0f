"""Lesson 11, tasks 2, 6 and 7: the bytes and FLOPs of a step, by the weights and by the kernel."""

from dataclasses import replace

import pytest

from curriculum.lesson_11 import tradeoff
from curriculum.lesson_11.tradeoff import StepCost
from harness.judging.returned import number
from references.models import (
    LLAMA_2_7B,
    LLAMA_2_13B,
    LLAMA_3_8B,
    LLAMA_3_70B,
    MODELS,
    QWEN3_06B,
    TINY,
    ModelShape,
    weight_shapes,
)
from references.roofline import H100_DATASHEET, H200_DATASHEET, Kernel

GIB = 1 << 30
FP8 = replace(LLAMA_3_8B, name="Llama-3-8B in fp8", dtype_bytes=1)
FP32 = replace(LLAMA_3_8B, name="Llama-3-8B in fp32", dtype_bytes=4)
BY_NAME = {shape.name: shape for shape in MODELS} | {"tiny": TINY}


def whole(call, got, wanted):
    if isinstance(got, bool) or not isinstance(got, int):
        pytest.fail(f"{call} returned {got!r}; it counts in ints", pytrace=False)
    assert got == wanted, f"{call} is {got:,}, not {wanted:,}"


def numel(shape, keep=lambda name: True):
    total = 0
    for name, of in weight_shapes(shape).items():
        elements = 1
        for length in of:
            elements *= length
        total += elements if keep(name) else 0
    return total


# --- Task 2: weights, cache, step -----------------------------------------------------------------


@pytest.mark.task(2)
@pytest.mark.parametrize("name", BY_NAME)
def test_every_weight_is_counted_once(name):
    wanted = numel(BY_NAME[name])
    whole(f"param_count({name})", tradeoff.param_count(BY_NAME[name]), wanted)


KV_BYTES = {  # a token, bf16
    "Llama-2-7B": 524_288,
    "Llama-2-13B": 819_200,
    "Llama-2-70B": 327_680,
    "Llama-3-8B": 131_072,
    "Llama-3-70B": 327_680,
    "Llama-3.1-405B": 516_096,
    "Qwen3-0.6B": 114_688,
}


@pytest.mark.task(2)
@pytest.mark.parametrize("name", KV_BYTES)
def test_a_token_leaves_a_key_and_a_value_in_each_layer(name):
    got = tradeoff.kv_bytes_per_token(BY_NAME[name])
    whole(f"kv_bytes_per_token({name})", got, KV_BYTES[name])


@pytest.mark.task(2)
def test_a_cache_of_fp8_takes_half():
    whole(f"kv_bytes_per_token({FP8.name})", tradeoff.kv_bytes_per_token(FP8), 65_536)


EQUAL = {
    "Llama-2-7B": 25_705,
    "Llama-2-13B": 31_777,
    "Llama-2-70B": 421_000,
    "Llama-3-8B": 122_532,
    "Llama-3-70B": 430_625,
}


@pytest.mark.task(2)
@pytest.mark.parametrize("name", EQUAL)
def test_from_some_context_on_the_caches_outweigh_the_weights(name):
    got = tradeoff.kv_equals_weights_tokens(BY_NAME[name])
    whole(f"kv_equals_weights_tokens({name})", got, EQUAL[name])


@pytest.mark.task(2)
def test_the_paged_attention_paper_had_room_for_15_7_thousand_tokens():
    """OPT-13B keeps 800 KiB a token; 12 GiB of them: Kwon et al., SOSP 2023, table 1 ("15.7K")."""
    opt = ModelShape("OPT-13B, as far as its cache goes", 40, 5120, 40, 40, 128, 20_480, 50_272)
    beside = tradeoff.param_count(opt) * 2
    got = tradeoff.max_kv_tokens(beside + 12 * GIB, 1.0, opt)
    whole("max_kv_tokens(weights + 12 GiB, 1.0, OPT-13B)", got, 15_728)


@pytest.mark.task(2)
@pytest.mark.parametrize(
    "memory_bytes, share, shape, activation_bytes, wanted",
    [
        (141 * 10**9, 0.9, LLAMA_3_8B, 0, 845_638),
        (141 * 10**9, 0.9, LLAMA_3_8B, 2 * 10**9, 830_379),
        (80 * 10**9, 0.9, LLAMA_3_8B, 0, 426_784),
        (80 * 10**9, 0.9, LLAMA_3_70B, 0, 0),  # the weights alone are 141 GB
        (24 * 10**9, 0.5, LLAMA_2_7B, 0, 0),
    ],
)
def test_what_the_weights_leave_is_for_the_cache(
    memory_bytes, share, shape, activation_bytes, wanted
):
    call = f"max_kv_tokens({memory_bytes}, {share}, {shape.name}, {activation_bytes})"
    whole(call, tradeoff.max_kv_tokens(memory_bytes, share, shape, activation_bytes), wanted)


@pytest.mark.task(2)
def test_half_as_many_bytes_a_number_leave_room_for_more():
    got = tradeoff.max_kv_tokens(141 * 10**9, 0.9, FP8)
    whole(f"max_kv_tokens(141 GB, 0.9, {FP8.name})", got, 1_813_808)
    for shape in (FP8, FP32):  # both sides shrink or grow
        got = tradeoff.kv_equals_weights_tokens(shape)
        whole(f"kv_equals_weights_tokens({shape.name})", got, EQUAL["Llama-3-8B"])


def cost(shape, batch, context):
    got = tradeoff.step_cost(shape, batch, context)
    if not isinstance(got, StepCost):
        pytest.fail(f"step_cost returned {got!r}, which is no StepCost", pytrace=False)
    return got


@pytest.mark.task(2)
@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("batch, context", [(1, 1), (1, 4096), (64, 1000)])
def test_a_step_reads_the_weights_once_and_each_cache(name, batch, context):
    shape, got = BY_NAME[name], cost(BY_NAME[name], batch, context)
    said = f"step_cost({name}, {batch}, {context})"
    read = numel(shape, lambda weight: shape.tied or weight != "embedding")
    whole(f"{said}: weight_bytes", got.weight_bytes, read * shape.dtype_bytes)
    kv = 2 * shape.layers * shape.kv_heads * shape.head_dim * shape.dtype_bytes
    whole(f"{said}: kv_bytes", got.kv_bytes, batch * context * kv)
    skipped = () if shape.tied else ("embedding",)
    multiplied = numel(shape, lambda w: not w.endswith("norm") and w not in skipped)
    attention = 4 * shape.heads * shape.head_dim * context * shape.layers
    whole(f"{said}: flops", got.flops, batch * (2 * multiplied + attention))


@pytest.mark.task(2)
def test_published_decode_speeds_read_as_many_bytes_as_the_step():
    """gpt-fast's README, Llama-2-7B in bf16 on an A100: 104.9 tokens a second at 1,397 GB/s."""
    step = cost(LLAMA_2_7B, 1, 200)  # its default: 200 new tokens
    got = step.weight_bytes + step.kv_bytes
    published = 1397e9 / 104.9
    said = f"a step reads {got / 1e9:.2f} GB; published are {published / 1e9:.2f} GB a token"
    assert got == pytest.approx(published, rel=0.01), said


@pytest.mark.task(2)
@pytest.mark.parametrize(
    "hardware, milliseconds", [(H200_DATASHEET, 3.13), (H100_DATASHEET, 4.48)], ids=["H200", "H100"]
)
def test_one_token_of_llama_3_8b_takes_at_least_its_weights(hardware, milliseconds):
    got = 1000 * cost(LLAMA_3_8B, 1, 1).floor_seconds(hardware)
    said = f"{hardware.name}: at least {got:.3f} ms a token"
    assert got == pytest.approx(milliseconds, rel=2e-3), f"{said}, not {milliseconds}"


# --- Task 6: kernel by kernel (stretch) -----------------------------------------------------------

LAYER = ["norm", "qkv", "rope", "kv_write", "attention", "output"]
LAYER += ["add_norm", "gate_up", "silu_mul", "down", "add"]
MATRICES = ("qkv", "output", "gate_up", "down", "head")


def chained(shape, *step):
    got = tradeoff.kernel_chain(shape, *step)
    if not (isinstance(got, list) and all(isinstance(kernel, Kernel) for kernel in got)):
        pytest.fail("kernel_chain returned something that is no list of Kernel", pytrace=False)
    return got


@pytest.mark.task(6)
@pytest.mark.stretch
def test_a_step_is_eleven_kernels_a_layer_and_two_more():
    names = [kernel.name for kernel in chained(LLAMA_3_8B, 2, 1, 100)]
    wanted = LAYER * 32 + ["final_norm", "head"]
    assert names == wanted, f"{len(names)} kernels, of which the first are {names[:12]}"


@pytest.mark.task(6)
@pytest.mark.stretch
@pytest.mark.parametrize("shape", [LLAMA_3_8B, QWEN3_06B, TINY], ids=lambda shape: shape.name)
@pytest.mark.parametrize("batch, context", [(1, 1), (3, 500)])
def test_the_kernels_of_a_step_add_up_to_its_cost(shape, batch, context):
    kernels = chained(shape, batch, 1, context)
    flops = sum(kernel.flops for kernel in kernels)
    step = cost(shape, batch, context)
    said = f"{shape.name}, batch {batch}, context {context}"
    whole(f"{said}: FLOPs of all kernels", flops, step.flops)
    # Matrices move their weights, what comes in and what goes out; the chain splits no weight.
    width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim
    sides = {
        "qkv": shape.hidden + width,
        "output": shape.heads * shape.head_dim + shape.hidden,
        "gate_up": shape.hidden + 2 * shape.ffn,
        "down": shape.ffn + shape.hidden,
        "head": shape.hidden + shape.vocab,
    }
    weights = sum(k.bytes for k in kernels if k.name in MATRICES)
    head = sides.pop("head")
    activations = batch * (shape.layers * sum(sides.values()) + head)
    skipped = () if shape.tied else ("embedding",)
    multiplied = numel(shape, lambda w: not w.endswith("norm") and w not in skipped)
    wanted = shape.dtype_bytes * (multiplied + activations)
    whole(f"{said}: bytes of all matrix kernels", weights, wanted)


@pytest.mark.task(6)
@pytest.mark.stretch
def test_a_prefill_multiplies_all_tokens_and_asks_for_the_last_logits_alone():
    kernels = {kernel.name: kernel for kernel in chained(LLAMA_3_8B, 2, 512, 512)}
    for name, wanted in (
        ("head", 2 * 2 * 4096 * 128_256),
        ("qkv", 2 * 1024 * 4096 * 6144),
        ("attention", 2 * 4 * (512 * 513 // 2) * 4096),
    ):
        whole(f"two prompts of 512: FLOPs of {name!r}", kernels[name].flops, wanted)
    moved = 2 * (2 * 1024 * 4096 + 2 * 2 * 512 * 1024)
    whole("two prompts of 512: bytes of 'attention'", kernels["attention"].bytes, moved)
    later = {kernel.name: kernel for kernel in chained(LLAMA_3_8B, 1, 2, 100)}
    whole("the last 2 of 100: FLOPs of 'attention'", later["attention"].flops, 4 * 199 * 4096)


@pytest.mark.task(6)
@pytest.mark.stretch
def test_what_lies_between_the_matrices_moves_what_comes_in_and_goes_out():
    kernels = {kernel.name: kernel for kernel in chained(LLAMA_3_8B, 2, 8, 100)}
    rows, hidden, heads, kv, ffn = 16, 4096, 32 * 128, 8 * 128, 14_336
    for name, numbers in (
        ("norm", 2 * rows * hidden + hidden),
        ("rope", 2 * rows * (heads + kv)),  # queries and keys, each read and written
        ("kv_write", 2 * rows * (kv + kv)),  # keys and values, each read and written
        ("add_norm", 4 * rows * hidden + hidden),
        ("silu_mul", 3 * rows * ffn),  # two in, one out
        ("add", 3 * rows * hidden),
        ("final_norm", 2 * 2 * hidden + hidden),  # the last token of both
    ):
        whole(f"16 rows of bf16: bytes of {name!r}", kernels[name].bytes, 2 * numbers)


@pytest.mark.task(6)
@pytest.mark.stretch
def test_decode_waits_for_memory_and_prefill_for_arithmetic():
    # With no launches: which of the matrices are beyond the ridge of 206?
    beyond = {
        q_len: {k.name for k in chained(LLAMA_3_8B, 1, q_len, 4096) if k.flops / k.bytes > 206}
        for q_len in (1, 4096)
    }
    wanted = {"qkv", "output", "gate_up", "down", "attention"}
    said = f"beyond the ridge: {sorted(beyond[1])} at one token, {sorted(beyond[4096])} at 4096"
    assert beyond == {1: set(), 4096: wanted}, said


# --- Task 7: on several GPUs, and with one latent (stretch) ---------------------------------------


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.parametrize(
    "shape, gpus, wanted",
    [(LLAMA_3_8B, 1, 131_072), (LLAMA_3_8B, 2, 65_536), (LLAMA_3_8B, 8, 16_384)]
    + [(LLAMA_3_8B, 16, 16_384), (LLAMA_2_13B, 16, 61_440)]
    + [(FP8, 8, 8192)],
    ids=lambda value: getattr(value, "name", None),
)
def test_heads_are_shared_out_and_never_cut(shape, gpus, wanted):
    whole(f"split_kv_bytes({shape.name}, {gpus})", tradeoff.split_kv_bytes(shape, gpus), wanted)


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.parametrize("gpus, tokens, wanted", [(1, 1, 0), (2, 1, 524_288), (8, 16, 14_680_064)])
def test_split_matrices_cost_two_sums_a_layer(gpus, tokens, wanted):
    for shape, times in ((LLAMA_3_8B, 1), (FP32, 2)):
        call = f"all_reduce_bytes({shape.name}, {gpus}, {tokens})"
        whole(call, tradeoff.all_reduce_bytes(shape, gpus, tokens), times * wanted)


@pytest.mark.task(7)
@pytest.mark.stretch
def test_a_latent_is_shared_by_all_heads():
    """DeepSeek-V3's report: 61 layers, a latent of 512 beside a turned key of 64."""
    got = number("latent_kv_bytes(61, 512, 64)", tradeoff.latent_kv_bytes(61, 512, 64))
    assert got == 70_272, f"latent_kv_bytes(61, 512, 64) is {got}, not 70,272"
    assert tradeoff.latent_kv_bytes(1, 3, 1, 1) == 4, "one layer, 3 + 1 bytes"
