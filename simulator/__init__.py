"""Runs PTX on NumPy: arrays in, arrays, counts and faults out.

Knows nothing of pytest or lessons.
"""

from simulator.buffers import Buffer, Pointer
from simulator.counters import Counters, Traffic
from simulator.faults import FaultKind, KernelFault
from simulator.launch import Launched, Settings, launch
from simulator.parse import PtxError, parse
from simulator.ptx import Entry, Module, Parameter
from simulator.rows import UnknownInstruction

__all__ = [
    "Buffer",
    "Counters",
    "Entry",
    "FaultKind",
    "KernelFault",
    "Launched",
    "Module",
    "Parameter",
    "Pointer",
    "PtxError",
    "Settings",
    "Traffic",
    "UnknownInstruction",
    "launch",
    "parse",
]
