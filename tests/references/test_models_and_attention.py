"""The shared truths of the serving lessons, held to figures that were not computed by them."""

import math

import pytest
import torch

from references import echo, tiny_model
from references.attention import CASES, attention, split_lengths, visible
from references.forward import forward, rope
from references.models import LLAMA_3_8B, MODELS, TINY, empty_weights, random_weights

# Published counts, and those that the shapes of the published configurations give.
PARAMETERS = {
    "Llama-2-7B": 6_738_415_616,
    "Llama-2-13B": 13_015_864_320,
    "Llama-2-70B": 68_976_648_192,
    "Llama-3-8B": 8_030_261_248,
    "Llama-3-70B": 70_553_706_496,
    "Llama-3.1-405B": 405_853_388_800,
    "Qwen3-0.6B": 596_049_920,
}


@pytest.mark.parametrize("shape", MODELS, ids=lambda shape: shape.name)
def test_a_shape_has_as_many_weights_as_its_model(shape):
    assert sum(w.numel() for w in empty_weights(shape).values()) == PARAMETERS[shape.name]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_attention_is_the_softmax_row_by_row(case):
    query, key, value = case.inputs(torch.Generator().manual_seed(1), torch.float64)
    got, total = attention(query, key, value, causal=case.causal)
    for head in range(case.heads):
        own = head // (case.heads // case.kv_heads)
        for i in range(case.queries):
            last = i + case.keys - case.queries if case.causal else case.keys - 1
            if last < 0:
                assert got[head, i].eq(0).all() and total[head, i] == -math.inf
                continue
            scores = key[own, : last + 1] @ query[head, i] / math.sqrt(case.depth)
            torch.testing.assert_close(got[head, i], scores.softmax(0) @ value[own, : last + 1])
            torch.testing.assert_close(total[head, i], scores.exp().sum().log())


def test_what_a_masked_value_holds_has_no_influence():
    query, key, value = torch.ones(1, 2, 4), torch.ones(1, 5, 4), torch.ones(1, 5, 4)
    key[:, 3:], value[:, 3:] = torch.nan, torch.nan
    got, _ = attention(query[:, :1], key[:, :4], value[:, :4], causal=True, window=1)
    assert got.isnan().all()  # its own key is a NaN
    rows, _ = attention(torch.ones(1, 4, 4), key[:, :4], value[:, :4], causal=True)
    torch.testing.assert_close(rows[:, :3], torch.ones(1, 3, 4))
    assert rows[:, 3].isnan().all()


def test_a_window_with_sinks_sees_the_first_keys_and_the_last():
    seen = visible(2, 6, causal=True, window=2, sinks=1)
    assert seen.tolist() == [
        [True, False, False, True, True, False],
        [True, False, False, False, True, True],
    ]


def test_a_soft_cap_bounds_the_scores():
    query, key = torch.full((1, 1, 4), 100.0), torch.eye(4)[None, :2] * 100
    _, total = attention(query, key, key, softcap=5.0)
    assert total.item() == pytest.approx(5 + math.log(2))


@pytest.mark.parametrize("total, parts", [(0, 3), (2, 5), (17, 4)])
def test_lengths_of_parts_add_up_and_differ_by_one(total, parts):
    lengths = split_lengths(total, parts)
    assert sum(lengths) == total and len(lengths) == parts and max(lengths) - min(lengths) <= 1


def test_a_turn_depends_on_the_distance_alone():
    q, k = torch.randn(2, 1, 1, 16, dtype=torch.float64).unbind(0)
    dots = [
        (rope(q, torch.tensor([m])) * rope(k, torch.tensor([n]))).sum().item()
        for m, n in [(5, 2), (105, 102), (3, 0)]
    ]
    assert dots == pytest.approx([dots[0]] * 3)


def test_what_comes_later_changes_no_earlier_logits():
    rng = torch.Generator().manual_seed(3)
    weights = random_weights(TINY, rng, torch.float64)
    tokens = torch.randint(256, (12,), generator=rng)
    torch.testing.assert_close(
        forward(weights, TINY, tokens)[:7], forward(weights, TINY, tokens[:7])
    )


def test_the_trained_model_knows_its_text_with_a_margin():
    tokens = tiny_model.encode(tiny_model.TEXT)
    assert tiny_model.margin(tokens) == pytest.approx(tiny_model.recorded_margin(), rel=1e-3)
    assert tiny_model.recorded_margin() > 1
    assert tiny_model.continued(tokens[:40], 60) == tokens[40:100]
    assert tiny_model.WEIGHTS.stat().st_size <= 500_000


def test_the_trained_model_ends_where_its_text_ends():
    assert tiny_model.continued(tiny_model.encode(tiny_model.TEXT), 1) == [tiny_model.END]


def test_the_echo_notices_a_lost_a_swapped_and_a_moved_slot():
    slots = [(5, 0), (9, 1), (5, 2), (7, 3)]
    lost, swapped = slots[:3], [*slots[:2], slots[3], slots[2]]
    moved, other = [(5, 1), *slots[1:]], [(9, 0), *slots[1:]]
    assert len({echo.next_token(s) for s in (slots, lost, swapped, moved, other)}) == 5
    assert echo.continuation([3, 1], 3)[2] == echo.next_token(
        [(t, i) for i, t in enumerate([3, 1, *echo.continuation([3, 1], 2)])]
    )


def test_a_shape_may_have_heads_wider_than_its_share():
    assert MODELS[-1].hidden // MODELS[-1].heads != MODELS[-1].head_dim
    assert LLAMA_3_8B.hidden // LLAMA_3_8B.heads == LLAMA_3_8B.head_dim
