"""Random little programs of accesses and synchronisation, in PTX.

A program is a list of operations. Each names the threads that take part, of two blocks with two
warps each, and what they do: access a cell, meet at a barrier, run a fence. As PTX, every thread
looks its part up in a table, so all run the same code. `race_definition.py` says what races.
"""

import random
from dataclasses import dataclass

import numpy as np

from tests.simulator.compiled import written

THREADS = (0, 1, 2, 32, 33)  # of a block, those that do anything
BLOCKS, SIZE = 2, 64
PARTIES = [(b, t) for b in range(BLOCKS) for t in THREADS]
CELLS = 16  # bytes, in global and in shared memory
MEETINGS = ("barrier", "barrier", "named", "arrive", "warp", "warp", "vote")

REGISTERS = (
    ("b64", "table"), ("b64", "cells"), ("b32", "tid"), ("b32", "block"), ("b32", "mine"),
    ("b32", "w"), ("b64", "wide"), ("b32", "x"), ("b64", "xx"), ("pred", "p"), ("pred", "q"),
)  # fmt: skip
PARAMETERS = ".param .u64 k_param_0, .param .u64 k_param_1"
HEAD = f"""ld.param.u64 cells, [k_param_0]; ld.param.u64 table, [k_param_1];
mov.u32 tid, %tid.x; mov.u32 block, %ctaid.x; mad.lo.u32 mine, block, {SIZE}, tid;
mad.wide.u32 table, mine, 4, table;"""


@dataclass
class Operation:
    """what: ld st add exch fence barrier named arrive warp vote; who: party -> its word."""

    what: str
    who: dict
    space: str = "global"
    order: str = ""  # "", volatile, relaxed, acquire, release, acq_rel
    scope: str = "gpu"
    size: int = 4
    at: int = 0


class Program:
    def __init__(self, seed, flags=True, meetings=MEETINGS):
        self.random = random.Random(seed)
        self.meetings = meetings
        self.arrivals = 0
        everyone = {(b, t): 1 for b in range(BLOCKS) for t in range(SIZE)}
        self.operations = [
            Operation("st", {(b, 0): 7 for b in range(BLOCKS)}, "shared", size=8, at=at)
            for at in (0, 8)
        ]
        self.operations.append(Operation("barrier", everyone))
        self.density = self.random.choice((0.2, 0.5, 0.8))
        kinds = self.random.choice((("access",) * 6 + ("meet",) * 3, ("access",) * 3 + ("meet",)))
        for _ in range(self.random.randint(4, 12)):
            kind = self.random.choice(kinds + ("fence", "flag", "flag") * flags)
            self.operations.append(getattr(self, f"_{kind}")())
        self.flags = flags

    def _some(self, word):
        chosen = [p for p in PARTIES if self.random.random() < self.density]
        chosen = chosen or [self.random.choice(PARTIES)]
        if self.random.random() < 0.5:
            chosen = chosen[: self.random.randint(1, 2)]
        return {p: word(p) for p in chosen}

    def _access(self):
        draw = self.random
        space, size = draw.choice(("shared", "shared", "global")), draw.choice((4, 4, 4, 1, 2, 8))
        what, order = draw.choice(("ld", "st", "st", "ld", "add")), ""
        if what == "add" or draw.random() < 0.25:
            order = draw.choice(("relaxed", "volatile")) if what != "add" else "relaxed"
            size = 4
        scope = "cta" if draw.random() < 0.15 else "gpu"
        own = draw.random() < 0.4
        cell = draw.randrange(0, 8 if draw.random() < 0.7 else CELLS, size)
        value = draw.choice((1, 2))

        def word(party):
            return 10 + PARTIES.index(party) if own else value

        return Operation(what, self._some(word), space, order, scope, size, cell)

    def _flag(self):
        """A strong access of a word that hands something on, perhaps."""
        draw = self.random
        what = draw.choice(("ld", "ld", "st", "add", "exch"))
        order = {
            "ld": ("relaxed", "acquire", "volatile"),
            "st": ("relaxed", "release", "volatile"),
        }.get(what, ("relaxed", "acquire", "release", "acq_rel"))
        scope = "cta" if draw.random() < 0.2 else "gpu"
        space = draw.choice(("global", "global", "shared"))
        return Operation(
            what, self._some(lambda p: 1), space, draw.choice(order), scope, 4,
            draw.choice((8, 12)),
        )  # fmt: skip

    def _fence(self):
        return Operation(
            "fence", self._some(lambda p: 1), scope="cta" if self.random.random() < 0.3 else "gpu"
        )

    def _meet(self):
        draw = self.random
        kind = draw.choice(self.meetings)
        if kind == "barrier":
            blocks = draw.choice(((0,), (1,), (0, 1), (0, 1)))
            return Operation(kind, {(b, t): 1 for b in blocks for t in range(SIZE)})
        if kind == "named":  # 32 threads at a barrier: warps meet there one by one
            warps = draw.sample([(b, w) for b in range(BLOCKS) for w in (0, 1)], 2)
            return Operation(kind, {(b, w * 32 + t): 1 for b, w in warps for t in range(32)})
        if kind == "arrive":  # one warp of each block arrives, the other waits
            first = draw.choice((0, 1))
            who = {(b, t): 1 + (t // 32 == first) for b in range(BLOCKS) for t in range(SIZE)}
            self.arrivals += 1  # each at a barrier of its own, or one might run ahead of the next
            return Operation(kind, who, at=1 + self.arrivals)
        who = {}
        for b in range(BLOCKS):
            for w in (0, 1):
                lanes = [t % 32 for t in THREADS if t // 32 == w and draw.random() < 0.7]
                mask = sum(1 << lane for lane in lanes)
                if draw.random() < 0.4:
                    mask = 0xFFFFFFFF
                for lane in range(32):
                    together = mask >> lane & 1
                    who[b, w * 32 + lane] = mask if together else 1 << lane
        return Operation(kind, who)

    # ---- as PTX

    def kernel(self):
        lines = [HEAD]
        for number, operation in enumerate(self.operations):
            offset = number * BLOCKS * SIZE * 4
            lines.append(f".loc 1 {number + 1} 0")
            lines.append(f"ld.global.u32 w, [table+{offset}]; setp.ne.u32 p, w, 0;")
            write = getattr(self, f"_ptx_{operation.what}", self._ptx_access)
            lines.append(write(operation, number))
        lines.append("ret;")
        before = ".shared .align 8 .b8 tile[16];"
        return written("\n".join(lines), PARAMETERS, REGISTERS, before)

    def table(self):
        table = np.zeros((len(self.operations), BLOCKS, SIZE), np.uint32)
        for number, operation in enumerate(self.operations):
            for (b, t), word in operation.who.items():
                table[number, b, t] = word
        return table

    def _ptx_access(self, operation, number):
        space, at = operation.space, operation.at
        place = f"[tile+{at}]" if space == "shared" else f"[cells+{at}]"
        how = operation.order
        if how and how != "volatile":
            how = f"{how}.{operation.scope}"
        middle = f"{how}.{space}" if how else space
        type_ = f"u{8 * operation.size}"
        value, target = ("wide", "xx") if operation.size == 8 else ("w", "x")
        lines = "cvt.u64.u32 wide, w;" if operation.size == 8 else ""
        if operation.what == "ld":
            return f"@p ld.{middle}.{type_} {target}, {place};"
        if operation.what == "st":
            return f"{lines} @p st.{middle}.{type_} {place}, {value};"
        name = "exch.b32" if operation.what == "exch" else "add.u32"
        return f"@p atom.{middle}.{name} x, {place}, w; add.u32 w, x, w;"

    def _ptx_fence(self, operation, number):
        return f"@p fence.acq_rel.{operation.scope};"

    def _ptx_barrier(self, operation, number):
        return f"@!p bra L{number}; bar.sync 0; L{number}:"

    def _ptx_named(self, operation, number):
        return f"@!p bra L{number}; bar.sync 1, 32; L{number}:"

    def _ptx_arrive(self, operation, number):
        return f"""setp.eq.u32 q, w, 2; @!q bra M{number}; bar.arrive {operation.at}, 64;
bra L{number}; M{number}: bar.sync {operation.at}, 64; L{number}:"""

    def _ptx_warp(self, operation, number):
        return "bar.warp.sync w;"

    def _ptx_vote(self, operation, number):
        return "vote.sync.ballot.b32 x, 1, w;"

    def __str__(self):
        return "\n".join(
            f"{k + 1}: {o.what} {o.order} {o.scope} {o.space} [{o.at}:{o.at + o.size}] "
            f"{ {p: w for p, w in o.who.items() if p in PARTIES} }"
            for k, o in enumerate(self.operations)
        )
