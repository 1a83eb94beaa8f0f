"""The exception that teaches: what happened, where, what was expected, what to try.

`learner_report` is the whole text that a learner needs to see; the plugin prints it in place of a
traceback through our own code.
"""


class LearnerError(Exception):
    """A mistake that the learner can mend, told in four parts."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        advice: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.expected = expected
        self.advice = advice
        super().__init__(self.learner_report)

    @property
    def learner_report(self) -> str:
        return four_parts(self.what, self.where, self.expected, self.advice)


class LaunchError(LearnerError):
    """A launch that CUDA would refuse, or would misread in silence."""


class EnvironmentFault(LearnerError):
    """Something on this machine is missing or too old; no fault of the learner's."""


def four_parts(what: str, where: str | None, expected: str | None, advice: str | None) -> str:
    """Lay out a report; parts that are not known are left out."""
    lines = [what]
    if where:
        lines += ["", *indented("  ", where), ""]
    if expected:
        lines += labelled("expected", expected)
    if advice:
        lines += labelled("try", advice)
    return "\n".join(lines).rstrip()


def labelled(label: str, text: str) -> list[str]:
    first, *others = text.splitlines() or [""]
    return [f"{label:<10}{first}", *(" " * 10 + line for line in others)]


def indented(margin: str, text: str) -> list[str]:
    return [(margin + line).rstrip() for line in text.splitlines()]
