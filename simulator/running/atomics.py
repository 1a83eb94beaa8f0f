"""Atomic updates: every lane's operation applied to memory one after another.

Lanes that hit one address take turns: in lane order, or as `Turns` says. PTX leaves the order open,
so a kernel must not rest on it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.float_arithmetic import canonical
from simulator.instructions.half_arithmetic import in_half
from simulator.running.lanes import Lanes
from simulator.running.wave import Order, Wave

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
    total = (old + value).astype(old.dtype)
    settled: Values = canonical(total) if total.dtype == np.float32 else total
    return settled


def _add_flushed(old: Values, value: Values) -> Values:
    """float32 in global memory: subnormal operands and results become zero."""
    total: Values = canonical(_flushed(_flushed(old) + _flushed(value)))
    return total


def _flushed(values: Values) -> Values:
    """Subnormal numbers as zeros of their sign."""
    return np.where(np.abs(values) < _SMALLEST_NORMAL, np.copysign(_ZERO, values), values)


_STEPS: dict[str, Callable[..., Values]] = {
    "add": _add,
    "add flushed": _add_flushed,
    # Each half is rounded by itself.
    "add f16": in_half(np.add, "f16"),
    "add f16x2": in_half(np.add, "f16x2"),
    "add bf16": in_half(np.add, "bf16"),
    "add bf16x2": in_half(np.add, "bf16x2"),
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
# A value changes only when it is beaten: between two changes all lanes see the same.
_SELDOM_CHANGES = frozenset(("cas", "min", "max", "and", "or"))
_JUMPS = 64
_ZERO = np.float32(0)
_SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal
# Numbers at or above it are multiples of the smallest normal one, and so are their sums.
_FAR_FROM_SUBNORMAL = np.float32(2.0**-103)
_UNORDERED = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


class Turns:
    """The order in which the lanes of one atomic instruction update an address.

    Sums of floats depend on it, and so do the old values that each lane gets. "forward" is that of
    the lanes, "reversed" goes down through the threads of each block, "shuffled" is drawn from the
    seed, anew for each instruction.
    """

    def __init__(self, wave: Wave, order: Order = "forward", seed: int = 0) -> None:
        self._wave = wave
        self._order = order
        self._random = np.random.default_rng((seed, int(wave.blocks[0])))

    def of(self, lanes: Lanes) -> NDArray[np.intp] | None:
        """[count] places in the set, who is first at the front; None: as they stand."""
        if self._order == "forward" or lanes.count < 2:
            return None
        if self._order == "shuffled":
            return self._random.permutation(lanes.count)
        index = lanes.indices()
        slot = self._wave.slot[index]
        return np.argsort(slot * self._wave.padded - self._wave.thread[index], kind="stable")


def update_in_turn(
    memory: NDArray[Any],
    index: Any,
    operation: str,
    values: tuple[Any, ...],
    turns: NDArray[np.intp] | None,
    count: int,
    old: bool,
) -> tuple[Values | None, bool]:
    """`update` of lanes whose turns come in another order than theirs."""
    if turns is None or (not old and operation in _UNORDERED and memory.dtype.kind in "iu"):
        return update(memory, index, operation, values, count, old)
    places = np.broadcast_to(np.asarray(index), (count,))[turns]
    operands = tuple(v if v.ndim == 0 else v[turns] for v in values)
    seen, changed = update(memory, places, operation, operands, count, old)
    if seen is None:
        return None, changed
    before = np.empty_like(seen)
    before[turns] = seen
    return before, changed


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
    if operation == "add flushed" and not (_near_zero(values[0]) or _near_zero(memory[index])):
        operation = "add"  # which is the same then, and faster
    if not old and operation in _UNORDERED:
        _UNORDERED[operation].at(memory, index, operands[0])
        if memory.dtype == np.float32:
            memory[index] = canonical(memory[index])
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
    if operation == "exch":
        return _exchange_in_order(memory, place, begins, sorted_operands[0], order, before)
    seen = np.empty(count, memory.dtype)
    left, changed = np.arange(count), False
    if operation in _SELDOM_CHANGES:
        left, changed = _jump(step, memory, place, begins, sorted_operands, seen)
    if len(left):
        changed |= _take_turns(step, memory, place, left, sorted_operands, seen)
    before[order] = seen
    return before, changed


def _near_zero(values: Any) -> bool:
    """Whether sums of such numbers may be subnormal."""
    return bool(((values != 0) & (np.abs(values) < _FAR_FROM_SUBNORMAL)).any())


def _jump(
    step: Callable[..., Values],
    memory: NDArray[Any],
    place: NDArray[np.intp],
    begins: NDArray[np.bool_],
    operands: list[Values],
    seen: Values,
) -> tuple[NDArray[np.intp], bool]:
    """Go from one change of an address to its next: the lanes between see the same value.

    All arrays are sorted by address, lanes in order. Fills in what the lanes have seen, and
    returns those that are left after many changes, and whether anything has changed.
    """
    group = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    current = memory[place[first]]  # [addresses]
    left, changed = np.arange(len(place)), False
    for _ in range(_JUMPS):
        now = current[group[left]]
        seen[left] = now  # right up to the address's next change
        updated = step(now, *(o[left] for o in operands))
        hits = np.flatnonzero(updated.view(_bits(updated)) != now.view(_bits(now)))
        if not len(hits):
            left = left[:0]
            break
        changed = True
        where = group[left[hits]]
        leads = hits[np.flatnonzero(np.diff(where, prepend=-1))]
        where = group[left[leads]]
        current[where] = updated[leads]
        last = np.full(len(first), len(place))
        last[where] = left[leads]
        left = left[left > last[group[left]]]
        if not len(left):
            break
    memory[place[first]] = current
    return left, changed


def _take_turns(
    step: Callable[..., Values],
    memory: NDArray[Any],
    place: NDArray[np.intp],
    left: NDArray[np.intp],
    operands: list[Values],
    seen: Values,
) -> bool:
    """Every address's first lane, then every address's second, … of those that are left."""
    begins = np.diff(place[left], prepend=-1) != 0
    turn = _turns(begins)
    by_turn = np.argsort(turn, kind="stable")
    bounds = np.searchsorted(turn[by_turn], np.arange(int(turn.max()) + 2))
    changed = False
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        now = left[by_turn[begin:end]]
        current = memory[place[now]]
        updated = step(current, *(o[now] for o in operands))
        seen[now] = current
        if not changed:
            changed = bool((updated.view(_bits(updated)) != current.view(_bits(current))).any())
        memory[place[now]] = updated
    return changed


def _exchange_in_order(
    memory: NDArray[Any],
    place: NDArray[np.intp],
    begins: NDArray[np.bool_],
    values: Values,
    order: NDArray[np.intp],
    before: Values,
) -> tuple[Values, bool]:
    """Each lane sees what the lane before it has put there."""
    seen = np.empty_like(before)
    seen[1:] = values[:-1]
    first = np.flatnonzero(begins)
    old = memory[place[first]]
    seen[first] = old
    before[order] = seen
    ends = np.append(first[1:], len(place)) - 1
    memory[place[first]] = values[ends]
    return before, bool((old.view(_bits(old)) != values[ends].view(_bits(old))).any())


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
