"""The registers that each wmma.load, ldmatrix and movmatrix leaves, bit for bit."""

from collections.abc import Iterator

import numpy as np

from benchmarks.tensor_results.comparing import Row
from benchmarks.tensor_results.machines import Machine, Simulated
from benchmarks.tensor_results.matrices import LARGE
from benchmarks.tensor_results.products import HEAD
from tests.simulator.fragments.stored import LANES


def loads() -> Iterator[tuple[str, str, int]]:
    """(name, PTX of an entry `k` that stores the registers, how many there are)."""
    in_registers = {"f16": 8, "bf16": 4, "s8": 2, "u8": 2, "tf32": 4}
    for type_, (m, n, k) in [
        *((t, shape) for t in ("f16", "bf16", "s8", "u8") for shape in LARGE),
        ("tf32", (16, 16, 8)),
    ]:
        for which in "ab":
            length = m if which == "a" else n
            count = in_registers[type_]
            if type_ != "f16":
                count = count * length // 16 or 1
            yield from _layouts(f"load.{which}", f"m{m}n{n}k{k}", type_, count)
    for type_, count in (("f32", 8), ("f16", 4), ("s32", 8)):
        for m, n, k in LARGE:
            yield from _layouts("load.c", f"m{m}n{n}k{k}", type_, count)
    for tiles in (1, 2, 4):
        for trans in ("", ".trans"):
            load = f"ldmatrix.sync.aligned.m8n8.x{tiles}{trans}.shared.b16"
            body = f"mad.lo.u32 s, i, 16, s; {load} {_vector(tiles)}, [s];"
            yield load, _entry(body, tiles), tiles
    move = "movmatrix.sync.aligned.m8n8.trans.b16"
    body = f"mad.lo.u32 s, i, 4, s; ld.shared.b32 r1, [s]; {move} r0, r1;"
    yield move, _entry(body, 1), 1


def _layouts(what: str, shape: str, type_: str, count: int) -> Iterator[tuple[str, str, int]]:
    for layout in ("row", "col"):
        for space, place in ((".global", "x"), (".shared", "s"), ("", "x")):
            name = f"wmma.{what}.sync.aligned.{layout}.{shape}{space}.{type_}"
            yield name, _entry(f"{name} {_vector(count)}, [{place}], 32;", count), count


def _vector(count: int) -> str:
    return "{" + ",".join(f"r{k}" for k in range(count)) + "}"


def _entry(body: str, count: int) -> str:
    """x lies in shared memory too, 4 KB; each lane stores its registers at y."""
    copies = " ".join(
        f"ld.global.v4.b32 {{r0,r1,r2,r3}}, [z+{512 * k}];"
        f" st.shared.v4.b32 [t+{512 * k}], {{r0,r1,r2,r3}};"
        for k in range(8)
    )
    stores = " ".join(f"st.global.b32 [z+{4 * k}], r{k};" for k in range(count))
    return f"""{HEAD}.visible .entry k(.param .u64 px, .param .u64 py)
{{
.shared .align 128 .b8 tile[4096];
.reg .b64 x, y, z;
.reg .b32 i, s, t, r<8>;
ld.param.u64 x, [px]; ld.param.u64 y, [py];
mov.u32 i, %tid.x; mov.u32 s, tile;
mad.wide.u32 z, i, 16, x; mad.lo.u32 t, i, 16, s;
{copies}
bar.sync 0;
{body}
mad.wide.u32 z, i, {4 * count}, y;
{stores}
ret;
}}"""


def fragments(gpu: Machine) -> Iterator[tuple[str, Row]]:
    x = np.random.default_rng(7).integers(0, 2**32, 1024, np.uint32)
    for name, text, count in loads():
        y = np.zeros((LANES, count), np.uint32)
        theirs, ours = (
            machine.run(text, "k", (1, 1), LANES, [x, y], [])[1] for machine in (gpu, Simulated())
        )
        differing = int(np.count_nonzero(theirs != ours))
        yield name, {"registers": count * LANES, "differing": differing}
