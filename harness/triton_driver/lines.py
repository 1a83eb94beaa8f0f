"""Which files of a compiled kernel are the learner's: all but Triton's own."""

from functools import cache
from pathlib import Path


def is_learners(file: str) -> bool:
    """Of a file as the PTX names it."""
    return _triton() not in Path(file).parents


@cache
def _triton() -> Path:
    import triton

    return Path(triton.__file__).parent
