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
    hints: list[Hint],
    seen: Collection[Key],
    unwritten: Collection[int] = (),
    task: int | None = None,
    level: int | None = None,
) -> Hint | None:
    """The hint to show: the first that nobody has seen, of a task that is not written yet."""
    if level is not None:
        wanted = [hint for hint in hints if hint.level == level and task in (None, hint.task)]
        return min(wanted, key=lambda hint: hint.task not in unwritten, default=None)
    fresh = [hint for hint in hints if hint.key not in seen and task in (None, hint.task)]
    return min(fresh, key=lambda hint: hint.task not in unwritten, default=None)
