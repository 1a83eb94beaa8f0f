"""What a CUDA error means for the kernel that caused it."""

import re
from collections.abc import Sequence
from pathlib import Path

from harness.launching.call_site import CallSite, call_site
from harness.launching.fault_report import source_line
from harness.launching.launch_shape import LaunchShape
from harness.telling.learner_error import LaunchError, LearnerError

_MEANINGS = {
    "illegal memory access": "a thread read or wrote outside of every tensor",
    "misaligned address": "an access does not start at a multiple of its size",
    "device-side assert": "an assert in the kernel failed",
    "unspecified launch failure": "the kernel broke off: a wild address, as a rule",
    "illegal instruction": "the kernel executed a trap or what this GPU cannot do",
    "illegal barrier": "a barrier was used where it must not be",
    "launch timed out": "the kernel ran longer than the display's watchdog allows",
}
_EXACT = "pytest --device cpu on the same test: the simulator names thread, index and line"


# What ends the CUDA context, in CUDA's, CuPy's and torch's spelling: the launch before did it.
# Running out of memory is none of these.
_ENDS_THE_CONTEXT = re.compile(
    r"illegal memory access|illegal address|misaligned address|illegal instruction|illegal barrier"
    r"|invalid program counter|invalid address space|unspecified launch failure|launch timed out"
    r"|hardware stack error|device-side assert"
    r"|(?:cudaError|CUDA_ERROR_)_?(?:Illegal|Misaligned|Launch_?Fail|Launch_?Timeout|Assert)",
    re.IGNORECASE,
)


class GpuFault(LearnerError):
    """A kernel died on the GPU; the CUDA context of this process is lost with it."""


def async_error(error: BaseException, launches: Sequence[tuple[str, Path]]) -> GpuFault:
    """Name the kernel that must have done it, or the last few that may have; with their files."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    meaning = next((m for key, m in _MEANINGS.items() if key in text.lower()), None)
    names = list(dict.fromkeys(kernel for kernel, _ in launches))
    who = names[0] if len(names) == 1 else "one of " + ", ".join(names)
    where = "\n".join([source_line(launches[-1][1], None), str(call_site())])
    return GpuFault(
        f"{who} failed on the GPU: {text}" + (f" ({meaning})" if meaning else ""),
        where=where,
        expected="every access inside the tensors that were passed",
        advice=_EXACT,
    )


def is_sticky(error: BaseException) -> bool:
    """Whether CUDA says that a kernel died: nothing more can run in this process's context."""
    return isinstance(error, RuntimeError) and bool(_ENDS_THE_CONTEXT.search(str(error)))


def refused_launch(
    error: BaseException, kernel: str, shape: LaunchShape, registers: int
) -> LaunchError:
    """The driver did not take the launch."""
    site: CallSite = call_site()
    text = str(error)
    threads = shape.block[0] * shape.block[1] * shape.block[2]
    if "OUT_OF_RESOURCES" in text:
        return LaunchError(
            f"{kernel}: {threads:,} threads × {registers} registers do not fit a processor",
            where=str(site),
            expected="at most 65,536 registers a block",
            advice=f"smaller blocks, or __launch_bounds__({threads}) on the kernel",
        )
    return LaunchError(
        f"{kernel}: CUDA refuses the launch: {text}",
        where=str(site),
        expected="a grid, a block and shared memory that this GPU has",
        advice=_EXACT,
    )
