"""How a file is named to a person: as they would type it where they are."""

from __future__ import annotations

import os
from pathlib import Path


def shown(path: Path, cwd: Path | None = None) -> str:
    """`path` relative to `cwd` (the working directory), unless that climbs far away."""
    relative = os.path.relpath(path, cwd or Path.cwd())
    return str(path) if relative.startswith(os.path.join("..", "..", "..")) else relative
