"""What a launch and its faults are called in the learner's language: CUDA C++, unless another says.

A front end of another language derives from Language and hands an instance to the launch.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator import Vocabulary

Sizes = tuple[int, int, int]


class Language:
    """CUDA C++."""

    tiles = False  # it has threads, and shared memory of its own

    def words(self) -> "Vocabulary":
        from simulator import CUDA

        return CUDA

    def launch(self, kernel: str, grid: Sizes, block: Sizes) -> str:
        """How a launch is written: `vec_add <<<4, 256>>>`."""
        return f"{kernel} <<<{trimmed(grid)}, {trimmed(block)}>>>"


def trimmed(sizes: Sizes) -> str:
    """(4, 1, 1) is written 4."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return str(kept[0]) if len(kept) == 1 else f"({', '.join(map(str, kept))})"


CUDA_CPP = Language()
