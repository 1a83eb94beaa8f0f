"""What a light reading of a .cu file tells: its kernels, their parameters' names, its headers.

The compiler alone decides types. Nothing here is trusted for more than a message or a question.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
_KEPT_TEXT = re.compile(r'"(?:C|[\w./+-]+\.\w+)"$')  # of extern "C" and of includes
_KERNEL = re.compile(
    r"__global__\s+(?:void\s+)?(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:void\s+)?([A-Za-z_]\w*)\s*\("
)
_TEMPLATE = re.compile(r"template\s*<[^;{}]*>\s*$")
_QUOTED_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


@dataclass(frozen=True, slots=True)
class Declared:
    """One parameter as the learner wrote it."""

    name: str  # "a"
    text: str  # "const float* a"


def without_comments(source: str) -> str:
    """The source with comments blanked and lines kept; the names of headers and "C" stay."""

    def blank(found: re.Match[str]) -> str:
        text = found[0]
        return text if _KEPT_TEXT.match(text) else re.sub(r"[^\n]", " ", text)

    return _COMMENT_OR_TEXT.sub(blank, source)


def kernels_in(source: str) -> tuple[str, ...]:
    """The names of the kernels that are no templates, in order."""
    code = without_comments(source)
    return tuple(
        dict.fromkeys(
            found[1]
            for found in _KERNEL.finditer(code)
            if not _TEMPLATE.search(code[: found.start()].rstrip())
        )
    )


def line_of(source: str, kernel: str) -> int | None:
    """The line on which a kernel's name is declared."""
    code = without_comments(source)
    for found in _KERNEL.finditer(code):
        if found[1] == kernel:
            return code.count("\n", 0, found.start(1)) + 1
    return None


def parameters_of(source: str, kernel: str) -> tuple[Declared, ...]:
    """A kernel's parameters as written; empty where they cannot be read."""
    code = without_comments(source)
    for found in _KERNEL.finditer(code):
        if found[1] == kernel:
            texts = _split(code, found.end())
            if any("#" in text for text in texts):  # directives between them: not for us to read
                return ()
            return tuple(_declared(text) for text in texts)
    return ()


def local_headers(source: str, folder: Path) -> dict[str, str]:
    """Headers beside the file that it includes in quotes, by name: handed to NVRTC as text."""
    found: dict[str, str] = {}
    waiting = [source]
    while waiting:
        for name in _QUOTED_INCLUDE.findall(without_comments(waiting.pop())):
            path = folder / name
            if name not in found and path.is_file():
                found[name] = path.read_text(encoding="utf-8", errors="replace")
                waiting.append(found[name])
    return found


def _split(code: str, start: int) -> list[str]:
    """The texts between commas, from just behind the opening bracket to the closing one."""
    depth, texts, current = 1, [], ""
    for character in code[start:]:
        depth += character in "([{<"
        depth -= character in ")]}>"
        if depth == 0:
            break
        if character == "," and depth == 1:
            texts.append(current)
            current = ""
        else:
            current += character
    texts.append(current)
    return [" ".join(text.split()) for text in texts if text.strip() not in ("", "void")]


def _declared(text: str) -> Declared:
    plain = re.sub(r"\[[^\]]*\]|=.*$", "", text)
    words = re.findall(r"[A-Za-z_]\w*", plain)
    text = re.sub(r"\s*\b__restrict__\b|\b__grid_constant__\b\s*", "", text)
    text = re.sub(r"\s+(?=[*&])", "", text)
    text = re.sub(r"([*&])(?=\w)", r"\1 ", text)
    return Declared(words[-1] if words else "", text)
