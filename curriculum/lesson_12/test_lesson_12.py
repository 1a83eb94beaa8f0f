"""Lesson 12, tasks 1 and 2: a softmax that comes in pieces, and two of them made one."""

import pytest
import torch

from curriculum.lesson_12 import attention as answer
from harness.judging.data import spread
from harness.judging.guards import unmodified
from references.attention import split_lengths

INF = torch.inf


def whole(scores, values):
    """(o, lse) of all keys at once; a row without any has 0 and -inf."""
    seen = scores > -INF
    total = scores.logsumexp(1)
    weights = torch.where(seen, (scores - total[:, None]).exp(), 0)
    return torch.where(seen.any(1)[:, None], weights @ values, 0), total


def in_pieces(scores, values, lengths):
    """The learner's state over one piece of keys after another, finished."""
    state = answer.empty_state(scores.shape[0], values.shape[1], scores.dtype)
    for some, theirs in zip(scores.split(lengths, 1), values.split(lengths), strict=True):
        with unmodified(*state, some, theirs):
            state = answer.update(state, some, theirs)
    return answer.finalize(state)


def inputs(rows, keys, d, rng, hidden=0.0):
    """Scores, a share of them hidden by -inf, and values."""
    scores, values = 3 * torch.randn(rows, keys, generator=rng), spread(keys, d, rng=rng)
    scores[torch.rand(rows, keys, generator=rng) < hidden] = -INF
    return scores, values


# --- Task 1: the state ----------------------------------------------------------------------------

LENGTHS = [[1], [2], [1, 1], [3, 1, 2], [16, 16, 5], [1] * 13, [40, 7]]


@pytest.mark.task(1)
def test_before_the_first_key_nothing_is_known(close):
    state = answer.empty_state(3, 5, torch.float64)
    zero = torch.zeros(3, dtype=torch.float64)
    close.equal(tuple(state), (zero - INF, zero, torch.zeros(3, 5, dtype=torch.float64)))
    o, lse = answer.finalize(state)
    close.equal((o, lse), (torch.zeros(3, 5, dtype=torch.float64), zero - INF))


@pytest.mark.task(1)
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("hidden", [0.0, 0.5])
def test_pieces_of_any_length_give_the_softmax_of_the_whole(lengths, hidden, rng, close):
    scores, values = inputs(7, sum(lengths), 6, rng, hidden)
    close(in_pieces(scores, values, lengths), whole, scores, values)


@pytest.mark.task(1)
def test_the_order_of_the_pieces_does_not_matter(rng, close):
    scores, values = inputs(5, 24, 4, rng)
    scores += torch.arange(24) * 2.0  # rising: each piece has a new largest score
    for order in (torch.arange(24), torch.arange(24).flip(0), torch.randperm(24, generator=rng)):
        got = in_pieces(scores[:, order], values[order], [5] * 4 + [4])
        close(got, whole, scores, values)


@pytest.mark.task(1)
def test_old_sums_are_brought_to_the_new_largest_score():
    # Two keys: score 0 with value 1, then score log 3 with value 5: (1 · 1 + 3 · 5) / 4.
    scores = torch.tensor([[1.0, 3.0]]).log()
    o, lse = in_pieces(scores, torch.tensor([[1.0], [5.0]]), [1, 1])
    said = "scores 0 and log 3, values 1 and 5, one key at a time"
    assert o.item() == pytest.approx(4.0, rel=1e-5), f"{said}: o is {o.item():.4g}, not 4"
    told = f"{said}: lse {lse.item():.4g}, not log 4"
    assert lse.item() == pytest.approx(1.386294, rel=1e-5), told


@pytest.mark.task(1)
def test_a_first_piece_that_is_all_hidden_leaves_no_trace(rng, close):
    scores, values = inputs(4, 12, 3, rng)
    scores[:, :6] = -INF
    close(in_pieces(scores, values, [3, 3, 4, 2]), whole, scores, values)


@pytest.mark.task(1)
def test_a_row_that_sees_no_key_is_zero_and_its_log_minus_infinity(rng):
    """Dao-AILab/flash-attention#978: +inf here breaks every merge that follows."""
    scores, values = inputs(3, 8, 2, rng)
    scores[1] = -INF
    o, lse = in_pieces(scores, values, [4, 4])
    told = f"row 1 sees no key: o is {o[1].tolist()}, lse {lse[1].item()}"
    assert o[1].tolist() == [0.0, 0.0] and lse[1].item() == -INF, f"{told}, not zeros and -inf"


@pytest.mark.task(1)
@pytest.mark.parametrize("size", [-1e4, -5e4, -1e6, 1e4])
def test_scores_of_any_size_are_scores(size, rng, close):
    """flashinfer#4450: real scores below a finite sentinel of -5e4 were taken for masked ones."""
    scores, values = inputs(4, 10, 3, rng)
    scores = scores + size
    close(in_pieces(scores, values, [4, 4, 2]), whole, scores, values)


@pytest.mark.task(1)
def test_what_a_hidden_value_holds_has_no_influence(rng, close):
    scores, values = inputs(4, 6, 3, rng)
    scores[:, 2], scores[:, 5] = -INF, -INF
    broken = values.clone()
    broken[2], broken[5] = torch.nan, INF
    close(in_pieces(scores, broken, [3, 3]), whole, scores, values)


@pytest.mark.task(1)
def test_a_nan_that_is_seen_is_not_silenced():
    # Three keys of score 0, hidden from row 0 only: the value of key 1 is NaN.
    scores, values = torch.zeros(2, 3), torch.tensor([[1.0], [torch.nan], [2.0]])
    scores[0, 1] = -INF
    o, _ = in_pieces(scores, values, [2, 1])
    said = f"the value of key 1 is NaN; row 0 does not see it, row 1 does: o is {o[:, 0].tolist()}"
    assert o[0].item() == pytest.approx(1.5) and o[1].isnan().all(), f"{said}, not [1.5, nan]"


@pytest.mark.task(1)
@pytest.mark.parametrize("step", [100.0, -100.0], ids=["rising", "falling"])
def test_scores_that_rise_or_fall_by_hundreds_do_not_overflow(step, rng, close):
    scores, values = inputs(3, 12, 2, rng)
    scores += torch.arange(12) * step
    close(in_pieces(scores, values, [4, 4, 4]), whole, scores, values)


# --- Task 2: merging ------------------------------------------------------------------------------


def empty(rows, d):
    return torch.zeros(rows, d), torch.full((rows,), -INF)


def merged(pairs):
    total = pairs[0]
    for pair in pairs[1:]:
        with unmodified(*total, *pair):
            total = answer.merge(total, pair)
    return total


def finished(scores, values, lengths):
    """Each piece by itself, finished."""
    pieces = zip(scores.split(lengths, 1), values.split(lengths), strict=True)
    return [whole(some, theirs) for some, theirs in pieces]


@pytest.mark.task(2)
@pytest.mark.parametrize("parts", [2, 3, 8, 19])
@pytest.mark.parametrize("hidden", [0.0, 0.6])
def test_parts_of_the_keys_become_the_whole(parts, hidden, rng, close):
    scores, values = inputs(6, 19, 5, rng, hidden)
    pairs = finished(scores, values, split_lengths(19, parts))
    close(merged(pairs), whole, scores, values)
    close(merged(pairs[::-1]), whole, scores, values)


@pytest.mark.task(2)
def test_any_grouping_gives_the_same(rng, close):
    scores, values = inputs(3, 32, 4, rng)
    order = torch.randperm(32, generator=rng)
    a, b, c, d = finished(scores[:, order], values[order], [1, 20, 4, 7])
    left = answer.merge(answer.merge(answer.merge(a, b), c), d)
    right = answer.merge(a, answer.merge(b, answer.merge(c, d)))
    close(left, whole, scores, values)
    close(right, whole, scores, values)


@pytest.mark.task(2)
def test_each_side_counts_by_the_sum_behind_it():
    # 1 key with value 8 against 3 of the same score with value 0: a quarter of 8, not half.
    a = torch.tensor([[8.0]]), torch.tensor([0.0])
    b = torch.tensor([[0.0]]), torch.tensor([3.0]).log()
    o, lse = answer.merge(a, b)
    said = "one key with value 8, three with value 0, all scores 0"
    assert o.item() == pytest.approx(2.0), f"{said}: merged o is {o.item():.4g}, not 2"
    assert lse.item() == pytest.approx(1.386294), f"{said}: merged lse {lse.item():.4g}, not log 4"


@pytest.mark.task(2)
def test_an_empty_side_changes_nothing(rng, close):
    pair = whole(*inputs(4, 9, 3, rng))
    for got in (answer.merge(pair, empty(4, 3)), answer.merge(empty(4, 3), pair)):
        close.equal(got[0], pair[0])
        close.equal(got[1], pair[1])


@pytest.mark.task(2)
def test_two_empty_sides_are_empty(close):
    """flashinfer#4051: merging two empty states gave NaN."""
    close.equal(answer.merge(empty(2, 3), empty(2, 3)), empty(2, 3))


@pytest.mark.task(2)
@pytest.mark.parametrize("size", [-60_000.0, 60_000.0])
def test_no_log_of_a_sum_is_too_far_from_0(size):
    """flashinfer#4450: a finite stand-in for -inf is some model's honest score."""
    a, b = (torch.tensor([[value]]) for value in (8.0, 2.0))
    log = torch.tensor([size])
    o, lse = answer.merge((a, log), (b, log))
    said = f"results 8 and 2, lse {size:g} both"
    assert o.item() == pytest.approx(5.0, abs=0.05), f"{said}: merged o is {o.item():.4g}, not 5"
    told = f"{said}: merged lse {lse.item():.7g}, not {size:g} + log 2"
    assert lse.item() == pytest.approx(size + 0.693, abs=0.01), told


@pytest.mark.task(2)
@pytest.mark.parametrize("size", [-500.0, 500.0])
def test_sums_of_any_size_are_merged(size, rng, close):
    scores, values = inputs(3, 12, 2, rng)
    pairs = finished(scores + size, values, [5, 7])
    close(merged(pairs), whole, scores + size, values)
