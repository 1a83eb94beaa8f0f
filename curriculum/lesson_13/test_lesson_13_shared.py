"""Lesson 13, task 7: heads that share their loads, contexts in parts; and tests on a GPU."""

import pytest
import torch

from curriculum.lesson_13 import host
from references.paged import attention_in_full, filled, gathered, untouched

# --- Task 7 (stretch) -----------------------------------------------------------------------------


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize(
    "lens, heads, kv_heads, d, block_size",
    [([1], 4, 1, 4, 1), ([33, 17], 4, 1, 32, 16), ([23, 0], 8, 2, 16, 5), ([40, 48], 8, 2, 12, 8)],
    ids=str,
)
def test_heads_that_share_their_loads_answer_as_before(
    lens, heads, kv_heads, d, block_size, parts, device, rng, close
):
    inputs = filled(lens, heads, kv_heads, d, block_size, rng, device)
    close(host.paged_attention_shared(*inputs, parts=parts), attention_in_full, *inputs)


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.simulated
@pytest.mark.parametrize("parts", [1, 2])
def test_a_group_reads_its_keys_and_values_once(parts, rng, profile, close):
    def loaded(length, block_size):
        inputs = filled([length, length], 4, 1, 16, block_size, rng)
        call = host.paged_attention_shared
        launches = profile(lambda: call(*inputs, parts=parts, threads=64))
        close(launches.result, attention_in_full, *inputs)
        return launches["paged_attn_shared"].counters.global_load_bytes

    longer, finer = loaded(48, 8) - loaded(41, 8), loaded(48, 4) - loaded(48, 8)
    wanted = 2 * 7 * 2 * 16 * 4
    said = f"2 sequences, 4 heads on 1, {parts} parts, requested at L1"
    told = f"{said}: 7 tokens more, {longer} bytes more, not {wanted}"
    assert longer == wanted, f"{told}: a key and a value for each, nothing else"
    assert finer == 2 * 6 * 4, f"{said}: 12 blocks for 6, {finer} bytes more, not {2 * 6 * 4}"


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.simulated
def test_a_group_finds_a_block_beyond_32_bits(rng, close):
    """vllm#50427: with many blocks, offsets of 32 bits wrap round."""
    blocks = (1 << 31) // (16 * 8 * 128) + 4
    cache = untouched(blocks, 16, 8, 128)
    table = torch.tensor([[blocks - 1]], dtype=torch.int32)
    near = torch.randn(1, 16, 8, 128, generator=rng)
    cache[blocks - 1] = near[0]
    query = torch.randn(1, 32, 128, generator=rng)
    lens = torch.tensor([5], dtype=torch.int32)
    out = host.paged_attention_shared(query, cache, cache, table, lens, parts=1)
    order = torch.zeros(1, 1, dtype=torch.int32)
    close(out, lambda q, near: attention_in_full(q, near, near, order, lens), query, near)


# --- On a GPU -------------------------------------------------------------------------------------


@pytest.mark.task(5)
@pytest.mark.gpu
def test_a_cache_beyond_32_bits_is_read_and_written_on_a_gpu(rng, close, unpoisoned):
    """vllm#50427, in 8.6 GB of real memory."""
    blocks = (1 << 31) // (16 * 8 * 128) + 4
    cache = torch.zeros(blocks, 16, 8, 128, device="cuda")
    table = torch.tensor([[blocks - 1, 2]], dtype=torch.int32, device="cuda")
    slots = [*range((blocks - 1) * 16, blocks * 16), 32, 33, 34]
    rows = torch.randn(19, 8, 128, generator=rng).cuda()
    host.write_kv(cache, cache, rows, rows, torch.tensor(slots, dtype=torch.int32, device="cuda"))
    near = cache[table[0].long()]
    close.equal(near.flatten(0, 1)[:19], rows)
    query = torch.randn(1, 8, 128, generator=rng).cuda()
    lens = torch.tensor([19], dtype=torch.int32, device="cuda")
    out = host.paged_attention(query, cache, cache, table, lens)

    def by_hand(query, near):
        order = torch.tensor([[0, 1]], device=query.device)
        return attention_in_full(query, near, near, order, lens)

    close(out, by_hand, query, near)


def on_the_gpu(sequences, context, heads, kv_heads, block_size):
    """query, keys, values, tables, lens with all contexts full, blocks in random order."""
    blocks = sequences * context // block_size
    query = torch.randn(sequences, heads, 128, device="cuda")
    keys, values = (torch.randn(blocks, block_size, kv_heads, 128, device="cuda") for _ in "kv")
    tables = torch.randperm(blocks, device="cuda").int().view(sequences, -1)
    return query, keys, values, tables, torch.full_like(tables[:, 0], context)


def milliseconds(call):
    from harness.judging.timing import median_milliseconds
    from harness.launching.launch_settings import changed

    with changed(synchronize=False):
        return median_milliseconds(call)


def side_by_side(query, keys, values, tables, lens):
    """All tokens gathered, then torch's attention: what one does without a kernel for blocks."""
    group = query.shape[1] // keys.shape[2]
    k, v = (cache[tables.long()].flatten(1, 2).transpose(1, 2) for cache in (keys, values))
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(query[:, :, None], k, v, enable_gqa=group > 1)[:, :, 0]


@pytest.mark.task(5)
@pytest.mark.speed
@pytest.mark.parametrize("block_size, bar", [(16, 0.6), (256, 0.6)])
def test_the_table_costs_little(block_size, bar, unpoisoned):
    inputs = on_the_gpu(32, 2048, 8, 8, block_size)
    query, keys, values, tables, lens = inputs
    dense = [torch.stack([gathered(c, t, 2048) for t in tables]) for c in (keys, values)]
    ours = milliseconds(lambda: host.paged_attention(*inputs))
    theirs = milliseconds(lambda: host.dense_attention(query, *dense, lens))
    said = f"32 × 2048 tokens, 8 heads of 128: blocks of {block_size} {ours:.3f} ms"
    assert theirs / ours >= bar, f"{said}, without blocks {theirs:.3f} ms"


@pytest.mark.task(5)
@pytest.mark.speed
def test_a_kernel_that_knows_blocks_beats_gathering_them(unpoisoned):
    inputs = on_the_gpu(32, 2048, 8, 8, 16)
    ours = milliseconds(lambda: host.paged_attention(*inputs))
    theirs = milliseconds(lambda: side_by_side(*inputs))
    said = f"32 × 2048 tokens, 8 heads of 128: {ours:.3f} ms; gathered, then SDPA {theirs:.3f} ms"
    assert theirs / ours >= 1.3, said


@pytest.mark.task(7)
@pytest.mark.stretch
@pytest.mark.speed
@pytest.mark.parametrize("sequences, context, bar", [(32, 2048, 0.7), (1, 32768, 3.0)])
def test_sharing_and_parts_pay(sequences, context, bar, unpoisoned):
    # Many sequences fill the GPU anyway; of one, 32 heads are 32 blocks for 132 SMs.
    inputs = on_the_gpu(sequences, context, 32, 8, 16)
    ours = milliseconds(lambda: host.paged_attention_shared(*inputs))
    theirs = milliseconds(lambda: host.paged_attention(*inputs))
    said = f"{sequences} × {context} tokens, 32 heads on 8: shared, in parts {ours:.3f} ms"
    assert theirs / ours >= bar, f"{said}, each head on its own {theirs:.3f} ms"
