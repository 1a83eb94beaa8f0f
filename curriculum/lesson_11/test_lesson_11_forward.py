"""Lesson 11, tasks 3 and 4: a cache that grows token by token, and the forward pass over it."""

from dataclasses import replace

import pytest
import torch

from curriculum.lesson_11 import chain
from curriculum.lesson_11.chain import CacheFull, KVCache
from harness.judging.data import spread
from references import forward as truth
from references import tiny_model
from references.attention import CASES, attention
from references.models import TINY, random_weights

# --- Task 3: the cache ----------------------------------------------------------------------------


def step(count, rng, heads=2, d=4):
    return spread(count, heads, d, rng=rng), spread(count, heads, d, rng=rng)


@pytest.mark.task(3)
@pytest.mark.parametrize("counts", [[1], [5], [3, 1, 1], [1, 4, 2]], ids=str)
def test_what_was_appended_is_there_in_order(counts, rng, close):
    cache = KVCache(2, 10, 2, 4)
    steps = [[step(count, rng) for _ in range(2)] for count in counts]
    for layers in steps:
        for layer, (key, value) in enumerate(layers):
            cache.append(layer, key, value)
    for layer in range(2):
        keys, values = cache.view(layer)
        close.equal(keys, torch.cat([layers[layer][0] for layers in steps]))
        close.equal(values, torch.cat([layers[layer][1] for layers in steps]))
    assert cache.length == sum(counts), f"appended {counts}: length {cache.length}"


@pytest.mark.task(3)
def test_the_length_grows_once_a_step(rng):
    cache = KVCache(3, 8, 2, 4)
    seen = []
    for _ in range(2):
        for layer in range(3):
            cache.append(layer, *step(2, rng))
            seen.append(cache.length)
    assert seen == [0, 0, 2, 2, 2, 4], f"2 tokens a step in 3 layers: the lengths go {seen}"


@pytest.mark.task(3)
def test_a_layer_sees_its_own_tokens_while_a_step_goes_on(rng, close):
    cache = KVCache(2, 8, 2, 4)
    key, value = step(3, rng)
    cache.append(0, key, value)
    close.equal(cache.view(0)[0], key)
    assert cache.view(1)[0].shape[0] == 0, "layer 1 has nothing yet, and its view holds something"


@pytest.mark.task(3)
def test_a_full_cache_refuses_and_stays_as_it_is(rng, close):
    cache = KVCache(1, 4, 2, 4)
    key, value = step(3, rng)
    cache.append(0, key, value)
    with pytest.raises(CacheFull):
        cache.append(0, *step(2, rng))
    close.equal(cache.view(0)[1], value)
    assert cache.length == 3, f"3 tokens, 2 more refused: the length is {cache.length}"
    cache.append(0, *step(1, rng))
    assert cache.length == 4, "the last place is free, and one token did not fit"


@pytest.mark.task(3)
def test_a_view_copies_nothing(rng):
    cache = KVCache(1, 6, 2, 4, torch.float64)
    cache.append(0, *(part.double() for part in step(2, rng)))
    before = cache.view(0)
    cache.append(0, *(part.double() for part in step(2, rng)))
    for name, old, new in zip(("keys", "values"), before, cache.view(0), strict=True):
        same = old.data_ptr() == new.data_ptr()
        assert same, f"the {name} have moved: take the memory once, and show a part of it"
        assert new.dtype == torch.float64, f"asked for float64, it holds {name} in {new.dtype}"


# --- Task 4: attention in groups, and the whole pass ----------------------------------------------

ENDING = [case for case in CASES if case.causal and case.queries <= case.keys]


@pytest.mark.task(4)
@pytest.mark.parametrize("case", ENDING, ids=lambda case: case.label)
def test_each_query_sees_what_came_before_it(case, rng, close):
    inputs = [x.transpose(0, 1).contiguous() for x in case.inputs(rng)]

    def wanted(query, key, value):
        heads_first = (x.transpose(0, 1) for x in (query, key, value))
        return attention(*heads_first, causal=True)[0].transpose(0, 1)

    close.function(chain.grouped_attention, wanted, *inputs)


@pytest.mark.task(4)
def test_neighbouring_query_heads_share_a_key_head(close):
    # Two key heads that each see one value: heads 0, 1 read the first, heads 2, 3 the second.
    query, key = torch.ones(1, 4, 8), torch.ones(1, 2, 8)
    value = torch.stack([torch.full((8,), 10.0), torch.full((8,), 20.0)])[None]
    got = chain.grouped_attention(query, key, value)[0, :, 0].tolist()
    said = f"4 query heads on 2 key heads holding 10 and 20: they read {got}"
    assert got == [10.0, 10.0, 20.0, 20.0], f"{said}, not [10, 10, 20, 20]"


@pytest.mark.task(4)
def test_what_comes_later_stays_unseen_however_low_the_other_scores_are():
    query = torch.full((2, 1, 8), 300.0)
    rows = torch.tensor([[-300.0, -200.0], [10.0, 20.0]])  # keys, values
    key, value = rows[:, :, None, None].repeat(1, 1, 1, 8)
    got = chain.grouped_attention(query, key, value)[:, 0, 0].tolist()
    said = f"scores of -254,558 and -169,706, values 10 and 20: a query reads {got}, not [10, 20]"
    assert got == [10.0, 20.0], f"{said}: the first query does not see the second key"


def run(weights, shape, tokens, parts):
    """The logits behind each part of the tokens, and the cache at the end."""
    dtype = weights["embedding"].dtype
    cache = KVCache(shape.layers, len(tokens), shape.kv_heads, shape.head_dim, dtype)
    logits, begin = [], 0
    for count in parts:
        piece = torch.tensor(tokens[begin : begin + count])
        logits.append(chain.forward(weights, piece, cache, begin))
        begin += count
    return logits, cache


SMALL = replace(TINY, hidden=32, heads=4, kv_heads=2, head_dim=16, ffn=24, vocab=50)
SPLITS = [[1], [6], [1, 1, 1, 1], [5, 1, 1], [1, 6], [3, 4, 1], [2, 2, 2, 2, 2]]
OTHERS = {
    "tied": SMALL,
    "a head of its own": replace(SMALL, tied=False),
    "norms for queries and keys": replace(SMALL, qk_norm=True),
    "one key head": replace(SMALL, kv_heads=1),
    "heads wider than their share": replace(SMALL, hidden=24, head_dim=8),
}


# Matrices whose zeros silence a part of every layer.
SILENCED = {
    "embedding, last norm and head": ("output", "down"),
    "attention": ("down",),
    "feed-forward": ("output",),
}


@pytest.mark.task(4)
@pytest.mark.parametrize("part", SILENCED)
def test_each_part_of_the_pass_is_right_by_itself(part, rng):
    weights = random_weights(SMALL, rng, torch.float64)
    for name in weights:
        if name.endswith(SILENCED[part]):
            weights[name] = torch.zeros_like(weights[name])
    tokens = torch.randint(SMALL.vocab, (4,), generator=rng).tolist()
    (got,), _ = run(weights, SMALL, tokens, [4])
    apart = (got - truth.forward(weights, SMALL, torch.tensor(tokens))[-1]).abs().max().item()
    zeros = " and ".join(repr(name) for name in SILENCED[part])
    said = f"{zeros} are zeros, so that nothing but {part} is at work: logits are {apart:.3g} apart"
    assert apart < 1e-9, said


@pytest.mark.task(4)
def test_keys_are_turned_by_their_place_in_the_text(rng):
    # All places one too far would leave every score as it is, and the cache of no use to others.
    weights = random_weights(SMALL, rng, torch.float64)
    tokens = [7, 3, 9, 9, 1]
    _, cache = run(weights, SMALL, tokens, [3, 1, 1])
    x = truth.rms_norm(weights["embedding"][tokens], weights["layers.0.attention_norm"])
    key = (x @ weights["layers.0.key"].T).view(len(tokens), -1, SMALL.head_dim)
    places = torch.arange(len(tokens))
    got = cache.view(0)[0]

    def fits(places):
        return (got - truth.rope(key, places)).abs().max().item() < 1e-9

    turned = next((f"by {by}" for by in range(-9, 10) if by and fits(places + by)), "otherwise")
    said = f"5 tokens in parts of [3, 1, 1], keys of layer 0: turned {turned} too far"
    assert fits(places), f"{said}. Token 0 stands at 0 and is not turned, token 1 is turned by 1"


@pytest.mark.task(4)
@pytest.mark.parametrize(
    "name, parts",
    [("tied", parts) for parts in SPLITS]
    + [(name, [3, 1, 2]) for name in OTHERS if name != "tied"],
    ids=str,
)
def test_any_way_to_cut_the_tokens_gives_the_logits_of_the_whole(name, parts, rng):
    shape = OTHERS[name]
    weights = random_weights(shape, rng, torch.float64)
    tokens = torch.randint(shape.vocab, (sum(parts),), generator=rng).tolist()
    wanted = truth.forward(weights, shape, torch.tensor(tokens))
    logits, cache = run(weights, shape, tokens, parts)
    end = 0
    for count, got in zip(parts, logits, strict=True):
        end += count
        said = f"{name}, tokens in parts of {parts}: logits of token {end - 1}"
        assert got.shape == (shape.vocab,), f"{said} have the shape {list(got.shape)}"
        apart = (got - wanted[end - 1]).abs().max().item()
        assert apart < 1e-9, f"{said} are {apart:.3g} apart from those of one pass over all"
    assert cache.length == len(tokens), f"{name}: the cache holds {cache.length} of {len(tokens)}"


@pytest.mark.task(4)
def test_the_trained_model_says_its_text():
    assert tiny_model.recorded_margin() > 1  # or greedy answers would prove nothing
    tokens = tiny_model.encode(tiny_model.TEXT)
    weights, given, count = tiny_model.weights(), 12, 24
    cache = KVCache(TINY.layers, given + count, TINY.kv_heads, TINY.head_dim)
    said = list(tokens[:given])
    logits = chain.forward(weights, torch.tensor(said), cache, 0)
    for _ in range(count):
        said.append(int(logits.argmax()))
        logits = chain.forward(weights, torch.tensor(said[-1:]), cache, len(said) - 1)
    text = bytes(said[1:]).decode(errors="replace")
    wanted = bytes(tokens[1 : given + count]).decode()
    assert said == tokens[: given + count], f"it says {text!r}, not {wanted!r}"


@pytest.mark.task(4)
def test_forward_changes_no_weight(rng):
    weights = random_weights(SMALL, rng)
    before = {name: weight.clone() for name, weight in weights.items()}
    run(weights, SMALL, [1, 2, 3], [3])
    changed = [name for name in weights if not torch.equal(weights[name], before[name])]
    assert not changed, f"forward has changed {changed}"
