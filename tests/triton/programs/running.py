"""Launch a program with given settings, and read what is said of it."""

import re
from dataclasses import dataclass
from typing import Any

import harness.triton_driver  # noqa: F401  (registers the driver)
from harness.judging.poison import Poison
from harness.launching import launch_settings
from simulator import KernelFault
from tests.triton.programs.program import Program


@dataclass(frozen=True)
class Verdict:
    """fault: None where there was none; arguments: as the launch left them."""

    fault: KernelFault | None
    arguments: dict[str, Any]

    @property
    def report(self) -> str:
        return self.fault.learner_report


def verdict(program: Program, **settings: Any) -> Verdict:
    return verdict_of(program.kernel, program, **settings)


def verdict_of(kernel: Any, program: Program, **settings: Any) -> Verdict:
    """Launch a program's kernel, or its twin in another file, on fresh arguments.

    torch.empty is filled as in a lesson's test.
    """
    changes = settings | dict(program.settings)
    with Poison(), launch_settings.changed(**changes):
        arguments = program.arguments()
        try:
            kernel[program.grid](**arguments, **program.options)
        except KernelFault as fault:
            return Verdict(fault, arguments)
    return Verdict(None, arguments)


def lines_of(report: str) -> set[int]:
    """The lines that a report names in its first paragraph, but for those of calls."""
    head = re.sub(r"\(called from [^)]*\)", "", report.split("\n\n")[0])
    return {int(line) for line in re.findall(r"\bline (\d+)", head)}


def shown_lines(report: str, file: str) -> list[int]:
    """The lines of the program's file that a report shows, in its order."""
    return [int(line) for line in re.findall(rf"{re.escape(file)}:(\d+)", report)]
