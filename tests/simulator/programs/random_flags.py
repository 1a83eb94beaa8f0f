"""Random programs of four threads in two blocks that hand data on by flags, and their races.

Each flag is raised once and waited for once, so it is certain which write a look sees, and an
oracle can say what happens before what: by barriers, by releases and acquires, by fences around
strong accesses. Fences are `membar`, which are sequentially consistent: two of them are ordered if
anything orders a raised flag behind the one and a look at it before the other.
"""

import random
from dataclasses import dataclass

import numpy as np

from tests.simulator.programs.random_races import BLOCKS, THREADS

TOTAL = BLOCKS * THREADS
ACTORS = (0, 40, THREADS, THREADS + 40)  # two warps of two blocks
PLACES = 3  # words of shared memory, and of global memory, that they share
BLOCK, DEVICE = range(2)  # scopes
# Rows of what a thread knows: what happened before; what fences of each scope that happened before
# had made ready to hand on; what looks that happened before have seen and no fence has taken over.
KNOWN, READY, SEEN = 0, (1, 2), (3, 4)

# how: (whether it releases or acquires, its scope)
_RAISES = {
    "volatile": (False, DEVICE),
    "relaxed.gpu": (False, DEVICE),
    "release.gpu": (True, DEVICE),
    "relaxed.cta": (False, BLOCK),
    "release.cta": (True, BLOCK),
}
_LOOKS = {
    "volatile": (False, DEVICE),
    "relaxed.gpu": (False, DEVICE),
    "acquire.gpu": (True, DEVICE),
    "acquire.cta": (True, BLOCK),
}
_FENCES = {"gl": DEVICE, "cta": BLOCK}


@dataclass(frozen=True)
class Act:
    """One step: who does it (-1: all), what, and where or how."""

    who: int
    what: str  # "load", "store", "fence", "raise", "look", "barrier"
    place: int = 0  # a word, or the number of a flag
    space: str = "global"
    how: str = ""


class RandomFlags:
    def __init__(self, seed: int):
        draw = self.random = random.Random(seed)
        self.acts = [Act(-1, "fill"), Act(-1, "barrier")]
        flags = 0
        for _ in range(draw.randint(3, 7)):
            choice = draw.random()
            if choice < 0.35:
                self.acts.append(self._access(draw.choice(ACTORS)))
            elif choice < 0.5:
                self.acts.append(Act(-1, "barrier"))
            else:
                self._hand_on(flags)
                flags += 1

    def _access(self, who: int) -> Act:
        space = self.random.choice(("global", "global", "shared"))
        what = self.random.choice(("load", "store"))
        return Act(who, what, self.random.randrange(PLACES), space)

    def _hand_on(self, flag: int) -> None:
        """Write, raise, look, read; most often with the fences that this needs."""
        draw = self.random
        giver, taker = draw.sample(ACTORS, 2)
        place = draw.randrange(PLACES)
        narrow = giver // THREADS == taker // THREADS and draw.random() < 0.5
        raised = draw.choice(
            [h for h in _RAISES if h.endswith("cta") <= narrow or draw.random() < 0.1]
        )
        looked = draw.choice(
            [h for h in _LOOKS if h.endswith("cta") <= narrow or draw.random() < 0.1]
        )
        acts = [Act(giver, "store", place)]
        if not _RAISES[raised][0] and draw.random() < 0.8:
            acts.append(Act(giver, "fence", how="cta" if narrow else "gl"))
        acts.append(Act(giver, "raise", flag, how=raised))
        if draw.random() < 0.2:
            acts.append(self._access(giver))
        acts.append(Act(taker, "look", flag, how=looked))
        if not _LOOKS[looked][0] and draw.random() < 0.8:
            acts.append(Act(taker, "fence", how="cta" if narrow else "gl"))
        acts.append(Act(taker, draw.choice(("load", "store")), place))
        self.acts += acts

    # ---- the program

    def text(self) -> str:
        lines = [_HEAD]
        for number, act in enumerate(self.acts, 1):
            lines.append(f".loc 1 {number} 0\n{self._statement(number, act)}")
        return "\n".join(lines) + "\nret;\n}\n"

    def _statement(self, number: int, act: Act) -> str:
        if act.what == "fill":
            return "shl.b32 %r1, %t, 2;\nadd.s32 %r1, %tile, %r1;\nst.shared.u32 [%r1], %g;"
        if act.what == "barrier":
            return "bar.sync 0;"
        where = f"[%rd1+{4 * act.place}]" if act.space == "global" else f"[tile+{4 * act.place}]"
        flag = f"[%rd2+{4 * act.place}]"
        if act.what == "look":
            body = f"""L{number}: ld.{act.how}.global.u32 %r1, {flag};
setp.eq.s32 %p2, %r1, 0;
@%p2 bra L{number};"""
        else:
            body = {
                "load": f"ld.{act.space}.u32 %r1, {where};",
                "store": f"st.{act.space}.u32 {where}, %g;",
                "fence": f"membar.{act.how};",
                "raise": f"st.{act.how}.global.u32 {flag}, 1;",
            }[act.what]
        return f"setp.ne.s32 %p1, %g, {act.who};\n@%p1 bra E{number};\n{body}\nE{number}:"

    # ---- the oracle

    def races(self, generous: bool = False) -> set[tuple[int, int, int, int]]:
        """(act, thread, later act, thread) of every pair that races; acts count from 1.

        generous: a fence also takes over, and hands on, what only its own thread's flags would.
        """
        knows = np.zeros((TOTAL, 5, TOTAL), int)
        fenced = np.zeros(
            (2, TOTAL, 5, TOTAL), int
        )  # by scope: what a thread knew at its last fence
        looked = np.zeros((2, TOTAL, 5, TOTAL), int)  # by scope: what its own looks have seen
        messages: dict[int, tuple[int, Act, np.ndarray]] = {}
        accesses: list[tuple[int, Act, np.ndarray]] = []
        found = set()
        for number, act in enumerate(self.acts, 1):
            knows[np.arange(TOTAL), KNOWN, np.arange(TOTAL)] = number
            mine = knows[act.who]  # a view
            if act.what == "barrier":
                for block in range(BLOCKS):
                    members = slice(block * THREADS, (block + 1) * THREADS)
                    knows[members] = knows[members].max(0)
            elif act.what == "fence":
                for scope in range(_FENCES[act.how] + 1):
                    mine[:] = np.maximum(mine, looked[scope, act.who])
                    mine[KNOWN] = np.maximum(mine[KNOWN], mine[SEEN[scope]])
                for scope in range(_FENCES[act.how] + 1):
                    mine[READY[scope]] = np.maximum(mine[READY[scope]], mine[KNOWN])
                    fenced[scope, act.who] = mine
            elif act.what == "raise":
                messages[act.place] = (number, act, np.stack([mine, *fenced[:, act.who]]))
            elif act.what == "look":
                found |= self._look(number, act, messages[act.place], mine, looked, generous)
            elif act.what in ("load", "store"):
                for earlier, other, _ in accesses:
                    if _conflict(act, other) and mine[KNOWN, other.who] < earlier:
                        found.add((earlier, other.who, number, act.who))
                accesses.append((number, act, mine))
        return found

    def _look(self, number, act, message, mine, looked, generous):
        """What the taker learns; the flag itself races if its scope does not reach."""
        raised, by, (now, *at_fence) = message
        releases, raise_scope = _RAISES[by.how]
        acquires, look_scope = _LOOKS[act.how]
        scope = BLOCK if act.who // THREADS == by.who // THREADS else DEVICE
        if min(raise_scope, look_scope) < scope:
            return {(raised, by.who, number, act.who)}
        given = np.maximum(at_fence[scope], now if releases else 0)
        ready = now[READY[scope]]
        if generous:
            given = given.copy()
            given[KNOWN] = np.maximum(given[KNOWN], ready)
        if scope == DEVICE:  # a fence for a block says nothing to another one
            given = given.copy()
            given[[READY[BLOCK], SEEN[BLOCK]]] = 0
        looked[scope, act.who] = np.maximum(looked[scope, act.who], given)
        seen = np.maximum(ready, given[KNOWN]) if generous else ready
        mine[SEEN[scope]] = np.maximum(mine[SEEN[scope]], seen)
        if acquires:
            mine[:] = np.maximum(mine, given)
        return set()


def _conflict(a: Act, b: Act) -> bool:
    """Two threads, one place, one writes."""
    same_memory = a.space == "global" or a.who // THREADS == b.who // THREADS
    return (
        a.who != b.who
        and (a.space, a.place) == (b.space, b.place)
        and same_memory
        and "store" in (a.what, b.what)
    )


_HEAD = """.visible .entry k(.param .u64 data, .param .u64 flags)
{
.reg .b32 %r<4>; .reg .b32 %t; .reg .b32 %g; .reg .b32 %block; .reg .b32 %tile;
.reg .b64 %rd<4>;
.reg .pred %p<3>;
.shared .align 16 .b8 tile[256];
ld.param.u64 %rd1, [data];
cvta.to.global.u64 %rd1, %rd1;
ld.param.u64 %rd2, [flags];
cvta.to.global.u64 %rd2, %rd2;
mov.u32 %t, %tid.x;
mov.u32 %block, %ctaid.x;
mad.lo.s32 %g, %block, 64, %t;
mov.u32 %tile, tile;
"""
