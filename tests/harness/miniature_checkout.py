"""A checkout with two small lessons, and the `lesson` command run inside it."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from harness.commands.cli import main

TOML = """\
[[lesson]]
id = "copy"
number = 1
title = "Copy"
part = "I"
minutes = 60

[[lesson]]
id = "sum"
number = 2
title = "Sum"
part = "I"
minutes = 90
"""
KERNEL = """\
extern "C" __global__ void copy(const float* x, float* y)
{
    // TASK 1: copy one element.
    y[threadIdx.x] = x[threadIdx.x];
    // END TASK
}
"""
HOST = """\
def blocks(n):
    # TASK 2: round up.
    return -(-n // 128)
    # END TASK
"""
README = """\
# Copy

<details><summary>Hint 1 · task 1</summary>

What is `threadIdx.x` in the third thread?
</details>

<details>
<summary>Hint 2 · task 1</summary>
Every thread copies its own element.
</details>

<details><summary>Hint 1 · task 2</summary>
How many blocks hold 129?
</details>
"""
FILES = {
    "curriculum/curriculum.toml": TOML,
    "curriculum/lesson_01/README.md": README,
    "curriculum/lesson_01/test_lesson_01.py": "def test_nothing(): pass\n",
    "solutions/lesson_01/kernel.cu": KERNEL,
    "solutions/lesson_01/host.py": HOST,
    "solutions/lesson_02/kernel.cu": KERNEL,
}


def make_checkout(root):
    """Write the two lessons, and generate their stubs."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert lesson(root, "stubs").returncode == 0
    return root


def lesson(folder, *words, typed=""):
    """What `lesson <words>` says in a folder, and its exit status."""
    out, err = io.StringIO(), io.StringIO()
    here, before = Path.cwd(), (sys.argv, sys.stdin)
    os.chdir(folder)
    sys.argv, sys.stdin = ["lesson", *words], io.StringIO(typed)
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
    finally:
        os.chdir(here)
        sys.argv, sys.stdin = before
    code = ended.value.code
    if isinstance(code, str):  # as the interpreter does with a message
        err.write(code)
        code = 1
    return subprocess.CompletedProcess(words, code or 0, out.getvalue(), err.getvalue())


def backups(checkout):
    return sorted(checkout.glob(".backups/*"))


def read(checkout, name):
    return (checkout / "curriculum" / "lesson_01" / name).read_text()


def write(checkout, name, text):
    (checkout / "curriculum" / "lesson_01" / name).write_text(text)
