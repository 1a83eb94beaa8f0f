"""Watches what a call must leave alone: its inputs, and on a GPU the memory around them.

The simulator knows the bounds of each tensor and names the thread that oversteps them. A GPU does
not: there, a tensor lies between bands of a known value, looked at after the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from harness.judging.differences import Difference, index_text, where_wrong
from harness.judging.mismatch import Mismatch
from harness.judging.patterns import value_text

BAND = 4096  # bytes on either side, so that alignment stays what an allocation has
BAND_VALUE = 0xA5  # in each byte of a band

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@contextmanager
def unmodified(*inputs: Any) -> Iterator[None]:
    """`with unmodified(a, b): out = host.vec_add(a, b)` fails if a or b is not what it was."""
    __tracebackhide__ = True
    before = [(x, _version(x)) for x in inputs if isinstance(x, torch.Tensor)]
    yield
    for number, (now, then) in enumerate(before):
        difference = where_wrong(_bits(now), then, lambda got, want, _: got != want)
        if difference is not None:
            raise Mismatch(_modified_text(number, now, then, difference))


@contextmanager
def guarded(*inputs: Any) -> Iterator[tuple[Any, ...]]:
    """`with guarded(a, b) as (a, b): …`: unmodified, and on a GPU between guard bands as well."""
    __tracebackhide__ = True
    bands = [Banded(x) if _is_on_gpu(x) else None for x in inputs]
    inside = tuple(band.tensor if band else x for band, x in zip(bands, inputs, strict=True))
    with unmodified(*inside):
        yield inside
    for number, band in enumerate(bands):
        if band is not None:
            band.check(f"input {number}")


class Banded:
    """A copy of a tensor inside a larger storage whose two ends are watched."""

    def __init__(self, x: torch.Tensor) -> None:
        payload = x.numel() * x.itemsize
        self.storage = torch.full(
            (BAND + payload + BAND,), BAND_VALUE, dtype=torch.uint8, device=x.device
        )
        self.tensor = self.storage[BAND : BAND + payload].view(x.dtype).view(x.shape)
        self.tensor.copy_(x.detach())

    def check(self, name: str) -> None:
        """Fail if a byte before or after the tensor has changed."""
        __tracebackhide__ = True
        for side, band in (("before", self.storage[:BAND]), ("after", self.storage[-BAND:])):
            touched = (band != BAND_VALUE).nonzero().flatten()
            if len(touched):
                nearest = int(touched[0]) if side == "after" else BAND - 1 - int(touched[-1])
                raise Mismatch(
                    f"wrote outside {name}: {len(touched)} bytes {side} it have changed\n"
                    f"  nearest  {nearest // self.tensor.itemsize + 1} elements "
                    f"{'past its end' if side == 'after' else 'ahead of its start'}\n"
                    "  Run the test with --device cpu: the simulator names the line and the thread."
                )


def _version(x: torch.Tensor) -> torch.Tensor:
    return _bits(x).clone()


def _bits(x: torch.Tensor) -> torch.Tensor:
    """The same memory as integers, so that a NaN equals itself."""
    plain = torch.view_as_real(x.detach()) if x.is_complex() else x.detach()
    return plain.view(_BITS[plain.itemsize])


def _is_on_gpu(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.device.type == "cuda" and not x.is_complex()


def _modified_text(
    number: int, now: torch.Tensor, then: torch.Tensor, difference: Difference
) -> str:
    flat = difference.first
    old = then.reshape(-1)[flat : flat + 1]
    new = difference.got.reshape(-1)[flat : flat + 1]
    kind = now.dtype if not now.is_complex() else now.real.dtype
    return (
        f"input {number} was modified in {difference.count:,} of {now.numel():,} elements\n"
        f"  first    {index_text(flat, difference.got.shape)}  was {value_text(old.view(kind)[0])}"
        f"  is {value_text(new.view(kind)[0])}\n"
        f"  shape    {list(now.shape)} {str(now.dtype).removeprefix('torch.')}\n"
        "  An input belongs to the caller: write to memory of your own."
    )
