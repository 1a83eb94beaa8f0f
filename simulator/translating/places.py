"""Where an operand in brackets points, as an expression of generated code."""

from typing import TYPE_CHECKING

import numpy as np

from simulator.observing.events import Space
from simulator.reading.operands import address

if TYPE_CHECKING:
    from simulator.translating.generate import Generator


def base_and_offset(generator: "Generator", operand: str, space: Space) -> tuple[str, int]:
    """(an expression for the base address, the constant offset)."""
    where = address(operand)
    wide = space not in (Space.SHARED, Space.LOCAL)
    if generator.is_register(where.base):
        # As it is held, whatever its type: a view would be a new array, and what is known of
        # addresses is found again by the identity of theirs.
        return generator.variable(where.base), where.offset
    known = generator.address_constant(where.base)
    if known is not None:
        return generator.constant(np.uint32(known)), where.offset
    return generator.value(where.base, "u64" if wide else "u32"), where.offset
