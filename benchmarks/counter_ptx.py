"""Compile the kernels of tests/simulator/agreement to the PTX that is stored beside them.

    python benchmarks/counter_ptx.py [NAME ...]

The stored text is what both the GPU and the simulator run: after a change here, the counters must
be recorded again (benchmarks/record_counters.py). A newer compiler alone is no reason to.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from harness.launching.compiler import compile_file  # noqa: E402

FOLDER = ROOT / "tests" / "simulator" / "agreement"
# A driver refuses PTX of a version that is newer than itself, whatever the PTX uses.
_OLD_ENOUGH = "8.0"


def stored_form(ptx: str, source: str) -> str:
    """The PTX for any driver of these years, naming the files that it came from without folders."""
    ptx = re.sub(r"^\.version .*$", f".version {_OLD_ENOUGH}", ptx, count=1, flags=re.MULTILINE)
    ptx = re.sub(r'^(\s*\.file\s+1) ".*"$', rf'\1 "{source}"', ptx, flags=re.MULTILINE)
    return re.sub(r'^(\s*\.file\s+\d+) ".*/([^/"]+)"', r'\1 "\2"', ptx, flags=re.MULTILINE)


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.cu"))
    for name in names:
        path = FOLDER / f"{name}.cu"
        text = stored_form(compile_file(path).ptx, path.name)
        path.with_suffix(".ptx").write_text(text, encoding="utf-8")
        print(f"{path.with_suffix('.ptx').name}: {text.count('.entry')} kernels, {len(text)} bytes")


if __name__ == "__main__":
    main()
