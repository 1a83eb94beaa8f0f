"""A paged cache to try kernels with holds what its truth reads, and NaN where nobody may look."""

import torch

from references.attention import attention
from references.paged import attention_in_full, filled, gathered, untouched


def test_only_the_slots_of_tokens_hold_numbers():
    query, keys, values, tables, lens = filled([7, 0, 4], 4, 2, 8, 4, torch.Generator())
    assert query.shape == (3, 4, 8) and tables.shape == (3, 3)
    assert (tables.dtype, lens.dtype) == (torch.int32, torch.int32)
    for cache in (keys, values):
        assert cache.isfinite().all(-1).all(-1).sum() == 11
        lengths = [len(gathered(cache, tables[b], n)) for b, n in enumerate((7, 0, 4))]
        assert lengths == [7, 0, 4]
        assert gathered(cache, tables[0], 7).isfinite().all()
    used = [*tables[0, :2].tolist(), *tables[2, :1].tolist()]
    assert len(set(used)) == 3, "no block belongs to two sequences"
    safe = {*tables[1].tolist(), *tables[0, 2:].tolist(), *tables[2, 1:].tolist()}
    assert len(safe) == 1 and not safe & set(used), "the rest of each row names one spare block"
    assert keys[safe.pop()].isnan().all()


def test_the_truth_is_attention_over_the_gathered_tokens():
    query, keys, values, tables, lens = filled([5, 0], 2, 1, 8, 4, torch.Generator().manual_seed(1))
    out = attention_in_full(query, keys, values, tables, lens)
    near = [gathered(cache, tables[0], 5).transpose(0, 1) for cache in (keys, values)]
    torch.testing.assert_close(out[0], attention(query[0][:, None], *near)[0][:, 0])
    assert (out[1] == 0).all()


def test_memory_that_nobody_touched_may_be_larger_than_what_there_is():
    x = untouched(1 << 20, 1 << 20)  # 4 TiB
    x[-1, -1] = 3.0
    assert x[-1, -1] == 3 and x[12345, 678] == 0
