"""Lesson 12, task 4: one query a sequence, its keys split among blocks; and how many splits."""

from functools import partial

import pytest
import torch

from curriculum.lesson_12 import host, tradeoff
from harness.judging.returned import number
from references.attention import attention
from references.hardware import MEASURED_H200

INF = torch.inf


def wanted(q, k, v, lens):
    """Each sequence by itself, over the keys that are there."""
    rows = [
        attention(q[b, :, None], k[b, :, :n], v[b, :, :n])[0][:, 0]
        for b, n in enumerate(lens.tolist())
    ]
    return torch.stack(rows)


def inputs(heads, kv_heads, d, lens, room, rng, device="cpu"):
    """q, k, v, lens; what lies behind a sequence's keys is NaN."""
    batch = len(lens)
    q = torch.randn(batch, heads, d, generator=rng)
    k = torch.randn(batch, kv_heads, room, d, generator=rng)
    v = torch.randn(batch, kv_heads, room, d, generator=rng) + 1.5
    for b, n in enumerate(lens):
        k[b, :, n:], v[b, :, n:] = torch.nan, torch.nan
    return [x.to(device) for x in (q, k, v, torch.tensor(lens, dtype=torch.int32))]


SHAPES = [  # heads, kv_heads, d, lens, room
    (1, 1, 4, [1], 1),
    (1, 1, 16, [3], 5),
    (4, 1, 32, [50], 64),
    (8, 2, 16, [33, 70], 70),
    (4, 4, 64, [31, 2, 32], 40),
    (4, 2, 128, [37], 37),
]


@pytest.mark.task(4)
@pytest.mark.parametrize("splits", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_token_attends_to_all_keys_of_its_sequence(shape, splits, device, rng, close):
    decode = partial(host.flash_decode, splits=splits)
    close.function(decode, wanted, *inputs(*shape, rng, device))


@pytest.mark.task(4)
@pytest.mark.parametrize("splits", [7, 64])
def test_any_number_of_splits_will_do(splits, device, rng, close):
    """40 keys: several a split, and more splits than keys."""
    decode = partial(host.flash_decode, splits=splits)
    close.function(decode, wanted, *inputs(4, 1, 16, [40, 9], 40, rng, device))


@pytest.mark.task(4)
def test_a_sequence_without_keys_is_zero_and_its_neighbours_are_right(device, rng, close):
    close.function(
        partial(host.flash_decode, splits=3),
        wanted,
        *inputs(2, 1, 8, [20, 0, 7], 24, rng, device),
    )


@pytest.mark.task(4)
def test_each_split_is_the_softmax_of_its_own_keys(device, rng, close):
    q, k, v, lens = inputs(4, 2, 16, [45], 48, rng, device)
    parts, logs = host.decode_parts(q, k, v, lens, 4, 20, None)
    for split, (begin, end) in enumerate(((0, 20), (20, 40), (40, 45))):
        own = (q[0, :, None], k[0, :, begin:end], v[0, :, begin:end])
        got = parts[0, :, split, None], logs[0, :, split, None]
        close(got, attention, *own)
    told = f"split 3 has no key: lse {logs[0, 0, 3].item()}, o {parts[0, 0, 3, 0].item()}"
    assert (logs[0, :, 3] == -INF).all() and (parts[0, :, 3] == 0).all(), f"{told}, not -inf and 0"


@pytest.mark.task(4)
@pytest.mark.parametrize("size", [-60.0, 60.0, -600.0])
def test_scores_of_any_size_are_scores_of_a_token(size, device, close):
    """flashinfer#3716, #4450: nothing that fills a batch up counts, and no score is too low."""
    q = torch.ones(1, 2, 8, device=device)
    k = torch.full((1, 1, 37, 8), size / 8, device=device)
    v = torch.arange(37.0, device=device)[None, None, :, None].expand(1, 1, 37, 8).contiguous()
    lens = torch.tensor([37], dtype=torch.int32, device=device)
    got = host.flash_decode(q, k, v, lens, 2, scale=1.0)
    said = f"37 equal scores of {size:g}, values 0 to 36: {got[0, 0, 0].item():.4g}"
    assert got[0, 0, 0].item() == pytest.approx(18.0, rel=1e-4), f"{said}, not 18"


@pytest.mark.task(4)
@pytest.mark.parametrize("splits", [1, 40])
@pytest.mark.parametrize("step", [20.0, -20.0], ids=["rising", "falling"])
def test_scores_of_a_token_that_rise_or_fall_do_not_overflow(step, splits, device, rng, close):
    # 80 keys: each warp has several batches, or there are more splits than lanes.
    q, k, v, lens = inputs(2, 1, 8, [80], 80, rng, device)
    q.fill_(1.0)
    k.copy_((torch.arange(80) * step / 8)[:, None].expand(80, 8))
    decode = partial(host.flash_decode, splits=splits)
    close.function(decode, wanted, q, k, v, lens)


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("heads, kv_heads, splits", [(4, 1, 1), (4, 1, 3), (4, 2, 2), (2, 2, 1)])
def test_a_group_reads_its_keys_once(heads, kv_heads, splits, rng, profile, close):
    d, length = 32, 90
    tensors = inputs(heads, kv_heads, d, [length], 96, rng)
    decode = partial(host.flash_decode, splits=splits)
    launches = profile(lambda: close.function(decode, wanted, *tensors))
    kernel = launches["flash_decode"]
    counters, group = kernel.counters, heads // kv_heads
    least = 8 * length * d * kv_heads
    most = least + splits * kv_heads * 8 * (4 * group * d + 32)  # each warp its queries, a length
    loaded = counters.global_load_bytes + counters.async_copy_bytes
    said = f"{heads} heads on {kv_heads}, {length} keys of {d}, requested at L1"
    told = f"{said}: {loaded} bytes of loads; keys and values have {least}, queries {most - least}"
    assert least <= loaded <= most, f"{told}: load a row once for all heads of its group"
    for name in ("k", "v"):
        read = kernel.buffers[name].bytes_read
        assert read == least // 2, f"{said}: {read} bytes of {name} are read, not {least // 2}"


@pytest.mark.task(4)
@pytest.mark.simulated
def test_a_warp_asks_for_several_rows_before_it_uses_one(rng, profile, close):
    tensors = inputs(1, 1, 64, [300], 300, rng)
    launches = profile(lambda: close.function(host.flash_decode, wanted, *tensors))
    flight = launches["flash_decode"].counters.loads_in_flight
    told = f"300 keys: a warp waits for {flight:.1f} loads at a time"
    assert flight >= 4, f"{told}: ask for the rows of a whole batch before you use the first"


# How many splits


@pytest.mark.task(4)
@pytest.mark.parametrize(
    "batch, kv_heads, places, length, least, splits",
    [
        (1, 8, 264, 32_768, 256, 33),
        (1, 8, 132, 32_768, 256, 16),  # 17 would leave 4 blocks for a second turn
        (4, 8, 264, 32_768, 256, 8),
        (64, 8, 264, 32_768, 256, 1),
        (1, 8, 264, 1000, 256, 3),
        (1, 8, 264, 100, 256, 1),
        (1, 1, 264, 0, 256, 1),
    ],
)
def test_splits_fill_the_gpu_once(batch, kv_heads, places, length, least, splits):
    """sglang#27786: a fixed cap of 8 left most of a GPU idle at long contexts."""
    call = f"choose_splits({batch}, {kv_heads}, {places}, {length}, {least})"
    got = number(call, tradeoff.choose_splits(batch, kv_heads, places, length, least))
    assert got == splits, f"{call} is {got}, not {splits}"


@pytest.mark.task(4)
@pytest.mark.speed
def test_splits_read_the_cache_at_the_speed_of_memory(unpoisoned):
    from harness.judging.timing import median_milliseconds
    from harness.launching.launch_settings import changed

    heads, kv_heads, d, length = 32, 8, 128, 32_768
    q = torch.randn(1, heads, d, device="cuda")
    k, v = (torch.randn(1, kv_heads, length, d, device="cuda") for _ in range(2))
    lens = torch.tensor([length], dtype=torch.int32, device="cuda")
    places = 2 * torch.cuda.get_device_properties(0).multi_processor_count
    splits = tradeoff.choose_splits(1, kv_heads, places, length, 256)
    with changed(synchronize=False):
        one = median_milliseconds(lambda: host.flash_decode(q, k, v, lens, 1), 5)
        many = median_milliseconds(lambda: host.flash_decode(q, k, v, lens, splits))
    rate = 2 * k.nbytes / many / 1e6
    said = f"32 heads on 8, 32 Ki keys: {one:.3f} ms, {splits} splits {many:.4f}: {rate:.0f} GB/s"
    assert one / many >= 4, said
    assert rate >= 0.4 * MEASURED_H200.copy_gigabytes_per_second, said
