"""What is measured: an entry's body in PTX, the columns it reads, what it writes.

A case is told to two machines. Both get the same text and the same columns.
"""

from dataclasses import dataclass

from simulator.instructions.documented_errors import Bound

LANES = 1 << 17  # results of an exact case
BLOCK = 256  # threads


@dataclass(frozen=True, slots=True)
class Case:
    """One opcode, or one way to use it.

    name       as the recording lists it: the opcode, and what tells it from others of its name
    row        what of the tables it measures: "fma f32", "cvt"
    bodies     PTX of one result for each lane; %a, %b, … hold the operands, %x, %y take results.
               Several bodies: the same opcode with other immediate operands.
    inputs     the column of each operand: a PTX type, or the name of a column and its type,
               "slot:u32"
    outputs    the PTX type of each result
    lanes      threads
    registers  further declarations
    whole      positions of parameters that are memory of all lanes: the body reads and writes them
               through %p0, %p1, …; an output among them begins as a column
    compare    "bits", or "old values": sorted by the slot that operand %a names
    """

    name: str
    row: str
    bodies: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    lanes: int = LANES
    bound: Bound | None = None
    registers: str = ""
    whole: tuple[int, ...] = ()
    compare: str = "bits"

    @property
    def results(self) -> int:
        return self.lanes * len(self.bodies)
