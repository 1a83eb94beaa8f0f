"""All programs: importing their modules fills the table."""

from tests.triton.programs import bounds, locks, races, undefined
from tests.triton.programs.program import PROGRAMS

MODULES = (bounds, races, locks, undefined)

__all__ = ["MODULES", "PROGRAMS"]
