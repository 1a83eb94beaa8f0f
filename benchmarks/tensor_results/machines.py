"""The two machines that run an entry of some PTX: a GPU through CuPy, and the simulator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator import Buffer, Pointer, launch, parse

Array = NDArray[Any]


class Simulated:
    def run(
        self,
        text: str,
        name: str,
        grid: tuple[int, int],
        threads: int,
        arrays: list[Array],
        numbers: list[int],
        shared_bytes: int = 0,
    ) -> list[Array]:
        """The arrays as they are afterwards."""
        copies = [np.ascontiguousarray(array).copy() for array in arrays]
        pointers = [
            Pointer(Buffer(f"p{k}", array.reshape(-1).view(np.uint8), array.dtype))
            for k, array in enumerate(copies)
        ]
        arguments = [*pointers, *(np.int32(number) for number in numbers)]
        entry = parse(text).entries[name]
        launch(entry, (*grid, 1), (threads, 1, 1), arguments, shared_bytes)
        return copies


class Gpu:
    def __init__(self) -> None:
        import cupy

        self._cupy = cupy
        self._modules: dict[str, Any] = {}

    def run(
        self,
        text: str,
        name: str,
        grid: tuple[int, int],
        threads: int,
        arrays: list[Array],
        numbers: list[int],
        shared_bytes: int = 0,
    ) -> list[Array]:
        if text not in self._modules:
            self._modules[text] = self._cupy.cuda.function.Module()
            self._modules[text].load(text.encode() + b"\0")
        function = self._modules[text].get_function(name)
        here = [self._cupy.asarray(np.ascontiguousarray(array)) for array in arrays]
        arguments = (*here, *(np.int32(number) for number in numbers))
        function((*grid, 1), (threads, 1, 1), arguments, shared_mem=shared_bytes)
        return [self._cupy.asnumpy(array) for array in here]


Machine = Simulated | Gpu
