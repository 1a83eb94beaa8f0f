"""One mma.sync in an entry of its own: its PTX, and matrices as the registers that it takes."""

import numpy as np

from tests.simulator.fragments.stored import BITS, LANES, PRODUCTS, registers
from tests.simulator.matrices import random_matrix

INPUTS = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d"
OPERANDS = ("d", "a", "b", "c")
# PTX ISA, "Matrix fragments for mma.m16n8k32", 4-bit integers: the other library has no map of b.
NIBBLES = "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32"
LAYOUTS = {recorded["ptx"]: recorded for recorded in PRODUCTS.values()} | {
    NIBBLES: {
        "shape": [16, 8, 32],
        "a": {"lane_bits": [128, 256, 1, 2, 4], "value_bits": [16, 32, 64, 8]},
        "b": {"lane_bits": [64, 128, 1, 2, 4], "value_bits": [8, 16, 32]},
        "c": {"lane_bits": [32, 64, 1, 2, 4], "value_bits": [16, 8]},
    }
}


def spellings():
    """Each recorded product, and those that differ from it in nothing but the sign of integers."""
    for opcode in LAYOUTS:
        yield opcode
        if "popc" in opcode:
            yield opcode.replace("xor", "and")
        for width in "84":
            if f".s{width}.s{width}." in opcode:
                for pair in ("s{0}.u{0}", "u{0}.s{0}", "u{0}.u{0}"):
                    yield opcode.replace(f"s{width}.s{width}", pair.format(width))


def types_of(opcode):
    """The types of d, a, b, c."""
    return [part for part in opcode.split(".") if part in BITS]


def layouts_of(opcode):
    signed = opcode.replace("u8", "s8").replace("u4", "s4").replace("and", "xor")
    return LAYOUTS[signed.replace(".satfinite", "")]


def sizes_of(opcode):
    """Registers of d, a, b, c."""
    layouts, sizes = layouts_of(opcode), []
    for which, type_ in zip("cabc", types_of(opcode), strict=True):
        values = 2 ** len(layouts[which]["value_bits"])
        sizes.append(values if BITS[type_] >= 32 else values * BITS[type_] // 32)
    return sizes


def text_of(opcode, before="", guard=""):
    """PTX of an entry `k`: each lane loads its registers of a, b and c, and stores those of d.

    before  code; `lane` is the thread, `p` a predicate that is true in the first warp alone
    """
    sizes, types = sizes_of(opcode), types_of(opcode)
    declared = [("u32", "lane"), ("u32", "warp"), ("u64", "at"), ("u64", "from"), ("pred", "p")]
    lines = ["mov.u32 lane, %tid.x;", "shr.u32 warp, lane, 5;", "setp.eq.u32 p, warp, 0;"]
    vectors = []
    for name, size, type_ in zip(OPERANDS, sizes, types, strict=True):
        width = max(32, BITS[type_])
        held = [f"{name}{k}" for k in range(size)]
        declared += [(f"b{width}", register) for register in held]
        vectors.append("{" + ",".join(held) + "}")
        if name == "d":
            lines += [f"mov.b{width} {register}, 7;" for register in held]
            continue
        lines += [
            f"ld.param.u64 from, [{name}];",
            f"mad.wide.u32 at, lane, {size * width // 8}, from;",
            *(f"ld.global.b{width} {held[k]}, [at+{k * width // 8}];" for k in range(size)),
        ]
    width = max(32, BITS[types[0]])
    lines += [
        before,
        f"{guard} {opcode} {', '.join(vectors)};",
        "ld.param.u64 from, [d];",
        f"mad.wide.u32 at, lane, {sizes[0] * width // 8}, from;",
        *(f"st.global.b{width} [at+{k * width // 8}], d{k};" for k in range(sizes[0])),
        "ret;",
    ]
    names = " ".join(f".reg .{type_} {name};" for type_, name in declared)
    body = "\n".join([names, *lines])
    return f".visible .entry k({INPUTS})\n{{\n{body}\n}}"


def arrays(opcode, a, b, c, warps=1):
    """The registers of a, b and c in memory, [warps * 32, registers], and room for those of d."""
    layouts, types = layouts_of(opcode), types_of(opcode)
    held = [
        np.tile(registers(matrix, layouts[which], layouts["shape"], which, type_), (warps, 1))
        for matrix, which, type_ in zip((a, b, c), "abc", types[1:], strict=True)
    ]
    width = max(32, BITS[types[0]])
    return *held, np.zeros((warps * LANES, sizes_of(opcode)[0]), f"u{width // 8}")


def operands(opcode, seed=0):
    """Random a, b, c."""
    m, n, k = layouts_of(opcode)["shape"]
    random = np.random.default_rng([m, n, k, seed])
    shapes = ((m, k), (k, n), (m, n))
    types = types_of(opcode)[1:]
    return [random_matrix(random, s, t) for s, t in zip(shapes, types, strict=True)]
