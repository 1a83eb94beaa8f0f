"""Lesson 12, task 5: two intensities, and what tiles save; task 7: splits that no batch changes."""

from functools import partial

import pytest
import torch

from curriculum.lesson_12 import host, tradeoff
from harness.judging.returned import number
from references.attention import Case, attention, visible
from references.models import LLAMA_2_7B, LLAMA_3_8B
from references.roofline import H200_DATASHEET, H200_MEASURED, Kernel


def account(call, got):
    if not isinstance(got, Kernel):
        pytest.fail(f"{call} returned {got!r}, which is no Kernel", pytrace=False)
    return got


def intensity(one):
    return one.flops / one.bytes


def bound(one, hardware):
    """Lesson 10's, without the launch: that is small beside a layer of many sequences."""
    ridge = hardware.flops_per_second[one.dtype] / hardware.bytes_per_second
    return "compute" if intensity(one) > ridge else "memory"


def kernel(*sizes, **options):
    return account(f"attention{sizes}", tradeoff.attention(*sizes, **options))


@pytest.mark.task(5)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("heads, kv_heads, q_len, context, d", [(1, 1, 1, 1, 4), (4, 2, 1, 9, 8),
    (8, 1, 5, 12, 16), (6, 3, 7, 7, 2)])  # fmt: skip
def test_bytes_once_and_products_for_each_pair(heads, kv_heads, q_len, context, d, causal):
    got = kernel(heads, kv_heads, q_len, context, d, 4, causal)
    said = f"attention({heads}, {kv_heads}, {q_len}, {context}, {d}, 4, {causal})"
    tensors = 2 * heads * q_len * d + 2 * kv_heads * context * d  # q and o, k and v
    assert got.bytes == 4 * tensors, f"{said}: {got.bytes} bytes, not {4 * tensors}"
    pairs = int(visible(q_len, context, causal=causal).sum())
    flops = 4 * heads * d * pairs
    told = f"{said}: {got.flops} FLOPs, not {flops}: 4 d for each of {pairs} pairs"
    assert got.flops == flops, told
    assert got.dtype == "fp32", f"{said} computes in {got.dtype}, not fp32"


@pytest.mark.task(5)
@pytest.mark.parametrize("shape, group", [(LLAMA_2_7B, 1), (LLAMA_3_8B, 4)], ids=["MHA", "GQA"])
@pytest.mark.parametrize("q_len", [1, 4, 16])
def test_the_intensity_of_a_decode_is_group_times_queries(shape, group, q_len):
    sizes = shape.heads, shape.kv_heads, q_len, 32_768, shape.head_dim
    got = intensity(kernel(*sizes, causal=False))
    said = f"{shape.name}, {q_len} queries on 32 Ki keys, bf16: {got:.4g} FLOPs a byte"
    assert got == pytest.approx(group * q_len, rel=0.01), f"{said}, not {group * q_len}"


@pytest.mark.task(5)
def test_prefill_computes_and_decode_moves_but_not_always():
    llama = LLAMA_3_8B.heads, LLAMA_3_8B.kv_heads
    cases = (
        ("a decode step of Llama-3-8B", kernel(*llama, 1, 8192, 128), "memory"),
        ("16 guessed tokens verified at once", kernel(*llama, 16, 8192, 128), "memory"),
        ("64 guessed tokens verified at once", kernel(*llama, 64, 8192, 128), "compute"),
        ("a prefill of 128", kernel(*llama, 128, 128, 128), "memory"),
        ("a prefill of 8192", kernel(*llama, 8192, 8192, 128), "compute"),
        ("a decode step on one latent", latent(128, 8192, 512, 64), "compute"),
    )
    for name, one, wanted in cases:
        for hardware in (H200_MEASURED, H200_DATASHEET):
            got, said = bound(one, hardware), f"{name}: {intensity(one):.4g} FLOPs a byte"
            assert got == wanted, f"{said} on {hardware.name}: bound by {got}, not {wanted}"


def latent(*sizes):
    return account(f"latent_decode{sizes}", tradeoff.latent_decode(*sizes))


@pytest.mark.task(5)
def test_a_latent_row_is_read_once_for_key_and_value():
    got = latent(128, 10_000, 512, 64)
    # 61 layers of (512 + 64) numbers, 70,272 bytes a token: lesson 11, task 7.
    rows, beside = 10_000 * 70_272 // 61, 2 * 128 * (576 + 512)
    said = "latent_decode(128, 10000, 512, 64)"
    assert got.bytes == rows + beside, f"{said}: {got.bytes} bytes, not {rows} + {beside}"
    flops = 2 * 128 * 10_000 * (576 + 512)
    assert got.flops == flops, f"{said}: {got.flops} FLOPs, not {flops}"
    wider = latent(128, 10_000, 512, 64, 4).bytes
    assert wider == 2 * got.bytes, f"4 bytes a number: {wider} bytes, not twice {got.bytes}"


def whole(call, got, wanted):
    assert number(call, got) == wanted, f"{call} is {got:,}, not {wanted:,}"


@pytest.mark.task(5)
@pytest.mark.parametrize("tokens, d", [(1, 1), (48, 16), (1024, 64), (4096, 128)])
def test_all_scores_at_once_go_through_memory_four_times(tokens, d):
    scores = 4 * tokens * tokens + 4 * tokens * d
    for each in (2, 4):
        call = f"unfused_bytes({tokens}, {d}, {each})"
        whole(call, tradeoff.unfused_bytes(tokens, d, each), each * scores)


@pytest.mark.task(5)
@pytest.mark.parametrize("d, saved, cached", [(64, 3.9, 65), (128, 2.0, 33)])
def test_4096_tokens_in_tiles_of_128_move_less(d, saved, cached):
    unfused = number("unfused_bytes", tradeoff.unfused_bytes(4096, d, 2))
    for held, wanted in ((False, saved), (True, cached)):
        call = f"tiled_bytes(4096, {d}, 2, 128, {held})"
        ratio = unfused / number(call, tradeoff.tiled_bytes(4096, d, 2, 128, held))
        said = f"{call}: {ratio:.3g} times fewer than all scores at once"
        assert ratio == pytest.approx(wanted, rel=0.02), f"{said}, not {wanted}"


@pytest.mark.task(5)
def test_twice_the_rows_halve_what_is_read_again():
    one, two, none = (
        tradeoff.tiled_bytes(4096, 64, 2, *rest) for rest in ((64,), (128,), (64, True))
    )
    once = 2 * 4096 * 64 * 2  # q and o
    again = number("tiled_bytes", one) - once, number("tiled_bytes", two) - once
    assert again[0] == 2 * again[1], f"rows 64: {again[0]} bytes of k and v, rows 128: {again[1]}"
    assert none == 2 * once, f"with a cache that holds k and v: {none} bytes, not {2 * once}"
    ragged = tradeoff.tiled_bytes(65, 16, 4, 64)
    assert ragged == 4 * 16 * 65 * 6, f"65 queries in tiles of 64 are two tiles: {ragged} bytes"


@pytest.mark.task(5)
def test_what_the_paper_measured_lies_between_no_cache_and_a_perfect_one():
    """Dao et al., FlashAttention, figure 2: GPT-2 medium, 40.3 GB of memory become 4.4."""
    unfused = tradeoff.unfused_bytes(1024, 64, 2)
    ratios = [
        unfused / number("tiled_bytes", tradeoff.tiled_bytes(1024, 64, 2, 128, cached))
        for cached in (False, True)
    ]
    said = f"1024 tokens of 64: between {ratios[0]:.3g} and {ratios[1]:.3g} times fewer bytes"
    assert ratios[0] <= 40.3 / 4.4 <= ratios[1], f"{said}; the paper measured 9.2"


# Counted


def launched(queries, rng, profile, keys=128, d=64):
    """(kernel's profile, the account) of `queries` at the end of `keys`, causal, one head."""
    q, k, v = Case("", 1, 1, queries, keys, d, True).inputs(rng)
    if queries == 1:
        lens = torch.tensor([keys], dtype=torch.int32)
        launches = profile(lambda: host.flash_decode(q[None, :, 0], k[None], v[None], lens))
        got, name = launches.result[0][:, None], "flash_decode"
    else:
        launches = profile(lambda: host.flash_fwd(q, k, v, True))
        got, name = launches.result[0], "flash_fwd"
    wanted = attention(q, k, v, causal=True)[0]
    if not torch.allclose(got, wanted, atol=1e-4):
        pytest.fail(f"tasks 3 and 4 first: {name} is not right yet", pytrace=False)
    return launches[name], kernel(1, 1, queries, keys, d, 4)


@pytest.mark.task(5)
@pytest.mark.simulated
def test_counted_intensities_lie_where_the_roofline_says(rng, profile):
    """1 query, 16, and all 128: memory, memory, arithmetic; bytes by an ideal cache."""
    print("\nqueries   FLOPs a byte: predicted, counted, requested at L1")
    for queries, wanted, most in ((1, "memory", 10), (16, "memory", 1.5), (128, "compute", 1.5)):
        counted, predicted = launched(queries, rng, profile)
        traffic, counters = counted.buffers.values(), counted.counters
        moved = sum(buffer.bytes_read + buffer.bytes_written for buffer in traffic)
        beside = 4 * queries + (4 if queries == 1 else 0)  # lse; a length
        said = f"{queries} queries on 128 keys of 64 floats"
        assert moved - beside == predicted.bytes, (
            f"{said}: {moved - beside} bytes counted beside lse; attention() says {predicted.bytes}"
        )
        flops = counters.float_operations
        # The softmax comes on top, and whole tiles along the diagonal. A lone query leaves lanes
        # without work, and all lanes take the same exponentials.
        told = f"{said}: {flops} operations counted; attention() says {predicted.flops}"
        assert predicted.flops <= flops <= most * predicted.flops, told
        requested = counters.global_load_bytes + counters.global_store_bytes
        shown = intensity(predicted), flops / moved, flops / requested
        print(f"{queries:7}   " + "   ".join(f"{value:.2f}" for value in shown))
        for one in (predicted, Kernel("counted", moved, flops, "fp32")):
            got, told = bound(one, H200_MEASURED), f"{said}, {one.name}: {intensity(one):.3g}"
            assert got == wanted, f"{told} FLOPs a byte, bound by {got}, not {wanted}"


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("tokens, d", [(48, 16), (64, 32), (33, 8)])
def test_the_kernel_requests_the_tiled_bytes(tokens, d, rng, profile, close):
    inputs = Case("", 1, 1, tokens, tokens, d, False).inputs(rng)
    launches = profile(lambda: close.function(host.flash_fwd, attention, *inputs))
    counters = launches["flash_fwd"].counters
    moved = counters.global_load_bytes + counters.async_copy_bytes + counters.global_store_bytes
    wanted = number("tiled_bytes", tradeoff.tiled_bytes(tokens, d, 4, host.ROWS))
    said = f"{tokens} tokens of {d}: {moved - 4 * tokens} bytes requested at L1 beside lse"
    assert moved - 4 * tokens == wanted, f"{said}; tiled_bytes says {wanted}"


# Task 7: the same bits in any batch (stretch)


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.parametrize(
    "group, d, share, wanted",
    [(4, 128, 0.02, 256), (1, 128, 0.02, 64), (8, 128, 0.02, 512), (1, 16, 0.25, 8), (4, 64, 1, 8)],
)
def test_a_split_is_long_enough_for_its_parts_to_be_few(group, d, share, wanted):
    call = f"invariant_chunk({group}, {d}, {share})"
    whole(call, tradeoff.invariant_chunk(group, d, share), wanted)


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.simulated
def test_a_sequence_has_the_same_bits_alone_and_in_a_batch(rng, profile, close):
    heads, d, length, share = 2, 16, 45, 0.25
    chunk = number("invariant_chunk", tradeoff.invariant_chunk(2, d, share))
    q = torch.randn(3, heads, d, generator=rng)
    k, v = torch.randn(2, 3, 1, 70, d, generator=rng)
    lens = torch.tensor([70, length, 3], dtype=torch.int32)
    decode = partial(host.flash_decode, chunk=int(chunk))
    alone = [q[1:2], k[1:2, :, :length].contiguous(), v[1:2, :, :length].contiguous(), lens[1:2]]
    launches = profile(lambda: decode(*alone))
    close.equal(decode(q, k, v, lens)[1], launches.result[0])
    parts = launches["merge_splits"].buffers
    again = 2 * sum(parts[name].bytes_read for name in ("part_o", "part_lse"))
    counted = again / (8 * length * d)
    said = f"invariant_chunk(2, {d}, {share}) = {chunk}; parts are {counted:.3f} of keys and values"
    assert counted <= share * 1.1, f"{said}, more than {share}"
