"""Each mma.sync alone: 32 warps with matrices of their own."""

from collections.abc import Iterator

import numpy as np

from benchmarks.tensor_results.comparing import Array, Row, compared
from benchmarks.tensor_results.machines import Machine, Simulated
from tests.simulator.fragments.products import layouts_of, spellings, text_of, types_of
from tests.simulator.fragments.stored import LANES, matrix_of, registers
from tests.simulator.matrices import HELD, exact, random_matrix

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
WARPS = 32


def drawn(random: np.random.Generator, shape: tuple[int, ...], type_: str, what: str) -> Array:
    values: Array = random_matrix(random, shape, type_)
    if type_ in ("s8", "u8", "s4", "u4", "b1", "s32"):
        return values
    numbers = exact(values, "f64" if type_ == "tf32" else type_)
    if what == "sizes":
        numbers = np.ldexp(numbers, random.integers(-6, 6, shape))
    elif what == "special":
        numbers[random.random(shape) < 0.02] = np.inf
        numbers[random.random(shape) < 0.01] = np.nan
        numbers[random.random(shape) < 0.1] = 0
    if type_ == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return numbers.astype(HELD[type_])


def one_product(gpu: Machine, opcode: str, what: str, seed: int) -> Row:
    layouts = layouts_of(opcode)
    shape, types = layouts["shape"], types_of(opcode)
    m, n, k = shape
    random = np.random.default_rng([m, n, k, seed])
    a, b, c = (
        drawn(random, (WARPS, *size), type_, what)
        for size, type_ in zip(((m, k), (k, n), (m, n)), types[1:], strict=True)
    )
    x, y, z = exact(a, types[1]), exact(b, types[2]), exact(c, types[3])
    if what == "cancel":
        c = -(x @ y).astype(HELD[types[3]])
        z = exact(c, types[3])
    held = [
        np.concatenate([registers(one, layouts[which], shape, which, type_) for one in matrices])
        for matrices, which, type_ in zip((a, b, c), "abc", types[1:], strict=True)
    ]
    width = np.uint64 if types[0] == "f64" else np.uint32
    d = np.zeros((WARPS * LANES, held[2].shape[1]), width)
    text = HEAD + text_of(opcode)
    results = []
    for machine in (gpu, Simulated()):
        words = machine.run(text, "k", (1, 1), WARPS * LANES, [*held, d], [])[3]
        per_warp = words.reshape(WARPS, LANES, -1)
        results.append(
            np.stack([matrix_of(one, layouts["c"], shape, "c", types[0]) for one in per_warp])
        )
    theirs, ours = (exact(matrix, types[0]) for matrix in results)
    with np.errstate(all="ignore"):
        magnitudes = np.abs(x) @ np.abs(y) + np.abs(z)
        differ = (x[:, :, :, None] != y[:, None]).sum(axis=2)
        true = z + (differ if "xor" in opcode else x @ y)
    row = compared(theirs, ours, true, magnitudes, types[0], 1)
    nan = np.isnan(ours) & np.isnan(theirs)
    if nan.any() and types[0] != "f64":
        bits = [matrix.view(f"u{matrix.itemsize}")[nan] for matrix in results]
        row["nan_bits_differ"] = int(np.count_nonzero(bits[0] != bits[1]))
        row["nan_bits_of_gpu"] = [f"{int(word):#x}" for word in np.unique(bits[0])[:4]]
    return row


def products(gpu: Machine) -> Iterator[tuple[str, Row]]:
    opcodes = list(spellings())
    opcodes += [
        opcode.replace("row.col", "row.col.satfinite")
        for opcode in opcodes
        if ".s32.s8.s8" in opcode
    ]
    for opcode in opcodes:
        floating = types_of(opcode)[0] != "s32"
        for seed, what in enumerate(("spread", "sizes", "cancel", "special")):
            if floating or what == "spread":
                yield f"{opcode} {what}", one_product(gpu, opcode, what, seed)
