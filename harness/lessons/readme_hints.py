"""The hints folded into a lesson's README, given one at a time.

A hint stands in the README as

    <details><summary>Hint 1 · task 2</summary>
    What would thread 31 read here?
    </details>

with levels that go from a question, over an idea, to nearly the code.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

_HINT = re.compile(
    r"<details>\s*<summary>\s*Hint\s+(?P<level>\d+)\s*[·:,–-]\s*task\s+(?P<task>\d+)"
    r"(?P<rest>[^<]*)</summary>(?P<text>.*?)</details>",
    re.IGNORECASE | re.DOTALL,
)

Key = tuple[int, int]  # task, level


@dataclass(frozen=True, slots=True)
class Hint:
    task: int
    level: int
    text: str

    @property
    def key(self) -> Key:
        return self.task, self.level


def hints_of(readme: str) -> list[Hint]:
    """The hints of a README, by task and then by level."""
    found = [
        Hint(int(match["task"]), int(match["level"]), match["text"].strip())
        for match in _HINT.finditer(readme)
    ]
    return sorted(found, key=lambda hint: hint.key)


def next_hint(
    hints: list[Hint], seen: Collection[Key], task: int | None = None, level: int | None = None
) -> Hint | None:
    """The first hint of a task (None: of any) that was not read; with `level` that one."""
    wanted = [hint for hint in hints if task in (None, hint.task)]
    if level is not None:
        return next((hint for hint in wanted if hint.level == level), None)
    return next((hint for hint in wanted if hint.key not in seen), None)
