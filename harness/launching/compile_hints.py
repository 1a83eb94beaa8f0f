"""What to try when a kernel does not compile: one rule for each usual mistake."""

import re
from collections.abc import Callable
from difflib import get_close_matches

from harness.launching.compiler_log import Complaint
from harness.launching.include_paths import package_of
from harness.launching.punctuation import TOO_MANY

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


def hint(complaint: Complaint, source_lines: list[str]) -> str | None:
    """The advice of the first rule that fits."""
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
    line = source_lines[complaint.line - 1]
    code = line.split("//")[0].rstrip()
    if (complaint.column or 1) > len(code):
        return f"a ; is missing at the end of line {complaint.line}: {code.strip()}"
    return (
        "a ; is missing before the caret" if line[: (complaint.column or 1) - 1].strip() else None
    )


def _surplus_brace(complaint: Complaint, source_lines: list[str]) -> str | None:
    if complaint.text != TOO_MANY:
        return None
    return (
        f"count the braces above: with the }} of line {complaint.line} more are closed than were "
        "opened"
    )


def _built_in_vector(complaint: Complaint, source_lines: list[str]) -> str | None:
    """threadIdx and its kin stand for three numbers; one of them is wanted."""
    if not re.search(r"\b(uint3|dim3)\b", complaint.text) or complaint.line is None:
        return None
    line = source_lines[complaint.line - 1]
    whole = re.findall(r"\b(threadIdx|blockIdx|blockDim|gridDim)\b(?!\s*\.)", line)
    if not whole:
        return None
    names = list(dict.fromkeys(whole))
    wanted = " and ".join(f"{name}.x" for name in names)
    return f"use {wanted}: {names[0]} stands for three numbers, .x, .y and .z"


def _python_comment(complaint: Complaint, _: list[str]) -> str | None:
    if complaint.text in ("unrecognized preprocessing directive", '"#" not expected here'):
        return "comments are // in CUDA C++; # is Python's"
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
    _surplus_brace,
    _built_in_vector,
    _python_comment,
    _return_type,
    _read_only,
    _too_much_shared,
    _assembly,
)
