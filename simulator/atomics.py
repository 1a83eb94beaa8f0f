"""Atomic updates: every lane's operation applied to memory one after another.

Lanes that hit one address take turns in lane order. PTX leaves the order open, so a kernel
must not rest on it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]


def _increment(old: Values, bound: Values) -> Values:
    return np.where(old >= bound, 0, old + 1).astype(old.dtype)


def _decrement(old: Values, bound: Values) -> Values:
    return np.where((old == 0) | (old > bound), bound, old - 1).astype(old.dtype)


def _exchange(old: Values, value: Values) -> Values:
    return value


def _compare_and_swap(old: Values, compare: Values, value: Values) -> Values:
    return np.where(old == compare, value, old)


def _add(old: Values, value: Values) -> Values:
    return (old + value).astype(old.dtype)


_STEPS: dict[str, Callable[..., Values]] = {
    "add": _add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": _exchange,
    "inc": _increment,
    "dec": _decrement,
    "cas": _compare_and_swap,
}
_UNORDERED = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def update(
    memory: NDArray[Any], index: Any, operation: str, values: tuple[Any, ...], count: int, old: bool
) -> tuple[Values | None, bool]:
    """Apply one atomic of `count` lanes to memory[index].

    values  the operand (for cas: what is compared, then the new value), arrays or scalars
    old     whether the old values are wanted
    Returns (old values [count] or None, whether memory changed).
    """
    index = np.broadcast_to(index, (count,))
    operands = [np.broadcast_to(v, (count,)) for v in values]
    if not old and operation in _UNORDERED:
        _UNORDERED[operation].at(memory, index, operands[0])
        return None, True
    order = np.argsort(index, kind="stable")
    place = index[order]
    begins = np.empty(count, bool)
    begins[0] = True
    np.not_equal(place[1:], place[:-1], out=begins[1:])
    before = np.empty(count, memory.dtype)
    step = _STEPS[operation]
    sorted_operands = [o[order] for o in operands]
    if operation == "add" and memory.dtype.kind in "iu":
        return _add_in_order(memory, place, begins, sorted_operands[0], order, before)
    changed = False
    turn = _turns(begins)
    by_turn = np.argsort(turn, kind="stable")
    bounds = np.searchsorted(turn[by_turn], np.arange(int(turn.max()) + 2))
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        now = by_turn[begin:end]
        current = memory[place[now]]
        updated = step(current, *(o[now] for o in sorted_operands))
        before[order[now]] = current
        if not changed:
            changed = bool((updated.view(_bits(updated)) != current.view(_bits(current))).any())
        memory[place[now]] = updated
    return before, changed


def _bits(values: Values) -> str:
    return f"u{values.dtype.itemsize}"


def _turns(begins: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[count] how many lanes before this one hit the same address."""
    position = np.arange(len(begins))
    start = np.maximum.accumulate(np.where(begins, position, 0))
    return position - start


def _add_in_order(
    memory: NDArray[Any],
    place: NDArray[np.intp],
    begins: NDArray[np.bool_],
    values: Values,
    order: NDArray[np.intp],
    before: Values,
) -> tuple[Values, bool]:
    """Integer addition wraps, so running sums give every old value at once."""
    with np.errstate(over="ignore"):
        running = np.cumsum(values, dtype=memory.dtype)
        start = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
        ahead = running - values - (running[start] - values[start])
        before[order] = memory[place] + ahead
        np.add.at(memory, place, values)
    return before, bool((values != 0).any())
