"""Runs PTX on NumPy: arrays in, arrays, counts and faults out.

Knows nothing of pytest or lessons.
"""

from simulator.faults import FaultKind, KernelFault
from simulator.instructions.rows import UnknownInstruction
from simulator.launching import Launched, launch
from simulator.observing.counters import Counters, Traffic
from simulator.reading.lines import CallPath, Frame, frames_of
from simulator.reading.parse import PtxError, parse
from simulator.reading.ptx import Entry, Module, Parameter
from simulator.residency import DoesNotFit
from simulator.running.buffers import AddressMap, Buffer, Pointer
from simulator.settings import Settings
from simulator.vocabulary import CUDA, Vocabulary

__all__ = [
    "CUDA",
    "AddressMap",
    "Buffer",
    "CallPath",
    "Counters",
    "DoesNotFit",
    "Entry",
    "FaultKind",
    "Frame",
    "KernelFault",
    "Launched",
    "Module",
    "Parameter",
    "Pointer",
    "PtxError",
    "Settings",
    "Traffic",
    "UnknownInstruction",
    "Vocabulary",
    "frames_of",
    "launch",
    "parse",
]
