"""Generated code with the values that it names: to run it now, or in another process."""

import marshal
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from simulator.instructions.opcodes import operation

BlockFunction = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Generated:
    """The code of the basic blocks of one function.

    code        defines block_0, block_1, …
    constants   what the code names, but for
    operations  what instructions compute: name -> (opcode, destinations). Functions made of
                functions cannot be kept as bytes; the opcode tells how to make them again
    """

    code: CodeType
    constants: dict[str, Any]
    operations: dict[str, tuple[str, int]]

    def functions(self, blocks: int) -> list[BlockFunction]:
        """The function of each basic block, in their order."""
        scope = {"np": np} | self.constants
        for name, (opcode, destinations) in self.operations.items():
            scope[name] = operation(opcode, destinations).compute
        exec(self.code, scope)
        return [scope[f"block_{n}"] for n in range(blocks)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (marshal.dumps(self.code), self.constants, self.operations)


def _loaded(
    code: bytes, constants: dict[str, Any], operations: dict[str, tuple[str, int]]
) -> Generated:
    return Generated(marshal.loads(code), constants, operations)
