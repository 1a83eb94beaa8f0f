"""The two machines that run an entry: a GPU through CuPy, and the simulator."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.opcodes.assembly import Assembled
from benchmarks.opcodes.cases import BLOCK, Case
from benchmarks.opcodes.entries import bytes_of
from simulator import Buffer, Pointer, Settings, launch, parse

Words = NDArray[Any]
# Of the simulator only the values are asked.
QUIET = Settings(faults=False, counters=False)


class Machine(Protocol):
    """Runs the cases of one module."""

    def load(self, assembled: Assembled) -> None: ...

    def run(self, number: int, case: Case, arrays: list[Words]) -> list[Words]:
        """Entry k<number> on the columns and outputs of a case; returns the outputs."""
        ...


class Simulated:
    def __init__(self) -> None:
        self._entries: dict[str, Any] = {}

    def load(self, assembled: Assembled) -> None:
        self._entries = dict(parse(assembled.text).entries)

    def run(self, number: int, case: Case, arrays: list[Words]) -> list[Words]:
        copies = [array.copy() for array in arrays]
        pointers = [Pointer(Buffer(f"p{k}", a.view(np.uint8))) for k, a in enumerate(copies)]
        grid = (case.lanes // BLOCK, 1, 1)
        launch(self._entries[f"k{number}"], grid, (BLOCK, 1, 1), pointers, settings=QUIET)
        return copies[len(case.inputs) :]


class Gpu:
    def __init__(self) -> None:
        import cupy

        self._cupy = cupy
        self._module: Any = None

    @property
    def architecture(self) -> str:
        return f"sm_{self._cupy.cuda.Device().compute_capability}"

    def load(self, assembled: Assembled) -> None:
        self._module = self._cupy.cuda.function.Module()
        self._module.load(assembled.cubin)

    def run(self, number: int, case: Case, arrays: list[Words]) -> list[Words]:
        function = self._module.get_function(f"k{number}")
        here = [self._cupy.asarray(array) for array in arrays]
        function((case.lanes // BLOCK,), (BLOCK,), tuple(here))
        return [self._cupy.asnumpy(array) for array in here[len(case.inputs) :]]


def blank_outputs(case: Case, inputs: list[Words]) -> list[Words]:
    """Arrays for the results, full of a value that is seldom right; memory of all lanes begins as
    the input column that stands for it: see `Case.whole`."""
    outputs = []
    for k, type_name in enumerate(case.outputs):
        size = bytes_of(type_name)
        position = k + len(case.inputs)
        if position in case.whole:
            begins = inputs[case.whole[0]]
            outputs.append(begins.copy())
        else:
            outputs.append(np.full(case.results, 0xA5A5A5A5A5A5A5A5 >> (64 - 8 * size), f"u{size}"))
    return outputs
