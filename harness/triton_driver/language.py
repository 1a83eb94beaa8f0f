"""How Triton's launches and faults are told."""

from typing import TYPE_CHECKING

from harness.launching.language import Language, Sizes, trimmed

if TYPE_CHECKING:
    from simulator import Vocabulary

_WARP = 32


class Triton(Language):
    tiles = True

    def words(self) -> "Vocabulary":
        from harness.triton_driver.words import TRITON

        return TRITON

    def launch(self, kernel: str, grid: Sizes, block: Sizes) -> str:
        """How a launch is written: `softmax[(4,)], num_warps=4`."""
        sizes = trimmed(grid)
        grid_text = sizes if sizes.startswith("(") else f"({sizes},)"
        return f"{kernel}[{grid_text}], num_warps={block[0] // _WARP}"


TRITON = Triton()
