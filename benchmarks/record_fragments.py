"""Record which element each lane holds in mma.sync and ldmatrix, as another library has it.

    pip install tensor-layouts        # in an environment of its own
    python benchmarks/record_fragments.py

Writes tests/simulator/fragments/*.json. `tensor-layouts` (MIT licence) has the layouts that CUTLASS
gives the instructions: a source that knows nothing of the simulator's. No GPU is needed.

A layout is linear in the bits of the lane and of the value (the element's number in the lane's
registers, the lowest first), so it is kept as the offset that each bit adds. Offsets count down
the columns: in a, m + k M; in b, n + k N; in c, m + n M. Those of ldmatrix are elements of the
tiles one after another, row by row.

Not here: m16n8k32 of 4-bit integers, whose layout of b names elements twice in CUTLASS and there.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "simulator" / "fragments"
_LANES = 32
_ATOMS = (
    "SM80_16x8x8_F16F16F16F16_TN",
    "SM80_16x8x16_F16F16F16F16_TN",
    "SM80_16x8x8_F32F16F16F32_TN",
    "SM80_16x8x16_F32F16F16F32_TN",
    "SM80_16x8x8_F32BF16BF16F32_TN",
    "SM80_16x8x16_F32BF16BF16F32_TN",
    "SM80_16x8x4_F32TF32TF32F32_TN",
    "SM80_16x8x8_F32TF32TF32F32_TN",
    "SM80_8x8x4_F64F64F64F64_TN",
    "SM80_8x8x16_S32S8S8S32_TN",
    "SM80_16x8x16_S32S8S8S32_TN",
    "SM80_16x8x32_S32S8S8S32_TN",
    "SM80_8x8x32_S32S4S4S32_TN",
    "SM80_16x8x64_S32S4S4S32_TN",
    "SM80_8x8x128_S32U1U1S32_TN_XORPOPC",
    "SM80_16x8x128_S32U1U1S32_TN_XORPOPC",
    "SM80_16x8x256_S32U1U1S32_TN_XORPOPC",
)
_COPIES = {  # tiles, transposed
    "SM75_U32x1_LDSM_N": (1, False),
    "SM75_U32x2_LDSM_N": (2, False),
    "SM75_U32x4_LDSM_N": (4, False),
    "SM75_U16x2_LDSM_T": (1, True),
    "SM75_U16x4_LDSM_T": (2, True),
    "SM75_U16x8_LDSM_T": (4, True),
}
_ELEMENT = 16  # bits, of ldmatrix


def by_bits(offset: Callable[[int, int], int], values: int) -> dict[str, list[int]]:
    """What each bit of the lane and of the value adds to the offset; checked for all of them.

    values  of each lane
    """
    lane_bits = [int(offset(1 << bit, 0)) for bit in range(5)]
    value_bits = [int(offset(0, 1 << bit)) for bit in range(values.bit_length() - 1)]
    seen: set[int] = set()
    for lane in range(_LANES):
        for value in range(values):
            parts = [v for bit, v in enumerate(lane_bits) if lane >> bit & 1]
            parts += [v for bit, v in enumerate(value_bits) if value >> bit & 1]
            if int(offset(lane, value)) != sum(parts):
                raise SystemExit("a layout that is not linear in its bits")
            seen.add(sum(parts))
    if seen != set(range(_LANES * values)):
        raise SystemExit("a layout that does not name each element once")
    return {"lane_bits": lane_bits, "value_bits": value_bits}


def product(atom: Any) -> dict[str, Any]:
    m, n, k = atom.shape_mnk
    sizes = {"a": m * k // _LANES, "b": n * k // _LANES, "c": m * n // _LANES}
    recorded: dict[str, Any] = {"shape": [m, n, k], "ptx": atom.ptx}
    for which, values in sizes.items():
        recorded[which] = by_bits(getattr(atom, f"{which}_layout"), values)
    return recorded


def tiles(atom: Any, count: int, transposed: bool) -> dict[str, Any]:
    """Where the elements that a lane gets lie in the rows that the lanes name."""
    named: dict[int, int] = {}  # bit that a layout shares -> element, 8 in a row
    for row in range(8 * count):
        for element in range(8):
            named[int(atom.src_layout_bits(row, element * _ELEMENT))] = 8 * row + element

    def offset(lane: int, value: int) -> int:
        return named[int(atom.dst_layout_bits(lane, value * _ELEMENT))]

    return {"tiles": count, "transposed": transposed, "ptx": atom.ptx} | by_bits(offset, 2 * count)


def main() -> None:
    from tensor_layouts import atoms_nv  # type: ignore[import-not-found]

    FOLDER.mkdir(exist_ok=True)
    products = {name: product(getattr(atoms_nv, name)) for name in _ATOMS}
    copies = {name: tiles(getattr(atoms_nv, name), *of) for name, of in _COPIES.items()}
    for name, recorded in (("mma", products), ("ldmatrix", copies)):
        lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in recorded.items())
        (FOLDER / f"{name}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
