"""docs/faults.md: every kind of fault, a kernel that has it, and what a learner reads.

    python -m tests.simulator.programs.gallery

writes the page anew. The kernels are programs of this folder; the reports come from running them.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.launching.call_site import shown_path
from harness.launching.fault_report import FaultyLaunch, fault_report
from harness.launching.language import CUDA_CPP
from tests.simulator.programs.every import PROGRAMS
from tests.simulator.programs.gallery_entries import ENTRIES, NOTES, Entry
from tests.simulator.programs.program import Program
from tests.simulator.programs.running import Verdict, verdict
from tests.triton.programs.gallery import part as triton_part

PAGE = Path(__file__).resolve().parents[3] / "docs" / "faults.md"
COMMAND = "python -m tests.simulator.programs.gallery"

_INTRODUCTION = """# Faults, one by one

What the simulator finds in a kernel, and how it says so: for each kind a kernel that has it, the
report that you will read, what it means and what to do. Below them, the notes: what is legal, and
still worth knowing.

A race is found whether or not it did harm this time: two threads touch the same bytes, one of them
writes, and nothing in the kernel says who comes first. "No fault" speaks for the sizes and the
control flow that were run, and for no others.

A program that hardware would stop too is marked *traps*; all others a GPU lets slip, with a
wrong result now and then, or with none for years.

Faults of Triton kernels stand at the end: [Triton](#triton).

Written by `{command}` from the programs in `tests/simulator/programs/` and
`tests/triton/programs/`; do not edit by hand.
"""

_BEFORE_NOTES = """# Notes

A launch that ends well may still have something to say: `profile(...).notes`.
"""


def page() -> str:
    parts = [_INTRODUCTION.format(command=COMMAND)]
    for entry in ENTRIES:
        parts.append(_section(entry, report_of(entry)))
    parts.append(_BEFORE_NOTES)
    parts += [_section(entry, _note(entry)) for entry in NOTES]
    parts.append(triton_part())
    return "\n".join(parts)


def _section(entry: Entry, told: str) -> str:
    program = PROGRAMS[entry.program]
    traps = " *(traps)*" if entry.traps else ""
    return "\n".join(
        [
            f"## {entry.title}{traps}",
            "",
            entry.means,
            "",
            "```cuda",
            listing(entry, program).rstrip("\n"),
            "```",
            "```text",
            told,
            "```",
            "",
            f"**What to do.** {entry.cure}",
            "",
        ]
    )


def listing(entry: Entry, program: Program) -> str:
    """The kernel as a file of its own, without the marks that tests read."""
    lines = program.source.strip("\n").split("\n")
    if lines[0].startswith("// ") and lines[1:2] == [""]:  # what the whole file is about
        lines = [line for line in lines[1:] if not line.startswith("#include")]
    text = "\n".join(lines).strip("\n")
    text = re.sub(r" // (fault|first|second|both|any|origin|noted)$", "", text, flags=re.M)
    included = "".join(f"#include <{name}>\n" for name in entry.includes)
    return f"{included}\n{text}\n" if included else text + "\n"


def report_of(entry: Entry) -> str:
    """The text that a learner sees where the entry's kernel fails."""
    program = PROGRAMS[entry.program]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cu"
        found = _run(entry, program, path)
        assert found.fault is not None, f"{program.name} has no fault"
        written = CUDA_CPP.launch(program.kernel, _three(program.grid), _three(program.block))
        launch = FaultyLaunch(path, written, _call(program))
        return fault_report(found.fault, launch).replace(shown_path(path), path.name)


def _note(entry: Entry) -> str:
    program = PROGRAMS[entry.program]
    with TemporaryDirectory() as folder:
        found = _run(entry, program, Path(folder) / "kernel.cu")
        assert found.fault is None, f"{program.name}: {found.fault}"
        return "\n".join(found.notes)


def _run(entry: Entry, program: Program, path: Path) -> Verdict:
    path.write_text(listing(entry, program))
    return verdict(program, path)


def _call(program: Program) -> str:
    grid, block = _tuple(program.grid), _tuple(program.block)
    names = ", ".join(program.arguments) + ("," if len(program.arguments) == 1 else "")
    shared = f", shared_mem={program.shared_bytes}" if program.shared_bytes else ""
    return f"host.py:12    kernel({grid}, {block}, ({names}){shared})"


def _tuple(sizes: int | tuple[int, ...]) -> tuple[int, ...]:
    return sizes if isinstance(sizes, tuple) else (sizes,)


def _three(sizes: int | tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*_tuple(sizes), 1, 1)[:3]
    return x, y, z


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
    print(f"{PAGE.relative_to(PAGE.parents[1])}: {len(ENTRIES)} faults, {len(NOTES)} notes")
