"""Where a mark that is missing, or one too many, really stands: the compiler stumbles later."""

from dataclasses import replace

from harness.launching.compiler_log import Complaint
from harness.launching.kernel_source import without_comments

TOO_MANY = "a } too many"


def at_the_cause(found: list[Complaint], source: str) -> list[Complaint]:
    """The complaints, each at the line that a learner has to edit."""
    code = without_comments(source)
    brace = _surplus_brace(found, code)
    if brace is not None:
        return [Complaint(brace, None, TOO_MANY)]
    lines = code.splitlines()
    return [_where_the_semicolon_is_missing(complaint, lines) for complaint in found]


def _where_the_semicolon_is_missing(complaint: Complaint, code: list[str]) -> Complaint:
    """The end of the line before, where the compiler points at the first word of the next one."""
    if complaint.text != 'expected a ";"' or not complaint.line or complaint.line > len(code):
        return complaint
    if code[complaint.line - 1][: (complaint.column or 1) - 1].strip():
        return complaint
    for number in range(complaint.line - 1, 0, -1):
        text = code[number - 1].rstrip()
        if text:
            whole = text[-1] in ";{}:"
            return complaint if whole else replace(complaint, line=number, column=len(text) + 1)
    return complaint


def _surplus_brace(found: list[Complaint], code: str) -> int | None:
    """The line of a } that ends a function too early, or closes nothing."""
    stumbled = found[0].line if found else None
    if stumbled is None:
        return None
    depth, ended = 0, 0  # `ended`: the line on which the last function closed
    for number, line in enumerate(code.splitlines(), start=1):
        if number == stumbled and depth > 0:
            return None  # inside a function: another mistake
        for character in line:
            depth += (character == "{") - (character == "}")
            if depth < 0:
                return ended if ended and stumbled < number else number
            if depth == 0 and character == "}" and number < stumbled:
                ended = number
    return None
