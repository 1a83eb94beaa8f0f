"""Record what the installed Triton makes of tl.dot for compute capability 8.0, as test data.

    python benchmarks/record_triton_ptx.py

Writes tests/simulator/golden/triton_<version>/dot_<type>.ptx: a product of matrices of each type
that becomes tensor-core instructions, with the copies that run ahead of it. No GPU is needed.
"""

import re
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "simulator" / "golden"
TILE = 32  # rows, columns and depth of a program's tile
TYPES = {  # of a and b, of c and the sum; pointers and sizes are multiples of 16, or unknown
    "f16": ("fp16", "fp32", tl.float32, True),
    "f16_unaligned": ("fp16", "fp32", tl.float32, False),
    "f16_sums": ("fp16", "fp16", tl.float16, True),
    "bf16": ("bf16", "fp32", tl.float32, True),
    "tf32": ("fp32", "fp32", tl.float32, True),
    "f64": ("fp64", "fp64", tl.float64, True),
    "s8": ("i8", "i32", tl.int32, True),
}
_FILE_NAME = re.compile(r'(\.file\s+\d+\s+)"(?:[^"]*/)?([^"/]+)"')
_DEBUG = re.compile(r"^\t\.section\t\.debug_\w+\s*\{.*?\}\n", re.M | re.S)


@triton.jit
def dot(a, b, c, m, n, k, tile: tl.constexpr, total: tl.constexpr):
    """c [m, n] = a [m, k] b [k, n], a program for each tile of c."""
    rows = tl.program_id(0) * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    sums = tl.zeros((tile, tile), total)
    for first in range(0, k, tile):
        depth = first + tl.arange(0, tile)
        left_is_there = (rows[:, None] < m) & (depth[None, :] < k)
        right_is_there = (depth[:, None] < k) & (columns[None, :] < n)
        left = tl.load(a + rows[:, None] * k + depth[None, :], left_is_there, other=0)
        right = tl.load(b + depth[:, None] * n + columns[None, :], right_is_there, other=0)
        sums = tl.dot(left, right, sums, out_dtype=total)
    is_there = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], sums, is_there)


def ptx(name: str) -> str:
    factor, result, total, aligned = TYPES[name]
    signature = {"a": f"*{factor}", "b": f"*{factor}", "c": f"*{result}"}
    signature |= dict.fromkeys("mnk", "i32") | dict.fromkeys(("tile", "total"), "constexpr")
    hints = {(place,): [["tt.divisibility", 16]] for place in range(6)} if aligned else None
    source = ASTSource(dot, signature, {(6,): TILE, (7,): total}, hints)
    options = {"num_warps": 4, "num_stages": 3}
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options)
    text = _FILE_NAME.sub(r'\1"\2"', _DEBUG.sub("", made.asm["ptx"]))
    return text.replace(".target sm_80, debug", ".target sm_80")


def main() -> None:
    folder = GOLDEN / "triton_{}_{}".format(*triton.__version__.split(".")[:2])
    folder.mkdir(exist_ok=True)
    for name in TYPES:
        text = ptx(name)
        (folder / f"dot_{name}.ptx").write_text(text, encoding="utf-8")
        print(f"{folder.name}/dot_{name}.ptx  {len(text):,} bytes")


if __name__ == "__main__":
    main()
