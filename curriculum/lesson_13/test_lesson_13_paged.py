"""Lesson 13, task 5: attention that finds its keys and values through a table."""

import pytest
import torch

from curriculum.lesson_13 import host
from curriculum.lesson_13.paged import BlockAllocator, BlockTable, pad_block_tables, slot_mapping
from harness.judging.returned import refused
from references.attention import attention
from references.paged import NAN, attention_in_full, filled, gathered, untouched


@pytest.mark.task(5)
@pytest.mark.parametrize("lens", [[1, 4], [5, 0], [32, 13]], ids=str)
def test_take_in_makes_attention_without_blocks_right(lens, device, rng, close):
    query, keys, values, tables, counts = filled(lens, 4, 2, 16, max(lens), rng, device)
    order = tables[:, 0].long()  # one block has all of a sequence: a cache without blocks
    dense = keys[order], values[order]
    out = host.dense_attention(query, *dense, counts)
    close(out, attention_in_full, query, keys, values, tables, counts)


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "lens, heads, kv_heads, d, block_size",
    [
        ([1], 1, 1, 4, 1),
        ([7, 3], 2, 1, 8, 1),
        ([16, 1], 1, 1, 32, 16),
        ([17, 15], 2, 2, 32, 16),
        ([48, 47], 4, 2, 16, 8),
        ([40, 41], 4, 1, 24, 8),
        ([23, 37], 3, 3, 12, 5),
        ([33, 2], 2, 2, 32, 64),
        ([19, 20], 2, 1, 128, 4),
    ],
    ids=str,
)
def test_attention_finds_every_token_and_no_other(
    lens, heads, kv_heads, d, block_size, device, rng, close
):
    inputs = filled(lens, heads, kv_heads, d, block_size, rng, device)
    close.function(host.paged_attention, attention_in_full, *inputs)


@pytest.mark.task(5)
def test_a_sequence_without_tokens_gets_zeros_and_disturbs_nobody(device, rng, close):
    query, keys, values, tables, lens = filled([9, 0, 12], 2, 1, 16, 4, rng, device)
    out = host.paged_attention(query, keys, values, tables, lens)
    close(out, attention_in_full, query, keys, values, tables, lens)
    close.equal(out[1], torch.zeros(2, 16))


@pytest.mark.task(5)
@pytest.mark.parametrize("count", [1, 3, 5, 8])
def test_what_lies_behind_the_last_token_has_no_weight(count, device):
    """flashinfer#3716: lanes beyond the length were counted in the softmax's denominator."""
    keys = torch.zeros(2, 4, 1, 8, device=device)  # all scores are 0, also those behind the end
    values = torch.zeros(2, 4, 1, 8, device=device)
    values.flatten(0, 1)[:count] = 1
    table = torch.tensor([[0, 1]], dtype=torch.int32, device=device)
    lens = torch.tensor([count], dtype=torch.int32, device=device)
    query = torch.ones(1, 1, 8, device=device)
    got = host.paged_attention(query, keys, values, table, lens)[0, 0, 0].item()
    said = f"{count} tokens of value 1, in blocks of 4 whose rest is 0: the mean is {got:.4f}"
    assert got == pytest.approx(1, abs=1e-6), f"{said}, not 1"


@pytest.mark.task(5)
@pytest.mark.parametrize("count", [1, 5])
def test_low_scores_count_beside_places_that_are_empty(count, device):
    """A 0 for a token that is not there outweighs scores of -200, also in the largest alone."""
    keys = torch.full((2, 4, 1, 16), -50.0, device=device)  # times 16 ones, over the root of 16
    values = torch.ones(2, 4, 1, 16, device=device)
    table = torch.tensor([[1, 0]], dtype=torch.int32, device=device)
    lens = torch.tensor([count], dtype=torch.int32, device=device)
    query = torch.ones(1, 1, 16, device=device)
    got = host.paged_attention(query, keys, values, table, lens)[0, 0, 0].item()
    said = f"{count} tokens of score -200 and value 1, in blocks of 4: the mean is {got:.4f}"
    assert got == pytest.approx(1, abs=1e-5), f"{said}, not 1; what is not there is no maximum"


@pytest.mark.task(5)
def test_it_does_not_matter_where_blocks_lie(device, rng, close):
    query, keys, values, tables, lens = filled([30, 21], 2, 2, 16, 4, rng, device)
    first = host.paged_attention(query, keys, values, tables, lens)
    close(first, attention_in_full, query, keys, values, tables, lens)
    order = torch.randperm(len(keys), generator=rng).to(device)
    moved = torch.argsort(order).int()[tables.long()]  # block b is now where order says b
    close.equal(host.paged_attention(query, keys[order], values[order], moved, lens), first)


@pytest.mark.task(5)
def test_the_answer_is_that_of_a_cache_without_blocks(device, rng, close):
    query, keys, values, tables, lens = filled([32, 13], 4, 2, 32, 16, rng, device)
    out = host.paged_attention(query, keys, values, tables, lens)
    close(out, attention_in_full, query, keys, values, tables, lens)
    dense = torch.full((2, 2, 32, 2, 32), NAN, device=device)
    for side, cache in enumerate((keys, values)):
        for row, count in enumerate((32, 13)):
            dense[side, row, :count] = gathered(cache, tables[row], count)
    apart = (host.dense_attention(query, *dense, lens) - out).abs().max().item()
    assert apart < 1e-5, f"with blocks and without, results differ by {apart:.3g}"


@pytest.mark.task(5)
def test_neighbouring_query_heads_share_a_key_head(device):
    keys = torch.zeros(1, 4, 2, 8, device=device)
    values = torch.tensor([10.0, 20.0], device=device)[:, None].expand(1, 4, 2, 8).contiguous()
    table, lens = torch.zeros(1, 1, dtype=torch.int32), torch.tensor([4], dtype=torch.int32)
    query = torch.ones(1, 4, 8, device=device)
    got = host.paged_attention(query, keys, values, table.to(device), lens.to(device))
    said = f"4 query heads on 2 key heads whose values are 10 and 20: {got[0, :, 0].tolist()}"
    assert got[0, :, 0].tolist() == [10, 10, 20, 20], f"{said}, not [10, 10, 20, 20]"


@pytest.mark.task(5)
@pytest.mark.parametrize("rising", [True, False], ids=["rising scores", "falling scores"])
def test_scores_of_some_hundreds_neither_overflow_nor_vanish(rising, device, rng, close):
    query, keys, values, tables, lens = filled([21], 1, 1, 16, 4, rng, device)
    scores = torch.arange(21, device=device) * 20.0
    scores = scores if rising else scores.flip(0)
    query.fill_(1.0)
    for i in range(21):
        keys[tables[0, i // 4].long(), i % 4] = scores[i] / 4  # 16 products over the root of 16
    inputs = query, keys, values, tables, lens
    close(host.paged_attention(*inputs, threads=32), attention_in_full, *inputs)  # one warp


@pytest.mark.task(5)
@pytest.mark.parametrize("threads", [32, 96, 256])
def test_any_block_of_warps_will_do(threads, device, rng, close):
    inputs = filled([27, 5], 2, 1, 32, 4, rng, device)
    close(host.paged_attention(*inputs, threads=threads), attention_in_full, *inputs)


@pytest.mark.task(5)
@pytest.mark.simulated
def test_as_many_threads_run_as_were_asked_for(rng, profile, close):
    inputs = filled([27, 5], 2, 1, 32, 4, rng)
    launches = profile(lambda: host.paged_attention(*inputs, threads=96))
    close(launches.result, attention_in_full, *inputs)
    warps = launches["paged_attn_decode"].counters.warps
    assert warps == 2 * 2 * 3, f"2 heads, 2 sequences, threads=96: {warps} warps, not 12"


@pytest.mark.task(5)
@pytest.mark.parametrize("heads, kv_heads, d", [(3, 2, 8), (2, 4, 8), (2, 1, 6), (1, 1, 132)])
def test_heads_that_do_not_divide_are_refused(heads, kv_heads, d, device, rng):
    """fla#1029: heads that are no multiple of the key heads passed, and rows stayed unwritten."""
    inputs = filled([0], heads, kv_heads, d, 4, rng, device)  # a kernel would read nothing
    call = f"paged_attention of {heads} heads of {d} on {kv_heads}"
    refused(call, ValueError, lambda: host.paged_attention(*inputs))


@pytest.mark.task(5)
def test_a_fork_reads_what_it_shares_and_what_it_wrote_itself(device, rng, close):
    allocator = BlockAllocator(8)
    caches = torch.full((2, 8, 4, 2, 16), NAN, device=device)
    said = {}  # by table: its keys and values in order

    def write(table, count):
        for source, target in table.ensure_writable():
            caches[:, target] = caches[:, source]
        start = table.length
        table.append_slots(count)
        slots = slot_mapping([table], [start], [count], count + 2).to(device)
        new = torch.randn(2, count + 2, 2, 16, generator=rng).to(device)
        host.write_kv(caches[0], caches[1], new[0], new[1], slots)
        before = said.get(id(table), new[:, :0])
        said[id(table)] = torch.cat([before, new[:, :count]], 1)

    parent = BlockTable(allocator, 4)
    write(parent, 6)
    child = parent.fork()
    said[id(child)] = said[id(parent)]
    write(child, 3)
    write(parent, 2)
    tables = pad_block_tables([parent, child], 3).to(device)
    lens = torch.tensor([8, 9], dtype=torch.int32, device=device)
    query = torch.randn(2, 2, 16, generator=rng).to(device)
    out = host.paged_attention(query, caches[0], caches[1], tables, lens)

    def each(query, *tokens):
        pairs = (pair.transpose(1, 2) for pair in tokens)
        rows = (attention(q[:, None], k, v)[0] for q, (k, v) in zip(query, pairs, strict=True))
        return torch.stack([row[:, 0] for row in rows])

    close(out, each, query, said[id(parent)], said[id(child)])


def loaded_by(profile, close, call, inputs, kernel):
    """Bytes that the launch asks for, once its result is right."""
    launches = profile(lambda: call(*inputs))
    close(launches.result, attention_in_full, *inputs)
    return launches[kernel].counters.global_load_bytes


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("heads, kv_heads", [(2, 2), (4, 2)])
def test_a_head_reads_its_keys_and_values_once_and_each_entry_once(
    heads, kv_heads, rng, profile, close
):
    def loaded(length, block_size):
        inputs = filled([length, length], heads, kv_heads, 16, block_size, rng)
        call = host.paged_attention
        return loaded_by(profile, close, call, inputs, "paged_attn_decode")

    # The differences are free of what is the same in each launch: queries and lengths.
    longer = loaded(40, 8) - loaded(33, 8)
    wanted = 2 * heads * 7 * 2 * 16 * 4
    said = f"2 sequences, {heads} heads of 16 on {kv_heads}, requested at L1"
    told = f"{said}: 7 tokens more, {longer} bytes more, not {wanted}"
    assert longer == wanted, f"{told}: a key and a value for each, nothing else"
    finer = loaded(40, 4) - loaded(40, 8)
    wanted = 2 * heads * 5 * 4
    assert finer == wanted, f"{said}: 10 blocks for 5, {finer} bytes more, not {wanted}"


@pytest.mark.task(5)
@pytest.mark.simulated
def test_a_block_beyond_32_bits_is_read(rng, close):
    """vllm#50427: with many blocks, offsets of 32 bits wrap round."""
    kv_heads, d, block_size = 8, 128, 16
    blocks = (1 << 31) // (block_size * kv_heads * d) + 4
    cache = untouched(blocks, block_size, kv_heads, d)
    table = torch.tensor([[blocks - 1, 2]], dtype=torch.int32)
    for block, count in ((blocks - 1, block_size), (2, 3)):
        cache[block, :count] = torch.randn(count, kv_heads, d, generator=rng)
    query = torch.randn(1, kv_heads, d, generator=rng)
    out = host.paged_attention(query, cache, cache, table, torch.tensor([19], dtype=torch.int32))
    near = cache[table[0].long()]
    lens, order = torch.tensor([19]), torch.tensor([[0, 1]])
    close(out, lambda q, near: attention_in_full(q, near, near, order, lens), query, near)
