"""Lesson 12, task 3: attention in one pass over keys and values."""

from functools import partial

import pytest
import torch

from curriculum.lesson_12 import host
from references.attention import CASES, Case, attention

INF = torch.inf
ROWS = host.ROWS


def judged(close, inputs, causal, scale=None, **tiles):
    run = partial(host.flash_fwd, causal=causal, scale=scale, **tiles)
    return close.function(run, partial(attention, causal=causal, scale=scale), *inputs)


def case_of(heads, kv_heads, queries, keys, d, causal):
    return Case("one of this lesson", heads, kv_heads, queries, keys, d, causal)


def on(device, tensors):
    return [x.to(device) for x in tensors]


@pytest.mark.task(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_each_query_weighs_the_values_of_the_keys_it_sees(case, device, rng, close):
    judged(close, on(device, case.inputs(rng)), case.causal)


OTHERS = [
    case_of(1, 1, 2, 3, 1, False),
    case_of(2, 1, 15, 17, 3, True),
    case_of(3, 3, 17, 15, 7, False),
    case_of(4, 2, 3, 37, 33, True),
]


@pytest.mark.task(3)
@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.label)
def test_heads_of_any_width_up_to_d(case, device, rng, close):
    judged(close, on(device, case.inputs(rng)), case.causal)


@pytest.mark.task(3)
@pytest.mark.parametrize("rows, keys", [(32, 16), (16, 32)])
def test_tiles_of_other_sizes_will_do(rows, keys, device, rng, close):
    case = case_of(2, 1, 37, 45, 32, True)
    judged(close, on(device, case.inputs(rng)), True, rows=rows, keys=keys)


@pytest.mark.task(3)
def test_old_sums_are_brought_to_the_new_largest_score_by_the_kernel(device):
    # 16 keys of score 0 and value 1 fill a tile; the next key has score log 16 and value 3.
    q, k = torch.ones(1, 1, 1, device=device), torch.zeros(1, 17, 1, device=device)
    v = torch.ones(1, 17, 1, device=device)
    k[0, 16], v[0, 16] = 2.7725887, 3.0
    o, lse = (x.item() for x in host.flash_fwd(q, k, v, scale=1.0))
    said = "16 keys of score 0 and value 1, then one of score log 16 and value 3"
    assert o == pytest.approx(2.0, rel=1e-5), f"{said}: o is {o:.4g}, not 2"
    assert lse == pytest.approx(3.4657359, rel=1e-5), f"{said}: lse is {lse:.4g}, not log 32"


@pytest.mark.task(3)
def test_scores_are_scaled_by_what_is_given(device, rng, close):
    case = case_of(1, 1, 5, 20, 8, False)
    judged(close, on(device, case.inputs(rng)), False, scale=0.05)


@pytest.mark.task(3)
def test_the_last_query_stands_at_the_last_key(device):
    """Dao-AILab/flash-attention#1778 (2.1): with more queries than keys, the first see nothing."""
    q = torch.zeros(1, 5, 4, device=device)
    k = torch.zeros(1, 2, 4, device=device)
    v = torch.tensor([2.0, 6.0], device=device)[None, :, None].expand(1, 2, 4).contiguous()
    o = host.flash_fwd(q, k, v, True)[0]
    got = o[0, :, 0].tolist()
    said = f"5 queries, 2 keys with values 2 and 6, causal: {got}"
    assert got == [0.0, 0.0, 0.0, 2.0, 4.0], f"{said}, not [0, 0, 0, 2, 4]"


@pytest.mark.task(3)
def test_a_query_without_keys_has_a_log_of_minus_infinity(device, rng):
    """Dao-AILab/flash-attention#978: lse was +inf there."""
    for queries, keys, causal in ((19, 5, True), (3, 0, False), (18, 0, True)):
        q, k, v = on(device, case_of(1, 1, queries, keys, 8, causal).inputs(rng))
        o, lse = host.flash_fwd(q, k, v, causal)
        blind = queries - keys
        told = f"{queries} queries, {keys} keys: query {blind - 1} sees none"
        assert (lse[0, :blind] == -INF).all(), f"{told}; lse {lse[0, blind - 1]}, not -inf"
        assert (o[0, :blind] == 0).all(), f"{told}; its result {o[0, blind - 1].tolist()}, not 0"
        assert lse[0, blind:].isfinite().all(), f"{told}, the next do; lse {lse[0, blind]}"


@pytest.mark.task(3)
@pytest.mark.parametrize("keys", [1, 17, 31])
def test_what_fills_the_last_tile_has_no_weight(keys, device):
    """flashinfer#3716: lanes beyond the last key entered the denominator."""
    # Real scores are -80. A lane that keeps a 0 for a key that is not there outweighs them all.
    q, k = torch.ones(1, 3, 16, device=device), torch.full((1, keys, 16), -5.0, device=device)
    o, lse = host.flash_fwd(q, k, torch.ones_like(k), scale=1.0)
    got, wanted = lse[0, 2].item(), -80 + torch.tensor(float(keys)).log().item()
    said = f"{keys} keys, all scores -80: lse {got:.4g}"
    assert got == pytest.approx(wanted, rel=1e-5), f"{said}, not {wanted:.4g}"
    mean = o.min().item()
    assert mean == pytest.approx(1.0, rel=1e-5), f"all values are 1, and their mean is {mean:.4g}"


@pytest.mark.task(3)
def test_scores_below_minus_50000_are_scores(device, rng, close):
    """flashinfer#4450: they fell below a finite sentinel, and counted as masked."""
    q, k, v = on(device, case_of(1, 1, 4, 20, 8, True).inputs(rng))
    k = k * 0.01
    q = torch.cat([q, torch.full_like(q, 300.0)], 2)  # eight products of -9000 in each score
    k, v = torch.cat([k, torch.full_like(k, -30.0)], 2), torch.cat([v, v], 2)
    judged(close, (q, k, v), True, scale=1.0)


@pytest.mark.task(3)
def test_a_nan_that_a_query_may_not_see_does_not_reach_it(device, rng):
    q, k, v = on(device, case_of(1, 1, 12, 12, 16, True).inputs(rng))
    wanted = host.flash_fwd(q, k, v, True)[0]
    v[0, 7] = torch.nan
    got = host.flash_fwd(q, k, v, True)[0]
    told = f"the value of key 7 is NaN; query 6 does not see it, and has {got[0, 6, 0]:.4g}"
    told = f"{told}, not {wanted[0, 6, 0]:.4g}: 0 × NaN is NaN"
    assert torch.equal(got[0, :7], wanted[0, :7]), told
    assert got[0, 7:].isnan().all(), "queries from 7 on see the NaN, and do not have it"


@pytest.mark.task(3)
def test_a_key_that_a_query_may_not_see_does_not_reach_it(device, rng):
    q, k, v = on(device, case_of(1, 1, 12, 12, 16, True).inputs(rng))
    wanted = attention(q, k, v, causal=True)[0]
    k[0, 7] = torch.nan
    got = host.flash_fwd(q, k, v, True)[0]
    told = f"key 7 is NaN; query 6 does not see it, and has {got[0, 6, 0]:.4g}"
    told = f"{told}, not {wanted[0, 6, 0]:.4g}: choose -inf, since NaN + (-inf) is NaN"
    assert torch.allclose(got[0, :7], wanted[0, :7], atol=1e-4), told


def keys_read(queries, keys, causal, rows=ROWS):
    """Keys that some query of each tile sees, added up over the tiles of queries."""
    last = (min(first + rows, queries) - 1 for first in range(0, queries, rows))
    seen = (i + keys - queries + 1 if causal else keys for i in last)
    return sum(max(0, min(keys, n)) for n in seen)


COUNTED = [
    (1, 1, 48, 48, 32, False),
    (2, 1, 48, 48, 16, True),
    (2, 2, 16, 48, 16, True),
    (1, 1, 40, 56, 16, True),
    (1, 1, 48, 16, 16, True),
    (1, 1, 33, 45, 24, True),
]


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("shape", COUNTED, ids=str)
def test_no_score_goes_through_memory(shape, rng, profile, close):
    heads, _, queries, keys, d, causal = shape
    inputs = case_of(*shape).inputs(rng)
    launches = profile(lambda: judged(close, inputs, causal))
    counters, said = launches["flash_fwd"].counters, f"{shape}, requested at L1"
    stored, wanted = counters.global_store_bytes, 4 * heads * queries * (d + 1)
    assert stored == wanted, f"{said}: {stored} bytes of stores; o and lse have {wanted}"
    loaded = counters.global_load_bytes + counters.async_copy_bytes
    read = keys_read(queries, keys, causal)
    least = 4 * heads * d * (queries + 2 * read)
    # Who reads the last tile to its end reads a few keys more.
    most = least + 8 * heads * d * 15 * -(-queries // ROWS) if keys % 16 or queries % 16 else least
    told = f"{said}: {loaded} bytes of loads, not {least}: queries once, and {read} keys a head"
    assert least <= loaded <= most, f"{told}, those that some query of each tile of {ROWS} sees"
    local = counters.local_load_requests + counters.local_store_requests
    assert local == 0, f"{said}: {local} requests to local memory; do all indices unroll?"


@pytest.mark.task(3)
@pytest.mark.gpu
def test_scores_take_no_memory_on_a_gpu(unpoisoned):
    q, k, v = (torch.randn(8, 4096, 64, device="cuda") for _ in range(3))

    def extra(call):
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before

    ours = extra(lambda: host.flash_fwd(q, k, v, rows=64, keys=32))
    theirs = extra(lambda: (q @ k.transpose(1, 2) / 8).softmax(-1) @ v)
    said = f"8 heads of 4096: {ours} bytes beyond the inputs, {theirs} with all scores at once"
    assert ours <= 0.1 * theirs, said


@pytest.mark.task(3)
@pytest.mark.gpu
@pytest.mark.parametrize("causal", [False, True])
def test_long_rows_and_the_tiles_of_a_gpu(causal, rng, close):
    inputs = on("cuda", case_of(8, 2, 600, 1000, 64, causal).inputs(rng))
    judged(close, inputs, causal, rows=64, keys=32)
