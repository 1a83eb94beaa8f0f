"""What NVRTC says about a file, told at the learner's line with a hint for the usual mistakes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from harness.launching.call_site import shown_path
from harness.launching.include_paths import package_of
from harness.telling.learner_error import LearnerError, labelled

_MOST_LINES = 12
_MESSAGE = re.compile(
    r"^(?P<file>[^\n(]*)\((?P<line>\d+)\): (?:catastrophic )?error: (?P<text>.+)$"
)
_AT_THE_END = re.compile(r"^At end of source: error: (?P<text>.+)$")
_MATCHING = re.compile(r"^kernel\.cu\((\d+)\): note #\d+-D: to match this")
_INSTANTIATED = re.compile(r"instantiation of .* at line (\d+)$")
_ASSEMBLER = re.compile(
    r"ptxas (?:error|fatal|application ptx input, line \d+; error)\s*: (?P<text>.+)$"
)
_PROGRAM = "kernel.cu"  # the name under which NVRTC knows the learner's file
_HOST_HEADERS = re.compile(
    r"^(c?stdio|c?stdlib|iostream|c?string|vector|c?math|c?assert|algorithm|random|utility|memory"
    r"|cuda_runtime|cuda|device_launch_parameters|torch/.*|c10/.*|ATen/.*)(\.h)?$"
)
_NUMBER_HEADERS = re.compile(r"^c?(stdint|float|limits|stddef)(\.h)?$")
_KNOWN_NAMES = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__launch_bounds__"),
    *("__syncthreads", "__syncwarp", "__threadfence", "__threadfence_block", "__activemask"),
    *("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"),
    *("__ballot_sync", "__any_sync", "__all_sync", "__match_any_sync", "__popc", "__ffs", "__ldg"),
    *("atomicAdd", "atomicMax", "atomicMin", "atomicCAS", "atomicExch"),
    *("fmaxf", "fminf", "expf", "__expf", "logf", "sqrtf", "rsqrtf", "fabsf", "tanhf"),
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error of the compiler's."""

    line: int | None  # in the learner's file
    column: int | None
    text: str
    file: str = _PROGRAM


class CompileError(LearnerError):
    """The learner's file does not compile."""

    def __init__(self, log: str, path: Path, source: str) -> None:
        self.log = log
        self.path = path
        self.complaints = complaints(log)
        self._report = _report(self.complaints, log, path, source)
        super().__init__(self._report.splitlines()[0])
        self.args = (self._report,)

    @property
    def learner_report(self) -> str:
        return self._report


def complaints(log: str) -> list[Complaint]:
    """Read the compiler's log; errors only, in its order."""
    found: list[Complaint] = []
    lines = log.splitlines()
    for number, line in enumerate(lines):
        message = _MESSAGE.match(line)
        if message:
            learners = message["file"] == _PROGRAM
            column = _caret(lines[number + 2]) if number + 2 < len(lines) else None
            at: int | None = int(message["line"])
            if not learners:  # inside a header: look for the learner's line that led there
                at, column = _instantiated_at(lines[number + 1 :]), None
            found.append(Complaint(at, column, message["text"], message["file"]))
        elif end := _AT_THE_END.match(line):
            opening = _MATCHING.match(lines[number + 1]) if number + 1 < len(lines) else None
            found.append(Complaint(int(opening[1]) if opening else None, None, end["text"]))
        elif "assembly aborted" in line:
            continue
        elif assembler := _ASSEMBLER.match(line.strip()):
            found.append(Complaint(None, None, assembler["text"]))
    return found


def _caret(line: str) -> int | None:
    """NVRTC indents source and caret by two."""
    return len(line) - 2 if line.strip() == "^" else None


def _instantiated_at(following: list[str]) -> int | None:
    for line in following:
        if _MESSAGE.match(line):
            return None
        if found := _INSTANTIATED.search(line):
            return int(found[1])
    return None


def _report(found: list[Complaint], log: str, path: Path, source: str) -> str:
    shown = shown_path(path)
    if not found:
        return "\n".join([f"{shown} does not compile", *log.splitlines()[: _MOST_LINES - 1]])
    source_lines = source.splitlines()
    first = found[0]
    lines = _told(first, shown, source_lines)
    advice = _hint(first, source_lines)
    if advice:
        lines += labelled("try", advice)
    others = found[1:]
    if others:
        lines.append("")
        room = _MOST_LINES - len(lines)
        if len(others) > room:
            others = others[: room - 1]
        lines += [f"then      {_place(c, shown)}: {_short(c.text)}" for c in others]
        left = len(found) - 1 - len(others)
        if left:
            lines.append(f"          and {left} more")
    return "\n".join(lines[:_MOST_LINES])


def _told(complaint: Complaint, shown: str, source_lines: list[str]) -> list[str]:
    lines = [f"{_place(complaint, shown)}: {_short(complaint.text)}"]
    if complaint.line is None or not 0 < complaint.line <= len(source_lines):
        return lines
    text = source_lines[complaint.line - 1]
    bare = text.lstrip()
    lines += ["", f"  {bare.rstrip()}"]
    if complaint.column is not None:
        before = text[: complaint.column - 1]
        lines.append("  " + " " * (len(before) - (len(text) - len(bare))) + "^")
    lines.append("")
    return lines


def _place(complaint: Complaint, shown: str) -> str:
    if complaint.line is None:
        return shown
    column = f":{complaint.column}" if complaint.column is not None else ""
    return f"{shown}:{complaint.line}{column}"


def _short(text: str) -> str:
    if "without execution space annotations" in text:
        return "this function is marked neither __global__ nor __device__"
    return text if len(text) <= 160 else text[:157] + "…"


def _hint(complaint: Complaint, source_lines: list[str]) -> str | None:
    for rule in _RULES:
        advice = rule(complaint, source_lines)
        if advice:
            return advice
    return None


def _missing_header(complaint: Complaint, _: list[str]) -> str | None:
    found = re.search(r'cannot open source file "([^"]+)"', complaint.text)
    if not found:
        return None
    header = found[1]
    if numbers := _NUMBER_HEADERS.match(header):
        return f"#include <cuda/std/c{numbers[1]}>, the device's own, or remove the include"
    if _HOST_HEADERS.match(header):
        return (
            "remove the include: this file is device code only, and printf, assert and the maths\n"
            "functions are built in"
        )
    package = package_of(header)
    if package:
        return f'pip install "{package}>=13.0,<14"    (it ships {header})'
    return f"is {header} a header of CUDA's? It lies in no include folder of this machine"


def _host_function(complaint: Complaint, source_lines: list[str]) -> str | None:
    if "without execution space annotations" not in complaint.text:
        return None
    line = source_lines[(complaint.line or 1) - 1] if source_lines else ""
    if re.search(r"\bmain\s*\(", line):
        return "remove main(): this file holds device code only; host.py launches the kernels"
    return "write __device__ before a function that kernels call, __global__ before a kernel"


def _launch_inside(complaint: Complaint, source_lines: list[str]) -> str | None:
    line = source_lines[complaint.line - 1] if complaint.line else ""
    if "<<<" not in line:
        return None
    return (
        "launch from host.py: kernel((blocks,), (threads,), (arguments…)); no <<< >>> in this file"
    )


def _undefined(complaint: Complaint, source_lines: list[str]) -> str | None:
    found = re.search(r'identifier "([^"]+)" is undefined', complaint.text)
    if not found:
        return None
    name = found[1]
    if name in ("half", "__half", "half2", "__half2"):
        return "add #include <cuda_fp16.h>"
    if name.startswith("__nv_bfloat16"):
        return "add #include <cuda_bf16.h>"
    if name in ("INFINITY", "NAN"):
        return f"{name} is a host header's: write __int_as_float({_BITS[name]})"
    if re.match(r"cuda[A-Z]|std$", name):
        return f"{name} belongs to the host; this file is device code only"
    written = set(re.findall(r"[A-Za-z_]\w+", "\n".join(source_lines))) - {name}
    close = get_close_matches(name, [*_KNOWN_NAMES, *sorted(written)], n=1, cutoff=0.75)
    if close:
        return f"did you mean {close[0]}?"
    return f"declare {name} before this line, or add it to the kernel's parameters"


_BITS = {"INFINITY": "0x7f800000", "NAN": "0x7fc00000"}


def _missing_mark(complaint: Complaint, source_lines: list[str]) -> str | None:
    found = re.match(r'expected an? "(.)"', complaint.text)
    if not found:
        return None
    if found[1] == "}":
        return "a { is never closed: count the braces of the function"
    if found[1] != ";" or complaint.line is None:
        return None
    before = source_lines[complaint.line - 1][: (complaint.column or 1) - 1]
    if before.strip():
        return "a ; is missing before the caret"
    for number in range(complaint.line - 1, 0, -1):
        text = source_lines[number - 1].split("//")[0].strip()
        if text:
            return f"a ; is missing at the end of line {number}: {text}"
    return None


def _return_type(complaint: Complaint, _: list[str]) -> str | None:
    if "must have a void return type" in complaint.text:
        return "a kernel returns nothing: declare it void and write results through a pointer"
    return None


def _read_only(complaint: Complaint, _: list[str]) -> str | None:
    if "must be a modifiable lvalue" in complaint.text:
        return "what is written here is const: an input, or no place in memory"
    return None


def _too_much_shared(complaint: Complaint, _: list[str]) -> str | None:
    if "uses too much shared data" in complaint.text:
        return (
            "a block gets 48 KiB of shared arrays of fixed size; more only as\n"
            "extern __shared__, sized by the launch's shared_mem"
        )
    return None


def _assembly(complaint: Complaint, _: list[str]) -> str | None:
    if "known instruction" in complaint.text or "modifier" in complaint.text:
        return "check the inline assembly (asm) of this file"
    return None


_RULES: tuple[Callable[[Complaint, list[str]], str | None], ...] = (
    _missing_header,
    _host_function,
    _launch_inside,
    _undefined,
    _missing_mark,
    _return_type,
    _read_only,
    _too_much_shared,
    _assembly,
)
