"""What to say when a file has no kernel of the name that the learner asked for."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from harness.launching.call_site import shown_path
from harness.launching.fault_report import source_line
from harness.launching.kernel_source import line_of, without_comments
from harness.launching.ptx_entries import source_name
from harness.telling.learner_error import LaunchError


def missing_kernel(name: str, path: Path, source: str, entries: Iterable[str]) -> LaunchError:
    """Tell a misspelling from a missing `extern "C"`, a template and an empty file."""
    kernels = {entry: source_name(entry) for entry in entries}
    shown = shown_path(path)
    if name in kernels.values():
        return LaunchError(
            f'the kernel {name} is not declared extern "C"',
            where=source_line(path, line_of(source, name)),
            expected="a plain name: C++ adds the parameters' types to it, and no lookup finds it",
            advice=_declaration(source, name),
        )
    callable_now = sorted(plain or entry for entry, plain in kernels.items())
    if re.search(rf"\btemplate\b[^;{{}}]*\b__global__\b[^;{{}}]*\b{re.escape(name)}\s*\(", source):
        return LaunchError(
            f"the kernel {name} is a template; only finished kernels can be launched",
            where=source_line(path, line_of(source, name)),
            expected='an extern "C" kernel that calls a __device__ template',
            advice=f'extern "C" __global__ void {name}_float(…) {{ … }}',
        )
    if not callable_now:
        return LaunchError(
            f"{shown} has no kernel {name}: it has no kernel at all",
            where=source_line(path, None),
            expected=f'extern "C" __global__ void {name}(…)',
            advice="did a comment or #if swallow the code?",
        )
    close = get_close_matches(name, callable_now, n=1, cutoff=0.5)
    return LaunchError(
        f"{shown} has no kernel {name}",
        where=source_line(path, line_of(source, close[0]) if close else None),
        expected="one of " + ", ".join(callable_now),
        advice=f"did you mean {close[0]}?" if close else "the name as it stands in the file",
    )


def _declaration(source: str, name: str) -> str:
    """The learner's own declaration with extern "C" in front."""
    found = re.search(
        rf"(?:static\s+|inline\s+)*(__global__[^;{{}}]*?\b{re.escape(name)}\s*\([^{{;]*)",
        without_comments(source),
    )
    if not found:
        return f'extern "C" __global__ void {name}(…)'
    return f'extern "C" {" ".join(found[1].split())}'
