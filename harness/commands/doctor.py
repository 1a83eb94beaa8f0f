"""`lesson doctor`: what this machine is, what will run where on it, and what to mend first."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from rich.console import Console
from rich.text import Text


class Verdict(Enum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


_COLOURS = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "bold red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    verdict: Verdict
    subject: str
    said: str
    advice: str = ""  # what to do; every warning and problem has one


def ok(subject: str, said: str) -> Finding:
    return Finding(Verdict.OK, subject, said)


def warning(subject: str, said: str, advice: str) -> Finding:
    return Finding(Verdict.WARNING, subject, said, advice)


def problem(subject: str, said: str, advice: str) -> Finding:
    return Finding(Verdict.PROBLEM, subject, said, advice)


Check = Callable[[Path], Iterable[Finding]]  # from the root of the checkout


def examine(checks: Iterable[Check], root: Path) -> Iterator[Finding]:
    """Run the checks in turn; one that fails itself becomes a problem, and the rest still run."""
    for check in checks:
        try:
            yield from check(root)
        except Exception as error:  # a doctor that dies helps nobody
            name = check.__name__.replace("_", " ")
            yield problem(
                name,
                f"this check itself failed: {type(error).__name__}: {_first_line(error)}",
                "Please report it, with this whole output.",
            )


def show(findings: Iterable[Finding], console: Console) -> int:
    """Print each finding as it is found; the exit status."""
    counts = dict.fromkeys(Verdict, 0)
    for finding in findings:
        counts[finding.verdict] += 1
        line = Text(f"{finding.verdict.value:<8} ", style=_COLOURS[finding.verdict])
        line.append(f"{finding.subject:<12} ", style="bold")
        line.append(finding.said, style="default")
        console.print(line, soft_wrap=True)
        for advice in finding.advice.splitlines():
            console.print(Text(" " * 22 + advice), soft_wrap=True)
    problems, warnings = counts[Verdict.PROBLEM], counts[Verdict.WARNING]
    console.print()
    if problems:
        console.print(f"{_plural(problems, 'problem')} to mend, {_plural(warnings, 'warning')}")
        return 1
    console.print(f"Ready, with {_plural(warnings, 'warning')}" if warnings else "Ready")
    return 0


def doctor_command(root: Path) -> int:
    from harness.commands.doctor_checks import checks

    return show(examine(checks(), root), Console(highlight=False))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
