"""The table of `gpu.py`'s recording in benchmarks/README.md: written by `gpu.py --table`."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RECORDING, PAGE = FOLDER / "results" / "gpu.json", FOLDER / "README.md"
HEAD = (
    "| lesson | kernel | shape | ms | peer | of peer | of floor | peer of floor |",
    "|---|---|---|---|---|---|---|---|",
)


def table(recording: dict[str, Any]) -> list[str]:
    """One line a row of the recording, below the two lines of HEAD."""
    return [*HEAD, *map(_line, recording["rows"])]


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        cells = [row["name"], "", f"failed: {row['error'].splitlines()[0]}", "", "", "", ""]
    else:
        cells = [
            row["name"],
            row["shape"],
            f"{row['milliseconds']:.3f}",
            f"{row['peer']}, {row['peer_milliseconds']:.3f}",
            f"{row['of_peer']:.3f}",
            f"{row['of_floor']:.2f}",
            f"{row['peer_of_floor']:.2f}",
        ]
    return f"| {row['lesson']:02} | {' | '.join(cells)} |"


def with_table(page: str, recording: dict[str, Any]) -> str:
    """The page with its table replaced: the lines from HEAD to the next blank one."""
    before, head, rest = page.partition("\n".join(HEAD))
    if not head:
        raise ValueError(f"{PAGE.name} has no table that begins with {HEAD[0]!r}")
    _, blank, after = rest.partition("\n\n")
    return before + "\n".join(table(recording)) + blank + after


def read_recording() -> dict[str, Any]:
    recording: dict[str, Any] = json.loads(RECORDING.read_text(encoding="utf-8"))
    return recording


def write_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(page, read_recording()), encoding="utf-8")
