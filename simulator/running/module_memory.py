"""The module's own arrays: `__device__` and `__constant__` variables, tables, printf's texts.

They live as long as the module, as on a GPU: one launch finds what the one before left there. Each
has an address of its own for good, so that an address kept in one of them stays true. A fault ends
a GPU's context and with it the module; here too, they begin anew after one.
"""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from simulator.reading.ptx import Outside
from simulator.running.buffers import AddressMap, Buffer

_MADE: WeakKeyDictionary[Outside, dict[str, Buffer]] = WeakKeyDictionary()


def place_module_memory(outside: Outside, addresses: AddressMap) -> dict[str, int]:
    """Give a launch the module's arrays; returns the address of each."""
    buffers = _MADE.get(outside)
    first = buffers is None
    if buffers is None:
        buffers = _MADE[outside] = {n: _buffer(outside, n) for n in outside.variables}
    found = {name: addresses.lasting(k, b) for k, (name, b) in enumerate(buffers.items())}
    for name, variable in outside.variables.items() if first else ():
        for pointer in variable.pointers:
            # Of what no file defines, as a pure virtual function: a null pointer.
            base = found.get(pointer.name) or outside.functions.get(pointer.name, 0)
            address = (base + pointer.offset).to_bytes(8, "little")
            place = buffers[name].data[pointer.at : pointer.at + 8]
            place[:] = np.frombuffer(address, np.uint8)
    return found


def forget_module_memory(outside: Outside) -> None:
    """The next launch begins with the initial values."""
    _MADE.pop(outside, None)


def _buffer(outside: Outside, name: str) -> Buffer:
    variable = outside.variables[name]
    data: Any = np.zeros(max(1, variable.size), np.uint8)
    data[: len(variable.initial)] = np.frombuffer(variable.initial, np.uint8)
    return Buffer(name, data, read_only=variable.space == "const")
