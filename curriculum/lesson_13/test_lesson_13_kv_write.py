"""Lesson 13, task 4: keys and values go to their slots."""

import pytest
import torch

from curriculum.lesson_13 import host
from harness.judging.data import spread
from references.paged import untouched


def written(cache, rows, slots):
    """What a cache should hold afterwards."""
    flat = cache.clone().flatten(0, 1)
    for row, slot in zip(rows, slots.tolist(), strict=True):
        if slot >= 0:
            flat[slot] = row
    return flat.view(cache.shape)


def tokens_to_write(slots, kv_heads, d, rng, device="cpu"):
    keys, values = (spread(len(slots), kv_heads, d, rng=rng, device=device) for _ in range(2))
    return keys, values, torch.tensor(slots, dtype=torch.int32, device=device)


@pytest.mark.task(4)
@pytest.mark.parametrize(
    "slots, kv_heads, d",
    [([0], 1, 4), ([5, 0, 3], 2, 8), ([2, -1, 11, -1, 7], 3, 12), ([9, 8, 1, -1], 2, 128)]
    + [([6, 2], 9, 128), ([3, -7, 0], 1, 8)],
    ids=str,
)
def test_each_token_goes_to_its_slot_and_padding_goes_nowhere(
    slots, kv_heads, d, device, rng, close
):
    keys, values, slots = tokens_to_write(slots, kv_heads, d, rng, device)
    caches = [torch.full((4, 3, kv_heads, d), fill, device=device) for fill in (7.0, 9.0)]
    wanted = [written(*pair, slots) for pair in zip(caches, (keys, values), strict=True)]
    host.write_kv(*caches, keys, values, slots)
    close.equal(caches[0], wanted[0])
    close.equal(caches[1], wanted[1])


@pytest.mark.task(4)
@pytest.mark.simulated
def test_what_is_written_is_read_once_and_padding_is_not_read(rng, profile, close):
    keys, values, slots = tokens_to_write([4, -1, 0, 2, -1, -1], 2, 32, rng)
    caches = [torch.zeros(3, 2, 2, 32) for _ in range(2)]
    wanted = [written(*pair, slots) for pair in zip(caches, (keys, values), strict=True)]
    launches = profile(lambda: host.write_kv(*caches, keys, values, slots))
    close.equal(caches[0], wanted[0])
    close.equal(caches[1], wanted[1])
    counters = launches["write_kv"].counters
    stored, loaded = counters.global_store_bytes, counters.global_load_bytes
    once = 3 * 2 * 4 * 64  # three tokens, keys and values, 64 floats
    said = "3 tokens and 3 that are padding, requested at L1"
    assert stored == once, f"{said}: {stored} bytes stored, not {once}"
    slots_read = loaded - once
    most = 4 * counters.warps  # a slot for each warp
    assert 0 < slots_read <= most, f"{said}: {loaded} bytes loaded, not {once} and the slots"
    assert counters.global_store_sectors == once // 32, "neighbouring lanes store side by side"


@pytest.mark.task(4)
@pytest.mark.simulated
def test_a_slot_beyond_32_bits_is_written(rng, close):
    """vllm#50427: with many blocks, offsets of 32 bits wrap round."""
    kv_heads, d, block_size = 8, 128, 16
    blocks = (1 << 31) // (block_size * kv_heads * d) + 4
    cache = untouched(blocks, block_size, kv_heads, d)
    slots = [(blocks - 1) * block_size + 3, 5]
    keys, values, slots = tokens_to_write(slots, kv_heads, d, rng)
    host.write_kv(cache, cache, keys, keys, slots)
    close.equal(cache[blocks - 1, 3], keys[0])
    close.equal(cache[0, 5], keys[1])
