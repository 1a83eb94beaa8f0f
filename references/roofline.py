"""The two sides of a roofline: what a kernel asks for, and what a GPU can give.

`moved` is the truth about a chain of ops that share what they have read and made.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from references.hardware import A100, H100, H100_PCIE, H200, MEASURED_H200, Gpu


@dataclass(frozen=True, slots=True)
class Kernel:
    """What one kernel, or several counted as one, moves and computes."""

    name: str
    bytes: int  # of GPU memory, read and written
    flops: int  # an addition and a multiplication are one each
    dtype: str = "bf16"  # of the numbers it computes with: a key of Hardware.flops_per_second
    launches: int = 1


@dataclass(frozen=True, slots=True)
class Op:
    """One step of a chain: which tensors it reads, which it makes, and the work it does.

    A tensor is made once, before it is read; an op may read the same one twice.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: Mapping[str, int] = field(hash=False)  # bytes of each tensor that it reads or makes
    flops: int
    dtype: str = "fp32"


@dataclass(frozen=True, slots=True)
class Hardware:
    """What one GPU can do at most in a second, and what a launch costs it."""

    name: str
    bytes_per_second: float  # of GPU memory
    flops_per_second: Mapping[str, float] = field(hash=False)  # by dtype: "fp32", "bf16", "fp8"
    launch_seconds: float
    memory_bytes: int
    sms: int


LAUNCH_SECONDS = MEASURED_H200.launch_microseconds * 1e-6


def from_datasheet(gpu: Gpu) -> Hardware:
    """The limits that the vendor prints, for dense matrices; a launch as measured on an H200."""
    rates = {"fp32": gpu.fp32_teraflops * 1e12, "bf16": gpu.bf16_teraflops * 1e12}
    if gpu.fp8_teraflops is not None:
        rates["fp8"] = gpu.fp8_teraflops * 1e12
    return Hardware(
        name=f"{gpu.name}, datasheet",
        bytes_per_second=gpu.memory_gigabytes_per_second * 1e9,
        flops_per_second=rates,
        launch_seconds=LAUNCH_SECONDS,
        memory_bytes=gpu.memory_gigabytes * 10**9,
        sms=gpu.sms,
    )


H200_DATASHEET = from_datasheet(H200)
H100_DATASHEET = from_datasheet(H100)
H100_PCIE_DATASHEET = from_datasheet(H100_PCIE)
A100_DATASHEET = from_datasheet(A100)

# What a copy, cuBLAS and an empty launch reached on one H200: no kernel meets a datasheet.
H200_MEASURED = Hardware(
    name="H200 SXM, measured",
    bytes_per_second=MEASURED_H200.copy_gigabytes_per_second * 1e9,
    flops_per_second={
        "fp32": MEASURED_H200.fp32_teraflops * 1e12,
        "bf16": MEASURED_H200.bf16_teraflops * 1e12,
    },
    launch_seconds=LAUNCH_SECONDS,
    memory_bytes=H200.memory_gigabytes * 10**9,
    sms=H200.sms,
)


def moved(chain: Sequence[Op], keep: Collection[str] = ()) -> int:
    """Bytes that a kernel moves that does the whole chain and never forgets a tensor it has held.

    It runs op by op: what is not there yet is fetched; what was made here and is nobody's input
    any more is written at the end, as are the tensors in `keep`.
    """
    held: set[str] = set()
    made: dict[str, int] = {}
    used: set[str] = set()
    bytes_ = 0
    for op in chain:
        for name in op.inputs:
            if name not in held:
                bytes_ += op.sizes[name]
                held.add(name)
            used.add(name)
        for name in op.outputs:
            made[name] = op.sizes[name]
            held.add(name)
    return bytes_ + sum(made[name] for name in made if name not in used or name in keep)
