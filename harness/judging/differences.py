"""Where two tensors differ, kept small: counts, ends and a sample, never a second whole tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

CHUNK = 1 << 22  # elements looked at in one go
SAMPLED = 1 << 15  # wrong elements whose indices are kept, the first ones


@dataclass(frozen=True, slots=True)
class Difference:
    """The wrong elements of `got`, by flat index."""

    got: torch.Tensor
    want: torch.Tensor
    count: int
    first: int  # 0 .. got.numel() - 1
    last: int
    sample: torch.Tensor  # [sampled] int64, ascending, from `first` on

    @property
    def elements(self) -> int:
        return self.got.numel()

    @property
    def is_complete(self) -> bool:
        """Whether the sample names every wrong element."""
        return len(self.sample) == self.count

    def got_values(self) -> torch.Tensor:
        return take(self.got, self.sample)

    def want_values(self) -> torch.Tensor:
        return take(self.want, self.sample)


def where_wrong(
    got: torch.Tensor,
    want: torch.Tensor,
    wrong: Callable[[torch.Tensor, torch.Tensor, slice], torch.Tensor],
) -> Difference | None:
    """Look at both tensors chunk by chunk; `wrong` marks a chunk's wrong elements, flat."""
    count, first, last = 0, -1, -1
    sample: list[torch.Tensor] = []
    sampled = 0
    for start, got_chunk, want_chunk in _chunks(got, want):
        stretch = slice(start, start + got_chunk.numel())
        marked = wrong(got_chunk, want_chunk, stretch)
        if not _any(marked):
            continue
        found = marked.nonzero().flatten() + start
        first = int(found[0]) if first < 0 else first
        last = int(found[-1])
        count += len(found)
        if sampled < SAMPLED:
            kept = found[: SAMPLED - sampled].cpu()
            sample.append(kept)
            sampled += len(kept)
    if not count:
        return None
    return Difference(got, want, count, first, last, torch.cat(sample))


def exactly(got: torch.Tensor, want: torch.Tensor, stretch: slice) -> torch.Tensor:
    """Marks what differs in value; a NaN equals a NaN, and a bool is its byte."""
    if _same_bytes(got, want):
        return torch.zeros(got.shape, dtype=torch.bool, device=got.device)
    if got.dtype is torch.bool:
        return got.view(torch.uint8) != want.view(torch.uint8)
    different = got != want
    if got.is_floating_point() or got.is_complex():
        different &= ~(got.isnan() & want.isnan())
    return different


def take(x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """The elements at flat indices, on the CPU, whatever the strides of `x`."""
    if x.dtype is torch.bool:  # indexing would turn any byte that is not 0 into 1
        return take(x.view(torch.uint8), indices).view(torch.bool)
    if x.dim() == 0:
        return x.detach().reshape(1).cpu()[indices]
    coordinates = torch.unravel_index(indices.to(x.device), x.shape)
    return x.detach()[coordinates].cpu()


def index_text(flat: int, shape: torch.Size) -> str:
    """A flat index as the learner writes it: [3, 17]."""
    coordinates = []
    for extent in reversed(shape):
        coordinates.append(flat % extent)
        flat //= extent
    return "[" + ", ".join(str(place) for place in reversed(coordinates)) + "]"


def _same_bytes(got: torch.Tensor, want: torch.Tensor) -> bool:
    """A quick yes for large chunks on the CPU, eight bytes at a time."""
    if got.device.type != "cpu" or not (got.is_contiguous() and want.is_contiguous()):
        return False
    if got.nbytes % 8 or any(x.storage_offset() * x.itemsize % 8 for x in (got, want)):
        return False
    return bool(torch.equal(got.view(torch.int64), want.view(torch.int64)))


def _any(marked: torch.Tensor) -> bool:
    # On the CPU NumPy looks for a true value thirty times as fast as torch does.
    return bool(marked.numpy().any() if marked.device.type == "cpu" else marked.any())


def _chunks(
    got: torch.Tensor, want: torch.Tensor
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Pairs of flat pieces with the flat index that they start at."""
    if got.numel() <= CHUNK:
        yield 0, got.reshape(-1), want.reshape(-1)
        return
    row = got.numel() // got.shape[0]  # elements
    if row > CHUNK:
        for index in range(got.shape[0]):
            for start, got_piece, want_piece in _chunks(got[index], want[index]):
                yield index * row + start, got_piece, want_piece
        return
    rows = CHUNK // row
    for first in range(0, got.shape[0], rows):
        piece = slice(first, first + rows)
        yield first * row, got[piece].reshape(-1), want[piece].reshape(-1)
