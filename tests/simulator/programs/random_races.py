"""Random straight-line programs in PTX, and an oracle that knows every race in them.

A program is a list of steps that all threads pass: an access of some of them, or a meeting of all.
What follows what is then known from the steps alone: each thread has a clock for each other one,
and a meeting joins the clocks of those who meet. Two accesses race if neither knew of the other.
"""

import random
from dataclasses import dataclass, field

import numpy as np

TILE, BUFFER = 256, 512  # bytes of shared and of global memory
THREADS, BLOCKS = 64, 2
TOTAL = THREADS * BLOCKS
grid_threads = np.arange(TOTAL)


@dataclass(frozen=True)
class Step:
    """One line of the program.

    ptx       its text
    kind      "load", "store", "atomic"; "meet" for a barrier
    space     "shared" or "global"
    active    bool [threads of the grid]
    first     byte that each thread's access begins at
    bytes     of the access
    strong    the access is atomic or volatile, at the device's scope
    groups    of a meeting: the number of each thread's group
    """

    ptx: str
    kind: str
    space: str = ""
    active: np.ndarray = field(default_factory=lambda: np.ones(TOTAL, bool))
    first: np.ndarray = field(default_factory=lambda: np.zeros(TOTAL, int))
    bytes: int = 4
    strong: bool = False
    groups: np.ndarray = field(default_factory=lambda: grid_threads // THREADS)


class RandomProgram:
    """`fine`: meetings of parts of a block happen too."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.fine = self.random.random() < 0.6
        self.wide = self.random.random() < 0.5
        self.crowded = self.random.random() < 0.4  # far-reaching indices: races are likely
        self.steps = [self._fill(), self._barrier()]
        for _ in range(self.random.randint(2, 9)):
            self.steps.append(self._barrier() if self.random.random() < 0.35 else self._access())

    def text(self) -> str:
        lines = [_HEAD]
        for number, step in enumerate(self.steps, 1):
            lines.append(f".loc 1 {number} 0\n{step.ptx}")
        return "\n".join(lines) + "\nret;\n}\n"

    def _fill(self) -> Step:
        """Every thread of a block writes its own four bytes of the tile."""
        text = "shl.b32 %r9, %t, 2;\nadd.s32 %r9, %tile, %r9;\nst.shared.u32 [%r9], %value;"
        return Step(text, "store", "shared", first=grid_threads % THREADS * 4)

    def _barrier(self) -> Step:
        choice = self.random.randrange(4) if self.fine else 0
        if choice == 0:
            return Step("bar.sync 0;", "meet")
        if choice == 1:
            return Step("bar.warp.sync -1;", "meet", groups=grid_threads // 32)
        if choice == 2:
            text = "shr.u32 %r8, %lane, 3;\nshl.b32 %r8, %r8, 3;\nshl.b32 %r9, 255, %r8;\n"
            return Step(text + "bar.warp.sync %r9;", "meet", groups=grid_threads // 8)
        text = "shr.u32 %r8, %t, 5;\nadd.s32 %r8, %r8, 1;\nbar.sync %r8, 32;"
        return Step(text, "meet", groups=grid_threads // 32)

    def _access(self) -> Step:
        space = self.random.choice(("shared", "shared", "global"))
        kind = self.random.choice(("load", "load", "store", "store", "atomic"))
        size = 4
        if self.wide and kind != "atomic":
            size = self.random.choice((1, 2, 4, 4, 8, 16))
        thread = grid_threads % THREADS if space == "shared" else grid_threads
        factor, shift, flip, mask = self._index(space, size)
        index = ((thread * factor + shift) ^ flip) & mask
        guard, active = self._guard()
        strong = kind == "atomic" or (
            space == "global" and size == 4 and self.random.random() < 0.3
        )
        name = "%t" if space == "shared" else "%g"
        lines = [
            f"mad.lo.s32 %r1, {name}, {factor}, {shift};",
            f"xor.b32 %r1, %r1, {flip};\nand.b32 %r1, %r1, {mask};",
            f"mul.lo.s32 %r1, %r1, {size};",
        ]
        if space == "shared":
            lines.append("add.s32 %r1, %tile, %r1;")
            address = "%r1"
        else:
            lines.append("cvt.u64.u32 %rd2, %r1;\nadd.s64 %rd2, %rd1, %rd2;")
            address = "%rd2"
        lines.append(guard + self._instruction(kind, space, size, strong, address))
        return Step("\n".join(lines), kind, space, active, index * size, size, strong)

    def _index(self, space: str, size: int) -> tuple[int, int, int, int]:
        places = (TILE if space == "shared" else BUFFER) // size
        if self.crowded:
            mask = self.random.choice((places - 1, 15, 0))
            return self.random.randrange(4), self.random.randrange(64), 0, mask & (places - 1)
        flip = self.random.choice((0, 0, 0, 1, 7, 32))
        return 1, 0, flip & (places - 1), places - 1

    def _guard(self) -> tuple[str, np.ndarray]:
        choice = self.random.randrange(4)
        if choice == 0:
            few = self.random.choice((1, 16, 32, 40))
            return f"setp.lt.s32 %p1, %t, {few};\n@%p1 ", grid_threads % THREADS < few
        if choice == 1:
            one = self.random.randrange(THREADS)
            return f"setp.eq.s32 %p1, %t, {one};\n@%p1 ", grid_threads % THREADS == one
        if choice == 2:
            block = self.random.randrange(BLOCKS)
            return f"setp.eq.s32 %p1, %block, {block};\n@%p1 ", grid_threads // THREADS == block
        return "", np.ones(TOTAL, bool)

    def _instruction(self, kind: str, space: str, size: int, strong: bool, address: str) -> str:
        if kind == "atomic":
            return f"atom.{space}.add.u32 %r2, [{address}], 1;"
        suffix = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}[size]
        how = f"{'.volatile' if strong else ''}.{space}.{suffix}"
        if kind == "load":
            into = {8: "{%r4,%r5}", 16: "{%r4,%r5,%r6,%r7}"}.get(
                size, "%rs2" if size < 4 else "%r4"
            )
            return f"ld{how} {into}, [{address}];"
        # Every byte that a thread stores is its own number: no two threads store the same.
        every = {8: "{%value,%value}", 16: "{%value,%value,%value,%value}"}
        return f"st{how} [{address}], {every.get(size, '%rs1' if size < 4 else '%value')};"

    # ---- the oracle

    def races(self) -> set[tuple[int, int, int, int, str]]:
        """(step, thread, later step, thread, space) of every pair that races; steps from 1."""
        clocks = np.zeros((TOTAL, TOTAL), int)  # [who, of whom]: the last step it knows of
        knew: list[np.ndarray] = []
        for number, step in enumerate(self.steps, 1):
            clocks[grid_threads, grid_threads] = number
            if step.kind == "meet":
                for group in range(step.groups.max() + 1):
                    members = np.flatnonzero(step.groups == group)
                    clocks[members] = clocks[members].max(0)
            knew.append(clocks.copy())
        found = set()
        for later, b in enumerate(self.steps, 1):
            for earlier, a in enumerate(self.steps[:later], 1):
                found |= self._between(earlier, a, later, b, knew[later - 1])
        return found

    def _between(self, earlier, a, later, b, knew):
        if "meet" in (a.kind, b.kind) or a.space != b.space or {a.kind, b.kind} == {"load"}:
            return set()
        if a.strong and b.strong:
            return set()
        if a.space == "global" and {a.kind, b.kind} == {"load", "atomic"}:
            return set()  # a look at what atomics change: a note
        meet = (a.first[:, None] < (b.first + b.bytes)[None, :]) & (
            b.first[None, :] < (a.first + a.bytes)[:, None]
        )
        meet &= a.active[:, None] & b.active[None, :] & ~np.eye(TOTAL, dtype=bool)
        if a.space == "shared":
            meet &= (grid_threads // THREADS)[:, None] == (grid_threads // THREADS)[None, :]
        if earlier != later:
            meet &= np.less(knew.T, earlier)  # knew [b's thread, a's thread]
        return {(earlier, int(i), later, int(j), a.space) for i, j in np.argwhere(meet)}


_HEAD = """.visible .entry k(.param .u64 buffer)
{
.reg .b16 %rs<4>;
.reg .b32 %r<12>;
.reg .b32 %t; .reg .b32 %g; .reg .b32 %block; .reg .b32 %lane; .reg .b32 %tile; .reg .b32 %value;
.reg .b64 %rd<4>;
.reg .pred %p<3>;
.shared .align 16 .b8 tile[256];
ld.param.u64 %rd1, [buffer];
cvta.to.global.u64 %rd1, %rd1;
mov.u32 %t, %tid.x;
mov.u32 %block, %ctaid.x;
mad.lo.s32 %g, %block, 64, %t;
and.b32 %lane, %t, 31;
mov.u32 %tile, tile;
mul.lo.s32 %value, %g, 16843009;
cvt.u16.u32 %rs1, %value;
"""
