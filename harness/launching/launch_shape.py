"""Whether a grid, a block and a number of shared bytes are ones that CUDA would launch."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Never

from harness.launching.call_site import call_site
from harness.launching.tensors import is_tensor
from harness.telling.learner_error import LaunchError

_GRID_LIMITS = (2**31 - 1, 65_535, 65_535)
_BLOCK_LIMITS = (1024, 1024, 64)
_THREADS = 1024
_STATIC_SHARED_BYTES = 48 * 1024
_SHARED_BYTES = 227 * 1024  # a block of compute capability 9.0, with the opt-in

Shape = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LaunchShape:
    grid: Shape
    block: Shape
    shared_bytes: int  # dynamic ones


def launch_shape(
    kernel: str,
    grid: Any,
    block: Any,
    shared_mem: Any,
    maximum_threads: int | None = None,
    arguments: Sequence[Any] = (),
) -> LaunchShape:
    """Check and complete a launch's numbers; raise LaunchError where CUDA would refuse them.

    arguments  of the kernel: what advises on a grid without blocks
    """
    blocks, threads = _triple(kernel, "grid", grid), _triple(kernel, "block", block)
    if 0 in blocks:
        _refuse(
            f"{kernel}: a grid of {_product(blocks)} blocks launches nothing, and CUDA refuses it",
            "at least one block in each dimension",
            _more_blocks(arguments),
        )
    _within(kernel, "grid", blocks, _GRID_LIMITS)
    if 0 in threads:
        _refuse(
            f"{kernel}: the block {_product(threads)} has no threads",
            "at least one thread in each dimension",
            "count the threads again: 256 is a good start",
        )
    _within(kernel, "block", threads, _BLOCK_LIMITS)
    most = min(_THREADS, maximum_threads or _THREADS)
    total = threads[0] * threads[1] * threads[2]
    if total > most:
        bound = "" if most == _THREADS else ", as its __launch_bounds__ promise"
        _refuse(
            f"{kernel}: the block {_product(threads)} has {total:,} threads",
            f"at most {most:,} threads in a block{bound}",
            "take smaller blocks and more of them",
        )
    return LaunchShape(blocks, threads, _shared_bytes(kernel, shared_mem))


def _more_blocks(arguments: Sequence[Any]) -> str:
    """What to try when there are no blocks: it depends on whether there is anything to do."""
    empty = [tensor.numel() == 0 for tensor in arguments if is_tensor(tensor)]
    if all(empty):
        return "return early on the host when there is nothing to do: if n == 0: return"
    if any(empty):
        return "some tensors have elements: launch at least one block for them, max(1, …)"
    return "round up, so that a part of a block is one more: (n + threads - 1) // threads"


def check_shared(kernel: str, static_bytes: int, dynamic_bytes: int) -> None:
    """Refuse more shared memory than a block can have."""
    if static_bytes > _STATIC_SHARED_BYTES:
        _refuse(
            f"{kernel}: its __shared__ arrays of fixed size take {static_bytes:,} bytes",
            f"at most {_STATIC_SHARED_BYTES:,} bytes (48 KiB) of them",
            "smaller tiles, or extern __shared__ sized by the launch's shared_mem",
        )
    if static_bytes + dynamic_bytes > _SHARED_BYTES:
        fixed = f" beside {static_bytes:,} of fixed size" if static_bytes else ""
        _refuse(
            f"{kernel}: shared_mem={dynamic_bytes:,}{fixed} is more than a block can have",
            f"at most {_SHARED_BYTES:,} bytes (227 KiB) a block in all",
            "smaller tiles; or is shared_mem counted in elements, not bytes, times too much?",
        )


def _triple(kernel: str, name: str, given: Any) -> Shape:
    if not isinstance(given, (tuple, list)):
        _refuse(
            f"{kernel}: the {name} is {given!r}, not a tuple",
            "a tuple of one to three integers",
            f"({given},)",
        )
    if not 1 <= len(given) <= 3:
        _refuse(
            f"{kernel}: the {name} has {len(given)} dimensions",
            "one to three: x, then y, then z",
            "fold the other dimensions into x and take them apart in the kernel",
        )
    numbers = [_whole(kernel, name, number) for number in given]
    numbers += [1] * (3 - len(numbers))
    return numbers[0], numbers[1], numbers[2]


def _whole(kernel: str, name: str, number: Any) -> int:
    try:
        whole = index(number)
    except TypeError:
        _refuse(
            f"{kernel}: the {name} holds {number!r}, a {type(number).__name__}",
            "whole numbers",
            "round up with whole numbers: (n + threads - 1) // threads",
        )
    if whole < 0:
        _refuse(
            f"{kernel}: the {name} holds {whole}, a negative number",
            "numbers from 1 on",
            "did a count underflow? Check the sizes that it is computed from",
        )
    return whole


def _within(kernel: str, name: str, sizes: Shape, limits: Sequence[int]) -> None:
    for axis, size, limit in zip("xyz", sizes, limits, strict=True):
        if size > limit:
            _refuse(
                f"{kernel}: the {name}'s {axis} is {size:,}",
                f"at most {limit:,}",
                "put the largest dimension in x, or let each thread do more than one element",
            )


def _shared_bytes(kernel: str, given: Any) -> int:
    try:
        wanted = index(given)
    except TypeError:
        wanted = -1
    if wanted < 0:
        _refuse(
            f"{kernel}: shared_mem is {given!r}",
            "a number of bytes from 0 on",
            "elements times bytes an element: shared_mem=4 * threads for floats",
        )
    return wanted


def _product(sizes: Shape) -> str:
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " × ".join(str(size) for size in kept)


def _refuse(what: str, expected: str, advice: str) -> Never:
    raise LaunchError(what, where=str(call_site()), expected=expected, advice=advice)
