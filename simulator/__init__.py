"""Runs PTX on NumPy: arrays in, arrays, counts and faults out.

Knows nothing of pytest or lessons.
"""

from simulator.faults import FaultKind, KernelFault
from simulator.instructions.rows import UnknownInstruction
from simulator.launching import Launched, Settings, launch
from simulator.observing.counters import Counters, Traffic
from simulator.reading.parse import PtxError, parse
from simulator.reading.ptx import Entry, Module, Parameter
from simulator.residency import DoesNotFit
from simulator.running.buffers import Buffer, Pointer

__all__ = [
    "Buffer",
    "Counters",
    "DoesNotFit",
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
