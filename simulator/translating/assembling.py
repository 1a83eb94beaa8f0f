"""What NVIDIA's assembler leaves out of a body, where counters show it.

A shuffle whose result nobody reads: Triton's scans write some, and Nsight Compute counts none.
"""

from collections.abc import Sequence

from simulator.reading.operands import read_and_written
from simulator.reading.ptx import Function, Instruction


def left_out(function: Function, instructions: Sequence[Instruction]) -> frozenset[int]:
    """The indices of instructions that are not there on a GPU; of a function's own or of all."""
    read = {name for i in instructions for name in read_and_written(function, i)[0]}
    return frozenset(
        i.index
        for i in instructions
        if i.parts[0] == "shfl" and not read & read_and_written(function, i)[1]
    )
