"""vabsdiff2 and vabsdiff4: distances of the halves or bytes of two words, apart or added up.

The compiler makes them of `__vabsdiffu4`, `__vsadu4` and their like. They are the only packed video
instructions that it makes for compute capability 8.0; the others are sequences of plain ones.
"""

import numpy as np

from simulator.instructions.rows import Operation, Spelling, Unit
from simulator.types import DTYPES, Values

_WIDTH = {"vabsdiff2": 16, "vabsdiff4": 8}  # bits of a part


def absolute_differences(spelling: Spelling) -> Operation:
    """`vabsdiff4.dtype.atype.btype{.sat|.add} d, a, b, c`: the parts of d are |a - b|.

    .sat clamps each to a part of dtype, otherwise its low bits stay; .add gives c + their sum.
    """
    signs = set(spelling.types) <= {"u32", "s32"}
    if len(spelling.types) != 3 or not signs or not spelling.modifiers <= {"sat", "add"}:
        raise spelling.unknown()
    if len(spelling.modifiers) > 1:
        raise spelling.unknown()
    bits = _WIDTH[spelling.name]
    kinds = ["i" if name == "s32" else "u" for name in spelling.types]
    part, of_a, of_b = (np.dtype(f"{kind}{bits // 8}") for kind in kinds)
    adds, clamps = "add" in spelling.modifiers, "sat" in spelling.modifiers

    def compute(a: Values, b: Values, c: Values) -> Values:
        total = c.astype(np.int64) if adds else np.int64(0)
        for shift in range(0, 32, bits):
            x, y = (
                (word >> np.uint32(shift)).astype(dtype).astype(np.int64)
                for word, dtype in ((a, of_a), (b, of_b))
            )
            distance = np.absolute(x - y)
            if clamps:
                distance = np.minimum(distance, np.iinfo(part).max)
            if not adds:
                distance = (distance & np.int64((1 << bits) - 1)) << np.int64(shift)
            total = total + distance
        return total.astype(np.uint32).view(DTYPES[spelling.types[0]])

    return Operation(compute, ("b32", "b32", "b32"), (spelling.types[0],), Unit.ALU)
