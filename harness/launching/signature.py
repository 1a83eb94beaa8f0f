"""What a kernel declares: each parameter's name, C++ type and size.

Types and constness come from the compiler, sizes from the PTX, names from the source text (for
messages only).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.launching.demangle import CType, DemangleError, parameter_types
from harness.launching.kernel_source import parameters_of


class _Sized(Protocol):
    @property
    def bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class KernelParameter:
    name: str  # "a"; empty where the source does not tell
    index: int  # 0 .. parameters - 1
    bytes: int
    type: CType | None  # None where the compiler did not tell
    text: str  # "const float* a", as a message shows it

    @property
    def shown(self) -> str:
        return f"argument {self.index + 1}" + (f" ({self.name})" if self.name else "")

    @property
    def pointer(self) -> bool | None:
        """Whether it takes an address; None where nothing tells."""
        if self.type is not None:
            return self.type.pointee is not None
        return False if self.bytes != 8 else None

    @property
    def read_only(self) -> bool:
        return bool(self.type and self.type.pointee and self.type.pointee.const)


@dataclass(frozen=True, slots=True)
class Signature:
    kernel: str
    parameters: tuple[KernelParameter, ...]

    def __str__(self) -> str:
        return f"{self.kernel}({', '.join(p.text for p in self.parameters)})"


def signature_of(
    kernel: str, source: str, entry_parameters: Sequence[_Sized], mangled: Mapping[str, str]
) -> Signature:
    """Join what compiler, PTX and source say about one kernel."""
    count = len(entry_parameters)
    types: Sequence[CType | None] = [None] * count
    if kernel in mangled:
        try:
            told = parameter_types(mangled[kernel])
        except (DemangleError, IndexError):  # a type beyond our reader: sizes still hold
            told = ()
        if len(told) == count:
            types = told
    declared = parameters_of(source, kernel)
    if len(declared) != count:
        declared = ()
    parameters = []
    for index, sized in enumerate(entry_parameters):
        name = declared[index].name if declared else ""
        type_ = types[index]
        text = declared[index].text if declared else str(type_ or f"{sized.bytes} bytes")
        parameters.append(KernelParameter(name, index, sized.bytes, type_, text))
    return Signature(kernel, tuple(parameters))
